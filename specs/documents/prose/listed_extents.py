"""Lists of extents as documents print them: `(N, C, H, W)`, `[N x C x D1 ... Dn]`, `[batch][frames][2]`."""

from __future__ import annotations

import re
from collections.abc import Iterator

LIST = (
    r"(?P<list>\((?:[^()]|\([^()]*\)){0,200}\)"
    r"|(?:\[(?:[^\[\]]|\[[^\[\]]*\]){0,200}\](?:\.\.\.)?)+)"
)
"""A pattern of a list in brackets of either kind, or of several brackets in a row."""
_MOST = 12
_LONGEST = 60


def read_extents(text: str) -> tuple[str, ...] | None:
    """The extents of a list in brackets; None where it is none, or an example of numbers alone."""
    if text.startswith("[") and "][" in text:
        items = re.findall(r"\[([^\[\]]*)\]|(\.\.\.)", text)
        extents = tuple((one or other).strip() for one, other in items)
    else:
        extents = tuple(_split(text[1:-1]))
    if not extents or len(extents) > _MOST or not any(re.search(r"[A-Za-z_*]", each) for each in extents):
        return None
    if any(len(each) > _LONGEST or re.search(r"[A-Za-z]\w* +[A-Za-z]\w*", each) for each in extents):
        return None
    return extents


def _split(text: str) -> Iterator[str]:
    """The parts between commas or `x`; a run of dots is a part of its own, unless it stands in a product."""
    text = re.sub(r"[`$\\]", "", text)
    if " x " not in text:
        text = re.sub(r"(?<=\w)\s*(\.\.\.)", r", \1", text)
        text = re.sub(r"(\.\.\.)\s*(?=\w)", r"\1, ", text)
    for part in _between_commas(text):
        for each in re.split(r"\s+x\s+", part.strip()):
            for piece in re.split(r"(?<=[^*+\s])\s+(?=\.\.\.)|(?<=\.\.\.)\s+(?=[^*+\s])", each):
                if piece.strip():
                    yield piece.strip()


def _between_commas(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for position, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]
