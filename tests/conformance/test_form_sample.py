"""A sample of cases in every form: one for run, resume, merge and verification; what forms do is told."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.recording.merging import merge_records
from conformance.recording.records import Record
from conformance.running.harness import run_suite
from conformance.running.run_options import SAMPLE, RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.case_selection import Shard
from conformance.suite.cases import CaseOutline
from conformance.suite.form_sample import CASES, covering, form_sample, forms_by_case
from conformance.suite.suites import open_suite
from opcert.commands.runtime_argument import forms_to_run
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CaseId
from reports.causes.failure_classes import classes_of
from reports.causes.forms import compare_forms, form_sentence, untried_forms
from reports.certificates.rejudging import judge_again
from reports.formats.markdown import render as render_markdown
from reports.overview.headline import list_missing, list_sentences
from reports.overview.untested import find_untested
from reports.results.case_results import Results, put_together
from tests.commands.command_line import call
from tests.conformance.samples import echo_runtime, make_case, make_suite, sample

FORMS = ("inputs", "dynamic", "initializers")
TELLING = ("inputs", "dynamic")
"""Of one input none is left to be a constant."""


def run(folder: Path, deeds: list[str], *, resume: bool = False, **options: object) -> Record:
    if not (folder / "suite").exists():
        cases = [make_case(do, seed=seed) for seed, do in enumerate(deeds)]
        cases += [make_case("raise", seed=90, family="survival", demand="survive")]
        make_suite(folder, cases)
    with open_suite(folder / "suite") as suite:
        chosen = RunOptions(**{"forms": SAMPLE, **options})  # type: ignore[arg-type]
        return run_suite(suite, find_runtime(echo_runtime()), folder / "run.jsonl", chosen, resume=resume)


def results_of(folder: Path, record: Record) -> Results:
    return put_together(open_suite(folder / "suite"), record)


def test_some_cases_go_in_every_form_and_the_others_in_the_preferred_one(tmp_path: Path) -> None:
    record = run(tmp_path, ["echo"] * 9)
    rows = Counter(result.case for result in record.results)
    assert Counter(rows.values()) == {len(TELLING): CASES, 1: 9 - CASES + 1}
    assert {result.form for result in record.results if rows[result.case] == 1} == {"inputs"}
    assert record.header["options"]["sampled"] == CASES
    results = results_of(tmp_path, record)
    assert judge_again(results).problems == ()
    assert list_missing(results) == ()
    assert [(form.form, form.cases, form.here_alone) for form in compare_forms(results)] == [
        ("dynamic", CASES, ()),
    ]
    assert "A sample of each operator version" in " ".join(
        untested.text for untested in find_untested(results)
    )


def test_what_fails_in_another_form_alone_is_told(tmp_path: Path) -> None:
    """Echo answers `differs_by_form` by the length of the form's name: none of these is right but inputs'."""
    record = run(tmp_path, ["echo", "echo"])
    row = next(result for result in record.results if result.form == "dynamic")
    changed = tuple(
        replace(result, verdict="mismatch") if result is row else result for result in record.results
    )
    results = results_of(tmp_path, replace(record, results=changed))
    (dynamic,) = compare_forms(results)
    assert dynamic.here_alone == (row.case,)
    assert dynamic.text == f"2 cases, 1 fails that does not as inputs, such as {row.case}"
    told = form_sentence(results)
    assert told == "1 case fails in another form alone: dynamic."
    assert told in list_sentences(results, classes_of(results))
    assert row.case not in " ".join(list_sentences(results, classes_of(results)))
    written = render_markdown(results).replace("\\", "")
    assert f"- dynamic: {dynamic.text}" in written


@pytest.mark.parametrize(("number", "told"), [(1, "(1 case)"), (2, "(2 cases)")])
def test_a_fault_counts_its_cases(number: int, told: str, tmp_path: Path) -> None:
    (fault,) = run(tmp_path, ["echo", *["differs_by_form"] * number]).faults
    assert fault["message"].endswith(f"differ between forms of the same case {told}")


def test_forms_that_were_not_run_are_named(tmp_path: Path) -> None:
    results = results_of(tmp_path, run(tmp_path, ["echo"], forms="preferred"))
    assert [untried_form.split()[0] for untried_form in untried_forms(results)] == ["initializers", "dynamic"]
    assert "--forms sample or all" in " ".join(untested.text for untested in find_untested(results))


def test_parts_of_a_sampled_run_come_to_the_whole(tmp_path: Path) -> None:
    whole = run(tmp_path, ["echo", "differs_by_form"] * 5)
    kinds = [fault["kind"] for fault in whole.faults]
    assert kinds == ["forms_differ"]
    rows = [(result.case, result.form) for result in whole.results]
    parts = []
    for number in (1, 2):
        place = tmp_path / f"{number}.jsonl"
        with open_suite(tmp_path / "suite") as suite:
            options = RunOptions(forms=SAMPLE, shard=Shard(number, 2), jobs=2)
            parts.append(run_suite(suite, find_runtime(echo_runtime()), place, options))
    merged = merge_records(parts, tmp_path / "merged.jsonl")
    assert [(result.case, result.form) for result in merged.results] == rows
    assert judge_again(results_of(tmp_path, merged)).problems == ()


def test_a_sampled_run_is_resumed(tmp_path: Path) -> None:
    whole = run(tmp_path, ["echo"] * 9)
    lines = whole.path.read_text().splitlines(keepends=True)
    whole.path.write_text("".join(lines[:9]))
    again = run(tmp_path, [], resume=True)
    assert [(result.case, result.form) for result in again.results] == [
        (result.case, result.form) for result in whole.results
    ]
    with pytest.raises(UserError, match="another run"):
        run(tmp_path, [], resume=True, forms="all")


def test_a_record_that_hides_its_sample_does_not_hold(tmp_path: Path) -> None:
    record = run(tmp_path, ["echo"] * 9)
    for options in ({"sampled": 2}, {"sampled": None}, {"sampled": "6"}):
        header = {**record.header, "options": {**record.header["options"], **options}}
        assert judge_again(results_of(tmp_path, replace(record, header=header))).problems


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = make_suite(tmp_path, [make_case(seed=seed) for seed in range(2)])
    answer = call(capsys, "run", echo_runtime(), "-s", suite, "--forms", "sample", "-o", tmp_path / "r.jsonl")
    assert answer.code == 0
    assert "Forms:\n  dynamic: 2 cases, all do as inputs do" in answer.out


def test_a_sample_is_the_default_but_for_what_is_ones_own() -> None:
    own, known = (find_runtime(each) for each in (echo_runtime(), "onnxruntime"))
    assert forms_to_run(None, find_runtime("fake_backends:Good")) == SAMPLE
    assert (forms_to_run(None, known), forms_to_run(None, own)) == (SAMPLE, "preferred")
    assert (forms_to_run("all", known), forms_to_run("dynamic", own)) == ("all", "dynamic")


def outline(number: int, **levels: str) -> CaseOutline:
    case = CaseId.parse(f"org.example/Echo-1/cover/{number:012x}")
    return CaseOutline(case, "float", "answer", None, levels, {}, (("X", (2, 3)),))


@given(st.lists(st.dictionaries(st.sampled_from("ABCD"), st.sampled_from("abc")), max_size=20))
def test_a_sample_has_every_level_and_no_more_than_it_takes(rows: list[dict[str, str]]) -> None:
    outlines = [outline(number, **row) for number, row in enumerate(rows)]
    chosen = covering(outlines, 3)
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) <= {str(each.id) for each in outlines}
    own = [each for each in outlines if str(each.id) in chosen]
    everything, taken = (
        {level for each in some for level in each.levels.items()} for some in (outlines, own)
    )
    assert taken == everything
    assert min(3, len(rows)) <= len(chosen) <= max(3, len(everything) + 1)


def test_forms_have_the_cases_in_which_they_tell(tmp_path: Path) -> None:
    flat = [make_case(given=sample(seed, (5,)), seed=seed) for seed in range(2)]
    deep = [make_case(given=sample(seed, (2, 3)), seed=7) for seed in range(2)]
    other = make_case(given=sample(9, (4, 5)), seed=7)
    refused = make_case(seed=60, demand="refuse", family="invalid")
    with open_suite(make_suite(tmp_path, [*flat, *deep, other, refused])) as suite:
        found = form_sample(suite)
        every = {str(number.id) for number in (*flat, *deep, other)}
        turned = {str(each.id) for each in (*deep, other)}
        assert {form: set(each) for form, each in found.cases.items()} == {
            "inputs": set(),
            "initializers": set(),
            "dynamic": every,
            "strided": turned,
            "untouched": set(found.cases["untouched"]),
            "threads": set(found.cases["threads"]),
            "again": set(found.between),
        }
        assert str(other.id) in found.between
        assert found.between[found.between[str(other.id)]] == str(other.id)
        assert set(found.between) < turned
        assert set(found.cases["untouched"]) <= every
        assert len(found.cases["threads"]) == 2


def test_all_forms_are_of_all_cases(tmp_path: Path) -> None:
    with open_suite(make_suite(tmp_path, [make_case(seed=seed) for seed in range(9)])) as suite:
        assert set(map(len, forms_by_case(suite, FORMS, None).values())) == {len(FORMS)}
