"""The judge against a scalar oracle that knows nothing of arrays, and its verdicts one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import validate

from conformance.judging.judge import Judgement, judge
from conformance.judging.responses import (
    Answered,
    Crashed,
    HarnessFailed,
    NotOffered,
    Refused,
    Response,
    ReturnedOther,
    TimedOut,
)
from conformance.judging.verdicts import FAILING, VERDICTS, worst_verdict
from conformance.recording.rows import Result, make_result
from conformance.schemas import load_schema
from conformance.suite.cases import Expectation, ExpectedOutput
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.oracle import expectations_near, near_copies, oracle_wrong
from tests.conformance.samples import expect, make_case, sample
from tests.conformance.test_suites import tensors


def verdict(response: Response, demand: Any = "answer", **more: Any) -> Judgement:
    return judge(make_case(seed=1, demand=demand), response, **more)


RIGHT = Answered((sample(1),))
REFUSED = Refused("RuntimeError", "no\nreason")


def test_every_kind_of_response_has_its_verdict() -> None:
    assert verdict(RIGHT).verdict == "pass"
    assert verdict(Answered((sample(2),))).verdict == "mismatch"
    assert verdict(Answered((ReturnedOther("int", "5"),))).verdict == "mismatch"
    assert verdict(REFUSED).verdict == "rejected_valid"
    assert verdict(Refused("NotImplemented", "", unsupported="NotImplemented: it")).verdict == "unsupported"
    assert verdict(NotOffered("not here")).verdict == "unsupported"
    assert verdict(RIGHT, "refuse").verdict == "accepted_invalid"
    assert verdict(REFUSED, "refuse").verdict == "pass"
    assert verdict(REFUSED, "refuse", valid_case_answered=False).verdict == "unsupported"
    assert verdict(RIGHT, "survive").verdict == "observed"
    assert verdict(REFUSED, "survive").verdict == "observed"
    for demand in ("answer", "refuse", "survive"):
        assert verdict(Crashed("killed by SIGSEGV"), demand).verdict == "crash"
        assert verdict(Crashed("killed at 9 MiB", by_limit=True), demand).verdict == "limit"
        assert verdict(TimedOut(20, "run"), demand).verdict == "timeout"
        assert verdict(HarnessFailed("ours"), demand).verdict == "harness_error"


@pytest.mark.parametrize("kind", ["FellBack", "RefusedBefore"])
def test_what_another_than_the_subject_refused_or_computed_is_no_pass(kind: str) -> None:
    elsewhere = Refused(kind, "CPUExecutionProvider ran Mod", unsupported=f"{kind}: it")
    for demand in ("answer", "refuse"):
        assert verdict(elsewhere, demand).verdict == "unsupported"
    # What the adapter has no rule for is a refusal like any other, whatever it calls itself.
    assert verdict(replace(elsewhere, unsupported=None)).verdict == "rejected_valid"


def test_a_wrong_answer_that_an_optimiser_kept_is_not_its_fault() -> None:
    wrong = Answered((sample(2),))
    kept = replace(wrong, kept=True)
    judged = verdict(kept)
    assert judged.verdict == "unsupported"
    assert str(judged.reason).startswith("the model answers the same before it is optimised; ")
    assert verdict(replace(RIGHT, kept=True)).verdict == "pass"
    assert verdict(replace(RIGHT, kept=True), "refuse").verdict == "unsupported"
    assert verdict(wrong).verdict == "mismatch"
    # Its row is judged again as what it is: an answer.
    row = make_result(make_case(seed=1), "inputs", 0, kept, judged)
    validate(row.to_json(), load_schema("result"))
    assert Result.from_json(row.to_json()).response == "answered"


def test_a_call_that_a_document_can_be_read_to_exclude_may_be_refused_and_not_answered_wrongly() -> None:
    case = replace(make_case(seed=1, demand="answer"), may_refuse="no_elements")
    refused = judge(case, REFUSED)
    assert refused.verdict == "observed"
    assert "no_elements" in str(refused.reason)
    assert judge(case, RIGHT).verdict == "pass"
    assert judge(case, Answered((sample(2),))).verdict == "mismatch"
    assert judge(case, Crashed("killed by SIGSEGV")).verdict == "crash"
    unsupported = Refused("NotImplemented", "", unsupported="NotImplemented: it")
    assert judge(case, unsupported).verdict == "unsupported"


def test_what_one_passage_says_and_another_denies_is_the_documents() -> None:
    case = replace(make_case(seed=1, demand="answer"), may_refuse="body", refusal_contradicted=True)
    refused = judge(case, REFUSED)
    assert refused.verdict == "document"
    assert "body" in str(refused.reason)
    assert judge(case, RIGHT).verdict == "pass"
    assert judge(case, Answered((sample(2),))).verdict == "mismatch"
    text, body = expect(sample(1), ends="text"), expect(sample(2), ends="body")
    case = make_case(seed=1, expectations=(replace(body, contradicted=("ends",)), text))
    assert judge(case, RIGHT).verdict == "pass"
    found = judge(case, Answered((sample(2),)))
    assert (found.verdict, found.readings) == ("document", {"ends": ("body",)})
    assert "ends" in str(found.reason)
    assert judge(case, Answered((sample(3),))).verdict == "mismatch"
    both = make_case(seed=1, expectations=(replace(body, contradicted=("ends",)), expect(sample(2))))
    assert judge(both, Answered((sample(2),))).verdict == "pass", "right by the text as well"


def judged_near(
    got: list[float],
    kind: str = "float",
    *,
    of: tuple[str, ...] = ("exp",),
    by: str = "Exp",
    units: float = 1,
) -> Judgement:
    """Numbers in place of 1, 2, 4 and -8, of which so many roundings are allowed each."""
    wanted = np.array([1.0, 2.0, 4.0, -8.0])
    layout = ELEMENT_TYPES[kind].layout
    allowed = units * np.abs(wanted) * 2.0 ** -(24 if layout is None else layout.precision)
    expected = tensor(wanted, kind)
    output = ExpectedOutput("y", expected, allowed)
    case = make_case(seed=1, expectations=(Expectation((output,), functions=of),))
    name = OperatorName.parse(f"ai.onnx::{by}-1")
    case = replace(case, output_names=("y",), id=replace(case.id, operator=name))
    return judge(case, Answered((tensor(np.array(got), kind),)))


@pytest.mark.parametrize(
    ("got", "kind", "how"),
    [
        ([1.0, 2.0, 4.0 + 2e-6, -8.0], "float", "as exact as tf32"),
        ([1.0, 2.0, 4.0 + 1e-3, -8.0], "float", "as exact as tf32"),
        ([1.0, 2.0, 4.0 + 1e-2, -8.0], "float", "as exact as bfloat16"),
        ([1.0 + 2e-7, 2.0, 4.0, -8.0], "float", "exact to an absolute error of 2.4e-07"),
        ([1.0 + 3e-16, 2.0, 4.0, -8.0], "double", "exact to an absolute error"),
    ],
)
def test_what_is_right_but_for_its_last_digits_is_inexact(got: list[float], kind: str, how: str) -> None:
    found = judged_near(got, kind)
    assert found.verdict == "inexact"
    assert str(found.reason).startswith(how)
    assert "(exp)" in str(found.reason)
    assert found.wrong == 1
    assert judged_near(got, kind, of=()).verdict == "mismatch", "no table stands behind what is allowed"


@pytest.mark.parametrize(
    ("got", "kind"),
    [
        ([1.0, 2.0, 4.1, -8.0], "float"),
        ([1.0, 0.0, 4.0, -8.0], "float"),
        ([1.0, 2.0, 4.0, 8.0], "float"),
        ([1.0, 2.0, np.nan, -8.0], "float"),
        ([1.0, 2.0, np.inf, -8.0], "float"),
        ([1.0 + 1e-7, 2.0, 4.0, -8.0], "double"),
        ([1.0, 2.0, 4.03, -8.0], "float16"),
        ([1.0, 2.0, 5.0, -8.0], "int32"),
    ],
)
def test_what_lost_more_than_digits_is_wrong(got: list[float], kind: str) -> None:
    assert judged_near(got, kind).verdict == "mismatch"


@pytest.mark.parametrize("by", ["LSTM", "ReduceLogSumExp", "SomebodysOwn"])
def test_the_longest_arithmetic_that_explains_an_answer_is_told_of_any_operator(by: str) -> None:
    for more, how in ((1e-3, "tf32"), (1e-2, "bfloat16")):
        reason = str(judged_near([1.0, 2.0, 4.0 + more, -8.0], by=by).reason)
        assert reason.startswith(f"as exact as {how}")


@pytest.mark.parametrize("by", ["Attention", "GRU", "ReduceLogSumExp", "Erf"])
@pytest.mark.parametrize("units", [8, 32, 200, 5000])
def test_a_long_sum_excuses_no_more_than_a_short_one(by: str, units: float) -> None:
    """What is allowed grows by each term; what a shorter arithmetic makes of the sum does not."""
    right = np.array([1.0, 2.0, 4.0, -8.0])
    assert judged_near(list(right * 1.005), by=by, units=units).verdict == "inexact"
    assert judged_near(list(right * 1.01), by=by, units=units).verdict == "mismatch"
    assert judged_near([1.0, 2.0, 3.0, -8.0], by=by, units=units).verdict == "mismatch"


def test_what_is_left_of_greater_terms_is_as_inexact_as_these() -> None:
    got = [1.02, 2.0, 4.0, -8.0]
    assert judged_near(got, by="Attention", units=32).verdict == "mismatch"
    assert judged_near(got, by="Attention", units=320).verdict == "inexact"
    assert judged_near([1.0, 2.0, 4.0, -8.2], by="Attention", units=3200).verdict == "mismatch"


def test_any_expectation_that_matches_makes_a_pass_and_names_its_options() -> None:
    first, second = sample(1), sample(2)
    case = make_case(
        seed=1,
        expectations=(
            expect(first, ties="up", edge="in"),
            expect(second, ties="even", edge="in"),
            expect(first, ties="down", edge="in"),
        ),
    )
    found = judge(case, Answered((first,)))
    assert found.verdict == "pass"
    assert found.readings == {"edge": ("in",), "ties": ("up", "down")}
    assert found.matched == (0,)
    assert judge(case, Answered((second,))).matched == (1,)
    wrong = judge(case, Answered((sample(3),)))
    assert (wrong.verdict, wrong.readings) == ("mismatch", {})


def test_a_mismatch_is_described_against_the_closest_expectation() -> None:
    near, far = sample(1), sample(1, (3, 2))
    case = make_case(seed=1, expectations=(expect(far, order="b"), expect(near, order="a")))
    got = near.array.copy()
    got[1, 1] += 1
    found = judge(case, Answered((Tensor(near.element_type, got),)))
    assert (found.expectation, found.difference, found.wrong) == (1, "value", 1)
    assert found.reason == "1 of 6 elements wrong; worst Y[1, 1]: got 5.125, expected 4.125"


def test_a_behaviour_is_named() -> None:
    expectation = Expectation((ExpectedOutput("Y", sample(1)),), {}, {"flush": ("yes", "no")})
    found = judge(make_case(seed=1, expectations=(expectation,)), RIGHT)
    assert found.behaviour == "flush: yes or no"


def test_the_worst_element_is_measured_in_its_own_allowance() -> None:
    wanted = tensor(np.array([100.0, 1.0, 0.0], dtype=np.float32))
    got = tensor(np.array([101.0, 1.5, 0.0], dtype=np.float32))
    case = make_case(given=wanted, expectations=(expect(wanted, np.array([0.5, 0.125, 0.0])),))
    worst = judge(case, Answered((got,))).worst
    assert worst is not None
    assert (worst.index, worst.ratio, worst.allowed) == ((1,), 4.0, 0.125)
    almost = tensor(np.array([100.25, 1.0, 0.0], dtype=np.float32))
    passed = judge(case, Answered((almost,)))
    assert passed.verdict == "pass"
    assert passed.worst is not None
    assert passed.worst.ratio == 0.5


def test_the_worst_of_several_verdicts_is_a_failing_one() -> None:
    for each in VERDICTS:
        assert worst_verdict([each]) == each
        if each in FAILING:
            assert worst_verdict(["pass", each, "unsupported"]) == each


@pytest.mark.slow
@given(st.data())
@settings(max_examples=150)
def test_an_answer_is_right_under_the_expectations_that_the_oracle_names(data: st.DataObject) -> None:
    """In every element type, with several outputs and expectations, bounds and alternatives."""
    outputs = data.draw(st.integers(1, 2))
    types = data.draw(
        st.lists(st.sampled_from(list(ELEMENT_TYPES.values())), min_size=outputs, max_size=outputs)
    )
    wanted = [data.draw(tensors(each).filter(lambda found: found.array.size > 0)) for each in types]
    answer = tuple(data.draw(near_copies(each)) for each in wanted)
    expectations = []
    for number in range(data.draw(st.integers(1, 3))):
        others = [data.draw(st.sampled_from([each, got])) for each, got in zip(wanted, answer, strict=True)]
        stated = [
            replace(data.draw(expectations_near(each, got)), name=f"Y{position}")
            for position, (each, got) in enumerate(zip(others, answer, strict=True))
        ]
        option = data.draw(st.sampled_from(["up", "down"]))
        expectations.append(Expectation(tuple(stated), {"ties": (option,)}, {"flush": (f"way {number}",)}))
    case = make_case(expectations=tuple(expectations))
    found = judge(case, Answered(answer))
    wrong = [
        sum(len(oracle_wrong(stated, got)) for stated, got in zip(expectation.outputs, answer, strict=True))
        for expectation in expectations
    ]
    right = [number for number, count in enumerate(wrong) if count == 0]
    if right:
        assert (found.verdict, found.expectation, found.wrong) == ("pass", right[0], 0)
        assert set(found.readings["ties"]) == {expectations[each].readings["ties"][0] for each in right}
        assert found.behaviours["flush"] == tuple(f"way {each}" for each in right)
    else:
        assert (found.verdict, found.difference, found.readings) == ("mismatch", "value", {})
        assert found.wrong == min(wrong)
        assert found.expectation is not None
        assert wrong[found.expectation] == min(wrong)
        assert str(found.reason).startswith(f"{min(wrong)} of ")
    for position, got in enumerate(answer):
        same = [
            n for n, expectation in enumerate(expectations) if expectation.outputs[position].expected == got
        ]
        assert found.matched[position] == (same[0] if same else None)


def test_a_distance_in_ulps_is_recorded_and_printed_where_it_is_short() -> None:
    wanted = tensor(np.array([1.0, 2.0], dtype=np.float64))
    near = tensor(np.nextafter(wanted.array, 0))
    case = make_case(given=wanted, expectations=(expect(wanted),))
    found = judge(case, Answered((near,)))
    assert str(found.reason).endswith(", 1 ulp")
    far = judge(case, Answered((tensor(-wanted.array),)))
    assert far.worst is not None
    assert far.worst.ulps == 2 * 1024 << 52
    assert "ulp" not in str(far.reason)
    line = make_result(case, "inputs", 0, Answered((tensor(-wanted.array),)), far).to_json()
    assert line["worst"]["ulps"] == str(2 * 1024 << 52)
    validate(line, load_schema("result"))


def test_the_reason_of_a_refusal_is_the_line_that_tells_it() -> None:
    found = verdict(Refused("RuntimeError", "Exception from core.cpp:105:\nUnknown type\n\n"))
    assert found.reason == "RuntimeError: Unknown type"


def test_a_number_that_a_reading_lets_be_none_is_counted_where_the_inputs_are_ordinary() -> None:
    case = make_case(seed=1, demand="answer")
    given = tensor(np.array([100.0, 0.0], np.float32))
    right = tensor(np.array([100.0, 0.6931472], np.float32))
    lost = tensor(np.array([np.inf, 0.6931472], np.float32))
    expectations = tuple(
        Expectation((ExpectedOutput("Y", each),), {}, {"overflow": (option,)})
        for each, option in ((right, "exact"), (lost, "as_formula"))
    )
    case = replace(case, inputs=(("X", given),), expectations=expectations, output_names=("Y",))
    assert judge(case, Answered((right,))).no_number == 0
    found = judge(case, Answered((lost,)))
    assert (found.verdict, found.no_number) == ("pass", 1)
    assert found.behaviours == {"overflow": ("as_formula",)}
    row = make_result(case, "inputs", 0, Answered((lost,)), found)
    assert row.to_json()["no_number"] == 1
    validate(row.to_json(), load_schema("result"))
    assert "no_number" not in make_result(case, "inputs", 0, None, judge(case, Answered((right,)))).to_json()
    anything = ExpectedOutput("Y", right, np.array([np.inf, 0]))
    opened = replace(case, expectations=(Expectation((anything,)), *expectations[1:]))
    assert judge(opened, Answered((lost,))).no_number == 0
    for other in (1e30, np.inf, 1e-30):
        strange = replace(case, inputs=(("X", tensor(np.array([other, 0], np.float32))),))
        assert judge(strange, Answered((lost,))).no_number == 0
