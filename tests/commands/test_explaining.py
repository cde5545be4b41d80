"""Explanations of a whole run: classes of the report in, a file beside the record out."""

from __future__ import annotations

from pathlib import Path

from conformance.judging.kept_explanations import read_explanations
from conformance.running.responses import Answered, Refused, Response
from conformance.suite.cases import Case
from opcert.commands.explaining import explain_run
from reports.causes.failure_classes import classes_of
from reports.results.case_results import put_together
from tests.conformance.samples import IDENTITY, make_case
from tests.generator import planted_faults as planted
from tests.reports.sample import Maker


def test_a_run_is_explained_class_by_class(tmp_path: Path) -> None:
    run = planted.run_fault(planted.PATCHES, planted.replaced("rates", None, (1, 1)))
    outputs = {str(each.case.id): each.outputs for each in run.failures}

    def respond(case: Case) -> Response:
        if case.operator == IDENTITY:
            return Refused("Failure", "not today")
        wrong = outputs.get(str(case.id))
        right = tuple(each.expected for each in case.expectations[0].outputs)
        return Answered(right if wrong is None else wrong)

    cases = [*planted.cases_of(planted.PATCHES), make_case(operator=IDENTITY)]
    made = Maker(tmp_path).make(cases, respond, facts={})
    with made.suite:
        results = put_together(made.suite, made.record)
        path = explain_run(results)
        found = read_explanations(path, made.suite.digest, (made.record.footer or {})["digest"])
        classes = [each for each in classes_of(results) if each.kind != "rejected_valid"]
    assert path == tmp_path / "explanations.json"
    assert [set(each.cases) for each in found] == [{str(one.id) for one in each.cases} for each in classes]
    named = {each.change.key for each in found if each.change is not None}
    assert named == {"rates ignored"}
