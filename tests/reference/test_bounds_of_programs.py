"""The margins of whole families: what docs/bounds.md prints is what the script finds."""

from __future__ import annotations

import re

import numpy as np
import pytest

from benchmarks.bounds_of_programs import Measured, measured, table
from benchmarks.programs_of_families import FAMILIES
from benchmarks.trials import Array, Outputs, Trial
from tests.conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "bounds.md"
_START = "### Of whole families"


def printed() -> list[str]:
    """The lines of the page's table."""
    text = PAGE.read_text(encoding="utf-8").partition(_START)[2].partition("\n##")[0]
    return [line for line in text.splitlines() if line.startswith("|")]


@pytest.mark.parametrize(
    "family",
    ["losses", *(pytest.param(each, marks=pytest.mark.slow) for each in ("normalizations", "Fourier"))],
)
def test_the_page_has_the_line_that_the_script_prints_of_a_family(family: str) -> None:
    lines, found = table([measured(family, FAMILIES[family]())]).splitlines(), printed()
    assert found[:2] == lines[:2]
    assert lines[2] in found


def test_the_page_has_every_family_and_accuses_nobody() -> None:
    rows = [[each.strip() for each in line.strip("|").split("|")] for line in printed()[2:]]
    assert [row[0] for row in rows] == list(FAMILIES)
    for row in rows:
        assert re.fullmatch(r"0\.\d\d", row[3]), row[0]
        noticed, changed = (int(each.replace(",", "")) for each in row[4].split(" of "))
        assert noticed >= 0.99 * changed


def _share(got: Outputs) -> Array:
    return np.abs(got[0])


def test_a_program_beyond_its_bound_shows_and_a_fault_that_changes_nothing_does_not_count() -> None:
    near, far = (np.array([0.0, each]) for each in (0.25, 1.5))
    trials = [
        Trial("A", _share, [(near,)], {"small": (far,), "none": (near,)}),
        Trial("B", _share, [(near,), (far,)], {"small": (np.array([3.0, 9.0]),), "great": (far * 1e12,)}),
    ]
    found = measured("a family", trials)
    assert (found.operators, found.calls, found.worst) == (["A", "B"], 2, 1.5)
    assert found.faults == {"small": [1.5, 9.0], "great": [1.5e12]}
    assert (found.smallest, found.noticed) == (("small", [1.5, 9.0]), (3, 3))


def test_a_table_is_made_of_what_was_measured() -> None:
    made = Measured("sums", ["A", "B"], 1200, 0.5, {"a fault": [0.5, 3.0], "another": [1e12]})
    assert table([made]).splitlines()[2:] == [
        "| sums | A, B | 1,200 | 0.50 | 2 of 3 | a fault | 1 of 2 | 1.8 |"
    ]
