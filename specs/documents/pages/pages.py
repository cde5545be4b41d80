"""Pages as the linter's rules see them: each operator version with its lines, passages and code blocks."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from specs.documents.onnx_pages.page_lines import is_flattened, restore_lines
from specs.documents.packages.dumped_rows import plain_lines
from specs.documents.text.documents import Line, Passage, Text, split_lines, unescape
from specs.model.spec import Source, Spec

_HEADING = re.compile(r"^#{1,3} \S")
_UNDERLINE = re.compile(r"^={3,}$")
_LABEL = re.compile(r"^ *(?:\* +)?(?:\*\*[\w .]+\*\*\s*:\s*|<dd>)?")
_ARGUMENT = re.compile(r"^ {2}\w+: ")
_DIRECTIVE = re.compile(r"^(?P<indent>\s*)(?:\.\. +(?P<kind>[\w-]+):: *(?P<language>\S*)|::)\s*$")
_MOST_LINES = 100
"""Of an example's layer, in which an extent is looked for."""
_TITLE = re.compile(r"^(?:<summary>(.*)</summary>|\*\*(_\w+)\*\*)$")


@dataclass(frozen=True)
class Block:
    """A block of code: the title above it (or ""), the language that it is declared in (or ""), its lines."""

    title: str
    language: str
    lines: Sequence[Line]


class DocumentPage:
    """A document and the operator versions that were read out of it, in the order in which they stand."""

    def __init__(self, text: Text, dialect: str, specs: Sequence[Spec]) -> None:
        self.text = text
        self.dialect = dialect
        self.flattened = dialect == "onnx-sphinx-rst" and is_flattened(text.content)
        package = dialect.endswith("-package")
        if package:
            self.lines, self._headings = plain_lines(text)
        else:
            self.lines = restore_lines(text.content) if self.flattened else split_lines(text.content)
        self._places = [(line.number, line.column or 0) for line in self.lines] if self.flattened else []
        self._specs = list(specs)
        self._has_one = not (dialect.startswith("onnx") or package)
        if not package:
            self._headings = [] if self._has_one else _headings(self.lines)

    def versions(self) -> Iterator[Version]:
        """Each operator version with the part of the page that is its own."""
        for spec in self._specs:
            if self._has_one:
                yield Version(self, spec, self.lines)
                continue
            above = bisect_right(self._headings, self._first(spec))
            start = self._headings[above - 1] if above else 0
            end = self._headings[above] if above < len(self._headings) else len(self.lines)
            yield Version(self, spec, self.lines[start:end])

    def position(self, source: Source) -> int:
        """The index of the line in which a place stands."""
        if not self.flattened:
            return max(min(source.line, len(self.lines)) - 1, 0)
        found = bisect_left(self._places, (source.line, (source.column or 0) + 1))
        return max(found - 1, 0)

    def _first(self, spec: Spec) -> int:
        origins = [parameter.origin for parameter in (*spec.inputs, *spec.outputs)]
        origins += [attribute.origin for attribute in spec.attributes.values()]
        places = [origin.sources[0] for origin in origins if origin.sources]
        places += [prose.source for prose in spec.prose] + [finding.source for finding in spec.findings]
        return min((self.position(place) for place in places), default=0)


def _headings(lines: Sequence[Line]) -> list[int]:
    """The lines that begin an operator version or another part of a page; those inside of fences are code."""
    found: list[int] = []
    fenced = False
    for position, line in enumerate(lines):
        text = line.text
        if "```" in text and text.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or not text:
            continue
        elif text[0] == "#" and _HEADING.match(text):
            found.append(position)
        elif text[0] == "=" and position and lines[position - 1].text and _UNDERLINE.match(text):
            found.append(position - 1)
    return found


@dataclass(frozen=True)
class Version:
    """One operator version on a page: its facts, and the lines that are its own (as they stand there)."""

    page: DocumentPage
    spec: Spec
    lines: Sequence[Line]

    @cached_property
    def passages(self) -> Mapping[str, Passage]:
        """The prose about each thing (`attributes.mode`, `summary`), entities replaced, labels taken off."""
        return {each.about: self._passage(each.source, each.lines) for each in self.spec.prose}

    def _passage(self, source: Source, count: int) -> Passage:
        start = self.page.position(source)
        if self.page.flattened:
            end = start + 1
            while end < len(self.page.lines) and not re.match(
                r"\* \*\*|\*\*|\.\. ", self.page.lines[end].text
            ):
                end += 1
        else:
            end = start + count
        lines = list(self.page.lines[start:end])
        if lines:
            pattern = _ARGUMENT if self.page.dialect.startswith("tensorflow") else _LABEL
            label = pattern.match(lines[0].text)
            lines[0] = lines[0].after(label.end()) if label else lines[0]
        clean = [Line(line.text.removesuffix("</dd>"), line.number, line.column) for line in lines]
        return Passage(unescape(clean)[0])

    def port_line(self, source: Source, name: str, position: int) -> Source:
        """The line in which an example's layer gives an extent of an input or output.

        A node's own place where the example is no layer.
        """
        start = self.page.position(source)
        lines = self.page.lines[start : start + _MOST_LINES]
        outputs = [parameter.name for parameter in self.spec.outputs]
        inputs = [parameter.name for parameter in self.spec.inputs]
        section, names = ("<output", outputs) if name in outputs else ("<input", inputs)
        first = next((place for place, line in enumerate(lines) if section in line.text), None)
        if first is None or name not in names:
            return source
        port, extent = -1, -1
        place = lines[first].source()
        for line in lines[first:]:
            if "<port" in line.text:
                port, extent = port + 1, -1
                place = line.source() if port <= names.index(name) else place
            if port == names.index(name):
                extent += line.text.count("<dim>")
                if extent >= position:
                    return line.source()
        return place

    @cached_property
    def blocks(self) -> Sequence[Block]:
        """The blocks of code, in order."""
        return tuple(_fenced(self.lines) if any(line.text.startswith("```") for line in self.lines)
                     else _indented(self.lines))  # fmt: skip


def _fenced(lines: Sequence[Line]) -> Iterator[Block]:
    title, language = "", ""
    code: list[Line] | None = None
    for line in lines:
        if line.text.lstrip().startswith("```"):
            if code is not None:
                yield Block(title, language, code)
                code, title = None, ""
            else:
                code, language = [], line.text.strip().strip("`").strip()
        elif code is not None:
            code.append(line)
        elif found := _TITLE.match(line.text):
            title = found[1] or found[2]


def _indented(lines: Sequence[Line]) -> Iterator[Block]:
    title = ""
    opened: tuple[int, str, list[Line]] | None = None
    for line in lines:
        if opened is not None:
            depth = len(line.text) - len(line.text.lstrip())
            if not line.text or depth > opened[0]:
                opened[2].append(line)
                continue
            yield Block(title, opened[1], opened[2])
            opened, title = None, ""
        head = _DIRECTIVE.match(line.text)
        if head and (head["kind"] in (None, "code-block", "code", "ref-code-block", "parsed-literal")):
            opened = (len(head["indent"]), head["language"] or "", [])
        elif found := _TITLE.match(line.text):
            title = found[1] or found[2]
    if opened is not None:
        yield Block(title, opened[1], opened[2])
