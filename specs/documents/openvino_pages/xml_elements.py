"""The XML of a page's examples as elements with their lines, and what keeps it from being XML.

XML is read without entities; a tag that is never closed is told at its own line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from xml.parsers import expat

from specs.documents.text.documents import Line

MOST_LINES = 20_000
_DEEPEST = 64
_ELISION = re.compile(r"(?P<value>=\s*\"[^\"\n]*\")|\.{3,}|…")
_UNQUOTED = re.compile(r"(<\w+\s+(?:[\w-]+=\"[^\"<>]*\"\s+)*[\w-]+=)([\w.,+-]+)(?=[\s/>])")
_COMMA = re.compile(r"(=\"[^\"<>]*\"),(?=\s+[\w-]+=)")
_OPEN_DATA = re.compile(r"(<data\b(?:\"[^\"]*\"|[^\"<>/])*)>")
_DECLARATION = re.compile(r"<!(?!--)|<\?")
_TAGS = re.compile(r"<!--|<(?P<end>/?)(?P<name>[A-Za-z][\w.-]*)(?:[^<>\"]|\"[^\"<>]*\")*?(?P<empty>/?)>")


@dataclass
class Element:
    """An element: name, attributes, line, text, what stands below it.

    `comments` are those inside of it before its first child, and those behind it before the next element.
    """

    name: str
    attributes: dict[str, str]
    line: Line
    text: str = ""
    children: list[Element] = field(default_factory=list)
    comments: list[tuple[str, Line]] = field(default_factory=list)

    def all(self, name: str) -> list[Element]:
        """The elements of that name at any depth, in their order."""
        found = [self] if self.name == name else []
        for child in self.children:
            found += child.all(name)
        return found


@dataclass(frozen=True)
class Malformed:
    """Why a fragment does not parse, and where; what it is with its usual slips mended, if that parses."""

    line: Line
    reason: str
    mended: Element | None = None


def read_xml(lines: Sequence[Line]) -> Element | Malformed:
    """The fragment below a root of its own; elisions (`...`) count as nothing, but in values."""
    if len(lines) > MOST_LINES:
        return Malformed(lines[0], "too long")
    for line in lines:
        if _DECLARATION.search(line.text):
            return Malformed(line, "declarations are not read")
    text = "\n".join(_ELISION.sub(lambda found: found["value"] or " ", line.text) for line in lines)
    root = _parse(text, lines)
    if isinstance(root, Malformed):
        mended = _parse(_mend(text), lines)
        return root if isinstance(mended, Malformed) else replace(root, mended=mended)
    return root


def _parse(text: str, lines: Sequence[Line]) -> Element | Malformed:
    builder = _Builder(lines)
    try:
        builder.parser.Parse(f"<root>{text}</root>", True)
    except expat.ExpatError as error:
        unclosed = _find_unclosed(text, lines)
        return unclosed or Malformed(lines[min(error.lineno, len(lines)) - 1], expat.ErrorString(error.code))
    except _TooDeep as error:
        return Malformed(error.line, "nested too deeply")
    return builder.root


def _find_unclosed(text: str, lines: Sequence[Line]) -> Malformed | None:
    """The first element that is not closed, or is twice, or end tag of nothing; None where the tags pair."""
    opened: list[tuple[str, Line]] = []
    before: tuple[str, Line] | None = None
    number = last = outside = 0
    for match in _TAGS.finditer(text):
        if match.start() < outside:
            continue
        number, last = number + text.count("\n", last, match.start()), match.start()
        line = lines[min(number, len(lines) - 1)]
        if match["name"] is None:
            closed = re.compile("-->").search(text, match.end())
            end = closed.start() if closed else -1
            if end < 0:
                return Malformed(line, f"the comment of line {line.number} is never closed")
            outside = end
            continue
        if match["empty"]:
            before = (match["name"], line)
            continue
        if not match["end"]:
            opened.append((match["name"], line))
        elif opened and opened[-1][0] == match["name"]:
            opened.pop()
        elif any(name == match["name"] for name, _ in opened[-_DEEPEST:]):
            return _unclosed(*opened[-1])
        elif before is not None and before[0] == match["name"]:
            twice = f"`<{before[0]}/>` of line {before[1].number} closes itself, and `</{before[0]}>` again"
            return Malformed(before[1], twice)
        else:
            return Malformed(line, f"`</{match['name']}>` of line {line.number} closes nothing")
        if match["end"] and before is not None and before[0] == match["name"]:
            before = None
    return _unclosed(*opened[-1]) if opened else None


def _unclosed(name: str, line: Line) -> Malformed:
    return Malformed(line, f"`<{name}>` of line {line.number} is never closed")


def _mend(text: str) -> str:
    """The text with quoted values, no commas between them, data that ends, inputs that end before outputs."""
    text = _COMMA.sub(r"\1", text)
    text = _UNQUOTED.sub(r'\1"\2"', text)
    if "</data>" not in text:
        text = _OPEN_DATA.sub(r"\1/>", text)
    if text.count("<input>") > text.count("</input>"):
        text = text.replace("<output>", "</input><output>", 1)
    return text


class _TooDeep(Exception):
    def __init__(self, line: Line) -> None:
        super().__init__("nested too deeply")
        self.line = line


class _Builder:
    def __init__(self, lines: Sequence[Line]) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CommentHandler = self._comment
        self.parser.CharacterDataHandler = self._data
        self._lines = lines
        self._stack: list[Element] = []
        self._closed: Element | None = None
        self.root = Element("root", {}, lines[0])

    def _line(self) -> Line:
        return self._lines[min(self.parser.CurrentLineNumber, len(self._lines)) - 1]

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        element = Element(name, attributes, self._line()) if self._stack else self.root
        if self._stack:
            self._stack[-1].children.append(element)
        self._stack.append(element)
        self._closed = None
        if len(self._stack) > _DEEPEST:
            raise _TooDeep(self._line())

    def _end(self, name: str) -> None:
        self._closed = self._stack.pop()

    def _comment(self, text: str) -> None:
        owner = self._closed
        if owner is None and self._stack:
            owner = self._stack[-1]
        if owner is not None:
            owner.comments.append((" ".join(text.split()), self._line()))

    def _data(self, text: str) -> None:
        if self._stack:
            self._stack[-1].text += text
