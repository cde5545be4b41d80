"""Elements that are left out or stand elsewhere: the rest after whole vectors, the last one, other shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.responses import Answered, Response
from generator.asking.calls import Call
from generator.asking.tensor_edits import is_any, with_outputs
from generator.trust.mutants.mistake import Made, Mistake
from opcert.vocabulary.tensors import Tensor
from specs.model.spec import Spec

_LANES = (4, 16)
Change = Callable[[Tensor], NDArray[Any] | None]


def mistakes(_spec: Spec) -> Iterator[Mistake]:
    for lanes in _LANES:
        text = f"the elements after whole vectors of {lanes} not computed"
        yield Mistake(f"rest of {lanes}", text, made=_changed(partial(_without_rest, lanes)))
    yield Mistake("last", "the last element not computed", made=_changed(lambda each: _blank_from(each, -1)))
    yield Mistake("squeezed", "axes of length 1 left out", made=_changed(_squeezed))
    yield Mistake("column-major", "the elements in column-major order", made=_changed(_column_major))
    yield Mistake("scalar as vector", "a scalar as a vector of one element", made=_changed(_as_vector))


def _changed(change: Change) -> Made:
    def exchange(given: Tensor) -> Tensor | None:
        made = change(given)
        return None if made is None else Tensor(given.element_type, made)

    def made(spec: Spec, call: Call, answer: Answered) -> Response | None:
        return with_outputs(spec, call, answer, exchange, is_any)

    return made


def _without_rest(lanes: int, given: Tensor) -> NDArray[Any] | None:
    size = given.array.size
    return _blank_from(given, size - size % lanes) if size > lanes and size % lanes else None


def _blank_from(given: Tensor, place: int) -> NDArray[Any] | None:
    """The elements with nothing from a place on."""
    if not given.array.size:
        return None
    array = given.array.copy().reshape(-1)
    array[place:] = b"" if given.element_type.kind == "string" else 0
    return array.reshape(given.shape)


def _squeezed(given: Tensor) -> NDArray[Any] | None:
    return given.array.squeeze() if 1 in given.shape else None


def _column_major(given: Tensor) -> NDArray[Any] | None:
    return np.ascontiguousarray(given.array.T).reshape(given.shape) if given.array.ndim > 1 else None


def _as_vector(given: Tensor) -> NDArray[Any] | None:
    return given.array.reshape(1) if not given.shape else None
