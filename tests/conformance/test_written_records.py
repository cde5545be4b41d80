"""A record stands for another run of the same build, suite and options here, and for nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.processes.worker_limits import Limits
from conformance.recording import records
from conformance.recording.outputs import outputs_folder
from conformance.recording.records import Record
from conformance.running.harness import run_request
from conformance.running.lane import Lane
from conformance.running.progress import Silent
from conformance.running.resuming import RecordPlace, WrittenRecords
from conformance.running.run_options import RunOptions, RunRequest
from conformance.runtimes.runtimes import find_runtime
from conformance.suite import store as kept_work
from conformance.suite.store import KeptWork
from conformance.suite.suites import open_suite
from tests.conformance.samples import echo_runtime, make_case, make_environment, make_suite

MADE_BY_OPCERT = ("fake==1.0",)
WHOLE = RunOptions(identify=True)


class Told(Silent):
    """Remembers how many rows were to come of each run, and what was said."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.notes: list[str] = []

    def start(self, rows: int, cases: int) -> None:
        self.rows.append(rows)

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)


class Runs:
    """Runs of a fake of which opcert seems to have made the environment, all with one record."""

    def __init__(self, folder: Path) -> None:
        self.suite = make_suite(folder, [make_case(seed=each) for each in range(3)])
        self.path = folder / "run.jsonl"
        self.library = folder / "libfake.so"
        self.library.write_bytes(b"one build")
        self.module = make_environment(*MADE_BY_OPCERT)
        self.told = Told()

    def __call__(
        self, *, again: bool = False, requirements: tuple[str, ...] = MADE_BY_OPCERT, mode: str = "",
        options: RunOptions = WHOLE,
    ) -> Record:  # fmt: skip
        runtime = find_runtime(echo_runtime(mode))
        written = WrittenRecords(replace(runtime, requirements=requirements), again=again)
        with open_suite(self.suite) as suite:
            place = RecordPlace(self.path, written=written)
            return run_request(RunRequest(suite, runtime, options), place, self.told)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(kept_work, "cache_folder", lambda: tmp_path / "cache")
    found = Runs(tmp_path)
    monkeypatch.setattr(Lane, "loaded_files", lambda _: {found.library})
    return found


def test_nothing_is_run_of_the_same_build(runs: Runs) -> None:
    first = runs()
    before = runs.path.read_bytes()
    second = runs()
    assert runs.told.rows == [3]
    assert runs.path.read_bytes() == before
    assert (second.results, second.header, second.footer) == (first.results, first.header, first.footer)
    assert first.header["started"] in runs.told.notes[-1]
    assert "--again" in runs.told.notes[-1]


def test_a_record_of_a_day_to_come_stands_for_no_run(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was made under a clock that was set back since: nothing is certified before the run ended."""
    with monkeypatch.context() as ahead:
        ahead.setattr(records, "timestamp", lambda: "2099-01-01T00:00:00Z")
        runs()
    runs()
    assert runs.told.rows == [3, 3]


def other_build(runs: Runs) -> None:
    runs.library.write_bytes(b"another build")


def module_edited_in_place(runs: Runs) -> None:
    """With its size and the time of its writing as they were."""
    before = runs.module.stat()
    with runs.module.open("r+b") as file:
        file.write(b"ANSWER = 2\n")
    os.utime(runs.module, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert runs.module.stat().st_size == before.st_size


def module_replaced(runs: Runs) -> None:
    other = runs.module.with_name("made")
    other.write_bytes(runs.module.read_bytes())
    other.replace(runs.module)


def module_added(runs: Runs) -> None:
    runs.module.with_name("sitecustomize.py").write_text("")


def module_gone(runs: Runs) -> None:
    runs.module.unlink()


def folder_elsewhere(runs: Runs) -> None:
    """What lies there cannot be known."""
    (runs.path.parent / "elsewhere").mkdir()
    runs.module.with_name("package").symlink_to(runs.path.parent / "elsewhere")


def library_gone(runs: Runs) -> None:
    runs.library.unlink()


def one_verdict_changed(runs: Runs) -> None:
    raw = runs.path.read_bytes()
    assert b'"verdict":"pass"' in raw
    runs.path.write_bytes(raw.replace(b'"verdict":"pass"', b'"verdict":"fail"', 1))


def cut_off(runs: Runs) -> None:
    runs.path.write_bytes(runs.path.read_bytes()[:-9])


def record_gone(runs: Runs) -> None:
    runs.path.unlink()


def another_output_beside_it(runs: Runs) -> None:
    outputs_folder(runs.path).mkdir()
    (outputs_folder(runs.path) / "other.bin").write_bytes(b"")


def damaged_cache(_: Runs) -> None:
    (kept,) = KeptWork("records").store.folder.iterdir()
    kept.write_bytes(b"damaged")


def other_shape_in_cache(_: Runs) -> None:
    (kept,) = KeptWork("records").store.folder.iterdir()
    KeptWork("records").keep(kept.name, ["no", "names"])


def other_suite(runs: Runs) -> None:
    runs.suite = make_suite(runs.path.parent / "other", [make_case(seed=9)])


@pytest.mark.parametrize(
    "change",
    [
        other_build, library_gone, module_edited_in_place, module_replaced, module_added, module_gone,
        folder_elsewhere, one_verdict_changed, cut_off, record_gone, another_output_beside_it,
        damaged_cache, other_shape_in_cache, other_suite,
    ],
)  # fmt: skip
def test_whatever_else_is_there_the_runtime_is_asked(runs: Runs, change: Callable[[Runs], None]) -> None:
    runs()
    change(runs)
    record = runs()
    assert len(runs.told.rows) == 2
    assert record.footer is not None
    assert {result.verdict for result in record.results} == {"pass"}


@pytest.mark.parametrize(
    "run",
    [
        lambda runs: runs(again=True),
        lambda runs: runs(requirements=()),
        lambda runs: runs(mode="other"),
        lambda runs: runs(options=RunOptions(identify=True, limits=Limits(case_seconds=7.5))),
        lambda runs: runs(options=RunOptions(identify=True, forms="all", repeat=2)),
        lambda runs: runs(options=RunOptions(identify=True, pattern="*cover*")),
    ],
    ids=["again", "other requirements", "other mode", "other limits", "other forms", "other pattern"],
)
def test_another_run_is_made(runs: Runs, run: Callable[[Runs], Record]) -> None:
    runs()
    run(runs)
    assert len(runs.told.rows) == 2


def test_a_runtime_that_somebody_works_on_is_asked_each_time(runs: Runs) -> None:
    runs(requirements=())
    runs(requirements=())
    assert len(runs.told.rows) == 2


def test_a_run_that_was_ended_stands_for_none(runs: Runs) -> None:
    runs.suite = make_suite(runs.path.parent, [make_case("ulp", seed=each) for each in range(4)])
    options = RunOptions(identify=True, max_failures=1)
    assert "stopped" in (runs(options=options).footer or {})
    runs(options=options)
    assert len(runs.told.rows) == 2


def test_a_run_that_nobody_can_say_the_build_of_stands_for_none(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lane, "loaded_files", lambda _: set())
    runs()
    runs()
    assert len(runs.told.rows) == 2


def test_a_file_that_is_changed_while_it_is_asked_leaves_nothing_that_stands(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changing(_: Lane) -> set[Path]:
        runs.module.write_text("ANSWER = 2\n")
        return {runs.library}

    monkeypatch.setattr(Lane, "loaded_files", changing)
    runs()
    monkeypatch.setattr(Lane, "loaded_files", lambda _: {runs.library})
    runs()
    runs()
    assert len(runs.told.rows) == 2
