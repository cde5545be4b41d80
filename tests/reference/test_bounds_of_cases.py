"""The margins on the suite's own cases: what docs/why-believe.md prints is what the script finds."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import REPOSITORY
from tests.reference.float32_formulas import FAMILIES
from tests.reference.float32_terms import Values
from tools.bounds_of_cases import Measured, float_cases, measure, shares, table

PAGE = REPOSITORY / "docs" / "why-believe.md"
LESS_NOTICED = {("pooling", "inputs rounded to bfloat16"): 90}
"""Means of 4,099 numbers and of 12 near 2**23 hide it: each input loses less than an honest sum may."""
_START = "#### On the suite's own cases"


def printed() -> list[str]:
    """The lines of the page's table."""
    text = PAGE.read_text(encoding="utf-8").partition(_START)[2].partition("\n##")[0]
    return [line for line in text.splitlines() if line.startswith("|")]


def test_the_page_has_the_table_that_the_script_prints_of_a_family() -> None:
    lines = table(measure(["CumSum"])).splitlines()
    found = printed()
    assert found[:2] == lines[:2]
    at = found.index(lines[2])
    assert found[at : at + len(lines) - 2] == lines[2:]


def test_the_page_has_every_family_and_accuses_nobody() -> None:
    rows = [[word.strip() for word in line.strip("|").split("|")] for line in printed()[2:]]
    families = {row[0]: row for row in rows if row[0]}
    assert list(families) == list(FAMILIES)
    for family, row in families.items():
        assert row[1] == ", ".join(FAMILIES[family])
        assert re.fullmatch(r"0\.\d\d", row[3]), family
    noticed, family = dict[tuple[str, str], int](), ""
    for row in rows:
        family = row[0] or family
        noticed[family, row[4]] = int(row[6].removesuffix(" %"))
    assert all(share >= LESS_NOTICED.get(each, 95) for each, share in noticed.items())
    assert len(noticed) == len(rows)


def test_a_table_is_made_of_what_was_measured() -> None:
    made = Measured("sums", ["A", "B"], 1200, 0.5, {"a fault": [0.5, 3.0, 1e12], "another": [2.0]})
    assert table([made]).splitlines()[2:] == [
        "| sums | A, B | 1,200 | 0.50 | a fault | 3 | 67 % | 3 |",
        "| | | | | another | 1 | 100 % | 2 |",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AveragePool", "Conv", "ConvTranspose", "Gemm", "MatMul", "ReduceMean"])
def test_formulas_are_those_of_the_operators(name: str) -> None:
    """The small suite of each; a formula that is another one would be far outside."""
    formula = next(family[name] for family in FAMILIES.values() if name in family)
    for case in float_cases(name, "small"):
        values = Values.of(case)
        with np.errstate(all="ignore"):
            assert all((shares(case, made) <= 1).all() for made in formula.honest(values))


def test_a_share_is_the_distance_over_what_is_allowed() -> None:
    case = next(
        float_case
        for float_case in float_cases("CumSum", "small")
        if float_case.expectations[0].outputs[0].allowed is not None
    )
    (output, *_) = case.expectations[0].outputs
    expected = output.expected.array
    allowed = np.full(expected.shape, 0.5)
    known = replace(output, allowed=allowed, alternatives=())
    told = replace(case, expectations=(replace(case.expectations[0], outputs=(known,)),))
    assert shares(told, expected).max(initial=0.0) == 0
    assert np.allclose(shares(told, (expected + 1).astype(np.float32)), 2.0, rtol=1e-3)
