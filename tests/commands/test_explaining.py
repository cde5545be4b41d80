"""Explanations of a whole run: classes of the report in, a file beside the record out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from conformance.judging.kept_explanations import read_explanations
from conformance.judging.responses import Answered, Refused, Response
from conformance.suite import store
from conformance.suite.cases import Case
from opcert.commands.explaining import explain_run
from opcert.vocabulary.strict_json import parse_json
from opcert.vocabulary.tensors import Tensor
from reports.causes.failure_classes import classes_of
from reports.results.case_results import put_together
from tests.conformance.samples import IDENTITY, make_case
from tests.generator import planted_faults as planted
from tests.reports.sample import Maker, Sample


def test_a_run_is_explained_class_by_class(tmp_path: Path) -> None:
    run = planted.run_fault(planted.PATCHES, planted.replaced("rates", None, (1, 1)))
    outputs = {str(failure.case.id): failure.outputs for failure in run.failures}

    def respond(case: Case) -> Response:
        if case.operator == IDENTITY:
            return Refused("Failure", "not today")
        wrong = outputs.get(str(case.id))
        right = tuple(output.expected for output in case.expectations[0].outputs)
        return Answered(right if wrong is None else wrong)

    cases = [*planted.cases_of(planted.PATCHES), make_case(operator=IDENTITY)]
    made = Maker(tmp_path).make(cases, respond, facts={})
    with made.suite:
        results = put_together(made.suite, made.record)
        path = explain_run(results)
        found = read_explanations(path, made.suite.digest, (made.record.footer or {})["digest"])
        classes = [failures for failures in classes_of(results) if failures.kind != "rejected_valid"]
    assert path == tmp_path / "explanations.json"
    assert [set(explanation.cases) for explanation in found] == [
        {str(one.id) for one in failures.cases} for failures in classes
    ]
    named = {explanation.change.key for explanation in found if explanation.change is not None}
    assert named == {"rates ignored"}


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(store, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def _wrong_pads(folder: Path, wrong: Callable[[str, Response], Response] | None = None) -> Sample:
    """A run in which some results are right under a change, and some are not right under any."""
    run = planted.run_fault(planted.PATCHES, planted.replaced("rates", None, (1, 1)))
    outputs = {str(failure.case.id): failure.outputs for failure in run.failures}

    def respond(case: Case) -> Response:
        found = outputs.get(str(case.id))
        right = tuple(output.expected for output in case.expectations[0].outputs)
        answer = Answered(right if found is None else found)
        return answer if wrong is None else wrong(str(case.id), answer)

    folder.mkdir()
    return Maker(folder).make([*planted.cases_of(planted.PATCHES)], respond, facts={})


def _explained(made: Sample) -> bytes:
    return explain_run(put_together(made.suite, made.record)).read_bytes()


def test_what_the_same_answers_resemble_is_not_worked_out_again(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _wrong_pads(tmp_path / "first")
    first = _explained(made)
    assert len(list((own_cache / "worked-out" / "explanations").iterdir())) >= 1

    def fails(*_: object) -> NoReturn:
        raise AssertionError("worked out again")

    for name in ("explain", "explain_parts"):
        monkeypatch.setattr(f"generator.exploring.diagnosis.change_trials.{name}", fails)
    again = _wrong_pads(tmp_path / "again")
    assert parse_json(_explained(again))["classes"] == parse_json(first)["classes"]

    # Of one other answer nothing is known.
    changed = sorted(
        str(result.id) for result in put_together(made.suite, made.record).cases if result.fails
    )[0]

    def other(case_id: str, answer: Response) -> Response:
        assert isinstance(answer, Answered)
        (given,) = answer.outputs
        if case_id != changed or not isinstance(given, Tensor):
            return answer
        return Answered((replace(given, array=np.full_like(given.array, 77)),))

    with pytest.raises(AssertionError, match="worked out again"):
        _explained(_wrong_pads(tmp_path / "other", other))


def test_with_specs_of_ones_own_nothing_is_kept(tmp_path: Path, own_cache: Path) -> None:
    made = _wrong_pads(tmp_path / "first")
    plain = _explained(made)
    shutil.rmtree(own_cache)
    folder = tmp_path / "specs"
    folder.mkdir()
    assert explain_run(put_together(made.suite, made.record), (folder,)).read_bytes() == plain
    assert not own_cache.exists()
