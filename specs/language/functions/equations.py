"""Functions on equations of einsum."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from specs.language.functions.shapes import broadcast_shape


def einsum_fits(equation: str, shapes: Sequence[Sequence[int]]) -> bool:
    """Whether each letter stands for one extent, each term for its operand's axes; ellipses broadcast.

    ValueError where the equation is none for this number of operands.
    """
    extents: dict[str, int] = {}
    batches: list[list[int]] = []
    for term, shape in zip(einsum_terms(equation, len(shapes)), shapes, strict=False):
        before, dots, behind = term.partition("...")
        if len(shape) < len(before + behind) or (not dots and len(shape) > len(before)):
            return False
        middle = list(shape[len(before) : len(shape) - len(behind)])
        if dots:
            batches.append(middle)
        named = [*shape[: len(before)], *shape[len(shape) - len(behind) :]] if dots else list(shape)
        for letter, extent in zip(before + behind, named, strict=True):
            if extents.setdefault(letter, extent) != extent:
                return False
    if len({len(batch) for batch in batches}) > 1:
        return False
    return all(len({each for each in axis if each != 1}) <= 1 for axis in zip(*batches, strict=True))


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


_TERM = re.compile(r"[A-Za-z]*(?:\.\.\.)?[A-Za-z]*")


def einsum_terms(equation: str, operands: int) -> list[str]:
    """The term of each operand, and behind them the output's where the equation has one.

    A term has letters and at most one ellipsis; the output's letters are different from each other and occur
    in a term of the left side. Spaces count for nothing. ValueError where the equation is none of this kind,
    or is about another number of operands.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != operands:
        raise ValueError(f"{len(terms)} terms, not {operands}")
    for term in (*terms, right):
        if _TERM.fullmatch(term) is None:
            raise ValueError(f"{term!r} is no term")
    letters = [each for each in right if each != "."]
    if len(set(letters)) < len(letters) or not set(letters) <= set(left):
        raise ValueError(f"{right!r} names what the left side does not have, or names it twice")
    return [*terms, right] if arrow else terms


def is_einsum(equation: str, operands: int) -> bool:
    """Whether an equation is about this number of operands, and its terms are well formed."""
    try:
        einsum_terms(equation, operands)
    except ValueError:
        return False
    return True
