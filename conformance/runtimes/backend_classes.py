"""Whether a class with ONNX's Backend interface is where it is said to be, before anything else is made."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from conformance.runtimes.adapter import WORKERS
from conformance.runtimes.runtimes import Runtime
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.near_names import near_names

_SCRIPT = WORKERS / "backend_lookup.py"
_PATIENCE = 20.0
"""Seconds after which nothing is told: the worker will say what is wrong."""


def check_backend(runtime: Runtime) -> None:
    """Raise UserError where the interpreter of `module:Class` has no such module, or that no such class.

    Nothing of the module is run for it; of other runtimes nothing is looked for.
    """
    if runtime.adapter.name != "backend":
        return
    module, _, name = runtime.text.partition(":")
    command = [runtime.command[0], "-s", "-B", str(_SCRIPT), module, name]
    try:
        ran = subprocess.run(
            command,
            env={**os.environ, **runtime.environment},
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
        told = json.loads(ran.stdout or b"{}")
    except (OSError, ValueError, subprocess.SubprocessError):
        return
    if "module" in told:
        raise UserError(
            f"there is no module {module} for {runtime.command[0]}",
            got=repr(runtime.text),
            expected=f"one in {Path.cwd()}, in a folder of PYTHONPATH, or among its packages",
            remedy="Set PYTHONPATH to its folder, or --python to an interpreter that has it.",
        )
    if "classes" in told:
        near = near_names(name, told["classes"])
        raise UserError(
            f"the module {module} has no {name}",
            got=repr(runtime.text),
            expected=f"one of {', '.join(told['classes'])}" if told["classes"] else "a module with a class",
            remedy=f"Did you mean {' or '.join(near)}?" if near else None,
        )
