"""Code that lost its line ends: split into statements again where the code alone tells."""

from __future__ import annotations

import re

from specs.documents.text.documents import Line

_STATEMENT = re.compile(r"(?:[A-Za-z_]\w*(?:\[[^\]=]*\])? = (?!=)|expect ?\(|import |from \w|for \w+ in )")


def split_statements(line: Line) -> list[Line]:
    """The statements of a line of code, one line each; the body of a `for` is indented.

    A comment ends where a statement follows: a guess, for the document does not say.
    """
    lines: list[Line] = []
    indent = ""
    for start, end, comment in _pieces(line.text):
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
        for each in re.split(r" (?=# )", text) if comment else [text]:
            lines.append(Line(indent + each, piece.number, piece.column))  # noqa: PERF401
    return lines


def _pieces(text: str) -> list[tuple[int, int, bool]]:
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
