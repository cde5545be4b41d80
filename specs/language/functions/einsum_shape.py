"""The shape of an einsum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from specs.language.functions.broadcast_shape import broadcast_shape
from specs.language.functions.einsum_terms import einsum_terms

_MORE = "..."


def einsum_shape(equation: str, shapes: Sequence[Sequence[int]]) -> list[int]:
    """The extents of the output's term; without one, of the letters that occur once, in their order.

    The axes that an ellipsis stands for broadcast each other, and come first where no output is named.
    ValueError where the equation is none, or does not fit the shapes.
    """
    terms = einsum_terms(equation, len(shapes))
    extents: dict[str, int] = {}
    batch: list[int] = []
    for term, shape in zip(terms, shapes, strict=False):
        front, more, back = term.partition(_MORE)
        count = len(shape) - len(front) - len(back)
        if count < 0 or (count and not more):
            raise ValueError(f"{term!r} is no term of {list(shape)}")
        batch = broadcast_shape(batch, shape[len(front) : len(front) + count])
        own = [*shape[: len(front)], *shape[len(front) + count :]]
        extents.update(zip(front + back, own, strict=True))
    if len(terms) > len(shapes):
        front, more, back = terms[-1].partition(_MORE)
        return [
            *(extents[each] for each in front),
            *(batch if more else ()),
            *(extents[each] for each in back),
        ]
    counts = Counter(letter for term in terms for letter in term if letter != ".")
    return [*batch, *(extents[each] for each in sorted(counts) if counts[each] == 1)]
