"""The command line as its users have it: words in; exit code, standard output and standard error out."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from opcert.commands import main
from tests.conformance.samples import IDENTITY, make_case, make_suite


@dataclass(frozen=True)
class Answer:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def last_words(self) -> str:
        """Standard error without the lines that tell of progress."""
        told = ("opcert: running", "opcert: 0 of", "opcert: 1 of", "opcert: 2 of", "opcert: 3 of")
        return "\n".join(line for line in self.err.splitlines() if not line.startswith(told))


def heed_signals() -> None:
    """For `preexec_fn`: the process heeds what this one was told to ignore, as under nohup."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def call(capsys: pytest.CaptureFixture[str], *words: object) -> Answer:
    """Run a command in this process."""
    handlers = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP)}
    capsys.readouterr()
    try:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return Answer(int(ended.value.code), out, err)


def check_message(answer: Answer, code: int, party: str, *words: str) -> None:
    """The exit code, whose fault it is, no traceback, and words that the message must have."""
    assert answer.code == code, answer.err
    assert f"opcert: {party}: " in answer.err
    others = {"input", "runtime", "run", "bug", "system", "worker"} - {party}
    assert not [other for other in others if f"opcert: {other}: " in answer.err], answer.err
    assert "Traceback" not in answer.err + answer.out
    for word in words:
        assert word in answer.err


def identity_suite(folder: Path, cases: int = 3) -> Path:
    """A suite of calls of Identity, in a new folder `suite` below `folder`."""
    return make_suite(folder, [make_case(seed=seed, operator=IDENTITY) for seed in range(cases)])
