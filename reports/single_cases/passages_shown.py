"""Passages of documents as pages show them: title, section, line, link, and the text where it is at hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from opcert.vocabulary.names import OperatorName
from reports.results.case_results import Results
from reports.results.told_facts import mapping, text
from reports.text.phrasing import plural

MOST = 3
"""So many passages stand open; the others are folded."""
_FILES = {
    "Changelog.md": "ONNX operator changelog",
    "Operators.md": "ONNX operators",
    "ContribOperators.md": "ONNX Runtime contributed operators",
}
_OWNERS = {
    "ai.onnx": "ONNX",
    "ai.onnx.ml": "ONNX ML",
    "com.microsoft": "ONNX Runtime",
    "org.openvino": "OpenVINO",
    "org.tensorflow": "TensorFlow",
}
_PAGES = {
    "ai.onnx": "https://onnx.ai/onnx/operators/onnx__{}.html",
    "ai.onnx.ml": "https://onnx.ai/onnx/operators/onnx_aionnxml_{}.html",
    "ai.onnx.preview.training": "https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_{}.html",
    "com.microsoft": "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.{}",
    "org.tensorflow": "https://www.tensorflow.org/api_docs/python/tf/raw_ops/{}",
}
_HASHED = re.compile(r"[0-9a-f]{12,}")
_CITED = re.compile(
    r"(?P<file>[\w.\-]+\.(?:md|rst|txt|html|jsonl)):"
    r"(?P<lines>\d+(?:-\d+)?(?:(?:, | and )(?P=file):\d+(?:-\d+)?)*)"
)


@dataclass(frozen=True)
class ShownPassage:
    """Where something stands, its text (empty where the document is not at hand), and the public page."""

    where: str
    text: str
    address: str

    def to_json(self) -> list[str]:
        return [self.where, self.text, self.address]


def public_page(operator: OperatorName) -> str:
    """The address of the page that the public reads about an operator; empty where none follows from it."""
    form = _PAGES.get(operator.domain)
    return form.format(quote(operator.name, safe="")) if form else ""


def document_title(operator: OperatorName, file: str, dialect: str = "", release: str = "") -> str:
    """What people call a document: never a name that is a digest."""
    if file in _FILES:
        return _FILES[file]
    owner = _OWNERS.get(operator.domain, operator.domain)
    if dialect.endswith("-package"):
        return f"schemas of {release}" if release else f"schemas of {owner}"
    if dialect.startswith("tensorflow"):
        return f"{owner} documentation of {operator.name}" + (f" ({release})" if release else "")
    if dialect.startswith("openvino") or "sphinx" in dialect or _HASHED.search(file):
        return f"{owner} page of {operator.name}"
    return file


def passages_of(results: Results, operator: OperatorName, sources: Iterable[Any]) -> tuple[ShownPassage, ...]:
    """The passages of sources (document, line, column); lines of one document alone are said together."""
    facts = mapping(results.operator_facts(operator).get("documents"))
    found: dict[ShownPassage, None] = {}
    bare: dict[str, list[int]] = {}
    for source in sources:
        parts = [*source] if isinstance(source, list | tuple) else []
        if not parts:
            continue
        document, numbers = mapping(facts.get(text(parts[0]))), [n for n in parts[1:] if isinstance(n, int)]
        title = _title(operator, text(parts[0]), document)
        told = results.texts.passage(text(document.get("sha256")), *numbers[:2]) if numbers else ""
        if not told:
            bare.setdefault(title, []).extend(numbers[:1])
            continue
        section = results.texts.section(text(document.get("sha256")), numbers[0])
        where = ", ".join(filter(None, (title, operator.short, section, f"line {numbers[0]}")))
        if told not in {one.text for one in found}:
            found[ShownPassage(where, told, public_page(operator))] = None
    for title, lines in bare.items():
        found[ShownPassage(f"{title}, {operator.short}{_lines(lines)}", "", public_page(operator))] = None
    return tuple(found)


def _title(operator: OperatorName, key: str, document: Mapping[str, Any]) -> str:
    file, dialect, release = (text(document.get(each)) for each in ("file", "dialect", "release"))
    return document_title(operator, file or key, dialect, release)


def _lines(lines: list[int]) -> str:
    found = sorted(set(lines))
    if not found:
        return ""
    if len(found) == 1:
        return f", line {found[0]}"
    if len(found) <= MOST:
        return f", lines {', '.join(map(str, found[:-1]))} and {found[-1]}"
    return f", {plural(len(found), 'passage')} between lines {found[0]} and {found[-1]}"


def with_titles(said: str, operator: OperatorName) -> str:
    """A sentence in which documents are cited by file and line, with their titles instead."""

    def told(found: re.Match[str]) -> str:
        lines = found["lines"].replace(f"{found['file']}:", "")
        word = "line" if lines.isdigit() else "lines"
        return f"{document_title(operator, found['file'])}, {word} {lines}"

    return _CITED.sub(told, said)
