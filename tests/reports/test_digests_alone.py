"""Rows of which a record keeps digests alone: held against what is expected, named, and few enough."""

from __future__ import annotations

from pathlib import Path

import pytest

import reports.certificates.rejudging
from conformance.recording import outputs
from conformance.recording.records import read_record
from conformance.running.harness import run_suite
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.suites import open_suite
from opcert.vocabulary.element_types import ELEMENT_TYPES
from reports.certificates.certificate import find_believed
from reports.certificates.rejudging import MOST_UNCHECKED, Rejudged, judge_again
from reports.results.case_results import put_together
from tests.conformance.samples import echo_runtime, expect, make_case, make_suite, sample


def judged(
    folder: Path, right: int, large: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[Rejudged, list[str]]:
    """A run with so many right answers that are golden, and so many too large to keep; honest throughout."""
    for module in (outputs, reports.certificates.rejudging):
        monkeypatch.setattr(module, "FILE_BYTES", 5000)
    cases = [make_case("echo", seed=each) for each in range(right)]
    for each in range(large):
        given = sample(1000 + each, (40, 40))
        cases.append(
            make_case(
                "ulp",
                seed=1000 + each,
                given=given,
                expectations=(expect(given, 1.0 + 0 * given.array.astype(float)),),
            )
        )
    suite_path = make_suite(folder, cases)
    with open_suite(suite_path) as suite:
        run_suite(suite, find_runtime(echo_runtime()), folder / "run.jsonl")
        results = put_together(suite, read_record(folder / "run.jsonl"))
        assert results.counts["pass"] == right + large
        return judge_again(results), [believed.kind for believed in find_believed(results)]


def test_one_row_in_a_hundred_may_be_unchecked_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, believed = judged(tmp_path, MOST_UNCHECKED - 1, 1, monkeypatch)
    assert found.problems == ()
    assert len(found.unchecked) == 1
    assert found.judged == MOST_UNCHECKED - 1
    assert believed == ["digests"]


def test_more_of_them_are_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = judged(tmp_path, MOST_UNCHECKED - 3, 2, monkeypatch)
    assert found.problems == (
        f"2 of {MOST_UNCHECKED - 1} rows could not be judged again, which is more than one in "
        f"{MOST_UNCHECKED}",
    )


def test_every_type_has_the_bytes_that_its_shape_says() -> None:
    """What a digest's number of bytes is held against is what is written, of every type but strings."""
    from opcert.vocabulary.tensors import tensor

    for element_type in ELEMENT_TYPES.values():
        if element_type.kind != "string":
            entry = outputs.digest_entry(tensor([[0, 1], [1, 0]], element_type))
            assert entry["bytes"] == 4 * -(-element_type.bits // 8), element_type
