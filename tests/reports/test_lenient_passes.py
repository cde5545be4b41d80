"""Lenient passes: counted on the first screen, first of the readings, and refused where a profile says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from reports.causes.lenient_passes import lenient_passes, lenient_sentences
from reports.formats.html import render_report
from reports.formats.markdown import render as render_markdown
from reports.gates.profile_evaluation import evaluate
from reports.gates.profiles import Profile
from reports.results.case_results import CaseResult, Results, put_together
from tests.reports.page_data import text_of
from tests.reports.sample import RESIZE_18, Maker, sample_cases

ALONE = {str(RESIZE_18): {"rounding": {"up": ("one", "two")}}}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    made = Maker(tmp_path_factory.mktemp("sample")).make(list(sample_cases(7)))
    with made.suite:
        yield put_together(made.suite, made.record)


def changed(plain: Results, **fields: object) -> Results:
    """With other facts in the row of the first case of Resize that passes."""
    place, first = next(
        (at, result)
        for at, result in enumerate(plain.cases)
        if result.operator == RESIZE_18 and result.verdict == "pass"
    )
    told: dict[str, Any] = {"readings": {}, "behaviours": {}, **fields}
    rows = tuple(replace(row, **told) for row in first.rows)
    case = CaseResult(
        first.id,
        first.element_type,
        first.demand,
        first.constraint,
        first.features,
        first.size,
        first.verdict,
        rows[0],
        rows,
    )
    return replace(plain, cases=(*plain.cases[:place], case, *plain.cases[place + 1 :]))


def profile(**more: object) -> Profile:
    told = {"profile": "some", "description": "one", "operators": [str(RESIZE_18)]}
    return Profile.model_validate({**told, **more})


def test_ordinary_numbers_that_become_none_are_told_first(plain: Results) -> None:
    found = changed(plain, no_number=3, behaviours={"rounding": ("down",)})
    assert lenient_passes(plain) == ()
    (only,) = lenient_passes(found)
    assert only.text.startswith(
        f"{RESIZE_18}: ordinary numbers become NaN or infinite under rounding: down in 1 case, such as "
    )
    said = "In 1 passing case ordinary numbers become NaN or infinite, which the documents leave open."
    assert lenient_sentences(found) == (said,)
    page = render_report([found])
    assert said in text_of(page)
    readings = page[page.index('id="/readings"') :]
    assert readings.index("Lenient passes") < readings.index('class="reading"')
    told = render_markdown(found)
    assert said in told
    readings = told[told.index("## Readings followed") :]
    assert "become NaN or infinite" in readings.splitlines()[2]


def test_a_reading_that_several_others_do_not_follow_is_lenient(plain: Results) -> None:
    """Of one other runtime nothing is said, nor where another one follows it, too."""
    told = changed(plain, behaviours={"rounding": ("down",)})
    assert lenient_passes(told) == ()
    (only,) = lenient_passes(replace(told, followed=ALONE))
    assert only.why == "alone"
    assert only.text.endswith("one and two read it otherwise")
    for options in ({"up": ("one",)}, {"up": ("one", "two"), "down": ("three",)}, {"up": ("a", "a-node")}):
        followed = {str(RESIZE_18): {"rounding": options}}
        assert lenient_passes(replace(told, followed=followed)) == ()
    both = changed(plain, behaviours={"rounding": ("up", "down")})
    assert lenient_passes(replace(both, followed=ALONE)) == ()


def test_a_profile_may_refuse_them(plain: Results) -> None:
    found = changed(plain, no_number=3)
    day = date(2026, 11, 20)
    before, after = (evaluate(profile(lenient=each), found, day).reasons for each in ("any", "none"))
    assert evaluate(profile(), found, day).reasons == before
    (new,) = set(after) - set(before)
    assert new.startswith("a lenient pass: ai.onnx::Resize-18: ordinary numbers become NaN or infinite in 1")
