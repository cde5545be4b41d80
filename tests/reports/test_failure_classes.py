"""Failure classes: they divide the failing cases, and name what separates them from passing ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.judging.responses import Answered, Refused, Response, ReturnedOther
from conformance.judging.verdicts import VERDICTS as VERDICT_NAMES
from conformance.recording.rows import Result
from conformance.suite.cases import Case
from opcert.vocabulary.names import CaseId, OperatorName
from reports.causes.class_words import conditions_text, fit_text, headline
from reports.causes.conditions import Condition, Observation, separate
from reports.causes.failure_class import TIERS, FailureClass
from reports.causes.failure_classes import find_classes
from reports.results.case_results import CaseResult, Results, put_together
from tests.reports.sample import RESIZE_18, Maker, make_case, sample_cases

VERDICTS = st.sampled_from([*VERDICT_NAMES, "pass", "pass", "mismatch"])


def case_result(
    number: int,
    version: int,
    features: dict[str, str],
    verdict: str,
    demand: str = "answer",
    ratio: float | None = None,
) -> CaseResult:
    operator = OperatorName("ai.onnx", "Resize", version)
    row = None
    if verdict != "not_run":
        worst = None if ratio is None else {"ratio": ratio}
        row = Result(
            f"ai.onnx/Resize-{version}/cover/{number:012x}", str(operator), "cover", "float", "inputs", 0,
            verdict, worst=worst,  # type: ignore[arg-type] # drawn from the verdicts
        )  # fmt: skip
    identity = CaseId(operator, "cover", None, f"{number:012x}")
    rows = (row,) if row is not None else ()
    return CaseResult(identity, "float", demand, None, features, (number, 0, 0), verdict, row, rows)


@st.composite
def runs(draw: st.DrawFn) -> list[CaseResult]:
    levels = st.fixed_dictionaries(
        {"mode": st.sampled_from("abc"), "ratio": st.sampled_from("xy"), "axes": st.sampled_from("1234")}
    )
    number = draw(st.integers(0, 40))
    return [
        case_result(
            position,
            draw(st.sampled_from([11, 13, 18])),
            draw(levels),
            draw(VERDICTS),
            draw(st.sampled_from(["answer", "answer", "refuse", "survive"])),
            draw(st.sampled_from([None, 1.5, 9.99, 10.0, 1e9])),
        )
        for position in range(number)
    ]


@settings(max_examples=60, deadline=None)
@given(runs())
def test_classes_divide_the_failing_cases(cases: list[CaseResult]) -> None:
    classes = find_classes(cases)
    members = [str(case.id) for each in classes for case in each.cases]
    assert sorted(members) == sorted(str(each.id) for each in cases if each.deviates)
    assert [each.number for each in classes] == list(range(1, len(classes) + 1))
    order = [TIERS.index(each.tier) for each in classes]
    assert order == sorted(order)


@settings(max_examples=60, deadline=None)
@given(runs())
def test_fit_counts_add_up(cases: list[CaseResult]) -> None:
    for each in find_classes(cases):
        if each.conditions is None:
            continue
        assert all(c.holds(case.features) for c in each.conditions for case in each.cases)
        fulfilling = [
            case
            for case in cases
            if case.operator in each.operators
            and (case.fails or case.verdict == "pass")
            and all(c.holds(case.features) for c in each.conditions)
            and (
                each.kind in ("crash", "timeout")
                or (case.demand == "refuse") == (each.kind == "accepted_invalid")
            )
            and (each.kind in ("crash", "timeout", "accepted_invalid") or case.demand == "answer")
        ]
        assert each.fulfilling == len(fulfilling)
        elsewhere = sum((each.elsewhere or {}).values())
        passing = sum(case.verdict == "pass" for case in fulfilling)
        assert len(
            {str(case.id) for case in each.cases} & {str(case.id) for case in fulfilling}
        ) + elsewhere + passing == (len(fulfilling))


def grid() -> list[dict[str, str]]:
    return [
        {"mode": mode, "ratio": ratio, "axes": axes}
        for mode in ("nearest", "linear", "cubic")
        for ratio in ("same", "down", "up")
        for axes in ("absent", "some", "all")
    ]


@pytest.mark.parametrize(
    ("fails", "wanted"),
    [
        (lambda f: f["mode"] == "cubic", "mode=cubic"),
        (lambda f: f["mode"] == "cubic" and f["ratio"] == "up", "mode=cubic and ratio=up"),
        (lambda f: f["axes"] != "absent", "axes≠absent"),
        (lambda f: f["mode"] != "linear" and f["axes"] == "all", "axes=all and mode≠linear"),
    ],
)
def test_the_smallest_separating_conditions_are_found(fails: object, wanted: str) -> None:
    assert callable(fails)
    features = grid()
    found = separate(
        [Observation("v", feature, bool(fails(feature))) for feature in features], ["axes", "mode", "ratio"]
    )
    assert len(found) == 1
    assert " and ".join(str(condition) for condition in found[0].conditions) == wanted
    assert found[0].covered == {position for position, feature in enumerate(features) if fails(feature)}


def test_two_causes_give_two_separations() -> None:
    features = grid()
    fails = [
        feature["mode"] == "cubic" or (feature["ratio"] == "down" and feature["axes"] == "all")
        for feature in features
    ]
    observations = [Observation("v", *pair) for pair in zip(features, fails, strict=True)]
    found = separate(observations, ["axes", "mode", "ratio"])
    assert [str(separation.conditions[0]) for separation in found] == ["mode=cubic", "axes=all"]
    covered = [position for separation in found for position in separation.covered]
    assert sorted(covered) == [position for position, fail in enumerate(fails) if fail]


def test_one_failing_case_among_many_is_not_explained_away() -> None:
    """Something singles every case out; that is no explanation."""
    features = grid()
    observations = [Observation("v", feature, position == 13) for position, feature in enumerate(features)]
    assert separate(observations, ["axes", "mode", "ratio"]) == []


def test_a_cause_in_one_version_is_not_blamed_on_another() -> None:
    features = grid()
    observations = [
        Observation(version, feature, version == "18" and feature["mode"] == "cubic")
        for version in ("13", "18")
        for feature in features
    ]
    (found,) = separate(observations, ["axes", "mode", "ratio"])
    assert found.groups == ("18",)
    assert [str(condition) for condition in found.conditions] == ["mode=cubic"]


def test_where_everything_fails_there_is_no_condition() -> None:
    (found,) = separate([Observation("v", each, True) for each in grid()], ["axes", "mode", "ratio"])
    assert found.conditions == ()


def test_a_condition_does_not_hold_of_a_case_without_the_feature() -> None:
    assert not Condition("mode", ("cubic",)).holds({})
    assert not Condition("mode", ("cubic",), negated=True).holds({})


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    made = Maker(tmp_path_factory.mktemp("sample")).make(list(sample_cases()))
    with made.suite:
        yield put_together(made.suite, made.record)


def test_planted_faults_are_named(sample: Results) -> None:
    said = [headline(failures) for failures in find_classes(sample.cases)]
    assert said == [
        "crashes: the worker died of SIGFPE",
        "no answer in 10 s",
        "wrong shape when crops=all_of_axis",
        "wrong when mode=cubic and ratio=up2",
        "wrong when auto_pad=same_lower and rates=three",
        "rejects valid input: Pad: input 'value' must have rank 0, found rank 1",
        "wrong when antialias=1 and mode=linear and element_type=double",
        "accepts a call against the rule “shape length is axes”",
        "accepts a call whose `pads` are not two for each axis",
    ]


def test_a_class_over_versions_comes_before_one_of_a_single_version(sample: Results) -> None:
    wrong = next(failures for failures in find_classes(sample.cases) if failures.kind == "values")
    assert [operator.since_version for operator in wrong.operators] == [18, 13]


@pytest.mark.parametrize(
    ("own", "fulfilling", "elsewhere", "wanted"),
    [
        (29, 29, {}, "all 29 such cases"),
        (1, 1, {}, "the only such case"),
        (42, 46, {}, "42 of 46 such cases"),
        (9, 11, {9: 2}, "9 of 11 such cases, the other 2 fall under 9"),
        (8, 11, {9: 1}, "8 of 11 such cases, 1 more falls under 9"),
        (8, 11, {4: 1, 9: 2}, "8 of 11 such cases, the other 3 fall under 4 and 9"),
    ],
)
def test_fit_in_words(own: int, fulfilling: int, elsewhere: dict[int, int], wanted: str) -> None:
    cases = tuple(case_result(number, 18, {}, "mismatch") for number in range(own))
    found = FailureClass(
        1, "values", (cases[0].operator,), (Condition("a", ("b",)),), cases, fulfilling, elsewhere
    )
    assert fit_text(found) == wanted


def test_unexplained_says_so() -> None:
    found = FailureClass(1, "values", (), None, (case_result(1, 18, {}, "mismatch"),), told="nothing")
    assert fit_text(found) == "1 case; no set of up to three conditions separates them"
    assert headline(found) == "wrong, cause not found"


def test_rows_of_one_case_give_one_verdict(tmp_path: Path) -> None:
    made = Maker(tmp_path).make([make_case(RESIZE_18, "cover", {"mode": "linear"})])
    row = made.record.results[0]
    twice = type(made.record)(
        made.record.path,
        made.record.header,
        (row, replace(row, repeat=1, verdict="crash")),
        None,
    )
    results = put_together(made.suite, twice)
    assert [result.verdict for result in results.cases] == ["crash"]
    assert sum(results.counts.values()) == 1


def test_refusals_that_say_different_things_are_different_classes(tmp_path: Path) -> None:
    def respond(case: Case) -> Response:
        if case.levels["mode"] == "linear":
            return Answered((case.expectations[0].outputs[0].expected,))
        said = {"cubic": "no cubic for 'X' of 17", "nearest": f"roi of rank {len(case.levels)} missing"}
        return Refused("Fail", said[case.levels["mode"]])

    cases = [
        make_case(RESIZE_18, "cover", {"mode": mode, "ratio": ratio})
        for mode in ("nearest", "linear", "cubic")
        for ratio in ("same", "up2", "down2")
    ]
    made = Maker(tmp_path).make(cases, respond)
    found = find_classes(put_together(made.suite, made.record).cases)
    assert sorted(headline(failures) for failures in found) == [
        "rejects valid input: no cubic for 'X' of 17",
        "rejects valid input: roi of rank 3 missing",
    ]
    assert [len(failures.cases) for failures in found] == [3, 3]
    assert sorted(conditions_text(failures) for failures in found) == ["mode=cubic", "mode=nearest"]


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (["list"], "output is a list whatever the attributes and inputs"),
        (["NoneType"], "output is None whatever the attributes and inputs"),
        (["list", "optional"], "output of the wrong kind whatever the attributes and inputs"),
    ],
)
def test_an_output_that_is_no_tensor_is_of_no_wrong_element_type(
    tmp_path: Path, kinds: list[str], said: str
) -> None:
    def respond(case: Case) -> Response:
        return Answered((ReturnedOther(kinds[int(case.levels["ratio"]) % len(kinds)], "[1]"),))

    cases = [make_case(RESIZE_18, "cover", {"mode": "linear", "ratio": str(each)}) for each in range(4)]
    made = Maker(tmp_path).make(cases, respond)
    (found,) = find_classes(put_together(made.suite, made.record).cases)
    assert headline(found) == said
