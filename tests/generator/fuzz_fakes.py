"""Fake runtimes for fuzzing: the reference in this process, with one mistake in some calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from conformance.judging.responses import Answered, Crashed, Refused, Response, TimedOut
from conformance.suite.cases import Case
from generator.asking.calls import Call, call_of
from generator.asking.given_inputs import arguments_of
from generator.exploring.shrinking.known_space import CallValidity, open_space
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from reference.answers import OutsideDomain, UnstableLength

Mistake = Callable[[dict[str, Any], dict[str, Tensor | None]], "Response | dict[str, Any] | None"]
"""Given attributes and inputs: a response of its own, other attributes to compute with, or None."""


@cache
def space_of(operator: str) -> CallValidity:
    return open_space(OperatorName.parse(operator))


@dataclass(frozen=True)
class Fake:
    """Answers as the reference does but for its mistake. Calls that break a rule it refuses."""

    space: CallValidity
    mistake: Mistake
    accepts_broken: bool = False

    def ask(self, case: Case, _valid: Case | None = None) -> Response:
        attributes = {name: attribute.value for name, attribute in case.attributes.items()}
        inputs = dict(case.inputs)
        done = self.mistake(attributes, inputs)
        if done is not None and not isinstance(done, dict):
            return done
        if case.demand != "answer":
            given = [tensor for _, tensor in case.inputs if tensor is not None]
            return Answered((given[0],)) if self.accepts_broken else Refused("ValueError", "no such call")
        try:
            arguments = arguments_of(self.space.spec, call_of(case))
            answers = self.space.reference.evaluate(done or attributes, arguments, self.space.settled)
        except (OutsideDomain, UnstableLength) as error:
            return Refused("ValueError", str(error))
        return Answered(tuple(answer.expected for answer in answers))


def nothing(_attributes: dict[str, Any], _inputs: dict[str, Tensor | None]) -> None:
    return None


def numbers(inputs: dict[str, Tensor | None], name: str) -> list[Any]:
    """The elements of an input, none where it is omitted."""
    given = inputs.get(name)
    found: list[Any] = [] if given is None else given.array.reshape(-1).tolist()
    return found


def dies_of_negative_axes(attributes: dict[str, Any], _inputs: dict[str, Tensor | None]) -> Response | None:
    return Crashed("died", "SIGSEGV", -11) if min(attributes.get("axes", (0,)), default=0) < 0 else None


def reflects_as_edge(attributes: dict[str, Any], inputs: dict[str, Tensor | None]) -> dict[str, Any] | None:
    wrong = attributes.get("mode") == "reflect" and max(numbers(inputs, "pads"), default=0) > 1
    return {**attributes, "mode": "edge"} if wrong else None


def hangs_on_large_rates(attributes: dict[str, Any], _inputs: dict[str, Tensor | None]) -> Response | None:
    return TimedOut(1.0, "run") if max(attributes.get("rates", ()), default=0) > 2 else None


def refuses_many_axes(_attributes: dict[str, Any], inputs: dict[str, Tensor | None]) -> Response | None:
    given = inputs["input"]
    assert given is not None
    return Refused("NotGood", f"rank {len(given.shape)} of [1, 2]") if len(given.shape) > 3 else None


def loses_nan(attributes: dict[str, Any], inputs: dict[str, Tensor | None]) -> dict[str, Any] | None:
    """Linear interpolation of a NaN becomes that of the nearest element."""
    if attributes.get("mode") == "linear" and np.isnan(np.array(numbers(inputs, "X"), float)).any():
        return {**attributes, "mode": "nearest"}
    return None


def plain(call: Call) -> tuple[dict[str, Any], dict[str, tuple[str, Any]]]:
    """A call as plain values: attributes; inputs as element type and nested lists."""
    return (
        {name: attribute.value for name, attribute in call.attributes.items()},
        {
            name: (tensor.element_type.name, tensor.array.tolist())
            for name, tensor in call.inputs
            if tensor is not None
        },
    )
