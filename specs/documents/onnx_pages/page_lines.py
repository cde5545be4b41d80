"""The lines of pages of ONNX: those that lost their ends restored, each mark of Markdown on one of its own.

Of reStructuredText and code, every line that was cut with its column. Of the generated Markdown, entities and
tabs are undone, and lines that were joined are parted, so that a page says the same after it went through an
editor, a mailer or a scraper.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from specs.documents.text.documents import ENTITY, Line

_STATEMENT = re.compile(r"(?:[A-Za-z_]\w*(?:\[[^\]=]*\])? = (?!=)|expect ?\(|import |from \w|for \w+ in )")


def split_statements(line: Line) -> list[Line]:
    """The statements of a line of code, one line each; the body of a `for` is indented.

    A comment ends where a statement follows: a guess, for the document does not say.
    """
    lines: list[Line] = []
    indent = ""
    for start, end, comment in _statement_pieces(line.text):
        text = line.text[start:end].strip()
        if not text:
            continue
        lead = len(line.text[start:end]) - len(line.text[start:end].lstrip())
        piece = line.after(start + lead)
        head = re.match(r"for \w+ in [^:]*:", text)
        if head and not comment:
            lines.append(Line(head[0], piece.number, piece.column))
            indent = "    "
            rest = piece.after(head.end()).stripped()
            text, piece = text[head.end() :].strip(), rest
        for word in re.split(r" (?=# )", text) if comment else [text]:
            lines.append(Line(indent + word, piece.number, piece.column))  # noqa: PERF401
    return lines


def _statement_pieces(text: str) -> list[tuple[int, int, bool]]:
    """Start and end of each statement and comment, at bracket depth 0."""
    pieces: list[tuple[int, int, bool]] = []
    start, position, depth, comment = 0, 0, 0, False
    quote: str | None = None
    while position < len(text):
        letter = text[position]
        if quote is not None:
            quote = None if letter == quote else quote
        elif letter in "\"'" and not comment:
            quote = letter
        elif comment or depth == 0:
            begins = position == 0 or text[position - 1].isspace()
            if begins and position > start and _STATEMENT.match(text, position):
                if not text[start:position].rstrip().endswith(":") or comment:
                    pieces.append((start, position, comment))
                    start, comment = position, False
            elif letter == "#" and not comment:
                pieces.append((start, position, False))
                start, comment = position, True
        if quote is None and not comment:
            depth += (letter in "([{") - (letter in ")]}")
        position += 1
    pieces.append((start, len(text), comment))
    return pieces


_TITLES = ("Version", "Summary", "Attributes", "Inputs", "Outputs", "Type Constraints", "Examples")
_CUTS = re.compile(
    # An item may have the name of a section: it stands behind an asterisk.
    "|".join(
        rf"(?<!\*) (?=\*\*{title}\*\*(?: |$))"
        rf"|(?<! \* \*\*{title}\*\*)(?<!^\* \*\*{title}\*\*)(?<=\*\*{title}\*\*) "
        rf"|(?<=\*\* )(?=\*\*{title}\*\*(?: |$))"
        for title in _TITLES
    )
    + r"| (?=\* \*\*)| (?=\*\*_\w+\*\*(?: :: |$))|(?<=\*\*) (?=:: )"
    r"|(?<=:) (?=[\w.]+ - \d{1,9}(?: \([\w.]+\))? =+(?: |$))"
    r"| (?=={3,}(?: |$))|(?<====) | (?=\.\. (?:_l-onnx|contents|toctree|tag-diff))"
    r"| (?=This version of the operator has been )"
)
_ITEM_HEAD = re.compile(
    r"^\* \*\*[^*]+\*\*(?: \((?:``.*?``|[^)`])*\))*(?: - \*\*.+?\*\*)?(?: in \(.*? \))?: "
)


def is_flattened(content: str) -> bool:
    """Whether a page has lost its line ends: its section titles stand inside a line."""
    return re.search(r"\S \*\*Version\*\* \* \*\*name\*\*", content) is not None


def restore_lines(content: str) -> list[Line]:
    """The lines that the page had, as far as its markup tells; every one with its column."""
    return restore([Line(text, number, 1) for number, text in enumerate(content.split("\n"), 1)])


def restore(lines: Sequence[Line]) -> list[Line]:
    """The lines with those parted that hold several; code, which is indented, stays as it is."""
    restored: list[Line] = []
    for line in lines:
        cuts = list(_CUTS.finditer(line.text)) if _may_hold_several(line.text) else []
        if not cuts and line.column is None:
            restored.append(line)
            continue
        whole = Line(line.text, line.number, line.column or 1)
        start = 0
        for cut in cuts:
            restored += _pieces(whole, start, cut.start())
            start = cut.end()
        restored += _pieces(whole, start, len(line.text))
    return _restore_code(restored)


def _may_hold_several(text: str) -> bool:
    """Whether a line is worth a closer look; code is not."""
    marked = "**" in text or "==" in text or ".. " in text or " This version of the operator" in text
    return marked and not text.startswith("    ")


def _pieces(whole: Line, start: int, end: int) -> list[Line]:
    piece = Line(whole.text[start:end], whole.number, (whole.column or 1) + start)
    head = _ITEM_HEAD.match(piece.text)
    if head is None:
        return [piece]
    rest = piece.after(head.end())
    return [Line(head[0].rstrip(), piece.number, piece.column), Line(f"  {rest.text}", rest.number,
            None if rest.column is None else rest.column - 2)]  # fmt: skip


def _restore_code(lines: list[Line]) -> list[Line]:
    restored: list[Line] = []
    for line in lines:
        if not line.text.startswith(":: "):
            restored.append(line)
            continue
        restored.append(Line("::", line.number, line.column))
        for statement in split_statements(line.after(3)):
            column = None if statement.column is None else statement.column - 4
            restored.append(Line(f"    {statement.text}", statement.number, column))
    return restored


_TITLES = ("Version", "Attributes", "Inputs", "Outputs", "Type Constraints", "Examples", "Function Body")
_MARK = re.compile(
    r"</?dl>|<dt>(?:(?!</?d[tdl]>).)*</dt>|</?dd>|</?details>|<summary>(?:(?!</?summary>).)*</summary>"
    rf"|#### (?:{'|'.join(_TITLES)})\b"
    r"(?: \(\d{1,9} - (?:\d{1,9}|∞)\))?"
    r'|### (?:<sub>\w+</sub> )?(?:<a name="[^"]*">(?:</a>)?)+\*\*[\w.]+(?:-\d+)?\*\*'
    r"(?: \(deprecated\))?(?:</a>)?"
    r"|#{1,2} Version \d+ of the (?:default ONNX|'[\w.]+') operator set\b"
    r"|#{1,2} (?:ai\.onnx|com\.microsoft)[\w.]*"
    r"|This version of the operator has been \w+ since version \d+ of the (?:default ONNX|'[\w.]+') "
    r"operator set\."
    r"|No versioning maintained for experimental ops\."
)
_PLAIN = re.compile(r"(?!#|This version|No versioning)[^<#]*")
_DESCRIPTION = re.compile(r"<dd>((?:(?!</?d[tdl]>|####? ).)*)</dd>")
_TITLE = re.compile(r"#### ([A-Z][A-Za-z ]*[a-z])")
_FENCE = "```"


@dataclass
class MarkdownLines:
    """The lines, and what hurts facts: code and double entities, and code that lost its line ends."""

    lines: list[Line] = field(default_factory=list)
    escaped: list[Line] = field(default_factory=list)
    flattened: list[Line] = field(default_factory=list)


def split_markdown(lines: Sequence[Line]) -> MarkdownLines:
    """Every mark, every run of text and every line of code of a document, in order."""
    splitter = _Splitter()
    for line in lines:
        splitter.read(line)
    return splitter.found


class _Splitter:
    """Goes through the lines; knows in which section it is, and whether in code."""

    def __init__(self) -> None:
        self.found = MarkdownLines()
        self._title = ""
        self._fenced = False
        self._several = False
        self._next_fence = 0

    def read(self, line: Line) -> None:
        if self._fenced and _FENCE not in line.text:
            self._code(line)
            return
        text = line.text
        if not self._fenced:
            text = self._clean(line)
            if _PLAIN.fullmatch(text) and not (self._title == "Examples" and _FENCE in text):
                self.found.lines.append(Line(text, line.number, line.column))
                return
            described = _DESCRIPTION.fullmatch(text)
            if described:
                for each in ("<dd>", described[1], "</dd>"):
                    self.found.lines.append(Line(each, line.number, line.column))
                return
        self._split(Line(text, line.number, line.column))

    def _clean(self, line: Line) -> str:
        text = line.text.replace("\t", " ")
        if "&" not in text or not ENTITY.search(text):
            return text
        text = ENTITY.sub(lambda match: html.unescape(match[0]), text)
        if ENTITY.search(text):
            self.found.escaped.append(line)
            text = ENTITY.sub(lambda match: html.unescape(match[0]), text)
        return text

    def _split(self, line: Line) -> None:
        """The parts of a line that is more than text."""
        position = 0
        self._next_fence = -1
        self._several = self._fenced or len(_MARK.findall(line.text)) > 1
        while position < len(line.text):
            if self._fenced:
                end = self._fenced_part(line, position)
            elif self._title == "Examples" and line.text.startswith(_FENCE, position):
                self._fenced = True
                end = position + len(_FENCE)
                end += len("python") if line.text.startswith("python", end) else 0
                self._add(line, position, end)
            else:
                end = self._marked_part(line, position)
            while end < len(line.text) and line.text[end] in " \t":
                end += 1
            position = end

    def _marked_part(self, line: Line, position: int) -> int:
        """Add the mark that stands at a position, or the text before the next one; where that ends."""
        mark = _MARK.match(line.text, position)
        if mark is not None:
            if mark[0].startswith("#"):
                title = _TITLE.match(mark[0])
                self._title = title[1] if title else ""
            self._add(line, position, mark.end())
            return mark.end()
        following = _MARK.search(line.text, position)
        if position == 0 and line.text.startswith("#") and following is None:
            self._title = ""
        end = following.start() if following else len(line.text)
        if self._title == "Examples":
            if self._next_fence < position:
                found = line.text.find(_FENCE, position)
                self._next_fence = found if found >= 0 else len(line.text)
            end = min(end, self._next_fence)
        self._add(line, position, end)
        return end

    def _add(self, line: Line, start: int, end: int) -> None:
        column = line.column
        if column is None and self._several:
            column = 1
        column = None if column is None else column + start
        text = line.text[start:end]
        self.found.lines.append(Line(text.rstrip(), line.number, column))

    def _fenced_part(self, line: Line, position: int) -> int:
        """Code up to the end of its fence, or to the end of the line; where that ends."""
        end = line.text.find(_FENCE, position)
        code = line.text[position : end if end >= 0 else len(line.text)]
        column = (line.column or 1) + position
        if code.strip():
            joined = Line(code.rstrip(), line.number, column)
            self.found.flattened.append(joined)
            for statement in split_statements(joined):
                self._code(statement)
        if end < 0:
            return len(line.text)
        self._fenced = False
        self._add(line, end, end + len(_FENCE))
        return end + len(_FENCE)

    def _code(self, line: Line) -> None:
        text = line.text
        if "&" in text and ENTITY.search(text):
            self.found.escaped.append(line)
            text = ENTITY.sub(lambda match: html.unescape(match[0]), text)
        lead = len(text) - len(text.lstrip(" \t"))
        self.found.lines.append(Line(text[:lead].expandtabs(4) + text[lead:], line.number, line.column))
