"""Runtimes as they are named on the command line, how their workers are started, and whether they changed."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.processes.worker_process import Launch
from conformance.runtimes.adapter import (
    WORKERS,
    Adapter,
    Connection,
    list_adapters,
    load_adapter,
    named_by_form,
)
from conformance.runtimes.environments import Environment, Installer, find_kept, prepare
from conformance.runtimes.installers import NodePackages, PythonPackages, description_of
from conformance.suite.canonical import canonical_json, sha256
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import slug
from opcert.vocabulary.near_names import near_names

_BUILT_IN = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_-]*)"
    r"(?:\[(?P<before>[^\]]*)\])?(?:==(?P<version>[A-Za-z0-9.!+_-]+))?(?:\[(?P<after>[^\]]*)\])?"
)
_BACKEND = re.compile(
    r"(?P<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
)
_EXPECTED = "a built-in runtime (opcert list runtimes), module:Backend, or exec:COMMAND"
_BY_FORM = frozenset(("adb", "backend", "exec", "files", "ssh"))
"""Adapters that are reached by the form of what is written, not by a name."""


@dataclass(frozen=True)
class Runtime:
    """A runtime under test, as it was asked for.

    `requirements` is empty where the runtime runs in an interpreter or a program that is there already:
    then `command` starts its worker, on another `machine` where one is named. `python` is the interpreter
    that was asked for, None for the one that runs opcert. `upgrade` makes its environment anew, with the
    newest version where none was named.
    """

    text: str
    adapter: Adapter
    options: Mapping[str, str] = field(default_factory=dict)
    requirements: tuple[str, ...] = ()
    python: str | None = None
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    upgrade: bool = False
    machine: str = ""

    @property
    def slug(self) -> str:
        """Its name as one component of a path."""
        return slug(self.text)


@dataclass(frozen=True)
class Installed:
    """A runtime that can be started: its launch, and what is known of its environment."""

    launch: Launch
    facts: Mapping[str, Any] = field(default_factory=dict)


def find_runtime(text: str, python: str | None = None) -> Runtime:
    """The runtime of a name as on the command line; `python` is an interpreter for it.

    Nothing is installed yet. Raises UserError, with near names, where there is no such runtime or option.
    """
    own = named_by_form(text)
    if own is not None:
        adapter = load_adapter(own)
        if adapter.connection is not None:
            return _find_elsewhere(text, python, adapter, adapter.connection(text))
        return _find_program(text, python) if own == "exec" else Runtime(text, adapter)
    backend = _BACKEND.fullmatch(text)
    if backend is not None:
        return _find_backend(text, python)
    match = _BUILT_IN.fullmatch(text)
    if match is None or (match["before"] is not None and match["after"] is not None):
        raise UserError("not a runtime", got=repr(text), expected=_EXPECTED)
    known = list_runtimes()
    if match["name"] not in known:
        raise UserError(
            "unknown runtime",
            got=repr(match["name"]),
            expected=f"one of {', '.join(known)}, module:Backend, or exec:COMMAND",
            remedy=_near(match["name"], known),
        )
    adapter = load_adapter(match["name"])
    if python is not None and adapter.language != "python":
        raise UserError("--python has no meaning for this runtime: it runs on Node.js", got=repr(text))
    if python is not None and os.sep in python:
        # A path is looked at now; anything else (`3.12`, `pypy`) is for uv to find.
        python = _find_interpreter(python)
    options = _read_options(adapter, match["before"] or match["after"] or "")
    if adapter.refine is not None:
        adapter, options = adapter.refine(adapter, options)
    return Runtime(text, adapter, options, adapter.requirements_of(match["version"]), python)


def find_adapter(text: str) -> Adapter:
    """The adapter that a runtime of this name is asked through, whether or not it is on this machine.

    Raises UserError where there is none.
    """
    own = named_by_form(text)
    if own is not None:
        return load_adapter(own)
    return load_adapter("backend") if _BACKEND.fullmatch(text) else find_runtime(text).adapter


def upgraded(runtime: Runtime) -> Runtime:
    """The same runtime in an environment made anew; UserError where opcert keeps none for it."""
    if not runtime.requirements:
        raise UserError(
            "there is nothing to upgrade: this runtime is not installed by opcert",
            got=repr(runtime.text),
            expected=f"one of {', '.join(list_runtimes())}",
        )
    return replace(runtime, upgrade=True)


def list_runtimes() -> list[str]:
    """The names of the built-in runtimes."""
    return [adapter for adapter in list_adapters() if adapter not in _BY_FORM]


def install(runtime: Runtime, announce: Callable[[str], None]) -> Installed:
    """Make sure that a runtime can be started; `announce` is told in a sentence when this takes time.

    Raises RuntimeUnavailable where its environment cannot be made.
    """
    if not runtime.requirements:
        return _installed(runtime, None)
    installer = installer_of(runtime.adapter, runtime.python)
    made = prepare(runtime.requirements, installer, upgrade=runtime.upgrade, announce=announce)
    return _installed(runtime, made)


def find_installed(runtime: Runtime) -> Installed | None:
    """A runtime that can be started as it is; None where `install` has something to do."""
    if not runtime.requirements:
        return _installed(runtime, None)
    if runtime.upgrade:
        return None
    kept = find_kept(runtime.requirements, installer_of(runtime.adapter, runtime.python))
    return None if kept is None else _installed(runtime, kept)


def _installed(runtime: Runtime, made: Environment | None) -> Installed:
    if runtime.adapter.name == "files":
        raise UserError(
            "outputs of a device that came as files are judged, not run",
            got=runtime.text,
            remedy="`opcert judge SUITE FOLDER` writes their record; `opcert certify --run RECORD` takes it.",
        )
    if made is None:
        return Installed(Launch(runtime.command, runtime.options, runtime.environment, runtime.machine))
    facts: dict[str, Any] = {"packages": dict(made.packages)}
    if made.python_version is not None:
        facts["python"] = made.python_version
    package = runtime.requirements[0].partition("==")[0]
    build = installer_of(runtime.adapter, runtime.python).build(made.folder, package)
    if build is not None:
        facts["build"] = dict(build)
    return Installed(
        Launch(worker_command(runtime.adapter, made), runtime.options, runtime.environment), facts
    )


def installer_of(adapter: Adapter, python: str | None = None) -> Installer:
    """What makes a built-in runtime's environment; `python` is an interpreter for it."""
    if adapter.language == "node":
        return NodePackages()
    return PythonPackages() if python is None else PythonPackages(python)


def worker_command(adapter: Adapter, environment: Environment) -> tuple[str, ...]:
    """The command of a built-in runtime's worker in an environment that holds the runtime."""
    program, worker = str(environment.program), str(WORKERS / adapter.worker)
    if adapter.language == "node":
        return program, worker, str(description_of(adapter.requirements[0], environment.folder))
    return program, "-s", worker


def _near(name: str, known: Iterable[str]) -> str | None:
    found = near_names(name, known)
    return f"Did you mean {' or '.join(found)}?" if found else None


def _read_options(adapter: Adapter, text: str) -> dict[str, str]:
    options = {name: values[0] for name, values in adapter.options.items() if values}
    named: set[str] = set()
    for part in filter(None, (word.strip() for word in text.split(","))):
        name, equals, value = (each.strip() for each in part.partition("="))
        allowed = adapter.options.get(name)
        if not equals or allowed is None:
            known = ", ".join(
                f"{key}={'|'.join(values) or 'TEXT'}" for key, values in adapter.options.items()
            )
            raise UserError(
                f"{adapter.name} has no such option",
                got=repr(part),
                expected=known or "no options",
                remedy=None if name in adapter.options else _near(name, adapter.options),
            )
        if name in named:
            raise UserError("an option is given twice", got=repr(text), expected=f"{name}= once")
        if allowed and value not in allowed:
            raise UserError(
                f"{adapter.name} does not take this value",
                got=repr(part),
                expected=f"{name}={'|'.join(allowed)}",
                remedy=_near(value, allowed),
            )
        named.add(name)
        options[name] = value
    return options


def _find_backend(text: str, python: str | None) -> Runtime:
    adapter = load_adapter("backend")
    command = (_find_interpreter(python), "-s", str(WORKERS / adapter.worker))
    # The caller's folder is not the worker's, so what is relative in the path is made absolute.
    path = [str(Path(word).absolute()) for word in os.environ.get("PYTHONPATH", "").split(os.pathsep) if word]
    # As `python -m` has it; but what else lies in that folder stands before no package of the interpreter.
    first = text.partition(":")[0].partition(".")[0]
    if Path(f"{first}.py").is_file() or Path(first).is_dir():
        path.append(str(Path.cwd()))
    environment = {"PYTHONPATH": os.pathsep.join(path)} if path else {}
    return Runtime(text, adapter, {"backend": text}, (), python, command, environment)


def _find_interpreter(python: str | None) -> str:
    if python is None:
        return sys.executable
    found = shutil.which(python)
    if found is None:
        raise UserError("there is no such interpreter", got=repr(python), remedy="Give a path to --python.")
    # Not resolved: a virtual environment's interpreter is a link, and finds its packages by its own place.
    return str(Path(found).absolute())


def _find_program(text: str, python: str | None) -> Runtime:
    if python is not None:
        raise UserError("--python has no meaning for a program", got=repr(text))
    try:
        words = shlex.split(text.removeprefix("exec:"))
    except ValueError as error:
        raise UserError("not a command", got=repr(text), expected=str(error)) from error
    found = shutil.which(words[0]) if words else None
    if found is None:
        raise UserError("there is no such program", got=repr(text), remedy="Give its path after exec:")
    # Files that are named relative to the caller's folder would not be found from the worker's own.
    rest = [str(Path(word).absolute()) if Path(word).is_file() else word for word in words[1:]]
    return Runtime(text, load_adapter("exec"), {}, (), None, (str(Path(found).absolute()), *rest))


def _find_elsewhere(
    text: str, python: str | None, adapter: Adapter, connection: Connection | None
) -> Runtime:
    if python is not None:
        raise UserError("--python has no meaning for a program on another machine", got=repr(text))
    if connection is None:
        expected = adapter.first_line.partition(",")[0]
        raise UserError("not a program on another machine", got=repr(text), expected=expected)
    program, *words = connection.command
    found = shutil.which(program)
    if found is None:
        raise UserError(
            f"there is no {program} on this machine", got=repr(text), remedy=f"Install {program}."
        )
    environment = {name: os.environ[name] for name in connection.variables if name in os.environ}
    command = (str(Path(found).absolute()), *words)
    return Runtime(text, adapter, {}, (), None, command, environment, machine=connection.machine)


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


_NOT_OF_PYTHON = frozenset({"__pycache__", "site-packages", "dist-packages"})
"""Of the interpreter's own library: compiled files, which whoever runs it adds, and say no more than their
sources; and packages, which an environment of its own does not see."""


def environment_state(runtime: Runtime) -> str | None:
    """A digest of what a runtime's process can read of its environment and of its interpreter's own library.

    It is of each file's name, size, mode, number, and times of writing and of change; the last is the
    system's own, so that an edit in place shows whatever is done to the other one. None where this cannot be
    known: opcert has not made the environment, or something in it lies elsewhere, or a file that an option
    names.
    """
    found = None
    if runtime.requirements and not any(map(os.path.isabs, runtime.options.values())):
        found = find_kept(runtime.requirements, installer_of(runtime.adapter, runtime.python))
    if found is None:
        return None
    try:
        listed = [_list_folder(found.folder), os.path.realpath(found.program)]
        if found.python_version is not None:
            listed += [_list_folder(path, _NOT_OF_PYTHON) for path in _standard_library(found.program)]
    except (OSError, ValueError):
        return None
    return sha256(canonical_json(listed))


def _standard_library(program: Path) -> list[Path]:
    """The folders of a Python's own modules, of which there is one or more beside its program."""
    home = Path(os.path.realpath(program)).parent.parent
    found = sorted(path for path in home.glob("lib*/p*") if (path / "os.py").is_file())
    if not found:
        raise ValueError("an interpreter whose modules lie elsewhere")
    return found


def _list_folder(folder: Path, but: Container[str] = ()) -> list[list[object]]:
    """A line for each entry below; ValueError where a link to a folder leads out of it."""
    found: list[list[object]] = []
    inside = os.path.realpath(folder)
    waiting = [inside]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                status = entry.stat()
                if not stat.S_ISDIR(status.st_mode):
                    found.append([os.path.relpath(entry.path, inside), *_told(status)])
                elif entry.is_symlink():
                    if not os.path.realpath(entry.path).startswith(inside + os.sep):
                        raise ValueError("a link that leads elsewhere")
                    found.append([os.path.relpath(entry.path, inside), os.path.realpath(entry.path)])
                elif entry.name not in but:
                    waiting.append(entry.path)
    return sorted(found, key=lambda line: str(line[0]))


def _told(status: os.stat_result) -> list[int]:
    return [status.st_size, status.st_mode, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]
