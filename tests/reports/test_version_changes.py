"""What changed between versions: each case in one way, by its cause; nobody is blamed for what is open."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.judging.known_causes import KnownCause
from conformance.judging.verdicts import FAILING, VERDICTS, Verdict
from conformance.recording.records import Record
from conformance.recording.rows import Result, case_verdicts, count_verdicts
from reports.sites.front_page import render_front
from reports.sites.kept_runs import ArchivedRun, KeptRuns, Tally, keep_run
from reports.sites.seen_causes import CauseKey
from reports.sites.site_page import Site
from reports.sites.version_changes import changes_of, compare_kept, summary
from tests.growth import LINEAR, count_calls
from tests.reports.sample import HEADER

PACKAGES = {"onnxruntime": "1.32.0", "numpy": "2.4.6"}
NAMES = ("Add-14", "Conv-22", "Pad-25")
IDS = [f"ai.onnx/{name}/cover/{number:012x}" for name in NAMES for number in range(3)]


def run_of(
    verdicts: Mapping[str, Verdict], version: str = "1.0", *, suite: str = "a", **runtime: Any
) -> ArchivedRun:
    """A run of these verdicts; every refusal says the same."""
    rows = tuple(
        Result(
            case,
            case.rsplit("/", 2)[0].replace("/", "::"),
            "cover",
            "float" if case.endswith(("0", "2")) else "int8",
            "inputs",
            0,
            verdict,
            reason="it is so",
            message="there is no kernel for it" if verdict == "rejected_valid" else None,
            constraint="shapes_agree" if verdict == "accepted_invalid" else None,
        )
        for case, verdict in verdicts.items()
    )
    footer = {
        "counts": count_verdicts(case_verdicts(rows).values()),
        "faults": [],
        "digest": f"{version}{suite}",
        "finished": "2026-01-01T00:00:00Z",
    }
    told = {"name": "engine", **runtime, "version": version}
    return keep_run(
        Record(Path("run.jsonl"), {**HEADER, "runtime": told, "suite": suite * 64}, rows, footer), None
    )


@pytest.mark.parametrize(
    ("before", "after", "turn"),
    [
        ("pass", "mismatch", "regressed"),
        ("observed", "crash", "regressed"),
        ("unsupported", "mismatch", "newly_failing"),
        ("pass", "unsupported", "dropped"),
        ("crash", "mismatch", "otherwise"),
        ("mismatch", "crash", "otherwise"),
        ("mismatch", "pass", "fixed"),
        ("crash", "observed", "fixed"),
        ("unsupported", "pass", "supported"),
        ("mismatch", "unsupported", "refused"),
        ("mismatch", "mismatch", None),
        ("pass", "pass", None),
        ("unsupported", "unsupported", None),
    ],
)
def test_each_change_has_its_turn(before: Verdict, after: Verdict, turn: str | None) -> None:
    found = compare_kept(run_of({IDS[0]: before}), run_of({IDS[0]: after}, "1.1"), {})
    assert dict(found.counts) == ({} if turn is None else {turn: 1})


verdict_maps = st.dictionaries(st.sampled_from(IDS), st.sampled_from(VERDICTS), min_size=1)


@settings(max_examples=25, deadline=None)
@given(before=verdict_maps, after=verdict_maps)
def test_every_case_that_came_to_something_else_is_told_once(
    before: dict[str, Verdict], after: dict[str, Verdict]
) -> None:
    found = compare_kept(run_of(before), run_of(after, "1.1"), {})
    uncounted = {"not_run", "harness_error", "limit"}
    both = [each for each in after if each in before and not {before[each], after[each]} & uncounted]
    assert bool(found.why_not) == (not both)
    told = [case for cause in found.causes for case in cause.cases]
    assert len(told) == len(set(told))
    held = ("pass", "observed", "inexact")
    assert {*told} == {
        each for each in both if before[each] != after[each] and not {before[each], after[each]} <= {*held}
    }
    assert sum(found.counts.values()) == len(told)
    for cause in found.causes:
        fails = {after[case] in FAILING for case in cause.cases}
        assert fails == {cause.turn in ("regressed", "newly_failing", "otherwise")}
        assert (cause.cause is None) == (cause.turn in ("dropped", "supported"))


def test_cases_of_two_suites_compare_where_they_expect_the_same() -> None:
    old, new = run_of(dict.fromkeys(IDS, "pass")), run_of(dict.fromkeys(IDS, "mismatch"), "1.1", suite="b")
    assert "different suites" in compare_kept(old, new, {}).why_not
    expected = {each: str(number) for number, each in enumerate(IDS)}
    changed = {**expected, IDS[0]: "else"}
    del changed[IDS[1]]
    found = compare_kept(old, new, {old.suite: expected, new.suite: changed})
    assert dict(found.counts) == {"regressed": len(IDS) - 2}
    assert (found.compared, found.apart) == (len(IDS) - 2, 2)
    assert found.lost == 0


def test_two_runs_of_one_program_say_what_is_not_the_same_in_every_run() -> None:
    """And the next version is not blamed for it."""
    code: dict[str, Any] = {"name": "onnxruntime", "environment": {"packages": PACKAGES}}
    verdicts: dict[str, Verdict] = dict.fromkeys(IDS, "pass")
    one, two = run_of(verdicts, **code), run_of({**verdicts, IDS[0]: "mismatch"}, **code)
    after = run_of({**verdicts, IDS[1]: "mismatch"}, "1.1", name="onnxruntime")
    series = {"onnxruntime": [one, two, after]}
    same, next_version = changes_of(KeptRuns(series, (), {}))["onnxruntime"]
    assert dict(same.counts) == {"unsteady": 1}
    assert dict(next_version.counts) == {"regressed": 1, "unsteady": 1}
    mine = compare_kept(run_of(verdicts), run_of({**verdicts, IDS[0]: "mismatch"}), {})
    assert dict(mine.counts) == {"regressed": 1}, "of a build of one's own nobody knows that it is the same"


def test_who_reads_an_open_document_otherwise_did_not_get_worse() -> None:
    before, opened = run_of({IDS[0]: "pass"}), run_of({IDS[0]: "document"}, "1.1")
    assert dict(compare_kept(before, opened, {}).counts) == {"open": 1}
    assert "where the documents are open" in summary(compare_kept(before, opened, {}))
    assert opened.tally.failing == 0
    assert opened.tally.mark == "document"


@pytest.mark.parametrize(
    ("before", "after", "turn"),
    [
        ("pass", "mismatch", "unsteady"),
        ("mismatch", "pass", "unsteady"),
        ("crash", "mismatch", "unsteady"),
        ("unsupported", "mismatch", "newly_failing"),
        ("mismatch", "unsupported", "refused"),
        ("mismatch", "mismatch", None),
    ],
)
def test_no_version_is_better_or_worse_for_what_fails_by_chance(
    before: Verdict, after: Verdict, turn: str | None
) -> None:
    entry = KnownCause("unwritten", "witness_fault", "It answers what was in memory.", (), by_chance=True)
    runs = [run_of({IDS[0]: before}), run_of({IDS[0]: after}, "1.1")]
    old, new = (
        replace(run, causes=tuple(replace(cause, known=entry) for cause in run.causes)) for run in runs
    )
    assert dict(compare_kept(old, new, {}).counts) == ({} if turn is None else {turn: 1})


def test_a_mark_is_of_what_is_blamed_and_counts_add_up() -> None:
    tally = Tally({"document": 1, "mismatch": 2, "inexact": 1, "pass": 4, "unsupported": 3})
    assert (tally.mark, tally.failing, tally.open, tally.total) == ("mismatch", 2, 1, 11)
    assert (tally.decided, tally.inexact) == (6, 1)
    assert tally.told == "2 mismatch, 1 inexact, 1 open in the documents, 3 unsupported, 4 pass"
    assert Tally({"unsupported": 3}).mark == "unsupported"
    assert Tally({"unsupported": 3, "pass": 1}).mark == "pass"


def test_refusals_that_say_the_same_are_one_cause_in_every_runtime() -> None:
    one, other = (run_of({IDS[0]: "rejected_valid"}, name=name) for name in ("engine", "machine"))
    assert (
        one.causes[0].key == other.causes[0].key == CauseKey("message", ("None: there is no kernel for it",))
    )
    one, other = (run_of({IDS[0]: "mismatch"}, name=name) for name in ("engine", "machine"))
    assert one.causes[0].key != other.causes[0].key


@settings(max_examples=8, deadline=None)
@given(runs=st.lists(verdict_maps, min_size=1, max_size=3))
def test_totals_on_the_first_page_are_those_of_the_records(runs: list[dict[str, Verdict]]) -> None:
    kept = [run_of(verdicts, name=f"engine{number}") for number, verdicts in enumerate(runs)]
    site = Site(KeptRuns({each.series: [each] for each in kept}, (), {}), Path())
    rows = table_of(render_front(site))
    assert len(rows) == 1 + len({operator.unversioned for run in kept for operator in run.operators})
    for column, run in enumerate(kept):
        total, cells = rows[0][column], [row[column] for row in rows[1:] if row[column] is not None]
        counts = run.counts
        wrong = sum(counts[each] for each in FAILING)
        assert total == (counts["pass"], counts["pass"] + wrong, wrong, counts["unsupported"])
        assert total == tuple(sum(numbers) for numbers in zip(*cells, strict=True))


def table_of(page: str) -> list[list[tuple[int, ...] | None]]:
    """Each row's cells: what passes, of how many, what is wrong and what is unsupported; None without one."""
    rows = []
    for row in re.findall(r"<tr[^>]*><th scope=\"row\">.*?</tr>", page, re.DOTALL):
        cells: list[tuple[int, ...] | None] = []
        for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL):
            text = " ".join(re.sub(r"<[^>]+>", " ", cell).split())
            found = re.match(r"(\d+) of (\d+)|none", text)
            every, worst = (
                re.search(r"of (\d+) wrong", text),
                re.search(r"(\d+) (?:crash|timeout|mis|rej|acc)", text),
            )
            unsupported = re.search(r"(\d+) unsupported", text)
            rest = (0 if each is None else int(each[1]) for each in (every or worst, unsupported))
            cells.append(None if found is None else (int(found[1] or 0), int(found[2] or 0), *rest))
        rows.append(cells)
    return rows


def test_comparing_grows_with_the_cases() -> None:
    def work(size: int) -> int:
        ids = [f"ai.onnx/Add-14/cover/{number:012x}" for number in range(size)]
        before = run_of(dict.fromkeys(ids, "pass"))
        after = run_of(
            {each: "rejected_valid" if number % 2 else "pass" for number, each in enumerate(ids)}, "1.1"
        )
        return count_calls(lambda: compare_kept(before, after, {}))

    work(20)
    assert work(400) <= LINEAR * work(200)
