"""The cases of a model's calls as a suite, and what the cache keeps of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.suite.suite_parts import suite_order
from conformance.suite.suites import open_suite, write_suite
from generator.models.check import model_cases
from generator.models.check.model_cases import cases_of_calls, node_tests_of_call, write_model_suite
from opcert.vocabulary.errors import NothingRan
from tests.generator.checking.made_calls import call, fed

pytestmark = pytest.mark.slow

CALLS = (
    call("Relu-14", [fed("n", 64)]),
    call("Relu-14", [fed("n", "m", 64)]),
    call("Relu-14", [fed(3)], a=1),
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_suite_holds_the_cases_of_every_call_under_its_word(tmp_path: Path) -> None:
    made = cases_of_calls(CALLS, keep=False)
    digest = write_model_suite(tmp_path / "suite", made, {"model": "digest"})
    with open_suite(tmp_path / "suite") as suite:
        assert suite.digest == digest
        wanted = sorted((each.id for one in made for each in one.cases), key=suite_order)
        assert list(suite.case_ids) == list(map(str, wanted))
        assert {case_id.split("/")[-1].rsplit("-", 1)[0] for case_id in suite.case_ids} == {
            call_cases.word for call_cases in made[:2]
        }
        assert suite.facts["operators"]["ai.onnx::Relu-14"]["documents"]
        assert suite.facts["calls"][made[0].key]["varied"]["data"]
        assert made[2].key not in suite.facts["calls"]
        first = made[0].cases[0]
        kept = suite.case(str(first.id))
        assert kept.expectations[0].outputs[0].expected == first.expectations[0].outputs[0].expected


def test_a_model_without_cases_is_told(tmp_path: Path) -> None:
    made = cases_of_calls(CALLS[2:], keep=False)
    with pytest.raises(NothingRan, match="none of the model's calls has a case"):
        write_model_suite(tmp_path / "suite", made, {})


def test_kept_calls_are_those_that_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    first = cases_of_calls(CALLS)

    def fail(*_: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr(model_cases, "cases_of_call", fail)
    again = cases_of_calls(CALLS)
    for one, other in zip(first, again, strict=True):
        assert [str(each.id) for each in one.cases] == [str(each.id) for each in other.cases]
        assert (one.not_covered, one.fixed, one.varied) == (other.not_covered, other.fixed, other.varied)
        assert (one.pairs, one.covered_pairs, one.forms) == (other.pairs, other.covered_pairs, other.forms)


def test_a_damaged_kept_call_is_made_again(tmp_path: Path) -> None:
    first = cases_of_calls(CALLS[:1])
    (kept,) = [path for path in (tmp_path / "cache" / "opcert" / "calls").iterdir() if path.is_file()]
    kept.write_bytes(kept.read_bytes()[:-1])
    again = cases_of_calls(CALLS[:1])
    assert [str(each.id) for each in again[0].cases] == [str(each.id) for each in first[0].cases]


def test_node_tests_of_a_call_have_its_attributes(tmp_path: Path) -> None:
    made = {
        alpha: cases_of_calls([call("LeakyRelu-16", [fed(3)], alpha=alpha)], keep=False)
        for alpha in (0.1, 0.01)
    }
    tests = [one[0].cases[0] for one in made.values()]
    write_suite(tmp_path / "tests", tests, {}, {})
    with open_suite(tmp_path / "tests") as suite:
        found = node_tests_of_call(call("LeakyRelu-16", [fed("n", 9)], alpha=0.1), suite)
        assert [str(each.id) for each in found] == [str(tests[0].id)]
        # What is left out has its default, which is 0.01.
        left_out = node_tests_of_call(call("LeakyRelu-16", [fed("n", 9)]), suite)
        assert [str(each.id) for each in left_out] == [str(tests[1].id)]
        assert node_tests_of_call(call("LeakyRelu-6", [fed("n", 9)], alpha=0.1), suite) == ()
