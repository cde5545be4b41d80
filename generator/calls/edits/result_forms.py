"""Forms that a result comes in instead of its own: another element type, a list of one, nothing at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conformance.judging.responses import ReturnedOther
from conformance.suite.values import decode_floats
from generator.calls.edits.value_changes import held_narrower, narrowings
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode

Restored = Tensor | ReturnedOther
Restate = Callable[[Tensor, Restored], Restored | None]
"""What an answer would be in the form that is expected; None where it has not the other one."""

_OF, _IN = "result of type ", "result in "
LIST_OF_ONE = "result as a list of one"
MORE_AXES = "result with axes of length 1"
NOTHING = "nothing for no elements"
LIST = "result as list"
NARROWED = tuple(f"result {key}" for key in narrowings())
"""The right result held in a narrower type on the way."""


def result_form(key: str) -> tuple[str, Restate] | None:
    """A form by its key, with what is said of it.

    `result in T`: of elements that are right once they are brought into their own type; `result of type T`:
    of the type alone, whatever the elements are. None where the key is of no form.
    """
    if key == LIST_OF_ONE:
        return "a list of one for a scalar", _without_axis
    if key == MORE_AXES:
        return "axes of length 1 more", _without_axes
    if key == LIST:
        return "a list in place of a tensor", _listed
    if key in NARROWED:
        return f"{key.removeprefix('result ')}", _narrowed(key.removeprefix("result "))
    if key == NOTHING:
        return "nothing in place of a tensor without elements", _empty
    for start, restate in ((_OF, _type_alone), (_IN, _converted)):
        name = key.removeprefix(start)
        if name != key and name in ELEMENT_TYPES:
            whatever = ", whatever its elements" if start == _OF else ""
            return f"{name} for its element type{whatever}", restate(ELEMENT_TYPES[name])
    return None


def _without_axis(expected: Tensor, got: Restored) -> Restored | None:
    if not isinstance(got, Tensor) or expected.shape != () or got.shape != (1,):
        return None
    return Tensor(got.element_type, got.array.reshape(()))


def _without_axes(expected: Tensor, got: Restored) -> Restored | None:
    if not isinstance(got, Tensor) or len(got.shape) <= len(expected.shape):
        return None
    longer = [[extent for extent in shape if extent != 1] for shape in (got.shape, expected.shape)]
    return Tensor(got.element_type, got.array.reshape(expected.shape)) if longer[0] == longer[1] else None


def _empty(expected: Tensor, got: Restored) -> Restored | None:
    return expected if isinstance(got, ReturnedOther) and expected.array.size == 0 else None


def _listed(expected: Tensor, got: Restored) -> Restored | None:
    return expected if isinstance(got, ReturnedOther) and got.kind == "list" else None


def _narrowed(key: str) -> Restate:
    def restate(expected: Tensor, got: Restored) -> Restored | None:
        held = held_narrower(key, expected)
        alike = held is not None and held != expected and isinstance(got, Tensor) and got == held
        return expected if alike else None

    return restate


def _type_alone(kind: ElementType) -> Restate:
    def restate(expected: Tensor, got: Restored) -> Restored | None:
        other = isinstance(got, Tensor) and got.element_type is kind and expected.element_type is not kind
        return expected if other else None

    return restate


def _converted(kind: ElementType) -> Restate:
    def restate(expected: Tensor, got: Restored) -> Restored | None:
        wanted = expected.element_type
        if not isinstance(got, Tensor) or got.element_type is not kind or wanted is kind:
            return None
        return _brought_into(wanted, got)

    return restate


def _brought_into(wanted: ElementType, got: Tensor) -> Tensor | None:
    kind = got.element_type
    plain = [dtype.is_float or dtype.is_integer or dtype.kind == "bool" for dtype in (kind, wanted)]
    if not all(plain):
        return None
    values = decode_floats(kind, got.array) if kind.is_float else got.array
    with np.errstate(over="ignore", invalid="ignore"):
        if wanted.is_float and np.dtype(wanted.storage).kind != "f":
            numbers = np.asarray(values, dtype=np.float64).reshape(-1).tolist()
            return Tensor(wanted, np.asarray(encode(wanted, numbers)).reshape(got.shape))
        return Tensor(wanted, np.asarray(values).astype(wanted.storage))
