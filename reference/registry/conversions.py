"""What a call gives becomes what a reference function takes, and what it returns becomes answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from types import UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.answers.number_answers import answer_of
from reference.numbers.number_arrays import Numbers
from reference.numbers.working import Working, rounded_up
from reference.readings.choices import Choice
from reference.shared.movement import moved
from reference.shared.single_precision import held_float, special_floats

PRECISION = "accumulation_type"
"""The reading that holds from the first operation on, though a later one asks for it: the one that is given
what is rounded on its way. Where none asks, it is as if the first option were chosen."""
ARITHMETIC_READINGS: Mapping[str, tuple[str, ...]] = {
    PRECISION: ("float32", "input"),
    "integer_overflow": ("wrap", "saturate"),
    "subnormals": ("kept", "flushed"),
}
"""What no document says of computing with numbers; every function of Numbers has these readings."""
MOVEMENT_READINGS: Mapping[str, tuple[str, ...]] = {
    "negative_zeros": ("kept", "lost"),
    "subnormals": ("kept", "flushed"),
}
"""What none says of moving elements; every function that returns tensors has these."""


def readings_of(hints: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The readings that a function has by its annotations: for Numbers, and for a Tensor that it returns."""
    found: dict[str, tuple[str, ...]] = {}
    if any(Numbers in _parts(each) for each in hints.values()):
        found |= ARITHMETIC_READINGS
    if Tensor in _parts(hints.get("return")):
        found |= MOVEMENT_READINGS
    return found


def convert_arguments(
    hints: Mapping[str, Any], given: Mapping[str, Any], options: Mapping[str, Choice[str]]
) -> dict[str, Any]:
    """Tensors, tuples of them and attributes as the parameters are annotated.

    `Numbers` compute in the arithmetic of the first of them; `int` and `tuple[int, ...]` take integer
    tensors as well as attributes, since what was an attribute became an input; a `Fraction` is what a float
    attribute holds: the nearest float32. Where a parameter may be `Numbers | Tensor`, strings and complex
    numbers stay tensors, as does anything else. An answer in the place of a tensor is a number with the error
    that is allowed to it. Raises OutsideDomain where a `Fraction` would be NaN or infinite.
    """
    kinds = {name: _parts(hints.get(name)) for name in given}
    tensors = [
        each
        for name, value in given.items()
        if Numbers in kinds[name]
        for each in _tensors(value)
        if not _stays(each, kinds[name])
    ]
    working = None
    if tensors:
        working = Working(tensors[0].element_type, options["subnormals"], options[PRECISION])
    return {name: _converted(value, kinds[name], working) for name, value in given.items()}


def answers_of(result: Any, options: Mapping[str, Choice[str]]) -> tuple[Answer, ...]:
    """What a function returned, an output at a time: Numbers are rounded, tensors are elements moved."""
    results = result if isinstance(result, tuple) else (result,)
    return tuple(_answer(each, options) for each in results)


def _answer(result: Any, options: Mapping[str, Choice[str]]) -> Answer:
    # A function that returns what it is not annotated with has none of these: whoever asked tells it.
    if isinstance(result, Numbers) and "integer_overflow" in options:
        return answer_of(result, options["integer_overflow"])
    if isinstance(result, Tensor) and "negative_zeros" in options:
        return moved(result, options["subnormals"], options["negative_zeros"])
    found: Answer = result
    if isinstance(found, Answer) and found.parts:
        return replace(found, parts=tuple(_answer(each, options) for each in found.parts))
    return found


@lru_cache(maxsize=1024)
def _parts(hint: Any) -> tuple[Any, ...]:
    """The types that an annotation is made of: those of a union, and `tuple` with what a tuple holds."""
    if get_origin(hint) in (Union, UnionType):
        return tuple(part for each in get_args(hint) for part in _parts(each))
    if get_origin(hint) is tuple:
        return (tuple, *(part for each in get_args(hint) for part in _parts(each)))
    return (hint,)


def _stays(value: Tensor, kinds: tuple[Any, ...]) -> bool:
    """Whether it is left a tensor, having no numbers to compute with."""
    return Tensor in kinds and value.element_type.kind in ("string", "complex")


def _tensors(value: Any) -> list[Tensor]:
    listed = value if isinstance(value, tuple) else (value,)
    plain = [each.expected if isinstance(each, Answer) else each for each in listed]
    return [each for each in plain if isinstance(each, Tensor)]


def _converted(value: Any, kinds: tuple[Any, ...], working: Working | None) -> Any:
    if Numbers in kinds:
        if isinstance(value, tuple):
            return tuple(_converted(each, kinds, working) for each in value)
        if isinstance(value, Tensor) and not _stays(value, kinds):
            return Numbers.of(value, working)
        if isinstance(value, Answer) and not _stays(value.expected, kinds):
            found = Numbers.of(value.expected, working)
            return (
                found
                if value.allowed is None
                else replace(found, error=rounded_up(found.error + value.allowed))
            )
        if isinstance(value, float) and not np.isfinite(value):
            return special_floats(value, working)
        return value
    if Fraction in kinds and isinstance(value, float):
        return held_float(value)
    if int in kinds and isinstance(value, Tensor):
        whole = tuple(int(each) for each in value.array.reshape(-1).tolist())
        return whole if tuple in kinds else whole[0]
    return value
