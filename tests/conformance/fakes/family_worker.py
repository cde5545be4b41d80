"""A fake runtime with many processes: some that hardly live, some that idle, some that eat memory.

Its operator returns its input, after what its attribute `do` says; the first argument is a mark that all of
its processes have among their words.
"""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "conformance" / "workers"))

if TYPE_CHECKING:
    from conformance.workers import worker_protocol
else:
    import worker_protocol

MARK = sys.argv[1] if len(sys.argv) > 1 else ""
HASTY = 6
IDLE = 200
SHARED = 8 << 20
EATEN = 64 << 20
PAGE = 4096


class Family(worker_protocol.Worker):
    def __init__(self, options: dict[str, str]) -> None:
        del options

    def hello(self) -> dict[str, Any]:
        return {
            "runtime": {"name": "family", "version": "1.0"},
            "domains": {"org.example": "node"},
            "forms": ["inputs"],
        }

    def load(self, request: worker_protocol.LoadRequest) -> Any:
        return request.attributes["do"]

    def run(self, model: Any, inputs: Any) -> Any:
        (given,) = inputs.values()
        DEEDS[model]()
        return [given]


def start_hasty_processes() -> None:
    """Processes of one shell each, which have gone before anybody can look at them twice."""
    for process in [subprocess.Popen(["sh", "-c", "(:) & :", MARK]) for _ in range(HASTY)]:
        process.wait()


def fork(does: Any) -> int:
    """A child that does something and then idles; it takes nothing of the worker's streams with it."""
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(null, descriptor)
        os.closerange(3, 64)
        kept = does()
        time.sleep(600)
        os._exit(kept is None)
    return child


def idle_children() -> None:
    """Children that share all of their memory with the worker, and do nothing."""
    kept = touched(SHARED)
    children = [fork(lambda: None) for _ in range(IDLE)]
    time.sleep(1)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    kept.close()


def eating_children() -> None:
    """Children that each have memory of their own; none of them has much."""
    for _ in range(8):
        fork(lambda: touched(EATEN))
    time.sleep(600)


def share_with_children() -> None:
    """Children that share pages with the worker: much memory, and each process has all of it."""
    kept = touched(6 * EATEN)
    for _ in range(4):
        fork(lambda: None)
    time.sleep(600)
    kept.close()


def rewriting_children() -> None:
    """Children that write over the memory that they had in common with the worker, and so have their own."""
    kept = touched(EATEN)
    for _ in range(8):
        fork(lambda: write_over(kept))
    time.sleep(600)


def touched(size: int) -> mmap.mmap:
    """Private memory with something in every page."""
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    write_over(memory)
    return memory


def write_over(memory: mmap.mmap) -> None:
    for page in range(0, len(memory), PAGE):
        memory[page] = 1


def leave_children() -> None:
    """Children in sessions of their own, which go on when the worker is gone."""
    for _ in range(3):
        words = [sys.executable, "-c", "import time; time.sleep(600)", f"child-of-{MARK}"]
        subprocess.Popen(words, start_new_session=True)
    time.sleep(600)


def wait_for_file() -> None:
    """Go on when there is a file of the name that the mark is."""
    while not Path(MARK).exists():
        time.sleep(0.02)


DEEDS = {
    "echo": lambda: None,
    "wait": wait_for_file,
    "hasty": start_hasty_processes,
    "idle_children": idle_children,
    "eating_children": eating_children,
    "share_with_children": share_with_children,
    "rewriting_children": rewriting_children,
    "leave_children": leave_children,
}


if __name__ == "__main__":
    worker_protocol.serve(Family)
