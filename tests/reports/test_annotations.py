"""Orders to GitHub Actions: an error for each cause that nobody excuses, and no order of a stranger's."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from conformance.judging.known_causes import CauseKind, KnownCause
from conformance.judging.responses import Answered, Refused, Response
from conformance.suite.cases import Case
from reports.causes.kept_findings import with_open_cases
from reports.formats.annotations import MOST
from reports.formats.annotations import render as render_annotations
from reports.gates.baseline import Baseline, BaselineEntry, excuse
from reports.results.case_results import Results, put_together
from tests.reports.sample import CROP_PAD, HEADER, PAD, Maker, make_case
from tests.reports.test_formats import FAULT, HOSTILE

_LINE = re.compile(r"::(error|warning|notice) title=([^:,\n]*)::(.*)")


def run(folder: Path, causes: int = 2, said: str = "no kernel of the kind") -> Results:
    """A run in which each of some cases fails for a cause of its own, and one passes."""
    kinds = (
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
    )

    def respond(case: Case) -> Response:
        extent = case.levels["extent"]
        if extent == "same":
            return Answered((case.expectations[0].outputs[0].expected,), 0.1)
        return Refused("Error", f"{said} {extent}")

    cases = [make_case(CROP_PAD, "cover", {"extent": kind}) for kind in kinds[:causes]]
    made = Maker(folder, HEADER).make(
        [*cases, make_case(PAD, "cover", {"extent": "same"})], respond, faults=(FAULT,)
    )
    return put_together(made.suite, made.record)


def orders(results: Results) -> list[tuple[str, str, str]]:
    """Kind, title and message of each line; every line has to be one whole order."""
    lines = render_annotations(results).splitlines()
    found = [_LINE.fullmatch(line) for line in lines]
    assert None not in found, lines
    return [(each[1], each[2], each[3]) for each in found if each is not None]


def test_each_cause_is_an_error_with_the_command_that_shows_it(tmp_path: Path) -> None:
    found = orders(run(tmp_path))
    assert [each[0] for each in found] == ["error", "error", "error", "notice"]
    assert "fault of the run" in found[0][1]
    for _, title, message in found[1:3]:
        assert "CenterCropPad" in title
        assert "no kernel of the kind" in message
        assert re.search(
            r"%0Aopcert repro ai\.onnx/CenterCropPad-18/cover/[0-9a-f]{12} --form inputs$", message
        )
    assert "33.3 %25 of 3 decided cases conform; 2 fail" in found[-1][2]


def test_what_a_baseline_knows_is_no_error(tmp_path: Path) -> None:
    results = run(tmp_path)
    failing = [str(result.id) for result in results.cases if result.fails]
    entry = BaselineEntry(
        verdict="rejected_valid", reason="of old", expires=date(2100, 1, 1), cases=(failing[0],)
    )
    found = orders(excuse(results, None, Baseline(known=(entry,)), date(2026, 11, 25)))
    assert [each[0] for each in found] == ["error", "error", "notice"]
    assert "1 cause is known or waived." in found[-1][2]
    expired = entry.model_copy(update={"expires": date(2026, 1, 1)})
    found = orders(excuse(results, None, Baseline(known=(expired,)), date(2026, 11, 25)))
    assert [each[0] for each in found] == ["error", "error", "error", "notice"]


@pytest.mark.parametrize(("kind", "errors"), [("reading", 2), ("finding", 2), ("witness_fault", 3)])
def test_what_the_documents_leave_open_is_no_error(tmp_path: Path, kind: CauseKind, errors: int) -> None:
    results = run(tmp_path)
    failing = [str(each.id) for each in results.cases if each.fails]
    known = KnownCause("an_entry", kind, "It may be read so.", (), cases=(failing[0],))
    found = orders(with_open_cases(replace(results, known=(known,))))
    assert [each[0] for each in found].count("error") == errors
    assert ("open in the documents" in found[-1][2]) == (errors == 2)


def test_no_more_than_are_shown(tmp_path: Path) -> None:
    found = orders(run(tmp_path, causes=12))
    errors = [each for each in found if each[0] == "error"]
    assert len(errors) == MOST
    assert "4 more causes" in errors[-1][1]
    assert len(orders(run(tmp_path / "just", causes=MOST - 1))) == MOST + 1


def test_a_stranger_gives_no_orders(tmp_path: Path) -> None:
    said = f"{HOSTILE}\n::set-env name=A::b\r\n::error::no\n%0A::warning::x"
    results = run(tmp_path, causes=1, said=said)
    header = {**results.record.header, "runtime": {"name": "a:b,c\n::error::d", "version": "%0A1"}}
    found = orders(replace(results, record=replace(results.record, header=header)))
    assert [each[0] for each in found] == ["error", "error", "notice"]
    for _, title, message in found:
        assert "\x1b" not in title + message
        assert "%0A1" not in title  # it would be a line feed
