"""Starting a process that is not trusted: what it finds around it, and what it cannot reach.

Hidden are right answers, wherever opcert knows of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue

from conformance.processes.descendants import PROC, read_bytes
from conformance.processes.scratch_folders import ScratchFolder, make_scratch_folder
from opcert.vocabulary.user_folders import cache_folder, state_folder

ENVIRONMENTS = "environments"
"""The folder of the user's cache from which runtimes run."""
_OUT = "out"
_OF_A_SUITE = ("manifest.json", "known.json", "goldens")


def files_with_answers(*places: Path | None) -> tuple[Path, ...]:
    """What is hidden where somebody names these places: a suite, a record, a folder of specs or results.

    Of the folder of a suite its own files alone: a worker may lie beside them. A record goes with the files
    of outputs beside it. A place that is not there, or that the caller works in, hides nothing.
    """
    found: list[Path] = []
    for place in filter(None, places):
        if place.is_dir() and (place / _OF_A_SUITE[0]).is_file():
            found += [place / name for name in _OF_A_SUITE]
        elif place.is_dir() and not _is_around(place):
            found.append(place)
        elif place.is_file():
            found += [place, place.with_name(f"{place.name}.outputs")]
    return tuple(found)


def _is_around(folder: Path) -> bool:
    try:
        return Path.cwd().resolve().is_relative_to(folder.resolve())
    except OSError:  # the folder of the caller is gone
        return False


def hidden_places(named: Iterable[Path]) -> list[str]:
    """All that is hidden: what is named, the user's cache and secret, and `out` of the caller's folder."""
    every = (cache_folder(), state_folder(), Path(_OUT), *named)
    return sorted({os.path.realpath(path) for path in every if path.exists()})


def shown_places(folder: Path, command: Sequence[str], more: Iterable[str]) -> list[str]:
    """What is seen of the hidden: a worker's own folder, the environments, its program and what it is given.

    `more` are folders that it finds its modules in.
    """
    program = Path(command[0])
    places = [folder, cache_folder() / ENVIRONMENTS, *map(Path, command), *map(Path, more)]
    if (program.parent.parent / "pyvenv.cfg").is_file():
        places.append(program.parent.parent)
    absolute = [os.path.abspath(place) for place in places if place.is_absolute() and place.exists()]  # noqa: PTH100
    return sorted({*absolute, *map(os.path.realpath, absolute)})


_SCRIPT = Path(__file__).with_name("confine.py")
_PASSED_ON = ("LD_LIBRARY_PATH",)
# There are runtimes that install packages when they are imported, into whatever Python they find.
_INSTALLS_NOTHING = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_NO_INDEX": "1",
    "PIP_NO_INPUT": "1",
    "UV_NO_CONFIG": "1",
    "UV_NO_INDEX": "1",
    "UV_OFFLINE": "1",
}
_PARTS = ("home", "temporary", "work")


def worker_environment(folder: Path, program: str, more: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a worker: of the caller's, where programs and libraries lie and no more.

    Beside the worker's own `program` none of the Python environment that runs opcert can be found. `more` are
    the variables that its adapter states. docs/your-runtime.md lists them all.
    """
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {
        **kept,
        **_INSTALLS_NOTHING,
        "PATH": os.pathsep.join([str(Path(program).parent), *_foreign_folders()]),
        "LANG": "C.UTF-8",
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "temporary"),
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONUTF8": "1",
        # numpy's own threads would wait for work in a loop, beside the runtime.
        "OPENBLAS_NUM_THREADS": "1",
        **more,
    }


def _foreign_folders() -> list[str]:
    """The folders of the caller's PATH that are not of the environment that opcert runs in."""
    own = {Path(sys.executable).parent, Path(sys.prefix) / "bin", Path(sys.prefix) / "Scripts"}
    return [word for word in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(word) not in own]


def make_folder() -> ScratchFolder:
    """A new folder for one worker, with its HOME, its temporary files and its working folder."""
    folder = make_scratch_folder("worker")
    make_parts(folder.path)
    return folder


def make_parts(folder: Path) -> None:
    """Make the folders below `folder` that `start_confined` and `worker_environment` speak of."""
    for part in _PARTS:
        (folder / part).mkdir()


def start_confined(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    network: bool,
    hidden: Sequence[Path] = (),
) -> tuple[subprocess.Popen[bytes], int]:
    """Start a command in a session of its own, with pipes for its three standard streams, in `folder`/work.

    It inherits no other descriptor, leaves no core file, gains no privileges and dies with this process.
    Where the system grants user namespaces it writes nowhere but in `folder`, sees no process that it has not
    started, reads nothing of what is `hidden`, and, unless `network`, reaches no network.
    The second value is a descriptor that is for the
    caller to close: from it `read_report` reads what could not be had.
    Raises OSError or ValueError where it cannot be started.
    """
    program = Path(command[0])
    if not program.is_file() or not os.access(program, os.X_OK):
        raise OSError(f"{program} is no program that can be run")
    reading, writing = os.pipe()
    words = [sys.executable, "-I", "-S", "-B", str(_SCRIPT), str(writing), str(os.getpid())]
    covered = hidden_places(hidden)
    modules = environment.get("PYTHONPATH", "").split(os.pathsep)
    shown = shown_places(folder.resolve(), command, filter(None, modules))
    words += ["open" if network else "cut", str(folder.resolve())]
    words += [str(len(covered)), *covered, str(len(shown)), *shown, *command]

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=folder / "work",
            env=dict(environment),
            pass_fds=(writing,),
            start_new_session=True,
        )

    try:
        return _SPAWNER.call(start), reading
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)


def read_report(descriptor: int) -> dict[str, str]:
    """What a started process could not be kept from, with the reasons: `network`, `files`, `processes`,
    `expected`.

    Waits until the process has become what it was started for.
    """
    told = b""
    while data := os.read(descriptor, 4096):
        told += data
    lines = told.decode("utf-8", "replace").splitlines()
    reasons = {what: reason for what, _, reason in (line.partition(" ") for line in lines)}
    if "network" in reasons:
        reasons["network"] = f"no user namespace can be had: {reasons['network']}"
    return reasons


def is_surrounding(process: int) -> bool:
    """Whether a process is one that stands around a worker, and not the worker."""
    words = read_bytes(f"{PROC}/{process}/cmdline").split(b"\0")
    return os.fsencode(_SCRIPT) in words[:6]


_Started = subprocess.Popen[bytes]


class _Spawner:
    """A thread that starts processes: they die with the thread that started them, so it must stay."""

    def __init__(self) -> None:
        self._asked: SimpleQueue[tuple[Callable[[], _Started], SimpleQueue[_Started | Exception]]] = (
            SimpleQueue()
        )
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def call(self, start: Callable[[], _Started]) -> _Started:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="opcert-spawner", daemon=True)
                self._thread.start()
        answer: SimpleQueue[_Started | Exception] = SimpleQueue()
        self._asked.put((start, answer))
        found = answer.get()
        if isinstance(found, Exception):
            raise found
        return found

    def _work(self) -> None:
        while True:
            start, answer = self._asked.get()
            try:
                answer.put(start())
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                answer.put(error)


_SPAWNER = _Spawner()
