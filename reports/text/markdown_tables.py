"""What documents of Markdown are made of: tables, lists under headings, and a greatest size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opcert.vocabulary.harmless import for_markdown

LIMIT = 1024 * 1024
"""Bytes that the summary of a CI step may have."""


def table(rows: Sequence[Sequence[str]], under: Sequence[str] = ()) -> list[str]:
    """Lines of a table whose cells are Markdown; the first row is its heading, the first column words.

    `under` are the marks of the columns, where others than the first hold words, too.
    """
    head, *rest = rows
    under = under or ["---", *("---:" for _ in head[1:])]
    return [f"| {' | '.join(each)} |" for each in (head, under, *rest)]


def bullets(told: Iterable[str], longest: int = 400) -> str:
    """A list of texts, which are no Markdown yet."""
    return "\n".join(f"- {for_markdown(text, longest)}" for text in told)


def headed_list(heading: str, told: Sequence[str]) -> Iterator[str]:
    """The blocks of a heading and the list of texts below it; none where there are no texts."""
    if told:
        yield f"## {heading}"
        yield bullets(told)


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
