"""Profiles: read strictly, held against a run with every reason said."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from conformance.judging.responses import Answered, Crashed, Refused, Response
from conformance.suite.cases import Case
from generator.making.suites.lock import read_lock
from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from reports.gates.profile_evaluation import evaluate
from reports.gates.profiles import Profile, list_profiles, load_profile, read_profile
from reports.results.case_results import Results, put_together
from reports.results.standing import Departure, SuiteStanding
from tests.reports.sample import CROP_PAD, PAD, Maker, make_case

TODAY = date(2026, 11, 20)


def profile(**more: object) -> Profile:
    plain = {"profile": "p", "description": "", "operators": [str(CROP_PAD)], **more}
    return Profile.model_validate(plain)


def run(folder: Path, respond: Callable[[Case], Response], *, skip: int = 0, close: bool = True) -> Results:
    cases = [
        make_case(operator, "cover", {"extent": extent}, kind)
        for operator in (CROP_PAD, PAD)
        for extent in ("same", "crop")
        for kind in ("float", "string")
    ]
    made = Maker(folder).make(cases, respond, skip=skip, close=close)
    return put_together(made.suite, made.record)


def answer(case: Case) -> Response:
    return Answered((case.expectations[0].outputs[0].expected,), 0.001)


def test_the_profiles_that_come_along_are_read() -> None:
    assert {"first-operators", "center-crop-pad"} <= set(list_profiles())
    for each in list_profiles():
        assert load_profile(each).profile == each


def test_a_profile_is_found_by_its_former_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_profile("seeds") == load_profile("first-operators")
    assert "seeds" not in list_profiles()


def test_there_is_a_profile_for_each_family_of_documents() -> None:
    """Every operator of the default suite stands in the profile of its documents, and in no other's."""
    families = {
        "onnx": "ai.onnx",
        "onnx-ml": "ai.onnx.ml",
        "onnx-preview": "ai.onnx.preview",
        "onnx-training": "ai.onnx.preview.training",
        "onnxruntime-contrib": "com.microsoft",
        "openvino": "org.openvino",
        "tensorflow": "org.tensorflow",
    }
    for text in read_lock().default.versions:
        operator = OperatorName.parse(text)
        demanding = [name for name in families if load_profile(name).demands_operator(operator)]
        assert [families[each] for each in demanding] == [operator.domain], text
    for name, domain in families.items():
        assert all(each.startswith(f"{domain}::") for each in load_profile(name).operators)


def test_a_run_without_failures_meets_its_profile(tmp_path: Path) -> None:
    found = evaluate(profile(), run(tmp_path, answer), TODAY)
    assert found.met
    assert found.demanded == 4


def test_a_failure_outside_the_profile_does_not_count(tmp_path: Path) -> None:
    def respond(case: Case) -> Response:
        return Crashed("gone", "SIGSEGV") if case.operator == PAD else answer(case)

    assert evaluate(profile(), run(tmp_path, respond), TODAY).met


def test_each_reason_names_operator_verdict_and_a_case(tmp_path: Path) -> None:
    found = evaluate(profile(), run(tmp_path, lambda case: Crashed("gone", "SIGSEGV")), TODAY)
    assert not found.met
    assert found.reasons[0].startswith("ai.onnx::CenterCropPad-18: 4 cases crash, such as ai.onnx/")


@pytest.mark.parametrize(
    ("allowed", "which", "met"),
    [
        ("none", "string", False),
        ("operator", "string", False),
        ("case", "string", True),
        ("none", "all", False),
        ("operator", "all", False),
        ("case", "all", False),
    ],
)
def test_what_may_be_unsupported(tmp_path: Path, allowed: str, which: str, met: bool) -> None:
    """A runtime that supports nothing of a profile never meets it."""

    def respond(case: Case) -> Response:
        unsupported = which == "all" or case.element_type.name == which
        return Refused("NotImplemented", "no", unsupported="x") if unsupported else answer(case)

    assert evaluate(profile(unsupported=allowed), run(tmp_path, respond), TODAY).met is met


def test_an_operator_may_be_unsupported_as_a_whole(tmp_path: Path) -> None:
    def respond(case: Case) -> Response:
        return Refused("NotImplemented", "no", unsupported="x") if case.operator == PAD else answer(case)

    results = run(tmp_path, respond)
    both = [str(CROP_PAD), str(PAD)]
    assert evaluate(profile(operators=both, unsupported="operator"), results, TODAY).met
    assert not evaluate(profile(operators=both, unsupported="none"), results, TODAY).met


@pytest.mark.parametrize(("expires", "met"), [("2026-11-20", True), ("2026-11-19", False)])
def test_a_waiver_covers_until_it_expires(tmp_path: Path, expires: str, met: bool) -> None:
    def respond(case: Case) -> Response:
        return Crashed("gone", None) if case.element_type.name == "string" else answer(case)

    waiver = {"cases": "ai.onnx/CenterCropPad-18/*", "reason": "known", "link": "https://example.org/1"}
    found = evaluate(profile(waivers=[{**waiver, "expires": expires}]), run(tmp_path, respond), TODAY)
    assert found.met is met
    assert len(found.waivers[0].covered) == (2 if met else 0)
    assert any("expired on 2026-11-19" in reason for reason in found.reasons) is not met


@pytest.mark.parametrize(
    ("narrowed", "covered"),
    [
        ({}, 2),
        ({"conditions": {"element_type": "string"}}, 2),
        ({"conditions": {"element_type": "int8"}}, 0),
        ({"conditions": {"no_such_level": "string"}}, 0),
        ({"verdicts": ["crash"]}, 2),
        ({"verdicts": ["mismatch", "rejected_valid"]}, 0),
    ],
)
def test_a_waiver_covers_no_more_than_it_says(
    tmp_path: Path, narrowed: dict[str, object], covered: int
) -> None:
    def respond(case: Case) -> Response:
        return Crashed("gone", None) if case.element_type.name == "string" else answer(case)

    waiver = {"cases": "CenterCropPad", "reason": "known", "link": "https://example.org/1"}
    found = evaluate(
        profile(waivers=[{**waiver, "expires": "2026-11-20", **narrowed}]), run(tmp_path, respond), TODAY
    )
    assert len(found.waivers[0].covered) == covered
    assert found.met is (covered == 2)


def test_cases_that_did_not_run_keep_a_profile_unmet(tmp_path: Path) -> None:
    results = run(tmp_path, answer, skip=8)
    assert any("not run" in reason for reason in evaluate(profile(), results, TODAY).reasons)


def test_a_partial_record_keeps_a_profile_unmet(tmp_path: Path) -> None:
    results = run(tmp_path, answer, close=False)
    assert evaluate(profile(), results, TODAY).reasons == (
        "the record is partial: the run did not come to its end",
    )


def test_an_operator_that_the_suite_lacks_keeps_a_profile_unmet(tmp_path: Path) -> None:
    found = evaluate(profile(operators=["ai.onnx::Resize-18"]), run(tmp_path, answer), TODAY)
    assert "ai.onnx::Resize-18: the suite has no case that the profile demands" in found.reasons


def test_a_whole_domain_is_whatever_the_suite_has_of_it(tmp_path: Path) -> None:
    results = run(tmp_path, answer)
    whole = profile(operators=["ai.onnx::*"])
    named = sum(result.operator.domain == "ai.onnx" for result in results.cases)
    assert 0 < named < len(results.cases)
    found = evaluate(whole, results, TODAY)
    assert (found.met, found.demanded) == (True, named)

    def respond(case: Case) -> Response:
        return Crashed("gone", "SIGSEGV") if case.operator == CROP_PAD else answer(case)

    failing = evaluate(whole, run(tmp_path / "failing", respond), TODAY)
    assert failing.reasons[0].startswith(f"{CROP_PAD}: 4 cases crash")
    other = evaluate(profile(operators=["org.example::*"]), results, TODAY)
    assert "org.example::*: the suite has no operator of org.example" in other.reasons


def test_a_whole_domain_misses_what_the_released_suite_has_beyond(tmp_path: Path) -> None:
    lacking = SuiteStanding("part", "a part", (Departure("ai.onnx::Resize-18", 0, 7, 0),), 8, 15)
    elsewhere = SuiteStanding("part", "a part", (Departure("org.example::Resize-18", 0, 7, 0),), 8, 15)
    whole = profile(operators=["ai.onnx::*"], suite="released")
    results = run(tmp_path, answer)
    assert evaluate(whole, results, TODAY, elsewhere).met
    (reason,) = evaluate(whole, results, TODAY, lacking).reasons
    assert reason.startswith("ai.onnx::Resize-18: its cases are not those of the released suite: 7 cases")


def test_families_and_element_types_narrow_a_profile(tmp_path: Path) -> None:
    results = run(tmp_path, answer)
    assert evaluate(profile(element_types=["float"]), results, TODAY).demanded == 2
    assert not evaluate(profile(families=["invalid"]), results, TODAY).met


GOOD = b"profile: p\ndescription: d\noperators:\n  - ai.onnx::Resize-18\n"


def test_every_mistake_is_told_with_its_line() -> None:
    text = (
        GOOD
        + b"unsuported: case\nfamilies: [cover, odd]\nwaivers:\n  - {cases: x, reason: y, expires: soon}\n"
    )
    with pytest.raises(SeveralErrors) as caught:
        read_profile(text, "p.yaml")
    said = str(caught.value).splitlines()
    assert len(said) == 4
    assert any(
        each.startswith("p.yaml:5:13 at unsuported: unknown key") and "unsupported" in each for each in said
    )
    assert any(each.startswith("p.yaml:6:11 at families") and "'odd'" in each for each in said)
    assert any(each.startswith("p.yaml:8:5 at waivers[0].link") for each in said)
    assert any(each.startswith("p.yaml:8:36 at waivers[0].expires") for each in said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "not a profile"),
        (b"[1, 2]", "not a profile"),
        (b"profile: [", "p.yaml:2:1: not YAML"),
        (b"\xff\xfe\x00", "not a text file"),
        (b"profile: a\nprofile: b\n", "p.yaml:2:1: this key stands in the same mapping already"),
        (b"a: &x [1]\nb: *x\n", "aliases are not allowed"),
        (GOOD.replace(b"ai.onnx::Resize-18", b"Resize"), "not an operator's name"),
        (GOOD.replace(b"ai.onnx::Resize-18", b"'ai.onnx::Re*'"), "or domain::* for every one"),
        (GOOD.replace(b"ai.onnx::Resize-18", b"'*'"), "or domain::* for every one"),
        (GOOD + b"description: !!python/object:os.system x\n", "this key stands in the same mapping already"),
    ],
)
def test_what_is_no_profile(text: bytes, said: str) -> None:
    with pytest.raises(UserError) as caught:
        read_profile(text, "p.yaml")
    assert said in str(caught.value)


def test_no_is_a_word() -> None:
    assert read_profile(GOOD.replace(b"description: d", b"description: NO"), "p.yaml").description == "NO"


def test_an_unknown_profile_names_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"unknown profile.*first-operators"):
        load_profile("nothing-like-it")
