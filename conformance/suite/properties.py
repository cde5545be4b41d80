"""Demands on outputs that no expected values can state: type, shape, range, distribution, equality of runs.

Each is held against one answer; a runtime that is right meets all but a distribution always, and that but for
the stated rate of false alarms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.judging.distributions import Distributed, numbers_of
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor

_PARAMETERS: dict[str, tuple[int, int]] = {
    "uniform": (2, 2),
    "normal": (2, 2),
    "bernoulli": (1, 1 << 20),
    "categorical": (1, 1 << 12),
}
"""How many parameters a family has, at least and at most."""
_GREATEST_RATE = 0.01
_SUM = 1e-9
"""How far probabilities together may be from 1."""


@dataclass(frozen=True)
class HasType:
    """An output has this element type."""

    output: str
    element_type: ElementType

    def violation(self, got: Tensor) -> str | None:
        if got.element_type is self.element_type:
            return None
        return f"output {self.output} is {got.element_type} instead of {self.element_type}"


@dataclass(frozen=True)
class HasShape:
    """An output has this shape; None stands for any extent."""

    output: str
    shape: tuple[int | None, ...]

    def violation(self, got: Tensor) -> str | None:
        fits = len(got.shape) == len(self.shape) and all(
            wanted in (None, extent) for wanted, extent in zip(self.shape, got.shape, strict=True)
        )
        wanted = ", ".join("?" if each is None else str(each) for each in self.shape)
        return None if fits else f"output {self.output} is {list(got.shape)} instead of [{wanted}]"


@dataclass(frozen=True)
class InRange:
    """Every element lies between `low` and `high`, without an end that is open; NaN lies nowhere."""

    output: str
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False

    def violation(self, got: Tensor) -> str | None:
        values = numbers_of(got)
        if values is None:
            return f"output {self.output} is {got.element_type}, which has no range"
        above = values > self.low if self.low_open else values >= self.low
        below = values < self.high if self.high_open else values <= self.high
        outside = ~(above & below)
        if not outside.any():
            return None
        ends = f"{'(' if self.low_open else '['}{self.low:g}, {self.high:g}{')' if self.high_open else ']'}"
        first = float(values[outside][0])
        count = f"{np.count_nonzero(outside)} of {values.size} elements"
        return f"{count} of {self.output} lie outside {ends}: {first:g}"


@dataclass(frozen=True)
class SameAgain:
    """A second run, of the model loaded anew, answers the same bits: a seed is given."""


OfOutput = HasType | HasShape | InRange | Distributed
Property = OfOutput | SameAgain
Properties = tuple[Property, ...]


def is_random(properties: Sequence[Property]) -> bool:
    """Whether right answers of two runs may differ."""
    return any(isinstance(each, Distributed | SameAgain) for each in properties)


def runs_twice(properties: Sequence[Property]) -> bool:
    """Whether a case is run again: then its answer holds the outputs of both runs, one behind the other."""
    return any(isinstance(each, SameAgain) for each in properties)


def describe_property(found: Property) -> dict[str, Any]:
    """A property as plain JSON, with infinities as texts."""
    match found:
        case SameAgain():
            return {"kind": "same_again"}
        case HasType():
            return {"kind": "type", "output": found.output, "element_type": found.element_type.name}
        case HasShape():
            return {"kind": "shape", "output": found.output, "shape": list(found.shape)}
        case InRange():
            ends = {"low": _said(found.low), "high": _said(found.high)}
            opens = {"low_open": found.low_open, "high_open": found.high_open}
            return {"kind": "range", "output": found.output, **ends, **opens}
        case Distributed():
            return {
                "kind": "distribution",
                "output": found.output,
                "family": found.family,
                "parameters": list(found.parameters),
                "false_alarm": found.false_alarm,
            }


def read_property(said: Any) -> Property:
    """The inverse of `describe_property`; raises UserError where the text of anybody says none."""
    if not isinstance(said, dict) or not isinstance(said.get("output", ""), str):
        raise _no_property(said, "an object with the name of an output")
    known = {name: each for name, each in said.items() if name not in ("kind", "output")}
    output = said.get("output", "")
    try:
        match said.get("kind"):
            case "same_again" if not known:
                return SameAgain()
            case "type":
                return HasType(output, ELEMENT_TYPES[known.pop("element_type")])
            case "shape":
                shape = tuple(known.pop("shape"))
                if not known and all(each is None or (type(each) is int and each >= 0) for each in shape):
                    return HasShape(output, shape)
            case "range":
                ends = {name: _number(known.pop(name)) for name in ("low", "high")}
                opens = [known.pop(name) for name in ("low_open", "high_open")]
                if not known and all(isinstance(each, bool) for each in opens):
                    return InRange(output, ends["low"], ends["high"], *opens)
            case "distribution" if set(known) == {"family", "parameters", "false_alarm"}:
                return _read_distribution(output, known)
    except (KeyError, TypeError) as error:
        raise _no_property(said, f"what its kind has ({error})") from error
    raise _no_property(said, "type, shape, range, distribution or same_again, with its keys alone")


def _read_distribution(output: str, known: Mapping[str, Any]) -> Distributed:
    family, rate = known["family"], known["false_alarm"]
    least, most = _PARAMETERS[family]
    parameters = tuple(known["parameters"])
    if not least <= len(parameters) <= most or not all(map(_is_finite, parameters)):
        raise _no_property(known, f"{least} to {most} finite parameters")
    if not _is_finite(rate) or not 0 < rate <= _GREATEST_RATE:
        raise _no_property(known, f"a rate of false alarms above 0, and at most {_GREATEST_RATE}")
    numbers = tuple(float(each) for each in parameters)
    chances = family in ("bernoulli", "categorical")
    if (chances and not all(0 <= each <= 1 for each in numbers)) or (
        family == "categorical" and abs(math.fsum(numbers) - 1) > _SUM
    ):
        raise _no_property(known, "probabilities; of all categories together 1")
    if (family == "normal" and numbers[1] < 0) or (family == "uniform" and numbers[0] > numbers[1]):
        raise _no_property(known, "no negative deviation, and ends in order")
    return Distributed(output, family, numbers, float(rate))


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _number(value: Any) -> float:
    if value in ("Infinity", "-Infinity"):
        return math.inf if value == "Infinity" else -math.inf
    if not _is_finite(value):
        raise TypeError(f"{str(value)[:40]} is no number")
    return float(value)


def _said(value: float) -> float | str:
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _no_property(said: Any, expected: str) -> UserError:
    return UserError("not a demand on an output", got=ascii(said)[:200], expected=expected)
