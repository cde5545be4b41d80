"""A function called in a process of its own on a worker's machine: for what may hang, or take all memory.

A worker of a cluster calls functions in threads, where nothing can be interrupted, and may itself start no
process in the usual way, being a daemon.
"""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from conformance.clusters.worker_answers import Lost, machine_here
from opcert.vocabulary.harmless import one_line

_LENGTH = 8


def in_own_process(memory: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of a module says in a new process of at most so many bytes of address space.

    A `Lost` where the process is ended by somebody else. Raises RuntimeError where the function raises:
    what it has to say of a person's mistake it answers, as functions `on_worker` do. The process ends when
    this one does.
    """
    order = pickle.dumps((memory, function, arguments))
    with subprocess.Popen(
        [sys.executable, "-P", "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # An interrupt from the keyboard is for the command, which then ends its workers.
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(len(order).to_bytes(_LENGTH, "big") + order)
                process.stdin.flush()
            raw = process.stdout.read()
        except BaseException:
            process.kill()
            raise
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
    if process.returncode < 0 or not raw:
        name = one_line(str(machine_here()["name"]), 200)
        return Lost(f"a process on {name} was ended from outside (its exit code is {process.returncode})")
    raised, answer = pickle.loads(raw)
    if raised:
        raise RuntimeError(one_line(str(answer), 1000))
    return answer


def _serve() -> None:
    """Answer the one order that stands on standard input; end with it where its sender ends."""
    told = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anybody prints is no answer
    source = sys.stdin.buffer
    length = int.from_bytes(source.read(_LENGTH), "big")
    order = source.read(length)
    if len(order) != length or not length:
        return
    threading.Thread(target=_end_with, args=(source.fileno(),), daemon=True).start()
    memory, function, arguments = pickle.loads(order)
    resource.setrlimit(resource.RLIMIT_AS, (memory, resource.RLIM_INFINITY))
    try:
        answer = False, function(*arguments)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told where somebody waits
        answer = True, f"{type(error).__name__}: {error}"
    with told:
        pickle.dump(answer, told)


def _end_with(source: int) -> None:
    """End this process where whoever asks is not there any more."""
    while os.read(source, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    _serve()
