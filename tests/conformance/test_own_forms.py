"""Cases with forms of their own run in these alone; calls that kill workers are left after a few cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.recording.records import Record
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from conformance.suite.form_sample import forms_by_case
from conformance.suite.suites import Suite, open_suite
from tests.conformance.samples import echo_runtime, make_case, make_suite

FORMS = ("inputs", "dynamic", "initializers")
CASES = 4


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Suite]:
    folder = tmp_path_factory.mktemp("own_forms")
    with open_suite(make_suite(folder, [make_case(seed=seed) for seed in range(CASES)])) as opened:
        yield opened


@given(
    st.dictionaries(st.integers(0, CASES - 1), st.lists(st.sampled_from((*FORMS, "strided")), unique=True)),
    st.sampled_from([None, 1]),
)
def test_forms_of_their_own_are_what_cases_go_in(
    suite: Suite, places: dict[int, list[str]], sampled: int | None
) -> None:
    own = {suite.case_ids[place]: forms for place, forms in places.items()}
    found = forms_by_case(suite, FORMS, sampled, own)
    before = forms_by_case(suite, FORMS, sampled)
    for name in suite.case_ids:
        there = [form for form in FORMS if form in own.get(name, ())]
        assert list(found[name]) == (list(before[name]) if name not in own else there or [FORMS[0]])


def run(folder: Path, cases: list[Case], **options: object) -> Record:
    with open_suite(make_suite(folder, cases)) as suite:
        settings = RunOptions(**options)  # type: ignore[arg-type]
        return run_suite(suite, find_runtime(echo_runtime()), folder / "run.jsonl", settings)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_kills_its_workers_is_left_after_a_few_cases(tmp_path: Path, jobs: int) -> None:
    """Five cases of each of three calls: one dies, one is answered, one dies in two cases of its five."""
    cases = [make_case("SIGSEGV", seed=each, word="call_dies") for each in range(5)]
    cases += [make_case("echo", seed=each, word="call_lives") for each in range(5)]
    cases += [
        make_case("echo" if each < 3 else "SIGSEGV", seed=9 + each, word="call_both") for each in range(5)
    ]
    record = run(tmp_path, cases, most_lost=2, jobs=jobs)
    found = {
        word: Counter(result.verdict for result in record.results if f"/{word}-" in result.case)
        for word in ("call_dies", "call_lives", "call_both")
    }
    # The other worker may have the next one already.
    assert found["call_dies"]["crash"] in range(2, 2 + jobs)
    assert found["call_dies"]["crash"] + found["call_dies"]["not_run"] == 5
    assert found["call_lives"] == {"pass": 5}
    assert found["call_both"]["crash"] == 2
    assert found["call_both"]["crash"] + found["call_both"]["pass"] + found["call_both"]["not_run"] == 5
    assert record.footer is not None
    assert record.footer["rows"] == 15
    assert "stopped" not in record.footer
    left = {result.reason for result in record.results if result.verdict == "not_run"}
    assert left == {"other cases of the same call have lost their workers"}
