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

from conformance.suite.distributions import Distributed, numbers_of
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor

_PARAMETERS: dict[str, tuple[int, int]] = {
    "uniform": (2, 2),
    "normal": (2, 2),
    "bernoulli": (1, 1 << 20),
    "categorical": (1, 1 << 20),
}
"""How many parameters a family has, at least and at most."""
_GREATEST_RATE = 0.01
_DISTRIBUTION = frozenset({"family", "parameters", "false_alarm"})
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
        wanted = ", ".join("?" if extent is None else str(extent) for extent in self.shape)
        return None if fits else f"output {self.output} is {list(got.shape)} instead of [{wanted}]"


@dataclass(frozen=True)
class InRange:
    """Every element lies between `low` and `high`, without an end that is open; NaN lies nowhere.

    Of a `whole` one every element is an integer.
    """

    output: str
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    whole: bool = False

    def violation(self, got: Tensor) -> str | None:
        values = numbers_of(got)
        if values is None:
            return f"output {self.output} is {got.element_type}, which has no range"
        above = values > self.low if self.low_open else values >= self.low
        below = values < self.high if self.high_open else values <= self.high
        outside = ~(above & below)
        if self.whole and not outside.any() and (broken := values != np.floor(values)).any():
            return f"{np.count_nonzero(broken)} of {values.size} elements of {self.output} are no integers"
        if not outside.any():
            return None
        ends = f"{'(' if self.low_open else '['}{self.low:g}, {self.high:g}{')' if self.high_open else ']'}"
        first = float(values[outside][0])
        count = f"{np.count_nonzero(outside)} of {values.size} elements"
        return f"{count} of {self.output} lie outside {ends}: {first:g}"


@dataclass(frozen=True)
class SameAgain:
    """A second run, of the model loaded anew, answers the same bits: a seed is given."""


@dataclass(frozen=True)
class Masked:
    """An output is 0 where another one, its mask, is false; NaN as well, as zero times infinity is.

    With `exactly` it is 0 nowhere else.
    """

    output: str
    mask: str
    exactly: bool

    def violation(self, got: Tensor, mask: Tensor) -> str | None:
        values, kept = numbers_of(got), numbers_of(mask)
        if values is None or kept is None or values.size != kept.size:
            return f"output {self.mask} is {list(mask.shape)}, which is no mask of {self.output}"
        left = (kept == 0) & (values != 0) & ~np.isnan(values)
        lost = (kept != 0) & (values == 0) if self.exactly else np.zeros_like(left)
        for wrong, what in ((left, "not 0 where their mask is false"), (lost, "0 where their mask is true")):
            if wrong.any():
                return f"{np.count_nonzero(wrong)} of {values.size} elements of {self.output} are {what}"
        return None


OfOutput = HasType | HasShape | InRange | Distributed
Property = OfOutput | Masked | SameAgain
Properties = tuple[Property, ...]


def is_random(properties: Sequence[Property]) -> bool:
    """Whether right answers of two runs may differ."""
    return any(isinstance(each, Distributed | SameAgain) for each in properties)


def runs_twice(properties: Sequence[Property]) -> bool:
    """Whether a case is run again: then its answer holds the outputs of both runs, one behind the other."""
    return any(isinstance(each, SameAgain) for each in properties)


def describe_property(found: Property) -> dict[str, Any]:
    """A property as plain JSON, with numbers as floats, as they are read again, and infinities as texts."""
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
            whole = {"whole": True} if found.whole else {}
            return {"kind": "range", "output": found.output, **ends, **opens, **whole}
        case Distributed():
            return {
                "kind": "distribution",
                "output": found.output,
                "family": found.family,
                "parameters": list(map(float, found.parameters)),
                "false_alarm": float(found.false_alarm),
                **({"rows": found.rows} if found.rows > 1 else {}),
                **({"resolution": float(found.resolution)} if found.resolution else {}),
            }
        case Masked():
            return {"kind": "masked", "output": found.output, "mask": found.mask, "exactly": found.exactly}


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
                if not known and all(
                    extent is None or (type(extent) is int and extent >= 0) for extent in shape
                ):
                    return HasShape(output, shape)
            case "range":
                ends = {name: _number(known.pop(name)) for name in ("low", "high")}
                opens = [known.pop(name) for name in ("low_open", "high_open")]
                opens.append(known.pop("whole", False))
                if not known and all(isinstance(each, bool) for each in opens):
                    return InRange(output, ends["low"], ends["high"], *opens)
            case "distribution" if _DISTRIBUTION <= set(known) <= _DISTRIBUTION | {"rows", "resolution"}:
                return _read_distribution(output, known)
            case "masked" if set(known) == {"mask", "exactly"}:
                if isinstance(known["mask"], str) and isinstance(known["exactly"], bool):
                    return Masked(output, known["mask"], known["exactly"])
    except (KeyError, TypeError) as error:
        raise _no_property(said, f"what its kind has ({error})") from error
    raise _no_property(said, "type, shape, range, distribution, masked or same_again, with its keys alone")


def _read_distribution(output: str, known: Mapping[str, Any]) -> Distributed:
    family, rate = known["family"], known["false_alarm"]
    least, most = _PARAMETERS[family]
    parameters = tuple(known["parameters"])
    if not least <= len(parameters) <= most or not all(map(_is_finite, parameters)):
        raise _no_property(known, f"{least} to {most} finite parameters")
    if not _is_finite(rate) or not 0 < rate <= _GREATEST_RATE:
        raise _no_property(known, f"a rate of false alarms above 0, and at most {_GREATEST_RATE}")
    rows, resolution = known.get("rows", 1), known.get("resolution", 0.0)
    if type(rows) is not int or not 0 < rows <= len(parameters) or len(parameters) % rows:
        raise _no_property(known, "rows of equally many parameters")
    if not _is_finite(resolution) or not 0 <= resolution < 1:
        raise _no_property(known, "a resolution from 0 and below 1")
    numbers = tuple(float(parameter) for parameter in parameters)
    each = len(numbers) // rows
    for row in range(rows):
        _check_parameters(known, family, numbers[row * each : (row + 1) * each])
    if family in ("bernoulli", "uniform", "normal") and rows > 1:
        raise _no_property(known, "one row of that family")
    return Distributed(output, family, numbers, float(rate), rows, float(resolution))


def _check_parameters(known: Mapping[str, Any], family: str, numbers: Sequence[float]) -> None:
    """Raise UserError where numbers are no parameters of a family."""
    chances = family in ("bernoulli", "categorical")
    if (chances and not all(0 <= number <= 1 for number in numbers)) or (
        family == "categorical" and abs(math.fsum(numbers) - 1) > _SUM
    ):
        raise _no_property(known, "probabilities; of all categories together 1")
    if (family == "normal" and numbers[1] < 0) or (family == "uniform" and numbers[0] > numbers[1]):
        raise _no_property(known, "no negative deviation, and ends in order")


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _number(value: Any) -> float:
    if value in ("Infinity", "-Infinity"):
        return math.inf if value == "Infinity" else -math.inf
    if not _is_finite(value):
        raise TypeError(f"{str(value)[:40]} is no number")
    return float(value)


def _said(value: float) -> float | str:
    return float(value) if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _no_property(said: Any, expected: str) -> UserError:
    return UserError("not a demand on an output", got=ascii(said)[:200], expected=expected)
