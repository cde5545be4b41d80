"""What a stranger says reaches no terminal as an order: runtimes, records, documents, file names, specs."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest

from tests.commands.command_line import Answer, call
from tests.conformance.fakes.shouting_worker import SHOUT
from tests.conformance.samples import echo_runtime, make_case, make_suite

pytestmark = pytest.mark.slow

Capture = pytest.CaptureFixture[str]
PLACES = [
    "name",
    "version",
    "platform",
    "devices",
    "element types",
    "message",
    "kind",
    "no tensor",
    "last words",
]
FIRST = ("name", "message", "last words")


def check(answer: Answer) -> None:
    """Nothing but text, and no line that opcert or continuous integration might have written."""
    said = answer.out + answer.err
    found = [
        each for each in said if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") and each != "\n"
    ]
    assert not found, ascii(said)
    assert not re.search(r"^\s*::|^forged|##\[", said, re.MULTILINE), said
    assert "Traceback" not in said


def runtime(place: str) -> str:
    return echo_runtime(f"'{place}'", "shouting_worker.py")


@pytest.mark.parametrize(
    "place",
    [each if each in FIRST else pytest.param(each, marks=pytest.mark.nightly) for each in PLACES],
)
def test_a_runtime_gives_no_orders_to_the_terminal(capsys: Capture, tmp_path: Path, place: str) -> None:
    suite = make_suite(tmp_path, [make_case(seed=each) for each in range(4)])
    run = call(capsys, "run", runtime(place), "-s", suite, "-o", tmp_path / "run.jsonl")
    assert run.code in (0, 1, 5), run.err
    check(run)
    certified = call(capsys, "certify", runtime(place), "-s", suite, "-o", tmp_path / "out")
    assert certified.code in (0, 5), certified.err
    check(certified)
    doctor = call(capsys, "doctor", runtime(place), "-s", suite)
    assert doctor.code in (0, 4), doctor.err
    check(doctor)
    compared = call(capsys, "compare", tmp_path / "run.jsonl", tmp_path / "run.jsonl", "-s", suite)
    check(compared)
    merged = call(capsys, "merge", tmp_path / "run.jsonl", "-o", tmp_path / "merged.jsonl")
    check(merged)
    verified = call(capsys, "verify", tmp_path / "out" / "certificate.json", "-s", suite)
    assert "opcert: bug" not in verified.err
    check(verified)


@pytest.mark.parametrize("place", ["start", "death"])
def test_a_runtime_that_does_not_start_gives_none(capsys: Capture, tmp_path: Path, place: str) -> None:
    suite = make_suite(tmp_path, [make_case()])
    for words in (["run", runtime(place), "-s", suite], ["doctor", runtime(place)]):
        answer = call(capsys, *words)
        assert answer.code == 4
        check(answer)


def test_a_damaged_record_gives_none(capsys: Capture, tmp_path: Path) -> None:
    suite = make_suite(tmp_path, [make_case()])
    call(capsys, "run", echo_runtime(), "-s", suite, "-o", tmp_path / "run.jsonl")
    header, row, footer = (json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines())
    for number, lines in enumerate(
        [
            [{**header, "suite": SHOUT}, row],
            [{**header, "runtime": {"name": SHOUT, "version": SHOUT, "source": SHOUT}}, row],
            [header, {**row, "verdict": SHOUT}],
            [header, {**row, "case": SHOUT}],
            [header, {**row, "reason": SHOUT, "verdict": "mismatch"}],
            [header, {**row, SHOUT: 1}, {**footer, "type": SHOUT}],
        ]
    ):
        path = tmp_path / f"{number}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        for words in (
            ["report", path, "-s", suite, "-o", tmp_path / "out"],
            ["compare", path, path, "-s", suite],
        ):
            answer = call(capsys, *words)
            assert answer.code in (0, 1, 2, 5), answer.err
            check(answer)


def test_file_names_and_documents_give_none(capsys: Capture, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    name = SHOUT.replace("/", "").replace("\n", "")
    (folder / f"{name}.rst").write_text(f"{SHOUT}\n\n.. _l-onnx-doc-X:\n\n{SHOUT}\n====\n{SHOUT}")
    (folder / "Some-1.md").write_text(f"# {SHOUT}\n\n<script>{SHOUT}</script>\n")
    asked: list[list[object]] = [
        ["import", folder, "-o", tmp_path / "specs"],
        ["import", folder / name],
        ["lint", folder],
        ["lint", folder / f"{name}.rst"],
        ["lint", folder, "--format", "json"],
        ["lint", folder, "--format", "sarif"],
        ["show", SHOUT],
        ["repro", SHOUT],
        [SHOUT],
    ]
    for words in asked:
        answer = call(capsys, *words)
        assert answer.code in (0, 1, 2, 5), answer.err
        check(answer)
