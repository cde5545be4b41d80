"""What a suite's manifest says of the faults that an operator's cases accept, for reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from conformance.judging.judge import Judgement, judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case, ExpectedOutput
from conformance.suite.where_shown import has_ordinary_inputs
from generator.measured.slack import Slack, outputs_of
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor

_DOUBLE = ELEMENT_TYPES["double"]


def slack_facts(operator: OperatorName, cases: Iterable[Case]) -> dict[str, Any]:
    """The two figures of slack (`slack`), and of how many cases nothing tells double from float.

    `single` is None where anything goes. `rounded_to_float` counts cases on ordinary data with results of
    doubles that float does not hold, and those of them that accept these rounded to it, with the readings by
    which they do.
    """
    given = list(cases)
    slack = Slack(str(operator), tuple(each for case in given for each in outputs_of(case)))
    facts: dict[str, Any] = {"slack": {"cases": slack.cases}}
    if slack.loosest is not None:
        facts["slack"] |= {
            "by_one": slack.loosest.largest,
            "by_all": slack.largest,
            "single": slack.single if isfinite(slack.single) else None,
        }
    rounded = [(case, answer) for case in given if (answer := _rounded_to_float(case)) is not None]
    if rounded:
        judged = [(case, judge(case, answer)) for case, answer in rounded]
        passing = [(case, each) for case, each in judged if each.verdict == "pass"]
        facts["rounded_to_float"] = {
            "cases": len(rounded),
            "accepting": len(passing),
            "readings": sorted({name for case, each in passing for name in _leading(case, each)}),
        }
    return facts


def _rounded_to_float(case: Case) -> Answered | None:
    """What a case expects first, doubles rounded to float; None where no bit of it is another then."""
    if case.demand != "answer" or case.properties or not case.expectations:
        return None
    if not has_ordinary_inputs(case):
        return None
    outputs = case.expectations[0].outputs
    answers = tuple(_in_float(each) for each in outputs)
    pairs = zip(outputs, answers, strict=True)
    return None if all(each.expected is answer for each, answer in pairs) else Answered(answers)


def _in_float(output: ExpectedOutput) -> Tensor:
    given = output.expected
    if given.element_type is not _DOUBLE:
        return given
    with np.errstate(over="ignore", under="ignore"):
        rounded = given.array.astype(np.float32).astype(np.float64)
    kept = np.where(np.isfinite(rounded), rounded, given.array)
    return given if np.array_equal(kept, given.array, equal_nan=True) else replace(given, array=kept)


def _leading(case: Case, judged: Judgement) -> Iterable[str]:
    """The readings by which an answer is right that are not those by which the expected one is."""
    expected = Answered(tuple(each.expected for each in case.expectations[0].outputs))
    right, found = _options(judge(case, expected)), _options(judged)
    return (name for name, options in found.items() if not set(options).issuperset(right.get(name, ())))


def _options(judged: Judgement) -> Mapping[str, tuple[str, ...]]:
    return {**judged.readings, **judged.behaviours}
