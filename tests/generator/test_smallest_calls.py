"""The call that is shown of a cause: smaller, wrong for the same cause, and on data as ordinary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from conformance.judging.judge import judge
from conformance.judging.responses import Answered, Response
from conformance.suite.cases import Case
from conformance.suite.where_shown import shows_of
from generator.asking.calls import Call
from generator.asking.expectations import expect
from generator.exploring.diagnosis.smallest_calls import SmallestCalls
from generator.exploring.shrinking.judged_calls import Ask, case_of
from generator.exploring.shrinking.known_space import Attempt
from generator.exploring.shrinking.shrinking import simpler
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from tests.generator.fuzz_fakes import Fake, Mistake, space_of

SOFTMAX = "ai.onnx::Softmax-13"
Inputs = Mapping[str, Tensor | None]


def floats(values: object) -> Tensor:
    return Tensor(ELEMENT_TYPES["float"], np.array(values, dtype=np.float32))


def failing(
    operator: str, mistake: Mistake, inputs: dict[str, Tensor], **given: Attribute
) -> tuple[Case, Ask]:
    """A case of a suite that a fake fails."""
    space = space_of(operator)
    call = Call(given, tuple(inputs.items()))
    case = case_of(space, Attempt(call), tuple(expect(space.spec, space.reference, call)))
    ask = Fake(space, mistake).ask
    assert judge(case, ask(case)).verdict == "mismatch"
    return case, ask


def small(case: Case, ask: Ask) -> Case:
    found = SmallestCalls(ask, "fake", (), 60).of(case, "mismatch", "", None)
    assert judge(found, ask(found, None)).verdict == "mismatch"
    return found


def small_shares_as_zero(_: dict[str, Any], inputs: Inputs) -> Response | None:
    """What has less than a hundredth of the sum is 0."""
    given = inputs["input"]
    assert given is not None
    numbers = given.array.astype(np.float64)
    with np.errstate(all="ignore"):
        shares = np.exp(numbers - numbers.max(axis=-1, keepdims=True, initial=-np.inf))
        shares /= shares.sum(axis=-1, keepdims=True)
    shares[shares < 0.01] = 0
    return Answered((Tensor(given.element_type, shares.astype(given.array.dtype)),))


@pytest.mark.parametrize(
    "numbers",
    [
        np.linspace(-7, 7, 60).reshape(1, 12, 5).swapaxes(1, 2),
        # Two of three numbers are a smaller call, and two of them give a share that nobody calls ordinary.
        [5, -10, -75],
        [-75, -10, 5],
        [-75, 5, -10],
    ],
)
def test_a_smaller_call_shows_a_wrong_result_as_ordinary(numbers: object) -> None:
    case, ask = failing(SOFTMAX, small_shares_as_zero, {"input": floats(numbers)})
    found = small(case, ask)
    ((_, given),) = found.inputs
    assert given is not None
    assert given.array.size <= 3
    worst = judge(found, ask(found, None)).worst
    assert worst is not None
    assert shows_of(found, {"expected": worst.expected, "got": worst.got}) == "ordinary"


def test_a_call_without_inputs_stays_as_it_is() -> None:
    def negated(_: dict[str, Any], __: Inputs) -> Response:
        return Answered((floats([-2.0]),))

    case, ask = failing("ai.onnx::Constant-25", negated, {}, value_floats=Attribute("floats", (2.0,)))
    assert small(case, ask) is case


@pytest.mark.parametrize("verdict", ["crash", "timeout", "accepted_invalid", "inexact"])
def test_what_costs_a_process_or_is_no_failure_is_not_tried(verdict: str) -> None:
    case, _ = failing(SOFTMAX, small_shares_as_zero, {"input": floats([-7.0, 7.0])})

    def never(*_: object) -> Response:
        raise AssertionError

    assert SmallestCalls(never, "fake", (), 60).of(case, verdict, "", None) is case


def test_short_lists_alone_are_made_simpler_number_by_number() -> None:
    """Trees have lists of thousands, and each simpler call is as long to read as the one before."""

    def simpler_calls(count: int) -> int:
        call = Call({"value_ints": Attribute("ints", (7,) * count)}, ())
        return len(list(simpler(space_of("ai.onnx::Constant-25"), call)))

    assert simpler_calls(64) > 64
    assert simpler_calls(1_000) < 10
