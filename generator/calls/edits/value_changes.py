"""Changes of the elements themselves: narrower types on the way, special values that are lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.output_comparison import compare_output
from conformance.suite.cases import ExpectedOutput
from conformance.suite.values import decode_floats
from generator.asking.calls import Call
from generator.calls.edits.change import Change, Changed
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode
from specs.model.spec import Spec

Array = NDArray[Any]


@dataclass(frozen=True)
class _Narrowing:
    """Elements of type `wide` are held as `narrow`; `how` says what becomes of those that do not fit."""

    wide: str
    narrow: str
    how: str

    @property
    def key(self) -> str:
        return f"{self.wide} as {self.narrow}{f' {self.how}' if self.how else ''}"


_WORDS = {
    "": "",
    "saturated": " (its greatest number where it does not fit)",
    "wrapped": " (its low bits alone)",
}
_NARROWINGS = (
    _Narrowing("double", "float", ""),
    _Narrowing("double", "float", "saturated"),
    _Narrowing("double", "float16", ""),
    _Narrowing("double", "bfloat16", ""),
    _Narrowing("float", "float16", ""),
    _Narrowing("float", "float16", "saturated"),
    _Narrowing("float", "bfloat16", ""),
    _Narrowing("int64", "int32", "wrapped"),
    _Narrowing("int64", "int32", "saturated"),
    _Narrowing("uint64", "uint32", "wrapped"),
    _Narrowing("uint64", "uint32", "saturated"),
    _Narrowing("uint64", "int32", "wrapped"),
    _Narrowing("uint64", "int32", "saturated"),
    _Narrowing("uint32", "int32", "saturated"),
    _Narrowing("uint32", "int32", "wrapped"),
)
_THROUGH = (
    ("int32", "float"), ("uint32", "float"), ("int64", "float"), ("uint64", "float"),
    ("int64", "double"), ("uint64", "double"),
)  # fmt: skip

_TF32_BITS = 11
_IN_TF32 = f"rounded to {_TF32_BITS} bits (tf32), with sums in float"


def value_changes(spec: Spec) -> Iterator[Change]:
    """Every narrowing of the operator's elements; and signs of zero and subnormals lost, by input."""
    for narrowing in _NARROWINGS:
        yield _compute_narrower(narrowing)
    for wide, other in _THROUGH:
        yield _pass_through(wide, other)
    yield Change("elements float as tf32", f"float {_IN_TF32}", _in_tf32)
    text = f"the first two inputs {_IN_TF32}"
    yield Change("first two inputs as tf32", text, lambda spec, call: _in_tf32(spec, call, 2))
    main = spec.inputs[0].type if spec.inputs else None
    for parameter in spec.inputs:
        if parameter.type == main:
            for loss in _LOSSES:
                yield _lose(parameter.name, loss)
    yield from _in_single_precision()


def narrowings() -> Iterator[str]:
    """The keys of the ways in which elements are held narrower."""
    yield from (narrowing.key for narrowing in _NARROWINGS)


def held_narrower(key: str, given: Tensor) -> Tensor | None:
    """A tensor after its elements were held in a narrower type; None of one of another type."""
    by = next(narrowing for narrowing in _NARROWINGS if narrowing.key == key)
    wide, narrow = ELEMENT_TYPES[by.wide], ELEMENT_TYPES[by.narrow]
    if given.element_type is not wide:
        return None
    return _widened(Tensor(narrow, _narrowed(given.array, wide, narrow, by.how)), wide)


def _compute_narrower(by: _Narrowing) -> Change:
    plain = (f"elements {by.wide} as {by.narrow}",) if by.how else ()
    text = f"{by.wide} held as {by.narrow}{_WORDS[by.how]}"
    return Change(f"elements {by.key}", text, lambda spec, call: _held(spec, call, by), variant_of=plain)


def _held(spec: Spec, call: Call, by: _Narrowing) -> Changed | None:
    """The call in a narrower type; the runtime's output must fit into that type, and is judged in it."""
    wide, narrow = ELEMENT_TYPES[by.wide], ELEMENT_TYPES[by.narrow]

    def convert(given: Tensor) -> Tensor:
        return Tensor(narrow, _narrowed(given.array, wide, narrow, by.how))

    def narrow_output(given: Tensor) -> Tensor | None:
        if given.element_type is not wide:
            return given
        made = convert(given)
        lossless = compare_output(ExpectedOutput("widened", _widened(made, wide)), given).difference is None
        return made if lossless else None

    if _main_type(call) is not wide:
        return None
    main = {parameter.name for parameter in spec.inputs if parameter.type == spec.inputs[0].type}
    changed = call
    for name, given in call.inputs:
        if name in main and given is not None and given.element_type is wide:
            changed = changed.with_input(name, convert(given))
    return Changed(changed, narrow=narrow_output)


def _in_tf32(spec: Spec, call: Call, most: int | None = None) -> Changed | None:
    """Factors as some hardware multiplies them; a bias behind the first two is added as it is."""
    first = spec.inputs[0].type if spec.inputs else None
    main = {parameter.name for parameter in spec.inputs[:most] if parameter.type == first}
    changed = call
    for name, given in call.inputs:
        if name in main and given is not None and given.element_type.name == "float":
            parts, exponents = np.frexp(given.array)
            parts = np.ldexp(np.rint(np.ldexp(parts, _TF32_BITS)), -_TF32_BITS)
            with np.errstate(over="ignore"):
                changed = changed.with_input(name, Tensor(given.element_type, np.ldexp(parts, exponents)))
    return None if changed.inputs == call.inputs else Changed(changed)


def _main_type(call: Call) -> ElementType | None:
    first = call.first[1]
    return None if first is None else first.element_type


def _narrowed(array: Array, wide: ElementType, narrow: ElementType, how: str) -> Array:
    if narrow.is_integer:
        if how == "saturated":
            array = np.clip(array, *(np.array(end, array.dtype) for end in _range_within(wide, narrow)))
        return array.astype(narrow.storage)
    if narrow.name == "bfloat16":
        values = decode_floats(wide, array)
        return np.asarray(encode(narrow, values.reshape(-1).tolist())).reshape(array.shape)
    if how == "saturated":
        limit = np.finfo(np.dtype(narrow.storage)).max
        array = np.where(np.isnan(array), array, np.clip(array, -limit, limit))
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(narrow.storage)


def _range_within(wide: ElementType, narrow: ElementType) -> tuple[int, int]:
    low, high = narrow.integer_range
    least, greatest = wide.integer_range
    return max(low, least), min(high, greatest)


def _widened(given: Tensor, wide: ElementType) -> Tensor:
    if given.element_type.is_integer:
        return Tensor(wide, given.array.astype(wide.storage))
    values = decode_floats(given.element_type, given.array)
    with np.errstate(over="ignore", invalid="ignore"):
        return Tensor(wide, values.astype(wide.storage))


def _pass_through(wide: str, other: str) -> Change:
    text = f"{wide} rounded to {other} and back"
    return Change(f"elements {wide} through {other}", text, lambda _, call: _through(call, wide, other))


def _through(call: Call, wide: str, other: str) -> Changed | None:
    """Integers turned into floating-point numbers and back before anything is done with them."""
    kind, between = ELEMENT_TYPES[wide], np.dtype(ELEMENT_TYPES[other].storage)
    name, given = call.first
    if given is None or given.element_type is not kind:
        return None
    low, high = kind.integer_range
    rounded = [min(max(int(each), low), high) for each in given.array.astype(between).reshape(-1).tolist()]
    made = Tensor(kind, np.array(rounded, dtype=kind.storage).reshape(given.shape))
    return None if made == given else Changed(call.with_input(name, made))


def _in_single_precision() -> Iterator[Change]:
    """Changes of several element types at once, for classes of cases that have several."""
    specific = tuple(f"elements {narrowing.key}" for narrowing in _NARROWINGS)
    specific += tuple(f"elements {wide} through {other}" for wide, other in _THROUGH)
    for how in ("", "saturated"):
        doubles = _Narrowing("double", "float", how)

        def as_floats(spec: Spec, call: Call, doubles: _Narrowing = doubles) -> Changed | None:
            kind = _main_type(call)
            if kind is not None and kind.is_integer and kind.bits >= 32:
                return _through(call, kind.name, "float")
            return _held(spec, call, doubles)

        text = f"every element held as float{_WORDS[how]}"
        yield Change(f"elements as float {how}".strip(), text, as_floats, variant_of=specific)
        for integers, unsigned in (("wrapped", "int32"), ("wrapped", "uint32"), ("saturated", "uint32")):
            table = {
                "double": doubles,
                "int64": _Narrowing("int64", "int32", integers),
                "uint64": _Narrowing("uint64", unsigned, integers),
            }

            def in_32_bits(spec: Spec, call: Call, table: Mapping[str, _Narrowing] = table) -> Changed | None:
                kind = _main_type(call)
                by = None if kind is None else table.get(kind.name)
                return None if by is None else _held(spec, call, by)

            key = f"elements in 32 bits: double {how or 'rounded'}, int64 and uint64 {integers} ({unsigned})"
            text = "64-bit elements held in 32 bits"
            yield Change(key, text, in_32_bits, variant_of=specific)


def _real_parts(values: Array) -> Array:
    real = values.copy()
    real[1::2] = 0
    return real


def _positive_zeros(values: Array) -> Array:
    return np.where(values == 0, np.zeros((), values.dtype), values)


def _flushed(values: Array) -> Array:
    size = np.abs(values)
    zeros = np.copysign(np.zeros((), values.dtype), values)
    return np.where((size > 0) & (size < np.finfo(values.dtype).tiny), zeros, values)


@dataclass(frozen=True)
class _Loss:
    """What is lost of an input's numbers; `accepted_by` is the behaviour under which it may be."""

    word: str
    text: str
    lose: Callable[[Array], Array]
    accepted_by: str | None = None
    complex_only: bool = False


_LOSSES = (
    _Loss(
        "without the sign of zero",
        "the negative zeros of {} as positive ones",
        _positive_zeros,
        accepted_by="negative_zeros",
    ),
    _Loss("without subnormals", "the subnormal numbers of {} as zeros", _flushed, accepted_by="subnormals"),
    _Loss("without imaginary parts", "the imaginary parts of {} as zeros", _real_parts, complex_only=True),
)


def _lose(name: str, loss: _Loss) -> Change:
    def apply(_spec: Spec, call: Call) -> Changed | None:
        given = dict(call.inputs).get(name)
        if given is None or given.element_type.component.name not in ("float", "double", "float16"):
            return None
        if loss.complex_only and given.element_type.kind != "complex":
            return None
        parts = np.ascontiguousarray(given.array).reshape(-1).view(given.element_type.component.storage)
        array = np.ascontiguousarray(loss.lose(parts)).view(given.array.dtype).reshape(given.shape)
        made = Tensor(given.element_type, array)
        return None if made == given else Changed(call.with_input(name, made))

    key = f"input {name} {loss.word}"
    return Change(key, loss.text.format(name), apply, accepted_by=loss.accepted_by)
