"""Errors on their way through a whole model, where chains would give up: bounds that are finite, not tight.

`generator.models.chains.pushing` says what a chain may give, with integers and bits told apart. A whole model
goes on behind nodes of which it says nothing: here an error of what is given becomes one of what comes out,
by how much a node can make of it at most. Where no rule is known, any value is allowed from there on. Bounds
are doubled once, for programs that put nodes together and round in other places.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import ExpectedOutput
from generator.asking.answered_outputs import asked_answers
from generator.asking.expectations import expectation_of
from generator.asking.given_inputs import arguments_of, output_names
from generator.asking.questions import settled_options
from generator.models.chains.carrying import is_exact
from generator.models.chains.chains import Link
from generator.models.chains.node_answers import (
    SUMS,
    answers,
    call_of_node,
    rules_and_reference,
    sizes_of_sum,
)
from generator.models.chains.spreading import along, with_alternatives
from generator.models.check.learned_bounds import learned_worlds
from opcert.vocabulary.tensors import Tensor
from reference.numbers.working import unit_roundoff

Floats = NDArray[np.float64]
_FUSED = 8
"""Roundings more that a term may meet where nodes are put together: its scale, its bias, their products."""
_DOUBLED = 2.0
_DOUBLINGS = 10
_PARTS = 1 << _DOUBLINGS
SLOPES: Mapping[str, float] = {
    "Abs": 1.0, "Clip": 1.0, "Cos": 1.0, "Erf": 1.13, "Gelu": 1.2, "HardSwish": 1.5, "Identity": 1.0,
    "Mish": 1.1, "Neg": 1.0, "Relu": 1.0, "Sigmoid": 0.25, "Sin": 1.0, "Softplus": 1.0, "Softsign": 1.0,
    "Tanh": 1.0,
}  # fmt: skip
"""How much farther apart two results may be than what they are of."""
_NO_FARTHER = frozenset(
    {"AveragePool", "GlobalAveragePool", "GlobalMaxPool", "MaxPool", "ReduceMax", "ReduceMean", "ReduceMin"}
)
"""Operators of which no element moves by more than the one that moves most."""
_TWO = frozenset({"Add", "Div", "Mul", "Sub"})


@dataclass(frozen=True, eq=False)
class _Step:
    """A node, what it is given, and an output of it."""

    link: Link
    taken: Sequence[ExpectedOutput | None]
    output: ExpectedOutput

    @property
    def first(self) -> ExpectedOutput:
        """What it is given first."""
        value = self.taken[0]
        assert value is not None
        return value

    @property
    def error(self) -> Floats:
        """By how much that may be off."""
        return with_alternatives(self.first)

    @property
    def sizes(self) -> Floats:
        """The absolute values of what comes out."""
        return np.abs(self.output.expected.array.astype(np.float64))

    def stated(self, name: str, default: float) -> float:
        """A number that the node says, or its default."""
        found = self.link.attributes.get(name)
        return default if found is None else float(found.numbers[0])


def loosely(link: Link, taken: Sequence[ExpectedOutput | None]) -> Sequence[tuple[ExpectedOutput, ...]]:
    """What a node gives for inputs with errors, each output with an error that may be infinite.

    Once for each outcome of what is open, where their bounds are known; else once. Raises Unpushed where the
    node's reference says nothing of them.
    """
    tensors = [None if output is None else output.expected for output in taken]
    found, *others = expectations = answers(link, tensors)
    learned = learned_worlds(link, taken, expectations)
    if learned is not None:
        return learned
    unknown = bool(others)
    outputs = []
    for output in found.outputs:
        shape = output.expected.shape
        further = None if unknown else _further(link, taken, output)
        own = with_alternatives(output)
        allowed = np.full(shape, np.inf) if further is None else np.broadcast_to(further + own, shape)
        allowed = np.where(np.isnan(allowed), np.inf, allowed) * _DOUBLED
        # An error of 0 leaves nothing open but the sign of a zero.
        outputs.append(replace(output, allowed=np.nextafter(allowed, np.inf), alternatives=()))
    return [tuple(outputs)]


def regardless(link: Link, taken: Sequence[ExpectedOutput | None]) -> tuple[ExpectedOutput, ...]:
    """What a node's reference computes whatever its document forbids; any value is right.

    Raises what the reference raises, where it computes nothing.
    """
    spec, reference = rules_and_reference(link.operator)
    call = call_of_node(link, [None if output is None else output.expected for output in taken])
    asked = output_names(spec, call)[: len(link.outputs)]
    found = reference.evaluate(
        {name: attribute.value for name, attribute in call.attributes.items()},
        arguments_of(spec, call),
        settled_options(spec, reference),
        outputs=len(asked),
    )
    outputs = expectation_of(asked_answers(spec, call, asked, found)).outputs
    return tuple(map(unbounded, outputs))


def _further(link: Link, taken: Sequence[ExpectedOutput | None], output: ExpectedOutput) -> Floats | None:
    """What the errors of its inputs make of an output; None where no rule says it."""
    name = link.operator.name
    values = [each for each in taken if each is not None]
    rest_exact = all(map(is_exact, values[1:]))
    with np.errstate(all="ignore"):
        if name in SUMS:
            return _of_sum(link, taken, output)
        if name in _TWO:
            return _of_two(name, values[0], values[1], output)
        if not rest_exact:
            return None
        first = with_alternatives(values[0])
        if name in SLOPES:
            return SLOPES[name] * first
        if name in _NO_FARTHER:
            return np.asarray(first.max(initial=0.0))
        rule = _RULES.get(name)
        return None if rule is None else rule(_Step(link, taken, output))


def _of_sum(link: Link, taken: Sequence[ExpectedOutput | None], output: ExpectedOutput) -> Floats | None:
    """Sums of products: what they come to with all factors as large as they may be, less what they are."""
    layout = output.expected.element_type.layout
    if layout is None:
        return None
    sizes = [None if each is None else np.abs(each.expected.array.astype(np.float64)) for each in taken]
    errors = [None if each is None else with_alternatives(each) for each in taken]
    if any(array is not None and not np.isfinite(array).all() for array in errors):
        return None
    grown: list[Tensor | None] = []
    for each, size, error in zip(taken, sizes, errors, strict=True):
        if each is None or size is None or error is None:
            grown.append(None)
            continue
        kind = each.expected.element_type
        grown.append(
            Tensor(kind, np.nextafter((size + error).astype(kind.storage), np.inf, dtype=kind.storage))
        )
    before = sizes_of_sum(link, [None if each is None else each.expected for each in taken])
    behind = sizes_of_sum(link, grown)
    own = with_alternatives(output)
    share = float((own[before > 0] / before[before > 0]).max(initial=0.0))
    roundings = share + (_FUSED + 4) * unit_roundoff(layout)
    found: Floats = np.maximum(behind - before, 0.0) + roundings * behind
    return found


def _of_two(name: str, one: ExpectedOutput, other: ExpectedOutput, output: ExpectedOutput) -> Floats | None:
    layout = output.expected.element_type.layout
    roundings = 0.0 if layout is None else _FUSED * unit_roundoff(layout)
    left, right = (np.abs(each.expected.array.astype(np.float64)) for each in (one, other))
    first, second = with_alternatives(one), with_alternatives(other)
    if name in ("Add", "Sub"):
        return np.asarray(first + second + roundings * (left + right))
    if name == "Mul":
        product = left * second + right * first + first * second
        return np.asarray(product + roundings * (left + first) * (right + second))
    if layout is None:
        return None
    quotient = (first + left / right * second) / (right - second)
    return np.asarray(np.where(right > second, quotient + roundings * left / right, np.inf))


def _growth(errors: Floats) -> Floats:
    """By what part of itself an exponential grows at most where its exponent does by so much.

    That is exp(x) - 1, by x + x^2 of a 1024th of it, which is no less, doubled ten times.
    """
    found = errors / _PARTS
    found = found + found * found
    for _ in range(_DOUBLINGS):
        found = found * (2 + found)
    return found


def _softmax(at: _Step) -> Floats | None:
    return np.asarray(at.sizes * _growth(np.asarray(2 * float(at.error.max(initial=0.0)))))


def _exp(at: _Step) -> Floats | None:
    return at.sizes * _growth(at.error)


def _sqrt(at: _Step) -> Floats | None:
    numbers = at.first.expected.array.astype(np.float64)
    return np.sqrt(numbers) - np.sqrt(np.maximum(numbers - at.error, 0.0))


def _leaky(at: _Step) -> Floats | None:
    return max(1.0, abs(at.stated("alpha", 1.0))) * at.error


def _sum_of(at: _Step) -> Floats | None:
    count = max(1, at.error.size // max(1, at.output.expected.array.size))
    return np.asarray(at.error.max(initial=0.0) * count)


def _normalized(at: _Step) -> Floats | None:
    """BatchNormalization by stated mean and variance, folded into weights or not."""
    given = [output for output in at.taken if output is not None]
    layout = at.output.expected.element_type.layout
    if len(at.taken) != 5 or len(given) != 5 or at.stated("training_mode", 0) or layout is None:
        return None
    value, scale, bias, mean, variance = given
    epsilon = at.stated("epsilon", 1e-5)
    errors = at.error
    across = (slice(None), *([np.newaxis] * (errors.ndim - 2)))
    numbers = [output.expected.array.astype(np.float64)[across] for output in (scale, bias, mean, variance)]
    factor = np.abs(numbers[0]) / np.sqrt(numbers[3] + epsilon)
    sizes = factor * (np.abs(value.expected.array.astype(np.float64)) + np.abs(numbers[2])) + np.abs(
        numbers[1]
    )
    return np.asarray(2 * factor * errors + 2 * _FUSED * unit_roundoff(layout) * sizes)


def _dequantized(at: _Step) -> Floats | None:
    scale = at.taken[1]
    assert scale is not None
    if scale.expected.array.ndim > 1:
        return None
    steps = np.abs(along(at.link, scale.expected, at.first.expected.array.ndim))
    return np.asarray(at.error * steps)


def _quantized(at: _Step) -> Floats | None:
    """Steps that the numbers within the error may be away."""
    value, scale = at.first, at.taken[1]
    assert scale is not None
    kind, layout = at.output.expected.element_type, value.expected.element_type.layout
    if not kind.is_integer or layout is None or scale.expected.array.ndim > 1:
        return None
    zero = at.taken[2] if len(at.taken) > 2 else None
    rank = value.expected.array.ndim
    steps = along(at.link, scale.expected, rank)
    shift = 0 if zero is None else along(at.link, zero.expected, rank)
    quotient = value.expected.array.astype(np.float64) / steps
    errors = at.error / np.abs(steps)
    errors = errors + 4 * unit_roundoff(layout) * (np.abs(quotient) + errors)
    low, high = kind.integer_range
    least, most = (np.clip(np.rint(end) + shift, low, high) for end in (quotient - errors, quotient + errors))
    middle = at.output.expected.array.astype(np.float64)
    # Halved, because it is doubled: what is a step away stays one.
    apart = np.maximum(most - middle, middle - least) / _DOUBLED
    # That an integer is one of its type bounds nothing.
    return np.where((least == low) & (most == high), np.inf, apart)


def _cast(at: _Step) -> Floats | None:
    layout = at.output.expected.element_type.layout
    if layout is None or not at.first.expected.element_type.is_float:
        return None
    return np.asarray(at.error + 2 * unit_roundoff(layout) * at.sizes)


def _scaled(at: _Step) -> Floats | None:
    """Scaler: the error of each feature grows by its scale."""
    scale = at.link.attributes.get("scale")
    return at.error if scale is None else at.error * np.abs(np.array(scale.numbers, np.float32))


def _by_norm(at: _Step) -> Floats | None:
    """Normalizer: what is divided moves, and the norm by no more than all that it is of."""
    numbers, norm = at.first.expected.array.astype(np.float64), at.link.attributes.get("norm")
    size = {
        "L1": np.abs(numbers).sum(axis=-1, keepdims=True),  # may differ: a bound with room
        "L2": np.sqrt((numbers**2).sum(axis=-1, keepdims=True)),  # may differ: a bound with room
    }.get("MAX" if norm is None else str(norm.value))
    if size is None:
        return None
    moved = at.error.sum(axis=-1, keepdims=True)  # may differ: a bound with room
    return np.where(size > moved, (at.error + at.sizes * moved) / (size - moved), np.inf)


_RULES: Mapping[str, Callable[[_Step], Floats | None]] = {
    "BatchNormalization": _normalized,
    "Cast": _cast,
    "DequantizeLinear": _dequantized,
    "Exp": _exp,
    "LeakyRelu": _leaky,
    "Normalizer": _by_norm,
    "QuantizeLinear": _quantized,
    "ReduceSum": _sum_of,
    "Scaler": _scaled,
    "Softmax": _softmax,
    "Sqrt": _sqrt,
}


def is_bounded(value: ExpectedOutput) -> NDArray[np.bool_]:
    """Of which elements a bound is known."""
    if value.allowed is None:
        return np.ones(value.expected.shape, dtype=np.bool_)
    return np.isfinite(value.allowed)


def unbounded(value: ExpectedOutput) -> ExpectedOutput:
    """The same of which any value is right."""
    return replace(value, allowed=np.full(value.expected.shape, math.inf), alternatives=())
