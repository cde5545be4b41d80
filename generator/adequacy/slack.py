"""Slack: the largest plain fault in right answers that the cases of an operator accept.

A fault is a factor on all elements of one output (`FACTORS`), or one element that is off. It is put into what
a case itself expects, and the judge of a run says whether the case accepts it: nothing here asks the
reference, so the slack of any suite is worked out in seconds.

Counted are cases on ordinary float32 data: an answer is demanded, nothing is drawn, all inputs of floats are
float32, their elements zero or between 2^-20 and 2^20 in magnitude, and in one output at least, of float32,
every element is finite and one differs from zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conformance.judging.judge import judge
from conformance.running.responses import Answered
from conformance.suite.cases import Case, ExpectedOutput
from conformance.suite.suites import Suite
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor

FACTORS = {
    "x 1.0001": 1.0001,
    "x 1.001": 1.001,
    "x 1.01": 1.01,
    "x 1.1": 1.1,
    "x 2": 2.0,
    "x -1": -1.0,
    "x 0": 0.0,
}
"""Factors by what tables call them, the smallest fault first."""
AIM = "x 1.001"
"""The largest fault of this form that an operator's cases may accept together."""
_FLOAT = ELEMENT_TYPES["float"]
_LEAST, _GREATEST = math.ldexp(1.0, -20), math.ldexp(1.0, 20)
_HOLLOW = ("x 2", "x -1", "x 0")
"""A case that accepts all of these means nothing."""


@dataclass(frozen=True)
class OutputSlack:
    """Which factors on an output a case accepts.

    `single` is how far one element may be off, by the greatest magnitude of the output: infinite where
    anything goes.
    """

    case: str
    output: str
    accepted: frozenset[str]
    single: float

    @property
    def largest(self) -> str | None:
        """The largest factor that is accepted, None where none is."""
        return _largest(self.accepted)

    @property
    def is_hollow(self) -> bool:
        return self.accepted.issuperset(_HOLLOW)


@dataclass(frozen=True)
class Slack:
    """The slack of an operator version; `measured` are outputs of its cases on ordinary float32 data."""

    operator: str
    measured: tuple[OutputSlack, ...]

    @cached_property
    def cases(self) -> int:
        return len({each.case for each in self.measured})

    @cached_property
    def accepted(self) -> frozenset[str]:
        """The factors on one of the outputs that all cases accept."""
        outputs = {each.output for each in self.measured}
        found = [
            frozenset.intersection(*(each.accepted for each in self.measured if each.output == output))
            for output in outputs
        ]
        return frozenset().union(*found)

    @property
    def largest(self) -> str | None:
        return _largest(self.accepted)

    @cached_property
    def single(self) -> float:
        """How far one element may be off in the case that is sharpest, of the output where that is most."""
        by_output: dict[str, float] = {}
        for each in self.measured:
            by_output[each.output] = min(each.single, by_output.get(each.output, math.inf))
        return max(by_output.values(), default=0.0)

    @cached_property
    def loosest(self) -> OutputSlack | None:
        """The output of a case that accepts the largest fault."""
        order = [None, *FACTORS]
        return max(self.measured, key=lambda each: (order.index(each.largest), each.single), default=None)

    def accepting(self, factor: str) -> tuple[str, ...]:
        """The cases that accept a factor on one of their outputs."""
        return tuple(dict.fromkeys(each.case for each in self.measured if factor in each.accepted))

    @cached_property
    def hollow(self) -> tuple[str, ...]:
        """The cases that accept anything of one of their outputs."""
        return tuple(dict.fromkeys(each.case for each in self.measured if each.is_hollow))


def slack_of(suite: Suite, operators: Iterable[str]) -> Iterator[Slack]:
    """The slack of operator versions (`ai.onnx::Softmax-13`) in the order in which they are named."""
    wanted = {each: list[OutputSlack]() for each in operators}
    for case_id in suite.case_ids:
        domain, operator, _ = case_id.split("/", 2)
        measured = wanted.get(f"{domain}::{operator}")
        if measured is not None:
            measured += outputs_of(suite.case(case_id))
    for name, measured in wanted.items():
        yield Slack(name, tuple(measured))


def outputs_of(case: Case) -> Iterator[OutputSlack]:
    """What a case accepts, for each of its outputs that counts."""
    if not is_ordinary(case):
        return
    right = case.expectations[0].outputs
    for position, output in enumerate(right):
        if _tells(output):
            accepted = frozenset(
                name for name, factor in FACTORS.items() if _accepts(case, position, output, factor)
            )
            yield OutputSlack(str(case.id), output.name, accepted, _single(case, position, output))


def is_ordinary(case: Case) -> bool:
    """Whether all of a case's inputs of floats are ordinary float32 data, and its answer is not drawn."""
    if case.demand != "answer" or case.properties or not case.expectations:
        return False
    given = [each for _, each in case.inputs if each is not None]
    return all(_is_ordinary(each) for each in given if each.element_type.kind in ("float", "complex"))


def _is_ordinary(given: Tensor) -> bool:
    if given.element_type is not _FLOAT:
        return False
    sizes = np.abs(given.array.astype(np.float64))
    return bool(((sizes == 0) | ((sizes >= _LEAST) & (sizes <= _GREATEST))).all())


def _tells(output: ExpectedOutput) -> bool:
    values = output.expected.array
    return output.expected.element_type is _FLOAT and bool(np.isfinite(values).all() and values.any())


def _accepts(case: Case, position: int, output: ExpectedOutput, factor: float) -> bool:
    changed = (output.expected.array.astype(np.float64) * factor).astype(np.float32)
    return _passes(case, position, output, changed)


def _passes(case: Case, position: int, output: ExpectedOutput, values: NDArray[np.float32]) -> bool:
    answers = [each.expected for each in case.expectations[0].outputs]
    answers[position] = replace(output.expected, array=values)
    return judge(case, Answered(tuple(answers))).verdict == "pass"


def _single(case: Case, position: int, output: ExpectedOutput) -> float:
    """The greatest distance of one element that an expectation of the same shape allows, by the greatest."""
    greatest = float(np.abs(output.expected.array.astype(np.float64)).max())
    found = 0.0
    for each in case.expectations:
        other = each.outputs[position] if position < len(each.outputs) else None
        if other is None or other.allowed is None or other.expected.shape != output.expected.shape:
            continue
        found = max(found, float(other.allowed.max()))
    return found / greatest


def _largest(accepted: frozenset[str]) -> str | None:
    return next((each for each in reversed(FACTORS) if each in accepted), None)
