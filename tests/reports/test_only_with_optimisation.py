"""A difference between two runs of one runtime that optimises more and less is a cause of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from conformance.judging.responses import Answered, Refused, Response
from conformance.recording.records import read_record
from conformance.suite.cases import Case
from opcert.commands.cause_finding import with_others
from opcert.commands.run_summary import format_summary
from reports.causes.class_words import headline, remarks
from reports.causes.failure_classes import classes_of
from reports.formats.json import render as render_json
from reports.results.case_results import Results, put_together
from tests.reports.sample import RESIZE_18, Maker, make_case

SCHEMA = Path(__file__).parents[2] / "reports/schemas/report.json"
CHAINS = ("Transpose > MatMul", "Conv > BatchNormalization > Relu")


def answer(case: Case) -> Response:
    return Answered((case.expectations[0].outputs[0].expected,))


def wrong(case: Case) -> Response:
    expected = case.expectations[0].outputs[0].expected
    return Answered((replace(expected, array=np.asarray(expected.array + 1)),))


def fused_wrongly(case: Case) -> Response:
    return wrong(case) if case.levels["chain"] in CHAINS else answer(case)


def refused_when_fused(case: Case) -> Response:
    return Refused("Fail", "no such kernel") if case.levels["chain"] in CHAINS else answer(case)


def run(folder: Path, respond: Callable[[Case], Response], optimisation: str | None, **others: str) -> Path:
    """The record of a run with that option, over four chains of two cases each."""
    cases = [
        make_case(RESIZE_18, "pair", {"chain": chain, "ratio": ratio})
        for chain in (*CHAINS, "Pad > Conv", "Cast > Cast")
        for ratio in ("up2", "down2")
    ]
    made = Maker(folder).make(cases, respond)
    options = {} if optimisation is None else {"optimization": optimisation}
    lines = made.record.path.read_text(encoding="utf-8").splitlines()
    header: dict[str, Any] = json.loads(lines[0])
    header["runtime"] = {**header["runtime"], "options": options, **others}
    made.record.path.write_text("\n".join([json.dumps(header), *lines[1:]]) + "\n", encoding="utf-8")
    return made.record.path


def results(folder: Path, path: Path, *beside: Path) -> Results:
    from conformance.suite.suites import open_suite

    suite = open_suite(next(folder.rglob("manifest.json")).parent)
    found = put_together(suite, read_record(path))
    return with_others(found, beside, folder / "nothing here")


@pytest.mark.parametrize("option", [None, "all", "extended"])
def test_what_passes_without_optimisation_is_told_by_the_operators_in_a_row(
    tmp_path: Path, option: str | None
) -> None:
    path = run(tmp_path / "one", fused_wrongly, option)
    plain = run(tmp_path / "other", answer, "none")
    found = results(tmp_path / "one", path, plain)
    classes = classes_of(found)
    assert [each.told for each in classes] == ["optimisation"] * 2
    assert sorted(map(headline, classes)) == [
        f"wrong only with optimisation: {chain}" for chain in sorted(CHAINS)
    ]
    assert all(len(each.cases) == 2 for each in classes)
    (said,) = {line for each in classes for line in remarks(each)}
    assert said.startswith("only with optimisation: ")
    assert said.endswith("with optimization=none passes all 2 cases")
    assert "2 only with optimisation" in format_summary(found)
    report = json.loads(render_json(found))
    jsonschema.validate(report, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert {each["told"] for each in report["classes"]} == {"optimisation"}


def test_a_refusal_keeps_its_sentence_and_says_that_it_comes_of_optimisation(tmp_path: Path) -> None:
    path = run(tmp_path / "one", refused_when_fused, None)
    found = results(tmp_path / "one", path, run(tmp_path / "other", answer, "none"))
    (cause,) = classes_of(found)
    assert cause.told == "message"
    assert any(remark.startswith("only with optimisation") for remark in remarks(cause))


@pytest.mark.parametrize(
    ("respond", "option", "others"),
    [
        (fused_wrongly, "none", {}),
        (answer, "all", {}),
        (answer, "none", {"version": "0.0.1"}),
        (answer, "none", {"name": "another"}),
    ],
)
def test_nothing_is_said_where_it_fails_alike_or_another_thing_ran(
    tmp_path: Path, respond: Callable[[Case], Response], option: str, others: dict[str, str]
) -> None:
    path = run(tmp_path / "one", fused_wrongly, None)
    found = results(tmp_path / "one", path, run(tmp_path / "other", respond, option, **others))
    assert not any(
        "only with" in line for each in classes_of(found) for line in (headline(each), *remarks(each))
    )


def test_the_run_that_optimises_less_is_told_nothing_of_the_other(tmp_path: Path) -> None:
    plain = run(tmp_path / "one", fused_wrongly, "none")
    found = results(tmp_path / "one", plain, run(tmp_path / "other", answer, None))
    assert found.others == ()
    assert all(failures.told != "optimisation" for failures in classes_of(found))
