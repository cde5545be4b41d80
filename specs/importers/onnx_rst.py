"""ONNX pages in reStructuredText (Sphinx, 2022 to 2023), also those collapsed to one line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from opcert.errors import Place, UserError
from opcert.names import OperatorName
from specs.documents import KEY, Line, Text, split_lines, unescape
from specs.model import Document, Finding, Source, Spec
from specs.onnx_pages.flattened_page import is_flattened, restore_lines
from specs.onnx_pages.sections import Section, read_parts, read_sections
from specs.onnx_pages.version import read_version

DIALECT = "onnx-sphinx-rst"

_SINCE = re.compile(r"\*\*since_version\*\*: \*\*(\d+)\*\*")
_HEADING = re.compile(r"^(?P<name>\w+) - (?P<version>\d+)(?: \((?P<domain>[\w.]+)\))?$")


def recognise(text: Text) -> float:
    """Sure where the page's anchors and its version item stand."""
    return 1.0 if "_l-onnx-" in text.content and _SINCE.search(text.content) else 0.0


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """Every operator version of the page, newest first; only the newest has examples."""
    flattened = is_flattened(text.content)
    lines = restore_lines(text.content) if flattened else split_lines(text.content)
    clean, damaged = unescape(lines)
    starts = [
        position
        for position in range(len(clean) - 1)
        if _HEADING.match(clean[position].text) and re.fullmatch(r"=+", clean[position + 1].text)
    ]
    specs: list[Spec] = []
    for start, end in zip(starts, [*starts[1:], len(clean)], strict=False):
        heading = _HEADING.match(clean[start].text)
        assert heading is not None
        name = OperatorName(heading["domain"] or "ai.onnx", heading["name"], int(heading["version"]))
        sections = read_sections(clean[start + 2 : end])
        if operator is not None and (operator.domain, operator.name) != (name.domain, name.name):
            raise UserError(
                "the page names another operator",
                got=str(name),
                expected=str(operator),
                where=Place(text.file),
            )
        document = Document(KEY, text.file, DIALECT, text.sha256)
        findings = _page_findings(clean[start:end], damaged, sections, flattened)
        specs.append(read_version(name, document, read_parts(sections), findings))
    return specs


def _page_findings(
    lines: Sequence[Line], damaged: Sequence[Line], sections: dict[str, Section], flattened: bool
) -> list[Finding]:
    findings = []
    first, last = (lines[0].number, lines[0].column or 0), (lines[-1].number, lines[-1].column or 0)
    hurt = [each for each in damaged if first <= (each.number, each.column or 0) <= last]
    if hurt:
        evidence = f"{len(hurt)} lines from {hurt[0].number} to {hurt[-1].number}"
        findings.append(_finding("html-escape", hurt[0].source(), "HTML entities stand in the text and code",
                                 evidence))  # fmt: skip
    if flattened:
        place = sections["Examples"].place if "Examples" in sections else lines[0].source()
        message = "the page is one line: its code has lost its line ends"
        evidence = "statements were split where a new assignment begins"
        findings.append(_finding("flattened-code", place, message, evidence))
    return findings


def _finding(code: str, source: Source, message: str, evidence: str) -> Finding:
    return Finding(code, "warning", source, message, evidence, "repaired")
