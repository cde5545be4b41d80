"""Pages that lost line ends: restored from the markup, every line that was cut with its column."""

from __future__ import annotations

import re
from collections.abc import Sequence

from specs.documents.text.documents import Line
from specs.documents.worked.flattened import split_statements

_TITLES = ("Version", "Summary", "Attributes", "Inputs", "Outputs", "Type Constraints", "Examples")
_CUTS = re.compile(
    # An item may have the name of a section: it stands behind an asterisk.
    "|".join(
        rf"(?<!\*) (?=\*\*{each}\*\*(?: |$))"
        rf"|(?<! \* \*\*{each}\*\*)(?<!^\* \*\*{each}\*\*)(?<=\*\*{each}\*\*) "
        rf"|(?<=\*\* )(?=\*\*{each}\*\*(?: |$))"
        for each in _TITLES
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
        for each in split_statements(line.after(3)):
            column = None if each.column is None else each.column - 4
            restored.append(Line(f"    {each.text}", each.number, column))
    return restored
