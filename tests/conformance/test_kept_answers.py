"""What a run keeps for the next: the record is the same with it, and nobody reads a case or judges anew."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.judging.judge import Judgement, judge
from conformance.processes.worker_limits import Limits
from conformance.recording import outputs
from conformance.running import collector, kept_answers, lane
from conformance.running.harness import run_suite
from conformance.running.kept_answers import KeptRun, kept_run, runs_folder
from conformance.running.kept_tasks import KeptTask, answer_digest, split_row, unpack_task
from conformance.running.ready_requests import ReadyRequest
from conformance.running.requests import encode_runs
from conformance.running.responses import Answered, Crashed, NotOffered, NotTensor, Refused, Response
from conformance.running.run_options import RunOptions
from conformance.running.tasks import Task
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from opcert.vocabulary.tensors import tensor
from tests.conformance.samples import echo_runtime, expect, make_case, make_suite, sample

LIMITS = Limits(start_seconds=60, case_seconds=2)
REQUEST = ReadyRequest(b'{"type":"load"', (b"model", b""), b'{"type":"run"', (b"\0\1",), again=True)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def every_kind() -> list[Case]:
    """Cases that end in each way: right, near, wrong, refused, lost, not offered."""
    echo, refused = make_case("echo", seed=5), make_case("raise", seed=5)
    big = tensor(np.arange(4096, dtype=np.float32))
    other = tensor(np.arange(3, dtype=np.float64))
    return [
        echo,
        refused,
        make_case("echo", seed=4, expectations=(expect(sample(5)), expect(sample(4), two="yes"))),
        make_case("echo", seed=3, expectations=(expect(sample(4), np.full((2, 3), 1.0), one="yes"),)),
        make_case("echo", seed=2, expectations=(expect(sample(1)),)),
        make_case("echo", given=big, expectations=(expect(tensor(np.zeros(4096, np.float32))),)),
        make_case("unsupported", seed=1),
        make_case("raise", seed=6, family="invalid", demand="refuse", valid_case=echo, word="refused"),
        make_case("raise", seed=7, family="invalid", demand="refuse", valid_case=refused, word="nothing"),
        make_case("echo", seed=8, family="invalid", demand="refuse", valid_case=echo, word="accepted"),
        make_case("raise", seed=3, family="invalid", demand="refuse", word="orphan"),
        make_case("echo", seed=1, family="survival", demand="survive", word="survived"),
        make_case("SIGSEGV", seed=9),
        make_case("echo", given=other),
    ]


def run(folder: Path, cases: Sequence[Case], *, keep: bool = True, name: str = "run", **options: Any) -> Path:
    """Run the cases on a fake that takes floats alone; the record's path."""
    settings = RunOptions(**{"limits": LIMITS, "forms": "inputs,initializers", **options})
    path = folder / f"{name}.jsonl"
    with open_suite(make_suite(folder, cases)) as suite:
        run_suite(suite, find_runtime(echo_runtime("floats")), path, settings, keep=keep)
    return path


def without_times(path: Path) -> list[bytes]:
    """The lines of a record; nothing is left out but times, their digest, and addresses in last words."""
    lines = []
    for raw in path.read_bytes().splitlines():
        told = json.loads(raw)
        times = {name: told[name] for name in ("seconds", "started", "finished", "digest") if name in told}
        for name, value in times.items():
            raw = raw.replace(
                b'"%b":%b' % (name.encode(), json.dumps(value).encode()), b'"%b":0' % name.encode()
            )
        lines.append(re.sub(rb"0x[0-9a-f]{6,}", b"0x", raw))
    return lines


def refuse_to(what: str) -> Any:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError(f"nobody has to {what} again")

    return refuse


@pytest.mark.slow
def test_the_record_is_the_same_with_what_an_earlier_run_kept(tmp_path: Path) -> None:
    cases = every_kind()
    plain = without_times(run(tmp_path, cases, keep=False, name="plain", forms="preferred"))
    assert {json.loads(each).get("verdict") for each in plain} >= {
        *("pass", "mismatch", "unsupported", "rejected_valid", "accepted_invalid", "observed", "crash"),
    }
    for name in ("first", "second"):
        assert without_times(run(tmp_path, cases, name=name, forms="preferred")) == plain
    (file,) = runs_folder().iterdir()
    # Of the one whose worker dies nothing is known, and one output lies in a file of its own.
    assert len(KeptRun(file)) == len(cases) - 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_was_answered_as_before_is_neither_read_nor_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    echo = make_case("echo", seed=5)
    cases = [echo, make_case("raise", seed=1), make_case("echo", seed=2, expectations=(expect(sample(1)),))]
    if jobs == 1:
        # Of two lanes the one may come to it before the other has answered the valid case, and asks for that.
        refused = make_case(
            "raise", seed=6, family="invalid", demand="refuse", valid_case=echo, word="refused"
        )
        cases.append(refused)
    before = without_times(run(tmp_path, cases))
    monkeypatch.setattr(lane, "encode_runs", refuse_to("encode a case"))
    monkeypatch.setattr(collector, "make_result", refuse_to("make a row"))
    assert without_times(run(tmp_path, cases, jobs=jobs))[1:] == before[1:]


def test_another_answer_than_before_is_judged_and_kept_in_its_place(tmp_path: Path) -> None:
    # What it answers with hangs on how many calls came before it.
    near = (expect(sample(0), np.full((2, 3), 1.5)),)
    case = make_case("differs_by_call", expectations=near, word="last")
    own, verdicts = str(case.id), []
    with open_suite(make_suite(tmp_path, [make_case("echo"), make_case("echo", seed=1), case])) as suite:
        for only in ({own}, suite.case_ids, {own}, {own}):
            runtime, path = find_runtime(echo_runtime()), tmp_path / "run.jsonl"
            verdicts.append(run_suite(suite, runtime, path, only=only, keep=True).verdicts[own])
    assert verdicts == ["pass", "mismatch", "pass", "pass"]


def test_a_damaged_file_is_as_none(tmp_path: Path) -> None:
    cases = every_kind()[:5]
    before = without_times(run(tmp_path, cases))
    (file,) = runs_folder().iterdir()
    whole = file.read_bytes()
    for damaged in (b"", whole[:-9], whole[:40] + b"\xff" + whole[41:]):
        file.write_bytes(damaged)
        assert without_times(run(tmp_path, cases)) == before


def test_what_somebody_else_has_written_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who shares the cache, and not the secret, has a judge of their own and requests that ask otherwise."""
    cases = every_kind()
    before = without_times(run(tmp_path, cases, keep=False))
    with monkeypatch.context() as other:
        other.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
        other.setattr(collector, "judge", lambda *_, **__: Judgement("pass"))
        other.setattr(lane, "encode_runs", lambda _, *more, **named: encode_runs(cases[0], *more, **named))
        forged = without_times(run(tmp_path, cases))
        assert forged != before
        assert without_times(run(tmp_path, cases)) == forged  # it is believed by who has written it
    assert without_times(run(tmp_path, cases)) == before


def test_a_cache_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    cases = every_kind()[:3]
    (tmp_path / "cache").write_text("no folder")
    assert without_times(run(tmp_path, cases)) == without_times(run(tmp_path, cases, keep=False))


def test_a_run_that_ends_early_keeps_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    run(tmp_path, every_kind()[:6], max_failures=1)
    found = list(runs_folder().iterdir()) if runs_folder().exists() else []
    assert all(each.is_file() for each in found)


def test_room_for_outputs_is_counted_as_if_they_were_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "TOTAL_BYTES", 60)
    cases = [make_case("echo", seed=each, expectations=(expect(sample(each + 1)),)) for each in range(4)]
    plain = without_times(run(tmp_path, cases, keep=False, forms="preferred"))
    assert sum(b"sha256" in each for each in plain) == 2
    for _ in range(2):
        assert without_times(run(tmp_path, cases, forms="preferred")) == plain


def test_each_suite_offer_and_state_of_our_code_has_a_file_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def place(*said: Any) -> object:
        return vars(kept_run(*said))["_path"]

    first = place("a" * 64, "exec:x", {"version": "1"})
    assert place("a" * 64, "exec:x", {"version": "1"}) == first
    assert (
        len(
            {
                first,
                place("b" * 64, "exec:x", {"version": "1"}),
                place("a" * 64, "exec:y", {}),
                *(place("a" * 64, "exec:x", {"version": "2"}),),
            }
        )
        == 4
    )
    monkeypatch.setattr(kept_answers, "_code_digest", lambda: "changed")
    assert place("a" * 64, "exec:x", {"version": "1"}) != first


@pytest.mark.parametrize(("name", "most"), [("MOST_KEPT", 2), ("MOST_BYTES", 250)])
def test_files_that_were_not_used_for_long_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(kept_answers, name, most)
    for number in range(4):
        file = tmp_path / (f"{number}" * 64)
        file.write_bytes(bytes(100))
        os.utime(file, (number, number))
    (tmp_path / "another").write_bytes(bytes(1000))
    vars(kept_answers)["_trim"](tmp_path)
    assert {each.name[0] for each in tmp_path.iterdir() if each.is_file()} == {"2", "3", "a"}


@pytest.mark.parametrize(
    "task",
    [
        KeptTask(REQUEST, False, None, b"d" * 32, (b'{"seconds":', b',"x":1}\n'), 7),
        KeptTask(replace(REQUEST, again=False, load_blobs=(), run_blobs=()), True, "d/O-1/f/x"),
        KeptTask(NotOffered("no such döömain"), True, None, b"d" * 32, (b"a", b"b")),
    ],
)
def test_a_task_is_read_as_it_was_packed_and_damaged_not_at_all(task: KeptTask) -> None:
    raw = task.pack("a case")
    found = unpack_task("a case", raw)
    assert found is not None
    shown = [vars(each) | {"request": vars(each.request)} for each in (found, task)]
    assert shown[0] == shown[1]
    for at in range(len(raw)):
        assert unpack_task("a case", raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]) is None
        assert unpack_task("a case", raw[:at]) is None
    assert unpack_task("another case", raw) is None


def test_a_row_is_split_at_its_seconds_whatever_else_it_says() -> None:
    line = b'{"levels":{"seconds":"1"},"message":"\\"seconds\\":3","seconds":0.25,"type":"result"}\n'
    before, behind = split_row(line)
    assert before + b"0.25" + behind == line
    assert before.endswith(b'3","seconds":')


def test_answers_that_differ_in_anything_but_their_seconds_have_other_digests() -> None:
    zeros = np.zeros(2, np.float32)
    answers: list[Response] = [
        Answered((tensor(zeros),)),
        Answered((tensor(zeros), tensor(zeros))),
        Answered((tensor(-zeros),)),
        Answered((tensor(zeros.reshape(1, 2)),)),
        Answered((tensor(zeros.view(np.int32)),)),
        Answered((tensor(np.zeros(4, np.float32)),)),
        Answered(()),
        Refused("Error", "text"),
        Refused("Error", "text", "run"),
        Refused("Error", "text", unsupported="text"),
        Refused("Error", "other"),
        NotOffered("text"),
    ]
    digests = [answer_digest(each, True) for each in answers]
    digests.append(answer_digest(Refused("Error", "text"), False))
    assert len(set(digests)) == len(answers) + 1
    assert answer_digest(Refused("Error", "text", seconds=3.0), True) == digests[7]
    assert answer_digest(Answered((tensor(zeros),), 3.0), True) == digests[0]
    assert answer_digest(Crashed("lost"), True) is None
    assert answer_digest(Answered((NotTensor("list", "[]"),)), True) is None


def test_a_case_is_read_where_somebody_asks_for_it_alone() -> None:
    asked = []
    case = make_case()

    def read(case_id: str) -> Case:
        asked.append(case_id)
        return case

    kept = KeptTask(REQUEST, True, "another")
    task = Task(str(case.id), "inputs", 0, (0, 0, 0), 1, read, lambda _: None, kept)
    assert (task.must_be_refused, task.valid_case_id, task.call) == (
        True,
        "another",
        str(case.id).rpartition("-")[0],
    )
    assert not asked
    assert judge(task.case, Answered((sample(),))).verdict == "pass"
    assert task.case is case
    assert len(asked) == 1
