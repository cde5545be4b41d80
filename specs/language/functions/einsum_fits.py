"""Whether shapes are those that an einsum equation speaks of."""

from __future__ import annotations

from collections.abc import Sequence

from specs.language.functions.einsum_terms import einsum_terms


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
    if len({len(each) for each in batches}) > 1:
        return False
    return all(len({each for each in axis if each != 1}) <= 1 for axis in zip(*batches, strict=True))
