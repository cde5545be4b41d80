"""The command line, watched: `python watched_opcert.py FOLDER WORD...` says what is executed or written.

Once everything is imported, a line that begins with WATCHED goes to standard error for each process that is
started, connection that is made, object that is unpickled, and file that is written or moved outside FOLDER.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

FOLDER = os.path.realpath(sys.argv.pop(1))
FORBIDDEN = {"pickle.find_class", "os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen",
             "socket.connect", "socket.bind", "webbrowser.open"}  # fmt: skip
MOVES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "shutil.rmtree"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def watch(event: str, values: tuple[Any, ...]) -> None:
    written = event == "open" and bool((values[2] or 0) & WRITES)
    paths = [value for value in values[:2] if isinstance(value, str) and Path(value).is_absolute()]
    if event in FORBIDDEN or ((written or event in MOVES) and any(map(is_outside, paths))):
        print("WATCHED", event, repr(values)[:200], file=sys.stderr)


def is_outside(path: str) -> bool:
    return path != os.devnull and not os.path.realpath(path).startswith(FOLDER)


if __name__ == "__main__":
    for name in (
        "opcert.commands",
        "conformance.running.harness",
        "reports.formats.html",
        "reports.formats.junit",
        "importlib.readers",
    ):
        importlib.import_module(name)
    sys.addaudithook(watch)
    if sys.argv[1:] == ["misbehave"]:
        import pickle

        pickle.loads(pickle.dumps(os.getcwd))
        Path("/dev/full").open("w").close()
    importlib.import_module("opcert.commands").main()
