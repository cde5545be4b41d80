"""Running a script of ours in a package's own interpreter, with nothing of the caller's around it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from conformance.confinement import worker_environment
from opcert.errors import RuntimeUnavailable

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
    """Run a script to its end in `folder`, where its HOME and temporary files are as well.

    Raises RuntimeUnavailable with `problem` where it takes longer than `seconds` or fails; the last line that
    it printed on standard error is then told, and `remedy`. OSError where the folder cannot be written.
    """
    for each in ("home", "temporary", "work"):
        (folder / each).mkdir()
    with subprocess.Popen(
        [python, "-I", "-B", "-X", "utf8", str(script), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=folder / "work",
        env=worker_environment(folder, python, {}),
        start_new_session=True,
    ) as process:
        try:
            _, stderr = process.communicate(timeout=seconds)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise RuntimeUnavailable(problem, got=f"nothing within {seconds} s") from None
    if process.returncode:
        lines = stderr.decode("utf-8", "replace").strip().splitlines()
        got = lines[-1][:_LONGEST] if lines else f"exit code {process.returncode}"
        raise RuntimeUnavailable(problem, got=got, remedy=remedy)
