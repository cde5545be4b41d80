"""Pages and code that lost line ends: restored from what is left, every line that was cut with its column."""

from __future__ import annotations

import re
from collections.abc import Sequence

from specs.documents.text.documents import Line

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
