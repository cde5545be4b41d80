"""Einsum: products of elements of tensors, summed over the indices that the output does not have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import chain
from math import prod
from operator import mul

import numpy as np

from reference.answers import Answer
from reference.answers.number_answers import answer_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.numbers.working import MARGIN, rounded_up
from reference.registry import reference_operator
from reference.shared.movement import Overflow
from reference.sums.summation import sum_of_products, total
from specs.language.functions.equations import einsum_terms

Index = str | int
"""A letter of an equation, or an axis of its ellipsis, counted from the last one: -1."""


@reference_operator("ai.onnx::Einsum")
def einstein_sum(
    Inputs: tuple[Numbers, ...],
    *,
    equation: str,
    integer_overflow: Overflow,
) -> Answer:
    """output[term] = sum(input1[term1] * input2[term2] * ...) over all other indices. Source: its Summary."""
    terms = einsum_terms(equation, len(Inputs))
    given = [_indices(term, each.ndim) for term, each in zip(terms, Inputs, strict=False)]
    output = _output(terms[len(Inputs) :], given)
    order = [*output, *dict.fromkeys(each for each in chain(*given) if each not in output)]
    operands = [_spread(each, indices, order) for each, indices in zip(Inputs, given, strict=True)]
    summed = range(len(output), len(order))
    if len(operands) == 1:
        found = total(operands[0], tuple(summed)) if summed else operands[0]
    else:
        found = sum_of_products(_products(operands[:-1], operands), operands[-1], len(summed))
    if found.is_integer and len(operands) > 2 and integer_overflow.ask() == "saturate":
        # Between two operands there is a tensor, in which something may have been saturated.
        low, high = found.working.element_type.integer_range
        found = opened(found, np.broadcast_to(_greatest(operands) > min(-low or high, high), found.shape))
    return answer_of(found, integer_overflow)


def _indices(term: str, rank: int) -> list[Index]:
    before, dots, behind = term.partition("...")
    inside = rank - len(before) - len(behind) if dots else 0
    return [*before, *range(-inside, 0), *behind]


def _output(written: Sequence[str], given: Sequence[Sequence[Index]]) -> list[Index]:
    """The indices of the output: as written, or those of the ellipsis and the letters that occur once."""
    every = list(chain(*given))
    broadcast = sorted({each for each in every if isinstance(each, int)})
    if written:
        before, dots, behind = written[0].partition("...")
        return [*before, *(broadcast if dots else ()), *behind]
    letters = [each for each in every if isinstance(each, str)]
    return [*broadcast, *sorted(each for each in letters if letters.count(each) == 1)]


def _spread(operand: Numbers, indices: Sequence[Index], order: Sequence[Index]) -> Numbers:
    """An operand with an axis for each index in order, of length 1 for those that it lacks.

    Of axes with one index between them the diagonal is taken.
    """
    left = list(indices)
    for index in dict.fromkeys(indices):
        while left.count(index) > 1:
            first = left.index(index)
            second = left.index(index, first + 1)
            operand = operand.arranged(partial(np.diagonal, axis1=first, axis2=second))
            left = [*(each for at, each in enumerate(left) if at not in (first, second)), index]
    turned = operand.transposed(tuple(left.index(each) for each in order if each in left))
    extents = iter(turned.shape)
    return turned.reshape(tuple(next(extents) if each in left else 1 for each in order))


def _products(factors: Sequence[Numbers], operands: Sequence[Numbers]) -> Numbers:
    """The products of all operands but the last; of three and more, in whatever order they are taken."""
    found = reduce(mul, factors)
    working = found.working
    if len(operands) < 3 or not working.is_float:
        return found
    shape = np.broadcast_shapes(*(each.shape for each in operands))
    # Another product may be none of the type, though this one is.
    working.note_chain(np.ones((), np.bool_))
    most = _greatest(operands)
    lost = np.broadcast_to(most >= working.greatest * (1 - MARGIN), shape)
    # In another order another product is rounded: each of them by a unit of its size at most.
    roundings = len(operands) - 2
    charge = roundings * working.unit * (1 + 2 * roundings * working.unit) * found.magnitude
    error = np.where(lost, found.error, rounded_up(found.error + charge + working.least * most))
    found = found.broadcast(shape)
    return replace(found, error=np.broadcast_to(error, shape), lost=found.lost | lost)


def _greatest(operands: Sequence[Numbers]) -> float:
    """What no product of elements of some of the operands, and no sum of such products, is beyond."""
    shape = np.broadcast_shapes(*(each.shape for each in operands))
    sizes = (max(1.0, float(each.magnitude.max(initial=0.0))) for each in operands)
    with np.errstate(over="ignore"):
        return float(rounded_up(np.asarray(prod(sizes) * max(prod(shape), 1))))
