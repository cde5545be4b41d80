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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, RootModel

from conformance.judging.judge import Judgement, judge
from conformance.judging.responses import Answered
from conformance.suite.case_selection import selects
from conformance.suite.cases import Case, Expectation, ExpectedOutput
from conformance.suite.suites import Suite
from conformance.suite.where_shown import has_ordinary_inputs, is_ordinary
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.yaml_files import load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.files.schemas import Entry
from specs.files.spec_folders import OWN_FOLDER

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
    given = [tensor for _, tensor in case.inputs if tensor is not None]
    floats = [tensor for tensor in given if tensor.element_type.kind in ("float", "complex")]
    return all(tensor.element_type is _FLOAT and is_ordinary(tensor) for tensor in floats)


def _is_narrow(case: Case) -> bool:
    asked = [attribute.value for name, attribute in case.attributes.items() if name in _PRECISIONS]
    return any(each in _NARROW for each in asked)


def _tells(output: ExpectedOutput) -> bool:
    values = output.expected.array
    return output.expected.element_type is _FLOAT and bool(np.isfinite(values).all() and values.any())


def _accepts(case: Case, position: int, output: ExpectedOutput, factor: float) -> bool:
    changed = (output.expected.array.astype(np.float64) * factor).astype(np.float32)
    return _passes(case, position, output, changed)


def _passes(case: Case, position: int, output: ExpectedOutput, values: NDArray[np.float32]) -> bool:
    if not any(_may_match(expectation, position, values) for expectation in case.expectations):
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
    others = {alternative.index for alternative in wanted.alternatives}
    return others.issuperset(np.flatnonzero(~near).tolist())


def _single(case: Case, position: int, output: ExpectedOutput) -> float:
    """The greatest distance of one element that an expectation of the same shape allows, by the greatest."""
    greatest = float(np.abs(output.expected.array.astype(np.float64)).max())
    found = 0.0
    for expectation in case.expectations:
        other = expectation.outputs[position] if position < len(expectation.outputs) else None
        if other is None or other.allowed is None or other.expected.shape != output.expected.shape:
            continue
        found = max(found, float(other.allowed.max()))
    return found / greatest


def size(factor: str | None) -> int:
    """The place of a factor from the smallest fault on, none before all."""
    return [None, *FACTORS].index(factor)


def _largest(accepted: frozenset[str]) -> str | None:
    return next((factor for factor in reversed(FACTORS) if factor in accepted), None)


_DOUBLE = ELEMENT_TYPES["double"]


def slack_facts(cases: Sequence[Case]) -> dict[str, Any]:
    """The two figures of slack (`slack`), and of how many cases nothing tells double from float.

    `single` is None where anything goes. `rounded_to_float` counts cases on ordinary data with results of
    doubles that float does not hold, and those of them that accept these rounded to it, with the readings by
    which they do.
    """
    slack = Slack("these cases", tuple(output for case in cases for output in outputs_of(case)))
    facts: dict[str, Any] = {"slack": {"cases": slack.cases}}
    if slack.loosest is not None:
        facts["slack"] |= {
            "by_one": slack.loosest.largest,
            "by_all": slack.largest,
            "single": slack.single if isfinite(slack.single) else None,
        }
    rounded = [(case, answer) for case in cases if (answer := _rounded_to_float(case)) is not None]
    if rounded:
        judged = [(case, judge(case, answer)) for case, answer in rounded]
        passing = [(case, judgement) for case, judgement in judged if judgement.verdict == "pass"]
        facts["rounded_to_float"] = {
            "cases": len(rounded),
            "accepting": len(passing),
            "readings": sorted({name for case, judgement in passing for name in _leading(case, judgement)}),
        }
    return facts


def _rounded_to_float(case: Case) -> Answered | None:
    """What a case expects first, doubles rounded to float; None where no bit of it is another then."""
    if case.demand != "answer" or case.properties or not case.expectations:
        return None
    if not has_ordinary_inputs(case):
        return None
    outputs = case.expectations[0].outputs
    answers = tuple(_in_float(output) for output in outputs)
    pairs = zip(outputs, answers, strict=True)
    return None if all(pair.expected is answer for pair, answer in pairs) else Answered(answers)


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
    expected = Answered(tuple(output.expected for output in case.expectations[0].outputs))
    right, found = _options(judge(case, expected)), _options(judged)
    return (name for name, options in found.items() if not set(options).issuperset(right.get(name, ())))


def _options(judged: Judgement) -> Mapping[str, tuple[str, ...]]:
    return {**judged.readings, **judged.behaviours}


FILE_NAME = "slack.yaml"
_INTRODUCTION = """\
# Slack

Made by `opcert adequacy --slack`. A fault is put into what each case expects, on ordinary float32 data
(`generator/measured/slack.py`): all elements of an output times 1.0001, 1.001, 1.01, 1.1, 2, -1 and 0. *By
all* is the largest that all cases of an operator version accept, *by one* the largest that some case does,
which the last column names; *hollow* cases accept anything. *Single* is how far one element may be off, by
the greatest of its output, in the sharpest case. No case should accept 1.01, and none whose attributes ask
for float16 or bfloat16 on the way should accept zeros; `specs/slack.yaml` says why some do.
"""


class Allowed(Entry):
    """Cases that may accept a fault, as `-k` selects them, and why."""

    cases: str = Field(min_length=1)
    accepts: str
    why: str = Field(min_length=1)

    def covers(self, found: OutputSlack) -> bool:
        """Whether what is found is no more than this lets be."""
        return selects(self.cases, found.case) and size(found.beyond) <= size(self.accepts)


class _File(RootModel[tuple[Allowed, ...]]):
    pass


def read_allowed(path: Path = OWN_FOLDER / FILE_NAME) -> tuple[Allowed, ...]:
    """The entries; raises SeveralErrors or UserError with what is wrong in the file."""
    (document, *more) = load_file(path)
    if more:
        raise UserError("not one YAML document", got=f"{1 + len(more)} documents", where=Place(str(path)))
    found = validate(_File, document).root
    for at, allowed in enumerate(found):
        if allowed.accepts not in FACTORS:
            expected = f"one of {', '.join(FACTORS)}"
            raise UserError(
                "no fault of that name", got=allowed.accepts, expected=expected, where=document.place((at,))
            )
    return found


def unexcused(found: Sequence[Slack], allowed: Sequence[Allowed]) -> tuple[OutputSlack, ...]:
    """What accepts more than it should, and no entry says why."""
    return tuple(
        output
        for slack in found
        for output in slack.beyond
        if not any(entry.covers(output) for entry in allowed)
    )


def write_page(found: Sequence[Slack], allowed: Sequence[Allowed]) -> str:
    """The table, and behind it the cases beyond the aim, each with its reason."""
    return "\n".join([_INTRODUCTION, *_table(found), "", *_beyond(found, allowed)])


def _table(found: Sequence[Slack]) -> Iterator[str]:
    yield "| operator | cases | by all | by one | hollow | single | the loosest |"
    yield "|---|---:|---|---|---:|---:|---|"
    for slack in found:
        loosest = slack.loosest
        if loosest is None:
            yield f"| `{slack.operator}` | 0 | | | | | |"
            continue
        name = f"`{loosest.case}` {loosest.output}" if loosest.largest else ""
        cells = [
            f"`{slack.operator}`",
            str(slack.cases),
            slack.largest or "-",
            loosest.largest or "-",
            str(len(slack.hollow)),
            f"{slack.single:.1e}",
            name,
        ]
        yield f"| {' | '.join(cells)} |"


def _beyond(found: Sequence[Slack], allowed: Sequence[Allowed]) -> Iterator[str]:
    for slack in found:
        for output in slack.beyond:
            why = next((entry.why for entry in allowed if entry.covers(output)), "nobody has said why")
            yield f"- `{output.case}` {output.output} accepts {output.beyond}: {why}"
    yield ""
