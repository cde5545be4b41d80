"""ONNX pages in reStructuredText (Sphinx, 2022 to 2023), also those collapsed to one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from specs.documents.onnx_pages.flattened_page import is_flattened, restore, restore_lines
from specs.documents.onnx_pages.page_parts import find_missing
from specs.documents.onnx_pages.sections import PageSection, RstParts
from specs.documents.onnx_pages.version import read_version
from specs.documents.text.documents import KEY, Line, Text, split_lines, unescape
from specs.importers import Importer
from specs.model.spec import Document, Finding, Source, Spec

DIALECT = "onnx-sphinx-rst"

_SINCE = re.compile(r"\*\*since_version\*\*:\s+\*\*(\d{1,9})\*\*")
_SENTENCE = re.compile(
    r"This version of the operator has been (?P<state>available|deprecated) "
    r"\*\*since version (?P<version>\d{1,9})(?: of domain (?P<domain>[\w.]+))?\*\*\."
)
_HEADING = re.compile(r"^(?P<name>\w+) - (?P<version>\d{1,9})(?: \((?P<domain>[\w.]+)\))?$")
_COMPARED = re.compile(r"\btext_diff_\w+?_(\d{1,9})_\d{1,9}\b|\.\. _l-onnx-op[\w.-]+?-(\d{1,9}):")


def recognise(text: Text) -> float:
    """Sure where the page's anchors and its version item stand."""
    return 1.0 if "_l-onnx-" in text.content and _SINCE.search(text.content) else 0.0


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """Every operator version of the page, newest first; only the newest has examples."""
    return _Reader(text, operator).read()


class _Reader:
    """Reads one page."""

    def __init__(self, text: Text, operator: OperatorName | None) -> None:
        self._text = text
        self._wanted = operator
        self._flattened = is_flattened(text.content)
        lines = restore_lines(text.content) if self._flattened else split_lines(text.content)
        clean, self._damaged = unescape([_without_tabs(each) for each in lines])
        # Escaped twice, they would read as if the document showed them.
        clean = unescape(clean)[0]
        self._lines = clean if self._flattened else restore(clean)

    def read(self) -> list[Spec]:
        lines = self._lines
        starts = [
            position
            for position in range(len(lines) - 1)
            if _HEADING.match(lines[position].text) and re.fullmatch(r"=+", lines[position + 1].text)
        ]
        specs = [
            self._version(lines[start:end])
            for start, end in zip(starts, [*starts[1:], len(lines)], strict=False)
        ]
        if specs:
            stray = list(self._document_findings(specs))
            specs[-1] = replace(specs[-1], findings=(*specs[-1].findings, *stray))
        return specs

    def _version(self, lines: Sequence[Line]) -> Spec:
        heading = _HEADING.match(lines[0].text)
        assert heading is not None
        name = OperatorName(heading["domain"] or "ai.onnx", heading["name"], int(heading["version"]))
        if self._wanted is not None and (self._wanted.domain, self._wanted.name) != (name.domain, name.name):
            raise UserError(
                "the page names another operator",
                got=str(name),
                expected=str(self._wanted),
                where=Place(self._text.file),
            )
        reader = RstParts(lines[0], lines[2:])
        said = " ".join(" ".join(each.text for each in _lines_of(reader.sections, "Version")).split())
        sentence = _SENTENCE.search(said)
        parts = reader.read(bool(sentence and sentence["state"] == "deprecated"))
        findings = [
            *self._page_findings(lines, reader.sections),
            *_version_findings(name, said, sentence, lines[0]),
            *reader.findings,
            *find_missing(parts, lines[0].source(), ["Attributes", "Inputs"]),
        ]
        document = Document(KEY, self._text.file, DIALECT, self._text.sha256)
        return read_version(name, document, parts, findings)

    def _page_findings(self, lines: Sequence[Line], sections: dict[str, PageSection]) -> Iterator[Finding]:
        first, last = (lines[0].number, lines[0].column or 0), (lines[-1].number, lines[-1].column or 0)
        hurt = [each for each in self._damaged if first <= (each.number, each.column or 0) <= last]
        if hurt:
            evidence = f"{len(hurt)} lines from {hurt[0].number} to {hurt[-1].number}"
            message = "HTML entities stand in the text and code"
            yield Finding("html-escape", "warning", hurt[0].source(), message, evidence, "repaired")
        if self._flattened:
            place = sections["Examples"].place if "Examples" in sections else lines[0].source()
            message = "the page is one line: its code has lost its line ends"
            evidence = "statements were split where a new assignment begins"
            yield Finding("flattened-code", "warning", place, message, evidence, "repaired")

    def _document_findings(self, specs: Sequence[Spec]) -> Iterator[Finding]:
        """What only the whole page tells: versions that it compares with others, and its end."""
        described = {each.operator.since_version for each in specs}
        for line in self._lines:
            for compared in _COMPARED.finditer(line.text):
                number = compared[1] or compared[2]
                if int(number) not in described:
                    message = f"the page speaks of version {number} and does not describe it"
                    evidence = "a comparison or an anchor names it"
                    yield _error("operator-undescribed", line.source(compared.start()), message, evidence)
        twice = [each.operator for position, each in enumerate(specs)
                 if each.operator in [other.operator for other in specs[:position]]]  # fmt: skip
        last = self._lines[-1]
        for operator in twice:
            message = f"the page describes {operator} twice"
            yield _error("operator-twice", last.source(), message, "both descriptions were read")
        if "\n" in self._text.content and not self._text.content.rstrip(" \t").endswith("\n"):
            message = "the document ends inside of a line"
            yield _error("document-cut", last.source(), message, "no line end is its last")


def _without_tabs(line: Line) -> Line:
    text = line.text
    if "\t" not in text:
        return line
    lead = len(text) - len(text.lstrip(" \t"))
    return Line(text[:lead].expandtabs(4) + text[lead:].replace("\t", " "), line.number, line.column)


def _lines_of(sections: dict[str, PageSection], title: str) -> Sequence[Line]:
    return sections[title].lines if title in sections else ()


def _version_findings(
    name: OperatorName, said: str, sentence: re.Match[str] | None, heading: Line
) -> Iterator[Finding]:
    item = _SINCE.search(said)
    stated = {"the heading": name.since_version}
    if item:
        stated["the item since_version"] = int(item[1])
    if sentence:
        stated["the sentence below"] = int(sentence["version"])
    if len(stated) < 3:
        message = f"the page does not say three times since which version {name.name} holds"
        yield _error("version-missing", heading.source(), message, f"only {', '.join(stated)}")
    if len(set(stated.values())) > 1:
        message = f"the page gives more than one version for {name.name}"
        evidence = ", ".join(f"{where}: {number}" for where, number in stated.items())
        yield _error("version-disagrees", heading.source(), message, evidence)
    domain = re.search(r"\*\*domain\*\*:\s+\*\*([\w.]+)\*\*", said)
    if domain and {domain[1], name.domain} not in ({name.domain}, {"main", "ai.onnx"}):
        message = f"the page gives more than one domain for {name.name}"
        yield _error("version-disagrees", heading.source(), message, f"{name.domain} and {domain[1]}")


def _error(code: str, source: Source, message: str, evidence: str) -> Finding:
    return Finding(code, "error", source, message, evidence, "rejected")


IMPORTERS = (Importer(DIALECT, recognise, read),)
