"""Two commands that write the same thing: the second says who writes there, and touches nothing."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest

from conformance.models.case_models import build_model
from conformance.recording.records import read_record
from opcert.commands import cli
from opcert.commands.output_locks import locked
from opcert.vocabulary.errors import UserError
from tests.commands.command_line import call, check_message, heed_signals, identity_suite
from tests.conformance.samples import echo_runtime, find_processes, make_case, make_suite

pytestmark = pytest.mark.nightly

Capture = pytest.CaptureFixture[str]
GOOD = "fake_backends:Good"


def opcert(*words: object) -> subprocess.Popen[str]:
    """A command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "opcert", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    )


def wait_until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


@contextmanager
def held_elsewhere(lock: Path) -> Iterator[int]:
    """A lock that another process holds, which is given by its id."""
    code = (
        "import sys, time; from pathlib import Path; from opcert.commands.output_locks import locked\n"
        "with locked(Path(sys.argv[1]), Path('x'), 'it', 'opcert something'):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    words = [sys.executable, "-c", code, str(lock)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process.pid
        process.communicate("")


def waiting_suite(folder: Path) -> Path:
    return make_suite(folder, [make_case("wait", seed=seed) for seed in range(60)])


def waiting_runtime(file: Path) -> str:
    """A runtime that answers nothing until there is a file."""
    return echo_runtime(str(file), "family_worker.py")


@pytest.mark.parametrize(
    ("first", "second"), [("certify", "certify"), ("run", "run"), ("certify", "run"), ("run", "certify")]
)
def test_two_at_once_into_one_folder(tmp_path: Path, first: str, second: str) -> None:
    suite, out, go = waiting_suite(tmp_path), tmp_path / "out", tmp_path / "go"
    place = {"certify": out, "run": out / "run.jsonl"}
    began = [
        (each, opcert(each, waiting_runtime(go), "-s", suite, "-o", place[each])) for each in (first, second)
    ]
    wait_until(lambda: any(process.poll() is not None for _, process in began))
    (_, loser), (command, winner) = sorted(began, key=lambda each: each[1].poll() is None)
    _, said = loser.communicate()
    assert loser.returncode == 2, said
    assert winner.poll() is None
    assert "opcert: input: " in said
    assert f"another command writes there at this moment; got process {winner.pid}, since 2" in said
    assert f"opcert {command} 'exec:{sys.executable} " in said
    go.touch()
    _, said = winner.communicate()
    assert winner.returncode == 0, said
    record = read_record(out / "run.jsonl")
    assert (record.partial, record.counts["pass"]) == (False, 60)
    assert (out / "certificate.json").exists() == (command == "certify")
    assert not [path for path in tmp_path.rglob(".*") if "lock" in path.name]


def test_a_killed_command_is_in_nobodys_way(tmp_path: Path) -> None:
    suite, out = make_suite(tmp_path, [make_case("leave_children")]), tmp_path / "out"
    mark = f"mark-{os.getpid()}"
    first = opcert("run", echo_runtime(mark, "family_worker.py"), "-s", suite, "-o", out / "run.jsonl")
    wait_until(lambda: find_processes(mark) and (out / "run.jsonl").exists())
    first.kill()
    first.communicate()
    lock = out / ".opcert.lock"
    assert json.loads(lock.read_text())["process"] == first.pid
    (tmp_path / "other").mkdir()
    suite = make_suite(tmp_path / "other", [make_case()])
    second = opcert("run", echo_runtime("", "family_worker.py"), "-s", suite, "-o", out / "run.jsonl")
    said = second.communicate()
    assert second.returncode == 0, said
    assert not lock.exists()


def test_shards_are_written_beside_each_other(tmp_path: Path) -> None:
    suite, go = waiting_suite(tmp_path), tmp_path / "go"
    began = [
        opcert("run", waiting_runtime(go), "-s", suite, "--shard", f"{number}/2", "-o",
               tmp_path / f"{number}.jsonl")
        for number in (1, 2)
    ]  # fmt: skip
    wait_until(lambda: all((tmp_path / f"{number}.jsonl").exists() for number in (1, 2)))
    go.touch()
    ended = [(process.communicate(), process.returncode) for process in began]
    assert [code for _, code in ended] == [0, 0], ended


# For each command that writes: words in which OUT stands for what it writes, and the lock of that.
WRITERS: dict[str, tuple[str, str]] = {
    "adequacy": ("--kept Pad-1 -o OUT", "OUT/.opcert.lock"),
    "adopt": ("onnx -o OUT", ".OUT.lock"),
    "certify": (f"{GOOD} -s SUITE -o OUT", "OUT/.opcert.lock"),
    "check": (f"MODEL --on {GOOD} -o OUT", "OUT/.opcert.lock"),
    "compare": ("RUN RUN -s SUITE -o OUT", ".OUT.lock"),
    "export": ("SUITE -o OUT", "OUT/.opcert.lock"),
    "fuzz": (f"{GOOD} Pad-1 --time 1 -o OUT", "OUT/.opcert.lock"),
    "generate": ("Pad-1 -o OUT", ".OUT.lock"),
    "import": ("SUITE -o OUT", "OUT/.opcert.lock"),
    "merge": ("RUN -o OUT", ".OUT.lock"),
    "report": ("RUN -s SUITE -o OUT", "OUT/.opcert.lock"),
    "repro": ("CASE -s SUITE -o OUT", "OUT/.opcert.lock"),
    "run": (f"{GOOD} -s SUITE -o OUT", ".OUT.lock"),
    "site": ("RUNS -o OUT", "OUT/.opcert.lock"),
    "upstream": ("onnx -o OUT", "OUT/.opcert.lock"),
}
FURTHER: list[tuple[str, str, str]] = [
    ("site", "OUT", "OUT/.opcert.lock"),
    ("upstream", "onnx --table -o OUT", ".OUT.lock"),
    ("run", f"{GOOD} -s SUITE -o OUT/run.jsonl", "OUT/.opcert.lock"),
    ("merge", "RUN -o OUT/run.jsonl", "OUT/.opcert.lock"),
    ("generate", "Pad-1 -o OUT.zip", ".OUT.zip.lock"),
    ("adopt", "onnx -o OUT.zip", ".OUT.zip.lock"),
    ("run", f"{GOOD} -s SUITE -o RUNS/x --baseline OUT --update-baseline", ".OUT.lock"),
    ("certify", f"{GOOD} -s SUITE -o RUNS/x --baseline OUT --update-baseline", ".OUT.lock"),
    ("adequacy", "Pad-1 -s SUITE --specs OUT --update", "OUT/.opcert.lock"),
]


def test_every_command_that_writes_is_tried() -> None:
    context = click.Context(cli)
    found = {}
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        options = {option for parameter in command.params for option in parameter.opts}
        found[name] = bool(options & {"-o", "--output", "--update", "--update-baseline"})
    assert {name for name, writes in found.items() if writes} == set(WRITERS)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite and a record of it."""
    folder = tmp_path_factory.mktemp("runs")
    suite = make_suite(folder, [make_case()])
    (folder / "model.onnx").write_bytes(build_model(make_case()))
    process = opcert("run", echo_runtime(), "-s", suite, "-o", folder / "whole.jsonl")
    _, said = process.communicate()
    assert process.returncode == 0, said
    return folder


@pytest.mark.parametrize(
    ("name", "words", "lock"),
    [*((name, *writer) for name, writer in WRITERS.items()), *FURTHER],
    ids=lambda each: None,
)
def test_what_another_writes_is_left_alone(
    capsys: Capture, tmp_path: Path, runs: Path, name: str, words: str, lock: str
) -> None:
    (tmp_path / "kept").mkdir()
    stands_for = {"OUT": tmp_path / "kept" / "out", "SUITE": runs / "suite", "RUNS": runs,
                  "RUN": runs / "whole.jsonl", "MODEL": runs / "model.onnx",
                  "CASE": json.loads((runs / "whole.jsonl").read_text().splitlines()[1])["case"]}  # fmt: skip

    def meant(word: str) -> str:
        for short, path in stands_for.items():
            if word == short or word.startswith((f"{short}/", f"{short}.")):
                return f"{path}{word.removeprefix(short)}"
        return word

    place = tmp_path / "kept" / lock.replace("OUT", "out")
    if name == "site":
        (tmp_path / "kept" / "out").mkdir()
    with held_elsewhere(place) as process:
        before = sorted(tmp_path.joinpath("kept").rglob("*"))
        answer = call(capsys, name, *map(meant, words.split()))
        assert sorted(tmp_path.joinpath("kept").rglob("*")) == before
    check_message(
        answer,
        2,
        "input",
        "another command writes there",
        f"got process {process}, since",
        "opcert something",
    )
    assert not [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]


def test_any_spelling_of_a_folder_means_the_same(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = identity_suite(tmp_path)
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    (tmp_path / "chain").symlink_to(tmp_path / "link")
    monkeypatch.chdir(real)
    with held_elsewhere(real / ".opcert.lock"):
        for each in (".", "../real", "../link", tmp_path / "chain", f"{tmp_path}//link/../link/./"):
            assert call(capsys, "certify", GOOD, "-s", suite, "-o", each).code == 2
            assert call(capsys, "run", GOOD, "-s", suite, "-o", f"{each}/run.jsonl").code == 2
            assert call(capsys, "run", GOOD, "-s", suite, "-o", f"{each}/other.jsonl").code == 0


def test_a_link_to_a_record_is_that_record(tmp_path: Path, capsys: Capture) -> None:
    suite = identity_suite(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "run.jsonl").write_text("")
    (tmp_path / "a" / "plain.jsonl").write_text("")
    for name in ("run.jsonl", "plain.jsonl"):
        (tmp_path / "b" / f"to-{name}").symlink_to(tmp_path / "a" / name)
    for lock, name in ((".opcert.lock", "to-run.jsonl"), (".plain.jsonl.lock", "to-plain.jsonl")):
        with held_elsewhere(tmp_path / "a" / lock):
            assert call(capsys, "run", GOOD, "-s", suite, "-o", tmp_path / "b" / name).code == 2


def test_a_record_that_is_a_link_into_its_own_folder(tmp_path: Path, capsys: Capture) -> None:
    suite = identity_suite(tmp_path)
    (tmp_path / "kept.jsonl").write_text("")
    (tmp_path / "run.jsonl").symlink_to("kept.jsonl")
    assert call(capsys, "run", GOOD, "-s", suite, "-o", tmp_path / "run.jsonl").code == 0


def hold(lock: Path) -> None:
    with locked(lock, lock, "it", "opcert again"):
        assert json.loads(lock.read_text())["process"] == os.getpid()


def test_what_was_made_for_a_lock_goes_with_it(tmp_path: Path) -> None:
    hold(tmp_path / "a" / "b" / "lock")
    assert not (tmp_path / "a").exists()
    with locked(tmp_path / "a" / "b" / "lock", tmp_path, "it", "opcert"):
        (tmp_path / "a" / "file").write_text("keep me")
    assert list((tmp_path / "a").rglob("*")) == [tmp_path / "a" / "file"]


@pytest.mark.parametrize("left", ["", "{}", "[" * 70_000, '{"process": "x"}', "\0", '{"process": 1e400}'])
def test_what_a_lock_file_says_is_not_trusted(tmp_path: Path, left: str) -> None:
    lock = tmp_path / "lock"
    lock.write_text(left)
    hold(lock)
    lock.write_text(left)
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(UserError, match=r"another command writes there at this moment\. Wait"):
            hold(lock)


def test_control_characters_of_a_holder_are_shown(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text(json.dumps({"process": os.getpid(), "since": "now", "what": "\x1b[31mred\u202e"}))
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(UserError, match=r"since now: \\x1b\[31mred\\u202e"):
            hold(lock)


def test_what_is_no_file_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("keep me")
    kinds: list[Callable[[Path], object]] = [
        os.mkfifo,
        Path.mkdir,
        lambda path: path.symlink_to(tmp_path / "victim"),
    ]
    for number, make in enumerate(kinds):
        lock = tmp_path / f"lock-{number}"
        make(lock)
        with pytest.raises(UserError, match="it cannot be written"):
            hold(lock)
    assert (tmp_path / "victim").read_text() == "keep me"


def test_processes_that_a_command_starts_do_not_have_its_lock(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with locked(lock, lock, "it", "opcert"):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    hold(lock)
    assert child.poll() is None
    child.communicate(b"\n")
