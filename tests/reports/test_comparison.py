"""Comparing two runs: over the cases that both ran, every change of exactly one kind; 1 on regressions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from click.testing import Result as Done
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.judging.responses import Answered, Crashed, Refused, Response
from conformance.judging.verdicts import FAILING, VERDICTS, Verdict
from conformance.recording.records import Record, read_record
from conformance.recording.rows import Result, case_verdicts, count_verdicts
from conformance.suite.cases import Case
from opcert.commands import cli
from opcert.vocabulary.errors import NothingRan, UserError
from opcert.vocabulary.tensors import Tensor
from reports.comparisons.comparison_text import (
    render_comparison,
    render_json,
    render_markdown,
    render_text,
)
from reports.comparisons.run_comparison import KINDS, compare_runs
from reports.schemas import load_schema
from reports.text.tests_and_tables import LIMIT
from tests.reports.sample import CROP_PAD, HEADER, Maker, Sample, make_case

IDS = [f"ai.onnx/Resize-18/cover/{number:012x}" for number in range(6)]
UNCOUNTED = {"not_run", "harness_error"}


def record(verdicts: Mapping[str, Verdict], **more: Any) -> Record:
    rows = tuple(
        Result(case, "ai.onnx::Resize-18", "cover", "float", "inputs", 0, verdict, **more)
        for case, verdict in verdicts.items()
    )
    counts = count_verdicts(case_verdicts(rows).values())
    footer = {"counts": counts, "faults": [], "digest": "0" * 64}
    header = {**HEADER, "runtime": dict(HEADER["runtime"]), "suite": "a" * 64}
    return Record(Path("run.jsonl"), header, rows, footer)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("pass", "mismatch", "regressed"),
        ("unsupported", "mismatch", "regressed"),
        ("pass", "unsupported", "regressed"),
        ("mismatch", "crash", "regressed"),
        ("observed", "timeout", "regressed"),
        ("mismatch", "pass", "fixed"),
        ("unsupported", "pass", "fixed"),
        ("crash", "observed", "fixed"),
        ("crash", "mismatch", "changed"),
        ("mismatch", "rejected_valid", "changed"),
        ("rejected_valid", "unsupported", "changed"),
        ("pass", "pass", "same"),
    ],
)
def test_each_change_has_its_kind(before: Verdict, after: Verdict, kind: str) -> None:
    found = compare_runs(record({IDS[0]: before}), record({IDS[0]: after}))
    assert [change.kind for change in found.changes] == [each for each in [kind] if each != "same"]
    assert found.counts == {each: int(each == kind) for each in KINDS}
    assert found.holds is (kind != "regressed")


def test_error_is_compared_where_the_verdict_is_the_same() -> None:
    small, large = ({"worst": {"ratio": number}} for number in (0.25, 0.75))
    found = compare_runs(record({IDS[0]: "pass"}, **small), record({IDS[0]: "pass"}, **large))
    assert found.counts["error"] == 1
    assert found.holds
    assert "pass, error 0.25 → pass, error 0.75" in render_text(found)


verdict_maps = st.dictionaries(st.sampled_from(IDS), st.sampled_from(VERDICTS), max_size=6)


@settings(max_examples=60, deadline=None)
@given(before=verdict_maps, after=verdict_maps, changed=st.sets(st.sampled_from(IDS)))
def test_only_what_both_ran_is_compared_and_everything_adds_up(
    before: dict[str, Verdict], after: dict[str, Verdict], changed: set[str]
) -> None:
    ran_before = {each for each, verdict in before.items() if verdict not in UNCOUNTED}
    ran_after = {each for each, verdict in after.items() if verdict not in UNCOUNTED}
    if not ran_before & ran_after:
        with pytest.raises(NothingRan):
            compare_runs(record(before), record(after))
        return
    found = compare_runs(record(before), record(after), changed)
    both = ran_before & ran_after
    assert found.both == len(both)
    same = {each for each in both - changed if before[each] == after[each]}
    assert {change.case for change in found.changes} == both - same
    assert found.same == len(same)
    assert set(found.new) == ran_after - ran_before
    assert set(found.gone) == ran_before - ran_after
    assert sum(found.counts.values()) == found.both
    for change in found.changes:
        assert (change.kind == "expectation") == (change.case in changed)
        if change.kind == "fixed":
            assert change.after.verdict not in FAILING
        if change.after.verdict in FAILING and change.before.verdict not in FAILING:
            assert change.kind in ("regressed", "expectation")

    document = json.loads(render_json(found))
    jsonschema.validate(document, load_schema("comparison"))
    assert sum(document["counts"].values()) == document["ranInBoth"]
    told = Counter(each["kind"] for each in document["changes"])
    assert told == +Counter({name: number for name, number in found.counts.items() if name != "same"})
    said = render_text(found)
    for kind in ("regressed", "fixed", "changed", "expectation"):
        assert said.count(f"\n{kind}: ai.onnx/") == found.counts[kind]
    assert said.count("opcert repro ") == found.counts["regressed"]


def test_a_new_fault_is_a_regression_and_a_gone_one_is_told() -> None:
    fault = {"kind": "repeats_differ", "operator": "ai.onnx::Resize-18", "message": "answers differ"}
    calm, faulty = record({IDS[0]: "pass"}), record({IDS[0]: "pass"})
    assert faulty.footer is not None
    faulty.footer["faults"].append(fault)
    assert not compare_runs(calm, faulty).holds
    better = compare_runs(faulty, calm)
    assert better.holds
    assert "fault gone: answers differ" in render_text(better)


def test_a_fault_of_an_operator_that_one_run_left_out_says_nothing_of_the_other() -> None:
    fault = {"kind": "repeats_differ", "operator": "ai.onnx::Pad-25", "message": "answers differ"}
    part, whole = record({IDS[0]: "pass"}), record({IDS[0]: "pass"})
    assert whole.footer is not None
    whole.footer["faults"].append(fault)
    assert compare_runs(part, whole).holds
    assert "fault gone" not in render_text(compare_runs(whole, part))


def test_runs_that_differ_in_their_limits_say_so() -> None:
    before = record({IDS[0]: "pass"})
    header = {**before.header, "options": {"timeout": 99, "forms": "default", "repeat": 1}}
    after = Record(Path("b"), header, before.results, None)
    found = compare_runs(before, after)
    assert any("differ in timeout: 10 and 99" in warning for warning in found.warnings)
    assert any("head run has no footer" in warning for warning in found.warnings)


def on_processor(flags: list[str], contents: str = "a") -> Record:
    found = record({IDS[0]: "pass"})
    build = {"file": "r-1-py3-none-any.whl", "contents": contents * 64}
    runtime = {**found.header["runtime"], "environment": {"build": build}}
    processor = {"model": "a", "flags": flags}
    return replace(found, header={**found.header, "runtime": runtime, "processor": processor})


def test_runs_on_other_processors_or_of_other_builds_say_so() -> None:
    before, after = on_processor(["avx2", "fma"]), on_processor(["avx2", "avx512_vnni"], "b")
    for silent in (record({IDS[0]: "pass"}), before):
        assert not any("differ" in warning for warning in compare_runs(silent, before).warnings)
    found = compare_runs(before, after)
    assert (
        "The processors differ in their instruction sets: fma in the base run alone; "
        "avx512_vnni in the head run alone." in found.warnings
    )
    assert any(
        "r-1-py3-none-any.whl, under one name with other contents" in warning for warning in found.warnings
    )
    assert "avx512_vnni in the head run alone" in render_text(found)


def test_markdown_of_many_changes_stays_within_its_limit() -> None:
    ids = [f"ai.onnx/Resize-18/cover/{number:012x}" for number in range(5000)]
    before = record(dict.fromkeys(ids, "pass"))
    after = record(dict.fromkeys(ids, "mismatch"), reason="@all <b>| `x`" * 20)
    found = compare_runs(before, after)
    text = render_markdown(found)
    assert len(text.encode()) < LIMIT
    assert "left out here for want of room" in text
    assert "5,000" in text[:2000]
    assert set(KINDS) == set(found.counts)


# The command, on suites and records on disk.


def answer(case: Case) -> Response:
    return Answered((case.expectations[0].outputs[0].expected,), 0.001)


def wrong(case: Case) -> Response:
    wanted = case.expectations[0].outputs[0].expected
    return Answered((Tensor(wanted.element_type, wanted.array + np.float32(1)),), 0.001)


CASES = [make_case(CROP_PAD, "cover", {"extent": each}) for each in ("same", "crop", "pad")]


def make(folder: Path, respond: Any, cases: list[Case] = CASES) -> Sample:
    folder.mkdir()
    made = Maker(folder).make(cases, respond)
    made.suite.close()
    return made


def invoke(*words: object) -> Done:
    return CliRunner().invoke(cli, ["compare", *map(str, words)], standalone_mode=False)


def test_the_command_answers_1_where_something_regressed(tmp_path: Path) -> None:
    good, bad = make(tmp_path / "good", answer), make(tmp_path / "bad", wrong)
    worse = invoke(good.record.path, bad.record.path, "-s", good.suite.path)
    assert worse.return_value == 1, worse.output
    assert "3 cases ran in both: 3 regressed" in worse.output
    assert f"repro {CASES[0].id} -s {good.suite.path}" in worse.output
    better = invoke(bad.record.path, good.record.path, "-s", good.suite.path)
    assert better.return_value == 0
    assert "3 fixed" in better.output


def test_each_format_is_written(tmp_path: Path) -> None:
    good, bad = make(tmp_path / "good", answer), make(tmp_path / "bad", wrong)
    for form in ("text", "markdown", "html", "json"):
        file = tmp_path / f"compared.{form}"
        done = invoke(good.record.path, bad.record.path, "--format", form, "-o", file)
        assert done.return_value == 1, done.output
        assert "regressed" in file.read_text().lower()


def test_cases_whose_expectation_changed_are_no_regressions(tmp_path: Path) -> None:
    """The second suite expects something else of one case; the runtime answers as the first suite said."""
    good = make(tmp_path / "good", answer)
    case = CASES[0]
    output = case.expectations[0].outputs[0]
    doubled = type(output)(output.name, Tensor(output.expected.element_type, output.expected.array * 2))
    expectation = type(case.expectations[0])((doubled,))
    changed = type(case)(**{**vars(case), "expectations": (expectation,)})
    other = make(tmp_path / "other", lambda each: answer(case) if each.id == case.id else answer(each),
                 [changed, *CASES[1:]])  # fmt: skip
    assert other.record.counts["mismatch"] == 1
    words = (good.record.path, other.record.path, "-s", other.suite.path)
    told = invoke(*words, "--base-suite", good.suite.path)
    assert told.return_value == 0, told.output
    assert f"expectation: {case.id}: pass → mismatch" in told.output
    untold = invoke(*words)
    assert isinstance(untold.exception, UserError)
    assert "--base-suite" in str(untold.exception)


def test_cases_that_the_base_passed_and_the_head_lacks_are_told_and_answer_1(tmp_path: Path) -> None:
    first, second = make(tmp_path / "a", answer, CASES[:2]), make(tmp_path / "b", answer, CASES[1:])
    words = [first.record.path, second.record.path, "-s", second.suite.path, "--base-suite", first.suite.path]
    done = invoke(*words)
    assert done.return_value == 1, done.output
    assert "1 case ran in both: 1 same" in done.output
    assert "\nnew: 1 case ran in the head run alone: 1 pass\n" in done.output
    lacking = (
        "\ngone: 1 case ran in the base run alone: 1 pass; 1 of them held, and the head run lacks them\n"
    )
    assert lacking in done.output
    common = invoke(*words, "--common")
    assert common.return_value == 0
    assert lacking in common.output


def test_a_part_of_a_run_beside_a_whole_one_is_told_in_one_line() -> None:
    ids = [f"ai.onnx/Resize-18/cover/{number:012x}" for number in range(3000)]
    whole = record({each: "mismatch" if number < 446 else "pass" for number, each in enumerate(ids)})
    part = compare_runs(whole, record({ids[-1]: "pass"}))
    assert not part.holds
    assert len(part.lost) == 2553
    said = render_text(part)
    assert len(said.splitlines()) == 4
    assert "2,999 cases ran in the base run alone: 2,553 pass, 446 mismatch; 2,553 of them held" in said
    assert "# 2,553 cases that held did not run" in render_markdown(part)
    assert "2,553 cases that held did not run</h1>" in render_comparison(part)
    assert json.loads(render_json(part))["lost"] == 2553
    failed = compare_runs(record({ids[0]: "mismatch", ids[1]: "pass"}), record({ids[1]: "pass"}))
    assert failed.holds


@pytest.mark.parametrize("verdict", sorted(UNCOUNTED))
def test_a_case_that_the_head_could_not_run_is_lacking(verdict: Verdict) -> None:
    before = record(dict.fromkeys(IDS[:2], "pass"))
    assert not compare_runs(before, record({IDS[0]: verdict, IDS[1]: "pass"})).holds


def test_runs_that_share_no_case_are_not_compared(tmp_path: Path) -> None:
    first = make(tmp_path / "a", answer, CASES[:1])
    second = make(tmp_path / "b", lambda each: Refused("x", "y"), CASES[1:])
    done = invoke(
        first.record.path, second.record.path, "-s", second.suite.path, "--base-suite", first.suite.path
    )
    assert isinstance(done.exception, NothingRan)


def test_the_page_shows_hostile_text_and_executes_none(tmp_path: Path) -> None:
    """Text of runtimes and records stands in it escaped, under a policy that allows no script at all."""
    hostile = "<script>alert(1)</script>\u202e\x00"
    before = record({IDS[0]: "pass", IDS[1]: "mismatch"})
    after = record({IDS[0]: "mismatch", IDS[1]: "pass"}, reason=hostile, worst={"ratio": 4.0})
    after.header["runtime"]["name"] = hostile
    page = render_comparison(compare_runs(before, after), f"suite {hostile}")
    assert "<script" not in page
    assert "script-src 'none'" in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page
    assert "1 case regressed" in page
    assert "opcert repro" in page


def test_crashes_are_told_with_their_reason(tmp_path: Path) -> None:
    good = make(tmp_path / "good", answer)
    bad = make(tmp_path / "bad", lambda case: Crashed("the worker died of SIGSEGV", "SIGSEGV"))
    found = compare_runs(read_record(good.record.path), read_record(bad.record.path))
    assert "the worker died of SIGSEGV" in render_text(found)
    assert "pass → crash" in render_markdown(found)
