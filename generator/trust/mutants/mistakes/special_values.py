"""NaN, infinities, negative zeros and subnormal numbers that are lost on the way in, or on the way out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from conformance.judging.responses import Answered, Response
from generator.asking.calls import Call
from generator.asking.tensor_edits import is_any, with_inputs, with_outputs
from generator.trust.mutants.mistake import Mistake
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import bits_of, decode, encode, largest, layout_of, smallest_normal, storage_of
from reference.numbers.powers_of_two import holds_powers_alone
from specs.model.spec import Spec

Bits = NDArray[np.uint64]


@dataclass(frozen=True)
class _Loss:
    """What becomes of some numbers, of their bits; `accepted_by` are the readings that leave it open."""

    word: str
    text: str
    lose: Callable[[ElementType, Bits], Bits]
    accepted_by: tuple[str, ...] = ()
    known_at_entry: bool = False
    """Whether a change of the inputs does it already, by which failures are explained."""


def mistakes(_spec: Spec) -> Iterator[Mistake]:
    for loss in _LOSSES:
        if not loss.known_at_entry:
            yield _at_entry(loss)
        yield _at_exit(loss)


def _at_entry(loss: _Loss) -> Mistake:
    def taken(spec: Spec, call: Call) -> Call | None:
        return with_inputs(spec, call, lambda each: _lost(each, loss), is_any)

    return Mistake(f"inputs {loss.word}", f"{loss.text} in the inputs", taken, accepted_by=loss.accepted_by)


def _at_exit(loss: _Loss) -> Mistake:
    def made(spec: Spec, call: Call, answer: Answered) -> Response | None:
        return with_outputs(spec, call, answer, lambda each: _lost(each, loss), is_any)

    text = f"{loss.text} in the outputs"
    return Mistake(f"outputs {loss.word}", text, made=made, accepted_by=loss.accepted_by)


def _lost(given: Tensor, loss: _Loss) -> Tensor | None:
    kind = given.element_type.component
    if kind.layout is None or holds_powers_alone(kind) or not given.array.size:
        return None
    flat = np.ascontiguousarray(given.array).reshape(-1).view(kind.storage)
    bits = bits_of(flat)
    lost = loss.lose(kind, bits)
    if (lost == bits).all():
        return None
    array = storage_of(kind, lost).view(given.element_type.storage).reshape(given.shape)
    return Tensor(given.element_type, array)


def _special(kind: ElementType, bits: Bits) -> NDArray[np.float64]:
    return decode(kind, storage_of(kind, bits)).special


def _pattern(kind: ElementType, number: Fraction | float) -> np.uint64:
    return np.uint64(bits_of(encode(kind, [number]))[0])


def _nan_to_zero(kind: ElementType, bits: Bits) -> Bits:
    return np.where(np.isnan(_special(kind, bits)), np.uint64(0), bits)


def _infinity_to_greatest(kind: ElementType, bits: Bits) -> Bits:
    special, top = _special(kind, bits), largest(layout_of(kind))
    bits = np.where(special == np.inf, _pattern(kind, top), bits)
    return np.where(special == -np.inf, _pattern(kind, -top), bits)


def _infinity_to_nan(kind: ElementType, bits: Bits) -> Bits:
    if kind.layout is None or kind.layout.nan == "none":
        return bits
    return np.where(np.isinf(_special(kind, bits)), _pattern(kind, float("nan")), bits)


def _no_negative_zero(kind: ElementType, bits: Bits) -> Bits:
    if kind.layout is None or kind.layout.nan == "negative_zero":
        return bits
    return np.where(bits == np.uint64(1 << (kind.bits - 1)), np.uint64(0), bits)


def _no_subnormals(kind: ElementType, bits: Bits) -> Bits:
    sign = np.uint64(1 << (kind.bits - 1))
    size, least = bits & (sign - np.uint64(1)), _pattern(kind, smallest_normal(layout_of(kind)))
    tiny = (size > 0) & (size < least)
    signed = kind.layout is not None and kind.layout.nan != "negative_zero"
    return np.where(tiny, bits & sign if signed else np.uint64(0), bits)


_LOSSES = (
    _Loss("NaN as zero", "NaN becomes 0", _nan_to_zero),
    _Loss("infinity as greatest", "infinities become the greatest finite numbers", _infinity_to_greatest),
    _Loss("infinity as NaN", "infinities become NaN", _infinity_to_nan),
    _Loss(
        "negative zero as zero",
        "negative zeros become positive",
        _no_negative_zero,
        ("negative_zeros", "zero_sign"),
        known_at_entry=True,
    ),
    _Loss("subnormals as zero", "subnormal numbers become zeros", _no_subnormals, ("subnormals",), True),
)
