"""Errors on their way from DequantizeLinear to QuantizeLinear: which integers a right program may give.

A program may run the nodes as they are written, or compute with integers and scale the sum once. Both lie
within a bound of the number that the nodes come to; where that bound holds a tie, the integers of both of its
sides are accepted, and everywhere else one alone. docs/why-believe.md derives it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import Alternative, ExpectedOutput
from generator.models.chains.carrying import MOVING, NEVER_FARTHER, is_exact
from generator.models.chains.chains import Link
from generator.models.chains.node_answers import SUMS, Unpushed, answers, sizes_of_sum
from opcert.vocabulary.tensors import Tensor
from reference.numbers.working import unit_roundoff

Floats = NDArray[np.float64]
Makers = Mapping[str, Link]
AVERAGES = frozenset({"AveragePool", "GlobalAveragePool", "ReduceMean", "Resize"})
"""Operators that add up elements with weights that are not negative."""
PAIRS = frozenset({"Add", "Mul", "Sub"})
_OTHERS = frozenset({"MaxPool", "Sigmoid", "Softmax"})
COMPUTING = SUMS | AVERAGES | PAIRS | _OTHERS
"""Operators that an error of what was dequantised goes through."""
_FUSED = 6
"""Roundings of a term of integers that are scaled once: the bias's scale, the sum as a number, the product of
the scales, the reciprocal of the last, its product, and the product with the sum."""
_QUOTIENT = 3
"""Those of a quotient by the reciprocal, with one to spare for their product."""
_SLACK = 1 + math.ldexp(1, -16)
"""What inputs that are off by some roundings add to an error that was derived for those that are not."""


def from_integers(link: Link, makers: Makers) -> bool:
    """Whether whatever is computed of what a node is given comes of DequantizeLinear, by nodes known here."""
    found = [makers[name] for name in link.inputs if name in makers]
    through = COMPUTING | MOVING | NEVER_FARTHER
    return bool(found) and all(
        each.operator.name == "DequantizeLinear"
        or (each.operator.name in through and from_integers(each, makers))
        for each in found
    )


def scales_softmax(link: Link, makers: Makers) -> bool:
    """Whether a node multiplies what Softmax gives, whose quotient a program may multiply beforehand."""
    found = [makers[name].operator.name for name in link.inputs if name in makers]
    return link.operator.name == "Mul" and found == ["Softmax"]


def spread(link: Link, taken: Sequence[ExpectedOutput | None], output: ExpectedOutput) -> ExpectedOutput:
    """What a node gives, with the errors of what it is given and of integers that are scaled once.

    Raises Unpushed where no bound is known: of elements that are open, of weights that may be negative.
    """
    values = [each for each in taken if each is not None]
    if any(value.alternatives for value in values):
        raise Unpushed(f"what {link.operator.name} is given is one of several values")
    layout = output.expected.element_type.layout
    if layout is None:
        raise Unpushed(f"{link.operator.name} of numbers without a significand")
    own = with_alternatives(output) * _SLACK
    name = link.operator.name
    center = np.abs(output.expected.array.astype(np.float64))
    if name == "Sigmoid":
        further = _errors(values[0]) / 4
    elif name == "Softmax":
        # exp(x) - 1 is below x + x * x up to 1.
        apart = 2 * float(_errors(values[0]).max(initial=0.0))
        further = center * (apart + apart * apart) if apart <= 1 else np.full(center.shape, np.inf)
    elif name == "MaxPool":
        further = center * _relative(values[0])
    elif name in PAIRS:
        further = _of_two(name, *values) + _FUSED * unit_roundoff(layout) * _sizes(link, taken)
    else:
        shares = math.prod(1 + _relative(value) for value in values if _is_real(value)) - 1
        further = (shares + _FUSED * unit_roundoff(layout)) * _sizes(link, taken)
    allowed = np.nextafter(own + further * _SLACK, np.inf)
    if not np.isfinite(allowed).all():
        raise Unpushed(f"no bound is known of {name} here")
    return replace(output, allowed=allowed, alternatives=())


def scaled_once(link: Link, values: Mapping[str, ExpectedOutput], makers: Makers) -> ExpectedOutput:
    """What QuantizeLinear is given, with the errors of integers that are scaled once.

    Where all is exact between two nodes and the last scale is no power of two, the factor of a fused program
    is rounded nevertheless, for each operand of a sum on its own.
    """
    value = values[link.inputs[0]]
    if not is_exact(value) or _of_two_alone(values[link.inputs[1]].expected.array.astype(np.float64)).all():
        return value
    errors = [
        spread(
            each, [values[name] if name else None for name in each.inputs], values[each.outputs[0]]
        ).allowed
        for each in _computed(link.inputs[:1], makers)
        if from_integers(each, makers)
    ]
    if not errors:
        return value
    most = max(float(error.max(initial=0.0)) for error in errors if error is not None)
    return replace(value, allowed=np.full(value.expected.shape, most))


def _computed(names: Sequence[str], makers: Makers) -> Iterator[Link]:
    """The nodes that computed values, whatever moved them afterwards."""
    for maker in (makers[name] for name in names if name in makers):
        if maker.operator.name in COMPUTING:
            yield maker
        elif maker.operator.name in MOVING | NEVER_FARTHER:
            yield from _computed(maker.inputs, makers)


def _of_two_alone(scales: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of them are powers of two."""
    found: NDArray[np.bool_] = np.frexp(np.asarray(scales))[0] == 0.5
    return found


def quantised(link: Link, taken: Sequence[ExpectedOutput | None], output: ExpectedOutput) -> ExpectedOutput:
    """What QuantizeLinear gives: for each element the integers of the numbers within its error.

    Raises Unpushed where more than two would be accepted, or scales are those of blocks.
    """
    value, scale = taken[0], taken[1]
    if value is None or scale is None or not all(each is None or is_exact(each) for each in taken[1:]):
        raise Unpushed("the scale of QuantizeLinear is not known exactly")
    layout = value.expected.element_type.layout
    kind = output.expected.element_type
    known = value.expected.element_type.name == scale.expected.element_type.name == "float"
    if layout is None or not known or kind.layout is not None or scale.expected.array.ndim > 1:
        if is_exact(value):
            return output
        raise Unpushed(
            "QuantizeLinear in blocks, of other numbers than float32, or to such with a significand"
        )
    if value.alternatives:
        raise Unpushed("what QuantizeLinear is given is one of several values")
    if is_exact(value) and _of_two_alone(scale.expected.array.astype(np.float64)).all():
        return output
    if not np.isfinite(value.expected.array).all():
        raise Unpushed("no bound is known of what QuantizeLinear makes of infinities")
    steps = along(link, scale.expected, value.expected.array.ndim)
    zero = taken[2] if len(taken) > 2 else None
    shift = 0 if zero is None else along(link, zero.expected, value.expected.array.ndim)
    numbers = value.expected.array.astype(np.float64)
    quotient = numbers / steps
    apart = _errors(value) / steps * _SLACK
    exact = _of_two_alone(steps)
    rounding = _QUOTIENT * unit_roundoff(layout)
    apart = np.where(exact, apart, apart + rounding * (np.abs(quotient) + apart))
    low, high = kind.integer_range
    least, most = (np.clip(np.rint(end) + shift, low, high) for end in (quotient - apart, quotient + apart))
    if not np.all(most - least <= 1):
        raise Unpushed("an error of more than half a step goes into QuantizeLinear")
    return replace(output, allowed=None, alternatives=_either(output.expected, least, most))


def _either(expected: Tensor, least: Floats, most: Floats) -> tuple[Alternative, ...]:
    middle = expected.array.astype(np.float64).reshape(-1)
    ends = [np.broadcast_to(array, expected.shape).reshape(-1) for array in (least, most)]
    if not np.all((ends[0] <= middle) & (middle <= ends[1])):
        raise Unpushed("QuantizeLinear gives another integer than those of the numbers within the error")
    return tuple(
        Alternative(int(place), (int(ends[0][place] if ends[1][place] == middle[place] else ends[1][place]),))
        for place in np.flatnonzero(ends[0] < ends[1])
    )


def along(link: Link, value: Tensor, rank: int) -> NDArray[Any]:
    """A scale or zero point as it broadcasts: one for all, or one for each place along the axis."""
    array = value.array.astype(np.float64)
    if array.size == 1:
        return array.reshape(())
    stated = link.attributes.get("axis")
    axis = 1 if stated is None else int(stated.numbers[0])
    return array.reshape([-1 if place == axis % rank else 1 for place in range(rank)])


def _of_two(name: str, one: ExpectedOutput, other: ExpectedOutput) -> Floats:
    """What the errors of two numbers make of their sum, difference or product."""
    errors = _errors(one), _errors(other)
    if name != "Mul":
        found: Floats = errors[0] + errors[1]
        return found
    numbers = [np.abs(output.expected.array.astype(np.float64)) for output in (one, other)]
    product: Floats = numbers[0] * errors[1] + numbers[1] * errors[0] + errors[0] * errors[1]
    return product


def _sizes(link: Link, taken: Sequence[ExpectedOutput | None]) -> Floats:
    """What a sum comes to where every term of it counts as its absolute value."""
    tensors = [None if output is None else output.expected for output in taken]
    name = link.operator.name
    if name in SUMS:
        return sizes_of_sum(link, tensors)
    first, *rest = (np.abs(tensor.array.astype(np.float64)) for tensor in tensors if tensor is not None)
    if name in PAIRS:
        found: Floats = first * rest[0] if name == "Mul" else first + rest[0]
        return found
    mode = link.attributes.get("mode")
    if mode is not None and mode.value in ("cubic", b"cubic"):
        raise Unpushed("weights of Resize that may be negative")
    start = tensors[0]
    if start is None:
        raise Unpushed(f"{name} of nothing")
    magnitudes = Tensor(start.element_type, np.abs(start.array))
    return answers(link, [magnitudes, *tensors[1:]])[0].outputs[0].expected.array.astype(np.float64)


def _is_real(value: ExpectedOutput) -> bool:
    return value.expected.element_type.layout is not None


def _errors(value: ExpectedOutput) -> Floats:
    return np.zeros(value.expected.shape) if value.allowed is None else value.allowed


def with_alternatives(value: ExpectedOutput) -> Floats:
    """The error of each element, or how far another of its values is away."""
    errors = _errors(value).copy()
    flat, middle = errors.reshape(-1), value.expected.array.reshape(-1)
    for alternative in value.alternatives:
        apart = (abs(float(other) - float(middle[alternative.index])) for other in alternative.values)
        flat[alternative.index] = max(flat[alternative.index], *apart)
    return errors


def _relative(value: ExpectedOutput) -> float:
    """The greatest error of an element as a share of it; infinite where 0 has one."""
    errors = _errors(value)
    numbers = np.abs(value.expected.array.astype(np.float64))
    some = errors > 0
    with np.errstate(divide="ignore"):
        return float((errors[some] / numbers[some]).max(initial=0.0))
