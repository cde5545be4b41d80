"""A reference operator: what it takes, the questions that it leaves open, and how it is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np

from opcert.vocabulary.attributes import AttributeValue
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, OutsideDomain
from reference.numbers.number_arrays import Numbers
from reference.numbers.passing import opened
from reference.readings.choices import AsReading as AsReading
from reference.readings.choices import Choice
from reference.readings.choices import OutputCount as OutputCount
from reference.registry.conversions import PRECISION, answers_of, convert_arguments

COMPARED = frozenset({"Clip", "ThresholdedRelu"})
"""Operators that hold such an attribute against elements, and no more: an infinity bounds them as well."""


def open_beyond(operator: str, given: Mapping[str, Any], arguments: Mapping[str, Any], result: Any) -> Any:
    """What a reference returned; anything in its place where an attribute is beyond a narrow type's range.

    Attributes are float32. No document names the type in which they are used, and one that is infinite there
    makes infinities, NaN of an infinity times zero, and zeros of what is divided by it. Defaults are none.
    """
    if operator in COMPARED:
        return result
    working = next((each.working for each in _numbers(arguments.values()) if each.working.is_narrow), None)
    if working is None:
        return result
    # From halfway to the next power of two on the nearest number of the type is an infinity.
    unit = Fraction(1, 1 << working.own_layout.precision)
    first = working.range[1] * (2 - unit) / (2 - 2 * unit)
    if all(abs(each) < first for each in _attributes(given.values())):
        return result
    parts = result if isinstance(result, tuple) else (result,)
    found = tuple(_opened(each) for each in parts)
    return found if isinstance(result, tuple) else found[0]


def _opened(result: Any) -> Any:
    is_open = isinstance(result, Numbers) and result.working.is_narrow
    return opened(result, np.ones((), np.bool_)) if is_open else result


def _numbers(values: Any) -> Iterator[Numbers]:
    for each in values:
        if isinstance(each, Numbers):
            yield each
        elif isinstance(each, tuple):
            yield from _numbers(each)


def _attributes(values: Any) -> Iterator[float]:
    """The finite numbers of attributes of floats."""
    for each in values:
        if isinstance(each, float) and math.isfinite(each):
            yield each
        elif isinstance(each, tuple):
            yield from _attributes(each)


Argument = Tensor | tuple[Tensor | None, ...] | None
"""An input: a tensor, None where it is left out; a variadic one and a sequence have all their tensors."""


Result: TypeAlias = Answer | Tensor | Numbers
"""An output: an answer, a tensor of which every bit is asked, or numbers, which are rounded to their type."""


Evaluation = Callable[..., Result | tuple[Result, ...]]


class Translated(Protocol):
    """What a call is to the operator that computes it, and what is made of that one's answers."""

    def given(self, call: Mapping[str, Any]) -> dict[str, Any]: ...

    def returned(self, call: Mapping[str, Any], answers: Sequence[Answer]) -> tuple[Answer, ...]: ...


@dataclass(frozen=True)
class ReferenceOperator:
    """One operator version.

    `readings` are its open questions and implementation-defined behaviours: the options of each, the default
    first. `inputs` and `attributes` are the names that the function takes, `required` the inputs that have
    no default; `deferred` are the readings that the function asks for.
    """

    operator: OperatorName
    function: Evaluation
    inputs: tuple[str, ...]
    required: frozenset[str]
    attributes: frozenset[str]
    readings: Mapping[str, tuple[str, ...]]
    deferred: frozenset[str] = frozenset()
    count: str | None = None
    """The parameter that is told how many outputs the node has, where the function has one."""
    hints: Mapping[str, Any] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()
    """The readings of arithmetic and of moving elements, which the function itself is not given."""
    decimals: Mapping[str, float] = field(default_factory=dict)
    """The defaults of parameters annotated with Fraction: what is left out is held as what is written."""
    segments: tuple[int, ...] | None = None
    """For a function of all versions: those from which on the same call means something else."""
    translation: Translated | None = None
    """How calls become those of the operator that computes this one, where another one does."""
    computes: OperatorName | None = None
    """The operator whose function it is, where it is another one's."""

    def evaluate(
        self,
        attributes: Mapping[str, AttributeValue],
        inputs: Mapping[str, Argument],
        readings: Mapping[str, str] | None = None,
        asked: set[str] | None = None,
        outputs: int | None = None,
        before: Collection[str] = (),
    ) -> tuple[Answer, ...]:
        """The outputs of one call, under the given readings (the first option of those not given).

        `outputs` is how many outputs the node has, for functions that are told. `asked` gets the readings
        that were asked for: no other option of any other one changes the outputs. `before` is what they
        were with the same readings under the first precision, where that is known.
        Raises OutsideDomain where the documents define no result, UnstableLength where an output length
        hangs on rounding, UserError for a reading or option that the operator does not have.
        """
        chosen = {name: options[0] for name, options in self.readings.items()} | dict(readings or {})
        for name, option in chosen.items():
            if option not in self.readings.get(name, ()):
                raise UserError(
                    f"{self.operator} has no such reading",
                    got=f"{name}={option}",
                    expected="; ".join(
                        f"{each}: {', '.join(these)}" for each, these in self.readings.items()
                    ),
                )
        present = {name: each for name, each in inputs.items() if each is not None}
        given = {**present, **attributes}
        if self.segments is None:
            self._check_names("attribute", set(attributes), self.attributes)
            self._check_names("input", set(present), frozenset(self.inputs))
        else:
            # What is an attribute in one version is an input in another.
            self._check_names("input or attribute", set(given), self.attributes | frozenset(self.inputs))
        if absent := self.required - set(given):
            raise OutsideDomain(f"{self.operator} needs its input {', '.join(sorted(absent))}")
        noted: set[str] = set(before)
        told: dict[str, Any] = {} if self.count is None else {self.count: outputs}
        if "version" in self.hints and (self.segments is not None or self.translation is not None):
            told["version"] = self._function_of.since_version
        call = given
        if self.translation is not None:
            given = self.translation.given(call)
        # Whether anything is rounded on its way shows where nothing is rounded more than it must be.
        first = {name: options[0] for name, options in self.readings.items() if name == PRECISION}
        other = chosen.get(PRECISION) != first.get(PRECISION)
        if not other or PRECISION not in noted:
            found = self._evaluated(given, chosen | first, noted, told)
        if other and PRECISION in noted:
            found = self._evaluated(given, chosen, noted, told)
        if asked is not None:
            asked |= noted
        return found if self.translation is None else self.translation.returned(call, found)

    @property
    def _function_of(self) -> OperatorName:
        return self.operator if self.computes is None else self.computes

    def _evaluated(
        self, given: Mapping[str, Any], chosen: Mapping[str, str], noted: set[str], told: Mapping[str, Any]
    ) -> tuple[Answer, ...]:
        """The outputs under an option of every reading; `noted` gets those that were asked for."""
        own = {name: each for name, each in chosen.items() if name not in self.shared}
        options = {name: self._option(name, option, noted) for name, option in own.items()}
        shared = {name: Choice(chosen[name], partial(noted.add, name)) for name in self.shared}
        arguments = convert_arguments(self.hints, {**self.decimals, **given}, shared)
        result = self.function(**arguments, **options, **told)
        return answers_of(open_beyond(self._function_of.name, given, arguments, result), shared)

    def _option(self, name: str, option: str, asked: set[str]) -> str | Choice[str]:
        if name in self.deferred:
            return Choice(option, partial(asked.add, name))
        asked.add(name)
        return option

    def _check_names(self, what: str, got: set[str], known: frozenset[str]) -> None:
        if unknown := got - known:
            raise OutsideDomain(
                f"{self.operator} has no such {what}",
                got=", ".join(sorted(unknown)),
                expected=f"one of {', '.join(sorted(known))}" if known else "none",
            )
