"""Lines of TensorFlow's texts without what editors and web pages do to white space and quotation marks."""

from __future__ import annotations

import re

from specs.documents.text.documents import Line, split_lines, unescape
from specs.model.spec import Finding


def tidy_lines(content: str) -> tuple[list[Line], list[Finding]]:
    """The lines with entities and tabs replaced, and a finding where there were entities."""
    lines, damaged = unescape(split_lines(content))
    findings = []
    if damaged:
        evidence = f"{len(damaged)} lines from {damaged[0].number} to {damaged[-1].number}"
        message = "HTML entities stand in the text"
        source = damaged[0].source()
        findings.append(Finding("html-escape", "warning", source, message, evidence, "repaired"))
    return [
        Line(_without_tabs(each.text), each.number) if "\t" in each.text else each for each in lines
    ], findings


def _without_tabs(text: str) -> str:
    """Tabs that indent as four blanks, others as one."""
    indent = re.match(r"\s*", text)
    end = indent.end() if indent else 0
    return text[:end].replace("\t", "    ") + text[end:].replace("\t", " ")
