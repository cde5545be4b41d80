"""Standard streams that are closed, full or read no more, and a working folder that is gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.recording.records import read_record
from tests.commands.command_line import identity_suite
from tests.conformance.samples import FAKES

pytestmark = pytest.mark.nightly

REPOSITORY = Path(__file__).parents[2]
OPCERT = f"{sys.executable} -m opcert"
CLOSED = (">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-")


def shell(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    own = {"PYTHONPATH": f"{REPOSITORY}:{FAKES}", "XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.run(
        ["bash", "-c", script.replace("OPCERT", OPCERT)],
        cwd=folder,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite, and a record and a certificate of a runtime that is wrong."""
    folder = tmp_path_factory.mktemp("place")
    identity_suite(folder)
    done = shell(folder, "OPCERT certify fake_backends:Raises -s suite -o out")
    assert done.returncode == 0, done.stderr
    return folder


COMMANDS = {
    "list": 0,
    "show Abs": 0,
    "run fake_backends:Good -s suite -o good/run.jsonl": 0,
    "run fake_backends:Raises -s suite -o wrong/run.jsonl": 1,
    "certify fake_backends:Good -s suite -o certified": 0,
    "certify exec:false -s suite -o refused": 4,
    "report out/run.jsonl -s suite -o reported": 0,
    "compare out/run.jsonl out/run.jsonl -s suite": 0,
    "merge out/run.jsonl -o merged.jsonl": 1,
    "verify out/certificate.json --suite suite": 0,
    "export suite -o exported": 0,
    "repro nothing/like/it -s suite -o repro": 2,
    "doctor fake_backends:Good": 0,
    "lint nowhere": 2,
    "import nowhere -o specs": 2,
    "check nowhere": 2,
    "adopt nowhere": 2,
    "fuzz nowhere": 2,
    "adequacy Abs --kept": 0,
    "site nowhere -o site": 2,
    "generate nowhere": 2,
    "try nowhere": 2,
    "upstream nowhere": 2,
    "nonsense": 2,
    "--help": 0,
}


@pytest.mark.parametrize(
    "words",
    [pytest.param(words, marks=pytest.mark.nightly) if "doctor" in words else words for words in COMMANDS],
)
def test_what_is_closed_changes_no_answer(place: Path, words: str) -> None:
    usual = shell(place, f"OPCERT {words}")
    assert "bug" not in usual.stderr
    # Each stream alone where there are processes behind the command, else all of them at once.
    for closed in CLOSED if words.startswith("run fake_backends:Raises") else CLOSED[-1:]:
        done = shell(place, f"OPCERT {words} {closed}")
        assert done.returncode == usual.returncode, (closed, done.stderr)
        assert "bug" not in done.stderr
    done = shell(place, f"OPCERT {words} 2>&1 | true; echo ${{PIPESTATUS[0]}}")
    assert done.stdout == f"{usual.returncode}\n"
    assert done.stderr == ""


def test_the_commands_tried_are_all_there_are() -> None:
    modules = (REPOSITORY / "opcert" / "commands").glob("*_command.py")
    names = {path.stem.removesuffix("_command") for path in modules}
    assert names == {words.split()[0] for words in COMMANDS} - {"nonsense", "--help"}


def test_nothing_that_is_said_goes_into_a_file_of_ours(place: Path) -> None:
    done = shell(place, "OPCERT run fake_backends:Raises -s suite -o closed/run.jsonl <&- >&- 2>&-")
    assert done.returncode == 1
    record = read_record(place / "closed" / "run.jsonl")
    assert (record.partial, len(record.verdicts)) == (False, 3)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(("stream", "name"), [("", "standard output")])
def test_a_stream_that_is_full_is_named(place: Path, stream: str, name: str) -> None:
    done = shell(place, f"OPCERT list {stream}>/dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith(f"opcert: system: {name}: No space left on device")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", ["list", "run fake_backends:Good -s suite", "check m.onnx"])
def test_a_working_folder_that_is_gone_is_told_in_a_sentence(tmp_path: Path, words: str) -> None:
    done = shell(tmp_path, f"mkdir gone; cd gone; rmdir ../gone; OPCERT {words}")
    assert done.returncode == 2
    (line,) = [each for each in done.stderr.splitlines() if "getcwd" not in each]
    assert line.startswith("opcert: input: the working folder cannot be used; got No such file or directory.")


STREAMS = {
    "compare out/run.jsonl out/run.jsonl -s suite --format json -o {}": 0,
    "run fake_backends:Good -s suite -o {}": 2,
    "merge out/run.jsonl -o {}": 2,
    "certify fake_backends:Good -s suite -o {}": 2,
}


@pytest.mark.parametrize("words", STREAMS)
def test_a_device_or_pipe_is_no_place_for_a_record_and_stays(place: Path, tmp_path: Path, words: str) -> None:
    pipe = tmp_path / "own" / "pipe"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    script = f"timeout 60 cat {pipe} > read & timeout 60 OPCERT {words.format(pipe)}; echo $?; kill %1; wait"
    done = shell(place, script)
    assert done.stdout.splitlines()[-1] == str(STREAMS[words]), done.stderr
    assert pipe.is_fifo()
    assert list(pipe.parent.iterdir()) == [pipe]
    if STREAMS[words]:
        assert "opcert: input: " in done.stderr
        assert done.stderr.count("\n") == 1
    else:
        assert (place / "read").read_text().startswith("{")


@pytest.mark.parametrize("to", ["cat", "> written"])
def test_standard_output_by_its_name_is_printed_into(place: Path, tmp_path: Path, to: str) -> None:
    link = tmp_path / "own" / "stdout"
    link.parent.mkdir()
    link.symlink_to("/proc/self/fd/1")  # as /dev/stdout is
    words = f"OPCERT compare out/run.jsonl out/run.jsonl -s suite --format json -o {link}"
    printed = shell(place, "OPCERT compare out/run.jsonl out/run.jsonl -s suite --format json").stdout
    done = shell(place, f"{words} | cat" if to == "cat" else f"{words} {to}; cat written")
    assert done.stdout == printed
    assert link.is_symlink()
    assert list(link.parent.iterdir()) == [link]


def test_a_record_behind_a_link_is_written_where_that_leads(place: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, record = tmp_path / "link.jsonl", tmp_path / "there" / "record.jsonl"
    link.symlink_to(record)
    for more in ("", "--resume", ""):
        done = shell(place, f"OPCERT run fake_backends:Good -s suite -o {link} {more}")
        assert done.returncode == 0, done.stderr
        assert link.is_symlink()
        assert not read_record(record).partial
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["record.jsonl"]


SHADOWED = """
mount -t tmpfs tmpfs "$1"; mknod "$1/null" c 1 3 2>/dev/null || exit 77
stat -c %t:%T:%i "$1/null"
OPCERT run fake_backends:Good -s suite -o "$1/null"; echo $?
OPCERT merge out/run.jsonl -o "$1/null"; echo $?
OPCERT compare out/run.jsonl out/run.jsonl -s suite -o "$1/null"; echo $?
stat -c %t:%T:%i "$1/null"
ls -A "$1"
"""


def test_a_device_of_its_own_stays_whoever_writes(place: Path, tmp_path: Path) -> None:
    """As root, in a mount namespace with a device of its own: never the machine's."""
    done = shell(place, f"unshare --mount bash -c '{SHADOWED}' bash {tmp_path}")
    if done.returncode or "\n" not in done.stdout:
        pytest.skip("no device can be made here")
    before, ran, merged, compared, after, *rest = done.stdout.splitlines()
    assert (ran, merged, compared) == ("2", "2", "0"), done.stderr
    assert before == after
    assert rest == ["null"]
