"""ONNX's generated Markdown: Operators.md, Changelog.md, and ONNX Runtime's ContribOperators.md."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from specs.documents.onnx_pages.markdown_parts import MarkdownParts
from specs.documents.onnx_pages.page_lines import MarkdownLines, split_markdown
from specs.documents.onnx_pages.page_parts import find_missing
from specs.documents.onnx_pages.version import read_version
from specs.documents.text.documents import KEY, Line, Text, split_lines
from specs.importers import Importer
from specs.model.spec import Action, Document, Finding, Severity, Spec

_LINK = re.compile(r'<a href="#(?P<name>[\w.]+)">(?P=name)</a>')
_VERSION = re.compile(r'<a href="Changelog\.md#(?P<name>[\w.]+)-(?P<version>\d{1,9})">(?P=version)</a>')


def read_index(lines: Iterable[str]) -> dict[str, int | None]:
    """The operators of an index by the name that the document gives them, each with its newest version.

    The version is None where the index gives none. Raises nothing: lines that are no rows say nothing.
    """
    text = "\n".join(html.unescape(line) for line in lines if "href" in line)
    found: dict[str, int | None] = {match["name"]: None for match in _LINK.finditer(text)}
    for match in _VERSION.finditer(text):
        if match["name"] in found:
            found[match["name"]] = max(found[match["name"]] or 0, int(match["version"]))
    return found


DIALECT = "onnx-markdown"

_HEADING = re.compile(
    r'^### (?:<sub>\w+</sub> )?(?:<a name="(?P<anchor>[^"]*)">(?:</a>)?)(?:<a name="[^"]*">)?'
    r"\*\*(?P<name>[\w.]+?)(?:-(?P<version>\d{1,9}))?\*\*(?P<deprecated> \(deprecated\))?(?:</a>)?$"
)
_VERSIONED = re.compile(r"This\s+version\s+of\s+the\s+operator\s+has\s+been|No\s+versioning\s+maintained")
_SINCE = re.compile(
    r"^This version of the operator has been (?P<state>available|deprecated) since version "
    r"(?P<version>\d{1,9}) of the (?:default ONNX|'(?P<domain>[\w.]+)') operator set\.(?: |$)"
)
_EXPERIMENTAL = "No versioning maintained for experimental ops."


def recognise(text: Text) -> float:
    """Sure where an anchored heading of an operator and its version sentence stand."""
    content = text.content
    # Bounded, so that a line of a million anchors is answered at once.
    anchored = re.search(r"### .{0,99}?(?:<a name=|&lt;a name=|\*\*[\w.-]{1,99}\*\*)", content)
    return 1.0 if anchored and _VERSIONED.search(content) else 0.0


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """Every operator version of the document; raises UserError where a user's name is not among them."""
    specs = _Reader(text).read()
    if operator is None:
        return specs
    chosen = [spec for spec in specs if spec.operator == operator]
    if not chosen:
        raise UserError(
            "the document does not define this operator", got=str(operator), where=Place(text.file)
        )
    return chosen


@dataclass
class _Block:
    """An operator's heading and lines."""

    heading: Line
    match: re.Match[str]
    lines: list[Line] = field(default_factory=list)


class _Reader:
    """Reads one document."""

    def __init__(self, text: Text) -> None:
        self._document = Document(KEY, text.file, DIALECT, text.sha256)
        self._split = split_markdown(split_lines(text.content))
        self._stray: list[Finding] = []
        self._prints_defaults = " (default is " in text.content
        self._blocks = list(self._find_blocks(self._split))
        self._whole = text.content.rstrip(" \t").endswith("\n")

    def read(self) -> list[Spec]:
        index = self._index()
        specs = [self._spec(block, index) for block in self._blocks]
        if not specs:
            return []
        names = {_full(block.match) for block in self._blocks}
        missing = [each for each in index if each not in names]
        last = self._blocks[-1].heading
        if missing:
            shown = ", ".join(missing[:10]) + (", ..." if len(missing) > 10 else "")
            message = "the document lists operators that it does not describe"
            self._stray.append(_finding("operator-undescribed", "error", last, message,
                                        f"{len(missing)} of {len(index)}: {shown}"))  # fmt: skip
        if not self._whole:
            place = self._split.lines[-1]
            message = "the document ends inside of a line"
            self._stray.append(_finding("document-cut", "error", place, message, "no line end is its last"))
        if self._stray:
            specs[-1] = specs[-1].with_findings((*specs[-1].findings, *self._stray))
        return _without_twins(specs)

    def _index(self) -> Mapping[str, int | None]:
        first = self._blocks[0].heading if self._blocks else None
        head = []
        for line in self._split.lines:
            if line is first:
                break
            head.append(line.text)
        return read_index(head)

    def _find_blocks(self, split: MarkdownLines) -> Iterator[_Block]:
        """Each operator's heading and lines; headings inside of code fences are code."""
        block: _Block | None = None
        examples = fenced = False
        for line in split.lines:
            if examples and line.text.startswith("```"):
                fenced = not fenced
            if not fenced and line.text.startswith("#"):
                examples = line.text == "#### Examples"
                if not line.text.startswith("####"):
                    if block is not None:
                        yield block
                    block = self._open(line)
                    continue
            if block is not None:
                block.lines.append(line)
        if block is not None:
            yield block

    def _open(self, line: Line) -> _Block | None:
        match = _HEADING.match(line.text)
        if match is not None:
            return _Block(line, match)
        if "<a name=" in line.text or "**" in line.text:
            message = "the heading of an operator cannot be read"
            self._stray.append(
                _finding("item-unread", "error", line, message, "its anchor or name is not whole")
            )
        return None

    def _spec(self, block: _Block, index: Mapping[str, int | None]) -> Spec:
        full = _full(block.match)
        findings: list[Finding] = []
        parts = MarkdownParts(block.heading, block.lines)
        sentence = " ".join(" ".join(version_line.text for version_line in parts.version_lines).split())
        since = _SINCE.match(sentence)
        experimental = sentence.startswith(_EXPERIMENTAL)
        numbers = {
            "the heading": block.match["version"],
            "the sentence below Version": since["version"] if since else None,
            "the index": str(index[full]) if index.get(full) else None,
        }
        stated = {where: int(number) for where, number in numbers.items() if number}
        if not stated:
            findings.append(_without_version(full, block.heading, experimental))
        elif since is None and not experimental:
            message = f"the page does not say in words since which version {full} holds"
            findings.append(
                _finding("version-missing", "error", block.heading, message, _listed(stated), "repaired")
            )
        if len(set(stated.values())) > 1:
            message = f"the page gives more than one version for {full}"
            findings.append(_finding("version-disagrees", "error", block.heading, message, _listed(stated)))
        if index and full not in index and not block.match["version"]:
            message = f"the document describes {full}, which its index does not list"
            findings.append(
                _finding("operator-unlisted", "error", block.heading, message, "the index is cut")
            )
        domain, _, name = full.rpartition(".")
        said = since["domain"] or "" if since else domain
        if said != domain:
            message = f"the page gives more than one domain for {full}"
            findings.append(_finding("version-disagrees", "error", block.heading, message,
                                     f"{domain or 'ai.onnx'} and {said or 'ai.onnx'}"))  # fmt: skip
        operator = OperatorName(said or domain or "ai.onnx", name, next(iter(stated.values()), 1))
        deprecated = bool(block.match["deprecated"]) or bool(since and since["state"] == "deprecated")
        read = parts.read(deprecated)
        findings += [*parts.findings, *self._escaped(block)]
        if not deprecated:
            findings += find_missing(read, block.heading.source(), ["Attributes"])
        spec = read_version(operator, self._document, read, findings)
        if not self._prints_defaults:
            return spec
        return spec.with_findings((*spec.findings, *_defaults_in_words(spec)))

    def _escaped(self, block: _Block) -> Iterator[Finding]:
        first = block.heading.number
        last = block.lines[-1].number if block.lines else first
        for code, lines, message in (
            ("html-escape", self._split.escaped, "HTML entities stand in code, or in other entities"),
            ("flattened-code", self._split.flattened, "code has lost its line ends"),
        ):
            own = [line for line in lines if first <= line.number <= last]
            if own:
                yield _finding(
                    code, "warning", own[0], message, f"{len(own)} lines from {own[0].number}", "repaired"
                )


def _defaults_in_words(spec: Spec) -> Iterator[Finding]:
    """Defaults that a description states where the list of attributes prints none."""
    for name, attribute in spec.attributes.items():
        origin = spec.origins.get(f"attributes.{name}.default")
        if origin is not None and origin.rule != "printed-default" and not attribute.required:
            message = f"the text gives a default for {name} that the list of attributes does not print"
            evidence = f"{attribute.default} in the text"
            yield Finding("default-in-words", "warning", origin.sources[0], message, evidence, "noted")


def _full(heading: re.Match[str]) -> str:
    return heading["name"]


def _finding(
    code: str, severity: Severity, line: Line, message: str, evidence: str, action: Action = "rejected"
) -> Finding:
    return Finding(code, severity, line.source(), message, evidence, action)


def _listed(stated: Mapping[str, int]) -> str:
    return ", ".join(f"{where}: {number}" for where, number in stated.items())


def _without_version(name: str, line: Line, experimental: bool) -> Finding:
    message = f"the page does not say since which version {name} holds"
    evidence = (
        "experimental operators have none here" if experimental else "the sentence below Version is absent"
    )
    severity: Severity = "warning" if experimental else "error"
    return _finding("version-missing", severity, line, message, f"{evidence}; taken as version 1", "repaired")


def _without_twins(specs: Sequence[Spec]) -> list[Spec]:
    """The first description of each operator version; a second one is a finding."""
    first: dict[OperatorName, Spec] = {}
    for spec in specs:
        known = first.setdefault(spec.operator, spec)
        if known is not spec:
            message = f"the document describes {spec.operator} twice"
            place = spec.prose[0].source if spec.prose else spec.findings[0].source if spec.findings else None
            if place is None:
                continue
            twin = Finding(
                "operator-twice", "error", place, message, "the first description holds", "rejected"
            )
            first[spec.operator] = known.with_findings((*known.findings, twin, *spec.findings))
    return list(first.values())


IMPORTERS = (Importer(DIALECT, recognise, read),)
