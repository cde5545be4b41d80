"""Certificate, badge and page of an earlier record: gone before the record changes, however the run ends."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from opcert.commands.derived_files import CERTIFIED, remove_derived
from reports.formats import list_formats
from tests.commands.command_line import call, check_message, heed_signals, identity_suite
from tests.commands.test_output_locks import wait_until
from tests.conformance.samples import echo_runtime, make_case, make_suite

Capture = pytest.CaptureFixture[str]
GOOD = "fake_backends:Good"


@pytest.fixture
def made(capsys: Capture, tmp_path: Path) -> Path:
    """A folder with everything that opcert makes from a record, beside it."""
    suite, out, key = identity_suite(tmp_path), tmp_path / "made", tmp_path / "key.pem"
    private = Ed25519PrivateKey.generate()
    key.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    assert call(capsys, "certify", GOOD, "-s", suite, "-o", out, "--key", key).code == 0
    formats = [word for name in list_formats() for word in ("--format", name)]
    assert call(capsys, "report", out / "run.jsonl", "-s", suite, "-o", out, *formats).code == 0
    assert {path.name for path in out.iterdir()} > {*CERTIFIED, "run.jsonl"}
    assert len(list(out.iterdir())) == 1 + len(CERTIFIED) + len(list_formats()) - len(["html", "junit"])
    return out


def killed_in_the_middle(folder: Path, *words: object) -> None:
    """A command that runs `Echo` into a folder's record, killed when a case waits for its answer."""
    (folder.parent / "echo").mkdir()
    suite = make_suite(folder.parent / "echo", [make_case(), make_case("wait", seed=1)])
    before = (folder / "run.jsonl").read_bytes()
    runtime = echo_runtime(str(folder / "nowhere"), "family_worker.py")
    command = [sys.executable, "-m", "opcert", words[0], runtime, "-s", suite, *words[1:]]
    process = subprocess.Popen([*map(str, command)], stderr=subprocess.DEVNULL, preexec_fn=heed_signals)
    wait_until(lambda: (folder / "run.jsonl").read_bytes() not in (before, b""))
    process.kill()
    process.wait()


@pytest.mark.slow
def test_a_killed_certify_leaves_its_partial_record_alone(made: Path) -> None:
    (made / ".index.html.abc_0123").write_text("half a page")
    killed_in_the_middle(made, "certify", "-o", made)
    assert sorted(path.name for path in made.iterdir()) == [".opcert.lock", "run.jsonl"]


@pytest.mark.slow
def test_a_killed_run_leaves_its_partial_record_alone(made: Path) -> None:
    killed_in_the_middle(made, "run", "-o", made / "run.jsonl")
    assert sorted(path.name for path in made.iterdir()) == [".opcert.lock", "run.jsonl"]


def test_a_merged_record_takes_nothing_over(capsys: Capture, made: Path, tmp_path: Path) -> None:
    shutil.copy(made / "run.jsonl", tmp_path / "part.jsonl")
    assert call(capsys, "merge", tmp_path / "part.jsonl", "-o", made / "run.jsonl").code == 0
    assert [path.name for path in made.iterdir()] == ["run.jsonl"]


def test_a_certificate_of_another_record_takes_nothing_over(
    capsys: Capture, made: Path, tmp_path: Path
) -> None:
    record = shutil.copy(made / "run.jsonl", tmp_path / "part.jsonl")
    assert call(capsys, "certify", GOOD, "-s", tmp_path / "suite", "--run", record, "-o", made).code == 0
    names = {path.name for path in made.iterdir()}
    assert names == {"run.jsonl", *CERTIFIED} - {"explanations.json"}
    assert (tmp_path / "explanations.json").exists()


def test_what_cannot_start_leaves_all_as_it_is(capsys: Capture, made: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in made.iterdir()}
    answer = call(capsys, "certify", "fake_backends:Nobody", "-s", tmp_path / "suite", "-o", made)
    assert answer.code == 2
    answer = call(capsys, "run", GOOD, "-s", tmp_path / "suite", "-k", "nothing", "-o", made / "run.jsonl")
    assert answer.code == 5
    assert {path: path.read_bytes() for path in made.iterdir()} == before


def test_a_record_of_another_name_has_nothing_made_from_it(
    capsys: Capture, made: Path, tmp_path: Path
) -> None:
    names = {path.name for path in made.iterdir()}
    assert call(capsys, "run", GOOD, "-s", tmp_path / "suite", "-o", made / "other.jsonl").code == 0
    assert {path.name for path in made.iterdir()} == {*names, "other.jsonl"}


def test_files_of_ones_own_stay_beside_a_record(capsys: Capture, made: Path, tmp_path: Path) -> None:
    names = sorted(path.name for path in made.iterdir() if path.name != "run.jsonl")
    for name in names:
        (made / name).write_text(f"my own {name}, about opcert")
    (made / "index.html").unlink()
    (made / "index.html").symlink_to(tmp_path / "suite")
    assert call(capsys, "run", GOOD, "-s", tmp_path / "suite", "-o", made / "run.jsonl").code == 0
    assert sorted(path.name for path in made.iterdir() if path.name != "run.jsonl") == names
    remove_derived(made, ours=True)
    assert sorted(path.name for path in made.iterdir()) == sorted({*names, "run.jsonl"} - {*CERTIFIED})


def test_what_cannot_be_removed_ends_the_run_before_it_begins(
    capsys: Capture, made: Path, tmp_path: Path
) -> None:
    before = (made / "run.jsonl").read_bytes()
    (made / "junit.xml").unlink()
    (made / "junit.xml").mkdir()
    answer = call(capsys, "certify", GOOD, "-s", tmp_path / "suite", "-o", made)
    check_message(answer, 2, "input", "junit.xml", "what was made from an earlier record cannot be written")
    assert (made / "run.jsonl").read_bytes() == before
