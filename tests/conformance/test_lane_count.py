"""How many workers at a time a run has."""

from __future__ import annotations

import os

import pytest

from conformance.running.run_options import MOST_WORKERS, RunOptions


@pytest.mark.parametrize(
    ("processors", "cases", "lanes"),
    [(1, 20_000, 1), (2, 20_000, 2), (64, 20_000, MOST_WORKERS), (64, 30, 1), (64, 500, 3), (None, 9_000, 1)],
)
def test_where_nobody_says_how_many(
    monkeypatch: pytest.MonkeyPatch, processors: int | None, cases: int, lanes: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert RunOptions(jobs=None).lanes(cases) == lanes


@pytest.mark.parametrize(
    ("jobs", "cases", "lanes"), [(1, 9, 1), (7, 9, 7), (7, 3, 3), (200, 9_000, 200), (2, 0, 1)]
)
def test_where_somebody_does(jobs: int, cases: int, lanes: int) -> None:
    assert RunOptions(jobs=jobs).lanes(cases) == lanes
