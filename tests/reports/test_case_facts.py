"""What reports say of cases is the same, whether it was kept or is found anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.suite import store
from conformance.suite.suites import Suite
from reports.results import case_facts
from reports.results.case_results import put_together
from tests.reports.sample import Maker, Sample, planted, sample_cases


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "cache_folder", lambda: tmp_path / "cache")


@pytest.fixture
def made(tmp_path: Path) -> Sample:
    (tmp_path / "sample").mkdir()
    return Maker(tmp_path / "sample").make(list(sample_cases()), planted)


def told(made: Sample, only: set[str] | None = None) -> list[tuple[Any, ...]]:
    cases = put_together(made.suite, made.record, only=only).cases
    # Features in their order: the preferred ones stand first.
    return [
        (result.id, result.element_type, result.demand, result.constraint, [*result.features.items()],
         result.size, result.verdict, result.rows)
        for result in cases
    ]  # fmt: skip


def test_the_facts_are_the_same_from_the_cache(made: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = told(made)
    monkeypatch.setattr(case_facts, "FEWEST_KEPT", 1)
    assert told(made) == plain

    def read(suite: Suite, case_id: str) -> None:
        raise AssertionError(f"{case_id} is read")

    monkeypatch.setattr(Suite, "outline", read)
    assert told(made) == plain
    places = range(3, 40, 7)
    assert told(made, {made.suite.case_ids[place] for place in places}) == [plain[place] for place in places]


def test_of_some_cases_nothing_is_kept(made: Sample, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(case_facts, "FEWEST_KEPT", 1)
    told(made, set(made.suite.case_ids[:5]))
    assert not (tmp_path / "cache").exists()


def test_of_very_many_cases_nothing_is_kept(
    made: Sample, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(case_facts, "FEWEST_KEPT", 1)
    monkeypatch.setattr(case_facts, "MOST_KEPT", len(made.suite.case_ids) - 1)
    told(made)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        {"shared": [], "cases": []},
        {"shared": [["float", "answer", None, [["a", "b"]]]], "cases": [[7, 1, 1, 1]]},
        {"shared": [["float", "answer", None, [["a", 1]]]], "cases": [[0, 1, 1, 1]]},
        {"shared": [["float"]], "cases": [[0, 1, 1, 1]]},
    ],
)
def test_whatever_else_lies_there_counts_for_nothing(
    made: Sample, monkeypatch: pytest.MonkeyPatch, content: object
) -> None:
    plain = told(made)
    monkeypatch.setattr(case_facts, "FEWEST_KEPT", 1)
    work = store.KeptWork("case-facts")
    work.keep(work.key(made.suite.digest), content)
    assert told(made) == plain
