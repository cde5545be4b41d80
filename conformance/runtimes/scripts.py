"""Running a script of ours in a package's own interpreter, with nothing of the caller's around it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.processes.confinement import make_parts, start_confined, worker_environment
from conformance.processes.descendants import kill_all, kill_left_behind
from opcert.vocabulary.errors import RuntimeUnavailable

_LONGEST = 300


@dataclass(frozen=True)
class Ran:
    """How a script ended: its exit code, below 0 a signal, None where it was given no more time."""

    code: int | None
    stdout: str
    stderr: str


def run_script(
    python: str,
    script: Path,
    words: Sequence[str],
    folder: Path,
    *,
    seconds: float,
    problem: str,
    remedy: str,
) -> None:
    """Run a script to its end in `folder`, confined as a worker is.

    Raises RuntimeUnavailable with `problem` where it takes longer than `seconds` or fails; the last line that
    it printed on standard error is then told, and `remedy`. OSError where the folder cannot be written.
    """
    command = [python, "-I", "-B", "-X", "utf8", str(script), *words]
    ran = run_confined(command, folder, {}, seconds=seconds)
    if ran.code is None:
        raise RuntimeUnavailable(problem, got=f"nothing within {seconds} s")
    if ran.code:
        lines = ran.stderr.strip().splitlines()
        got = lines[-1][:_LONGEST] if lines else f"exit code {ran.code}"
        raise RuntimeUnavailable(problem, got=got, remedy=remedy)


def run_confined(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], *, seconds: float
) -> Ran:
    """Run a command to its end in `folder`, confined as a worker is, with further variables.

    Raises OSError where the folder cannot be written.
    """
    make_parts(folder)
    around = worker_environment(folder, command[0], environment)
    process, report = start_confined(list(command), folder, around, network=False)
    os.close(report)
    code: int | None = None
    with process:
        try:
            stdout, stderr = process.communicate(timeout=seconds)
            code = process.returncode
        except BaseException as error:
            kill_all(process.pid)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            stdout, stderr = b"", b""
    kill_left_behind(str(folder))
    return Ran(code, (stdout or b"").decode("utf-8", "replace"), stderr.decode("utf-8", "replace"))
