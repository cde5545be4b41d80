"""Running a script of ours in a package's own interpreter, with nothing of the caller's around it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from conformance.processes.confinement import make_parts, start_confined, worker_environment
from conformance.processes.descendants import kill_all, kill_left_behind
from opcert.vocabulary.errors import RuntimeUnavailable

_LONGEST = 300


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
    make_parts(folder)
    command = [python, "-I", "-B", "-X", "utf8", str(script), *words]
    environment = worker_environment(folder, python, {})
    process, report = start_confined(command, folder, environment, network=False)
    os.close(report)
    with process:
        try:
            _, stderr = process.communicate(timeout=seconds)
        except BaseException as error:
            kill_all(process.pid)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise RuntimeUnavailable(problem, got=f"nothing within {seconds} s") from None
    kill_left_behind(str(folder))
    if process.returncode:
        lines = stderr.decode("utf-8", "replace").strip().splitlines()
        got = lines[-1][:_LONGEST] if lines else f"exit code {process.returncode}"
        raise RuntimeUnavailable(problem, got=got, remedy=remedy)
