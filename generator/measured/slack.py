"""Slack: the largest plain fault in right answers that the cases of an operator accept.

A fault is a factor on all elements of one output (`FACTORS`), or one element that is off. It is put into what
a case itself expects, and the judge of a run says whether the case accepts it: nothing here asks the
reference, so the slack of any suite is worked out in seconds. `specs/slack.yaml` names the cases that accept
more than they should, each with the reason, which is the document's.

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
from conformance.judging.responses import Answered
from conformance.suite.cases import Case, Expectation, ExpectedOutput
from conformance.suite.suites import Suite
from conformance.suite.where_shown import is_ordinary
from opcert.vocabulary.element_types import ELEMENT_TYPES

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
ENOUGH = ("x 1.0001", "x 1.001")
"""What a case may accept."""
_HOLLOW = ("x 2", "x -1", "x 0")
"""A case that accepts all of these means nothing."""
_PRECISIONS = ("stash_type", "softmax_precision")
"""Attributes that say in which type something is computed."""
_NARROW = (10, 16)
"""ONNX's numbers of float16 and bfloat16."""
_FLOAT = ELEMENT_TYPES["float"]


@dataclass(frozen=True)
class OutputSlack:
    """Which factors on an output a case accepts.

    `single` is how far one element may be off, by the greatest magnitude of the output: infinite where
    anything goes. `narrow` is a case that asks for float16 or bfloat16 on the way: there a hundredth is what
    honest programs err by, and only zeros are too much.
    """

    case: str
    output: str
    accepted: frozenset[str]
    single: float
    narrow: bool = False

    @property
    def largest(self) -> str | None:
        """The largest factor that is accepted, None where none is."""
        return _largest(self.accepted)

    @property
    def beyond(self) -> str | None:
        """The largest factor that no such case should accept, None where all is well."""
        return _largest(self.accepted & {"x 0"} if self.narrow else self.accepted.difference(ENOUGH))

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
        """The largest factor that all cases accept: what the operator's cases let pass together."""
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
        return max(self.measured, key=lambda each: (size(each.largest), each.single), default=None)

    @property
    def beyond(self) -> tuple[OutputSlack, ...]:
        """What accepts more than it should."""
        return tuple(each for each in self.measured if each.beyond is not None)

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
    if not is_measured(case):
        return
    right = case.expectations[0].outputs
    for position, output in enumerate(right):
        if _tells(output):
            accepted = frozenset(
                name for name, factor in FACTORS.items() if _accepts(case, position, output, factor)
            )
            single = _single(case, position, output)
            yield OutputSlack(str(case.id), output.name, accepted, single, _is_narrow(case))


def is_measured(case: Case) -> bool:
    """Whether all of a case's inputs of floats are ordinary float32 data, and its answer is not drawn."""
    if case.demand != "answer" or case.properties or not case.expectations:
        return False
    given = [each for _, each in case.inputs if each is not None]
    floats = [each for each in given if each.element_type.kind in ("float", "complex")]
    return all(each.element_type is _FLOAT and is_ordinary(each) for each in floats)


def _is_narrow(case: Case) -> bool:
    asked = [each.value for name, each in case.attributes.items() if name in _PRECISIONS]
    return any(each in _NARROW for each in asked)


def _tells(output: ExpectedOutput) -> bool:
    values = output.expected.array
    return output.expected.element_type is _FLOAT and bool(np.isfinite(values).all() and values.any())


def _accepts(case: Case, position: int, output: ExpectedOutput, factor: float) -> bool:
    changed = (output.expected.array.astype(np.float64) * factor).astype(np.float32)
    return _passes(case, position, output, changed)


def _passes(case: Case, position: int, output: ExpectedOutput, values: NDArray[np.float32]) -> bool:
    if not any(_may_match(each, position, values) for each in case.expectations):
        return False
    answers = [each.expected for each in case.expectations[0].outputs]
    answers[position] = replace(output.expected, array=values)
    return judge(case, Answered(tuple(answers))).verdict == "pass"


def _may_match(expectation: Expectation, position: int, values: NDArray[np.float32]) -> bool:
    """Whether the judge might find the values right: quickly, for nearly all of them are wrong."""
    wanted = expectation.outputs[position] if position < len(expectation.outputs) else None
    if expectation.unordered or wanted is None:
        return True
    if wanted.expected.shape != values.shape or wanted.expected.element_type is not _FLOAT:
        return False
    expected, got = wanted.expected.array, values
    near = expected == got
    if wanted.allowed is not None:
        with np.errstate(invalid="ignore"):
            apart = np.abs(expected.astype(np.float64) - got.astype(np.float64))
        near = near | (apart <= wanted.allowed) | np.isinf(wanted.allowed)
    others = {each.index for each in wanted.alternatives}
    return others.issuperset(np.flatnonzero(~near).tolist())


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


def size(factor: str | None) -> int:
    """The place of a factor from the smallest fault on, none before all."""
    return [None, *FACTORS].index(factor)


def _largest(accepted: frozenset[str]) -> str | None:
    return next((each for each in reversed(FACTORS) if each in accepted), None)
