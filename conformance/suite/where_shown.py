"""Where a failure of a case shows: on data and options that users have, or on such as few ever meet.

Ordinary data are numbers of which no program has an excuse to make anything but the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import Case, ExpectedOutput
from conformance.suite.values import decode_floats
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor

LEAST, GREATEST = math.ldexp(1.0, -20), math.ldexp(1.0, 20)
"""The magnitudes of ordinary numbers other than zero."""


def is_ordinary(given: Tensor) -> bool:
    """Whether all numbers of a tensor of floats are zero or between 2^-20 and 2^20 in magnitude.

    Tensors of other types are ordinary whatever they hold.
    """
    kind = given.element_type
    if kind.kind == "complex":
        return all(_ordinary(kind.component, part) for part in (given.array.real, given.array.imag))
    return not kind.is_float or _ordinary(kind, given.array)


def has_ordinary_inputs(case: Case) -> bool:
    """Whether all that a case gives is ordinary."""
    return all(given is None or is_ordinary(given) for _, given in case.inputs)


def _ordinary(kind: ElementType, array: NDArray[Any]) -> bool:
    sizes = np.abs(decode_floats(kind, array))
    return bool(((sizes == 0) | ((sizes >= LEAST) & (sizes <= GREATEST))).all())


def made_no_number(wanted: ExpectedOutput, got: Tensor) -> int:
    """How many elements of an output of floats are NaN or an infinity where a number is expected.

    Where anything is allowed none is.
    """
    expected, kind = wanted.expected, wanted.expected.element_type
    if not kind.is_float or expected.shape != got.shape or got.element_type is not kind:
        return 0
    lost = ~np.isfinite(decode_floats(kind, got.array))
    if not lost.any():
        return 0
    told = np.isfinite(decode_floats(kind, expected.array))
    if wanted.allowed is not None:
        told &= np.isfinite(wanted.allowed)
    return int(np.count_nonzero(lost & told))


Shows = Literal["ordinary", "wide", "special", "extremes", "invalid"]
WORDS: Mapping[Shows, str] = {
    "ordinary": "on ordinary data",
    "wide": "on wide integers or uncommon types alone",
    "special": "on special values alone",
    "extremes": "on nothing or extremes alone",
    "invalid": "on invalid calls alone",
}
"""In words, those that most users meet first."""
ORDER: tuple[Shows, ...] = tuple(WORDS)
COMMON = frozenset({"float", "float16", "int8", "uint8", "int32", "int64", "bool"})
"""Element types that models in use are made of."""
WIDE = 1 << 24
"""Integers from here on are wide: float does not hold them all."""
LEAST_RESULT = math.ldexp(1.0, -40)
"""A smaller result is no ordinary one, nor is a greater one than its reciprocal: 0 stands for it as well."""
_ENDS = frozenset(sign * (number + less) for sign in (1, -1) for number in (2**63, 2**31) for less in (-1, 0))
_WRITTEN: Mapping[str, tuple[str, ...]] = {"Slice": ("starts", "ends")}
"""Inputs in which exporters write the greatest integers, for as far as there is anything."""
_OF_TRAINING = "training_mode"


def shows_of(case: Case, worst: Mapping[str, Any] | None = None) -> Shows:
    """Where a failing case shows: of all that it gives, asks and expects, what fewest users meet.

    `worst` is the worst wrong element of its row: what it is and what it should be counts as well.
    """
    if case.demand != "answer":
        return "invalid"
    found: list[Shows] = ["ordinary", *_of_call(case), *_of_expected(case)]
    if worst is not None:
        found += _of_worst(worst.get("expected"), worst.get("got"))
    return max(found, key=ORDER.index)


def first_shown(found: Iterable[Shows | None]) -> Shows | None:
    """Of several cases what most users meet; None where nothing is known of any."""
    return min((shows for shows in found if shows is not None), key=ORDER.index, default=None)


def _of_call(case: Case) -> Iterator[Shows]:
    for name, tensor in case.inputs:
        if tensor is not None:
            yield from _of_tensor(tensor, name in _WRITTEN.get(case.operator.name, ()))
    for name, attribute in case.attributes.items():
        if name == _OF_TRAINING and attribute.value:
            yield "extremes"
        yield from _of_attribute(attribute)
    wanted = [bool(name) for name in case.output_names]
    if not all(wanted):
        # Exporters name every output up to the last one that they want.
        yield "extremes"


def _of_expected(case: Case) -> Iterator[Shows]:
    outputs = case.expectations[0].outputs if case.expectations else ()
    for output in outputs:
        tensor = output.expected
        if tensor.element_type.name not in COMMON:
            yield "wide"
        if tensor.element_type.is_float and not np.isfinite(_numbers(tensor)).all():
            yield "special"
        if tensor.element_type.is_integer and tensor.array.size and _widest(tensor) >= WIDE:
            yield "wide"


def _of_tensor(tensor: Tensor, has_ends: bool) -> Iterator[Shows]:
    kind = tensor.element_type
    if kind.name not in COMMON:
        yield "wide"
    if not tensor.array.size:
        yield "extremes"
    elif kind.is_float:
        numbers = _numbers(tensor)
        if not np.isfinite(numbers).all() or (np.signbit(numbers) & (numbers == 0)).any():
            yield "special"
        elif not is_ordinary(tensor):
            yield "extremes"
    elif kind.is_integer and _widest(tensor) >= WIDE:
        wide = [int(number) for number in tensor.array.reshape(-1) if abs(int(number)) >= WIDE]
        if not has_ends or not _ENDS.issuperset(wide):
            yield "wide"


def _of_attribute(attribute: Attribute) -> Iterator[Shows]:
    value = attribute.value
    if isinstance(value, Tensor):
        yield from _of_tensor(value, has_ends=False)
        return
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, int) and abs(part) >= WIDE:
            yield "wide"
        elif isinstance(part, float):
            if not math.isfinite(part):
                yield "special"
            elif part and not np.finfo(np.float32).tiny <= abs(part) < WIDE:
                yield "extremes"


def _numbers(tensor: Tensor) -> Any:
    return decode_floats(tensor.element_type, tensor.array)


def _widest(tensor: Tensor) -> int:
    array = tensor.array
    return max(abs(int(array.max())), abs(int(array.min())))


def _of_worst(expected: object, got: object) -> Iterator[Shows]:
    """Of a zero of the other sign, and of a result so small or great that few computations come to it."""
    try:
        wanted, came = float(str(expected)), float(str(got))
    except ValueError:
        return  # a complex number, or none
    if wanted == came == 0 or not math.isfinite(wanted):
        yield "special"
    elif abs(wanted or came) < LEAST_RESULT or abs(wanted) >= 1 / LEAST_RESULT:
        yield "extremes"
