"""Markdown of text that is not trusted: nothing in it becomes markup, and a document has a greatest size."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reports.text import one_line, shown

_MARKS = re.compile(r"([\\`*_\[\]()<>#|~&@$]|:(?=//))")


def plain(text: str, longest: int = 400) -> str:
    """The text as one line in which no character marks anything up, links or mentions."""
    return _MARKS.sub(r"\\\1", one_line(shown(text, 4 * longest), longest))


def code(text: str, longest: int = 400) -> str:
    """The text as code on one line, whatever backticks it holds."""
    flat = one_line(shown(text, 4 * longest), longest).replace("|", "\\|")
    longest_run = max((len(each) for each in re.findall("`+", flat)), default=0)
    fence = "`" * (longest_run + 1)
    space = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{space}{flat}{space}{fence}" if flat else ""


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table whose cells are Markdown; the first row is its heading, the first column words."""
    head, *rest = rows
    under = ["---", *("---:" for _ in head[1:])]
    return [f"| {' | '.join(each)} |" for each in (head, under, *rest)]


def within(blocks: Iterable[str], limit: int, what: str) -> str:
    """As many blocks as fit into `limit` bytes of UTF-8, then how many `what` were left out, if any were."""
    kept: list[str] = []
    size = 0
    left = 0
    room = limit - 200
    for each in blocks:
        length = len(each.encode("utf-8", "backslashreplace")) + 2
        if left or size + length > room:
            left += 1
            continue
        kept.append(each)
        size += length
    if left:
        kept.append(f"{left} more {what} left out here for want of room.")
    return "\n\n".join(kept) + "\n"
