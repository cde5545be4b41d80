"""What run and certify print: a screen of it, however many operators and causes there are; with -v all."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.recording.rows import Result
from generator.asking.ambiguity import Ambiguity
from generator.making.suites.suite_making import Made
from opcert.commands import verbosity
from opcert.commands.command_progress import PlainProgress, generation_progress
from opcert.vocabulary.names import OperatorName
from tests.commands.command_line import call
from tests.conformance.samples import echo_runtime, make_case, make_suite

Capture = pytest.CaptureFixture[str]
MOST = 40
"""Lines of both streams together, those of a run of an hour, and of all that is made before it, included."""
OPERATORS = [OperatorName("org.example", "Echo", version) for version in range(1, 61)]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty operators, each with a case that passes and one that fails as no other's."""
    cases = [
        make_case(do, seed=seed, operator=operator)
        for seed, operator in enumerate(OPERATORS)
        for do in ("echo", f"odd{chr(97 + seed // 26)}{chr(97 + seed % 26)}")
    ]
    return make_suite(tmp_path_factory.mktemp("many"), cases)


@pytest.mark.parametrize("command", ["run", "certify"])
def test_many_operators_and_causes_fit_on_a_screen(
    capsys: Capture, tmp_path: Path, suite: Path, command: str
) -> None:
    out = tmp_path / ("run.jsonl" if command == "run" else "out")
    words = (command, echo_runtime(), "-s", suite, "-o", out)
    answer = call(capsys, *words)
    assert answer.code == (1 if command == "run" else 0), answer.err
    lines = answer.out.splitlines()
    assert len(lines) + len(answer.err.splitlines()) <= MOST - _most_progress_lines()
    assert any("50.0 % of 120 decided cases conform; 60 fail, from 60 causes." in line for line in lines)
    assert sum("opcert repro" in line for line in lines) == 4
    assert any("more causes with 56 cases" in line for line in lines)
    assert f"record: {tmp_path if command == 'run' else out}/run.jsonl" in answer.out
    assert "-v" in answer.out
    assert not any(line.startswith("org.example::Echo-7") for line in lines)
    whole = call(capsys, *words, "-v").out.splitlines()
    assert sum(line.startswith("org.example::Echo-") for line in whole) == len(OPERATORS)
    assert sum("opcert repro" in line for line in whole) == 10
    assert len(whole) > 2 * MOST


def test_what_fits_is_told_whole(capsys: Capture, tmp_path: Path) -> None:
    small = make_suite(tmp_path, [make_case(do, operator=OPERATORS[0]) for do in ("echo", "raise")])
    words = ("run", echo_runtime(), "-s", small, "-o", tmp_path / "run.jsonl")
    assert call(capsys, *words).out == call(capsys, *words, "--verbose").out


class Clock:
    """A clock that goes as it is told."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(verbosity, "time", found)
    return found


def _most_progress_lines() -> int:
    """Those of ten minutes of making a suite, and of as much of running it: what the tests below count."""
    return 6 + 6


LAST = "cases of 59 operators made in 600.0 s, and 1 kept from before"


def test_progress_of_making_a_suite_is_a_few_lines(capsys: Capture, clock: Clock) -> None:
    with generation_progress(every=False) as progress:
        for number, operator in enumerate(OPERATORS, start=1):
            clock.now += 10
            done, left = tuple(OPERATORS[:number]), tuple(OPERATORS[number:])
            progress(Made(operator, 100, 10.0, 100 * number, done, left, Ambiguity(0, 0), number == 2))
        progress("a part is damaged")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "1/60 operators, 100 cases in 10 s"
    assert lines[-2:] == [
        "a part is damaged",
        "cases of 59 operators made in 600.0 s, and 1 kept from before",
    ]
    assert len(lines) <= 6 + 2


def test_progress_of_a_run_is_a_few_lines(capsys: Capture, clock: Clock) -> None:
    progress = PlainProgress()
    progress.start(600, 600)
    row = {"case": "org.example/Echo-1/cover/0123456789ab", "form": "inputs", "repeat": 0, "verdict": "pass"}
    for _ in range(600):
        clock.now += 1
        progress.advance(Result.from_json({**row, "operator": "org.example::Echo-1", "family": "cover",
                                           "element_type": "float", "seconds": 1.0}))  # fmt: skip
    progress.finish()
    lines = capsys.readouterr().err.splitlines()
    assert lines[1] == "opcert: 10 of 600 (10 pass, 0 failing, 0 other), about 590 s left"
    assert len(lines) <= 6 + 2
