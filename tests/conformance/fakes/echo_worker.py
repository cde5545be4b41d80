"""A fake runtime: its operator Echo returns its input, or does whatever its attribute `do` says.

The first argument of the command is what goes wrong before any case: in the handshake.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "conformance" / "workers"))

if TYPE_CHECKING:
    from conformance.workers import worker_protocol
    from conformance.workers.wire_arrays import from_numpy, to_numpy
else:
    import worker_protocol
    from wire_arrays import from_numpy, to_numpy

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
SEEN: list[bytes] = []
SIGNALS = {name: getattr(signal, name) for name in ("SIGSEGV", "SIGABRT", "SIGFPE", "SIGKILL", "SIGBUS")}


class Echo(worker_protocol.Worker):
    def __init__(self, options: dict[str, str]) -> None:
        self.calls = 0
        if MODE == "raise":
            raise ImportError("libecho.so: cannot open shared object file")
        if MODE == "exit":
            print("no licence for this machine", file=sys.stderr, flush=True)
            os._exit(7)
        if MODE == "sleep":
            time.sleep(600)
        if MODE == "stdout":
            print("Welcome to Echo 1.0!")
            os.write(1, b"native banner\n")

    def hello(self) -> dict[str, Any]:
        named = {"elsewhere": "org.elsewhere", "dialect": "org.tensorflow"}.get(MODE, "org.example")
        domains = {named: "node"}
        return {
            "runtime": {"name": "echo", "version": "1.0"},
            "domains": domains,
            "forms": ["inputs", "dynamic", "initializers"],
            "element_types": ["float"] if MODE == "floats" else None,
            "threads": [1, 4] if MODE == "threads" else [],
            "opsets": {"ai.onnx": 20} if MODE == "opsets" else {},
        }

    def load(self, request: worker_protocol.LoadRequest) -> Any:
        do = request.attributes["do"]
        if do == "load_segv":
            os.kill(os.getpid(), signal.SIGSEGV)
        if do == "load_sleep":
            time.sleep(600)
        if do == "unsupported":
            raise worker_protocol.Unsupported("no such kernel")
        if MODE == "refuse_all":
            raise ValueError("I do not like this model")
        if do == "differs_by_threads":
            return do, "x" * (request.threads or 1)
        return do, request.form

    def run(self, model: Any, inputs: Any) -> Any:
        do, form = model
        self.calls += 1
        (given,) = inputs.values()
        return act(do, form, self.calls, to_numpy(given))

    def unload(self, model: Any) -> None:
        if model[0] == "unload_segv":
            os.kill(os.getpid(), signal.SIGSEGV)


def act(do: str, form: str, calls: int, given: Any) -> Any:
    if do in SIGNALS:
        print("about to die", file=sys.stderr, flush=True)
        os.kill(os.getpid(), SIGNALS[do])
    if do.startswith("exit"):
        os._exit(int(do[4:]))
    action = ACTIONS.get(do)
    if action is not None:
        return action(given)
    if do == "dies_after_others":
        if calls > 1:
            os.kill(os.getpid(), signal.SIGSEGV)
        return [from_numpy(given)]
    if do == "differs_by_call":
        return [from_numpy(given + np.float32(calls))]
    if do == "right_once":
        SEEN.append(given.tobytes())
        return [from_numpy(given + np.float32(SEEN.count(given.tobytes()) - 1))]
    if do == "right_for_a_while":
        return [from_numpy(given + np.float32(calls > 3))]
    if do in ("differs_by_form", "differs_by_threads"):
        return [from_numpy(given + np.float32(len(form)))]
    raise ValueError("unknown deed " + do)


def returns(change: Any) -> Any:
    return lambda given: [from_numpy(change(given))]


def raise_error(given: Any) -> Any:
    raise RuntimeError("shape inference failed\nin node Echo")


def raise_unreadable(given: Any) -> Any:
    class Unreadable(Exception):
        def __str__(self) -> str:
            raise KeyError("no message")

    raise Unreadable


def print_out(given: Any) -> Any:
    print("progress: 10 %")
    os.write(1, b"x" * 200000)
    ctypes.CDLL(None).puts(b"from C")
    return [from_numpy(given)]


def flood_stderr(given: Any) -> Any:
    line = b"E" * 1023 + b"\n"
    for _ in range(5000):
        os.write(2, line)
    os.write(2, b"the last line\n")
    return [from_numpy(given)]


def flood_and_die(given: Any) -> Any:
    flood_stderr(given)
    os.kill(os.getpid(), signal.SIGABRT)


def nap(given: Any) -> Any:
    time.sleep(0.05)
    return [from_numpy(given)]


def answer_late(given: Any) -> Any:
    time.sleep(1.9)
    return [from_numpy(given)]


def sleep_stubbornly(given: Any) -> Any:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def eat_memory(given: Any) -> Any:
    kept = []
    while True:
        kept.append(np.ones(2 << 20))


def leave_child(given: Any) -> Any:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", MODE])
    os._exit(1)


def frame_with(number: Any) -> Any:
    """Answer with a frame of another number, on the descriptor that the protocol uses."""
    outgoing = os.fdopen(protocol_descriptor(), "wb", closefd=False)
    worker_protocol.write_frame(outgoing, {"type": "outputs", "id": number, "outputs": []})
    time.sleep(600)


def protocol_descriptor() -> int:
    """The highest open pipe for writing: the duplicate of standard output."""
    pipes = [each for each in range(3, 64) if is_open(each)]
    return pipes[-1]


def is_open(descriptor: int) -> bool:
    try:
        link = Path(f"/proc/self/fd/{descriptor}")
        return str(link.readlink()).startswith("pipe:") and os.access(link, os.W_OK)
    except OSError:
        return False


def write_garbage(given: Any) -> Any:
    os.write(protocol_descriptor(), b"\xff\xff\xff\xffgarbage")
    time.sleep(600)


def write_half(given: Any) -> Any:
    os.write(protocol_descriptor(), b"\x40\x00\x00\x00{")
    os._exit(0)


def announce_too_much(given: Any) -> Any:
    outgoing = os.fdopen(protocol_descriptor(), "wb", closefd=False)
    header = b'{"type":"outputs","id":1,"outputs":[],"blobs":[99999999999]}'
    outgoing.write(len(header).to_bytes(4, "little") + header)
    outgoing.flush()
    time.sleep(600)


def remove_folder(given: Any) -> Any:
    shutil.rmtree(Path.cwd())
    return [from_numpy(given)]


def tell_environment(given: Any) -> Any:
    Path.home().joinpath("left-behind").write_text("x")
    told = [f"{name}={value}" for name, value in sorted(os.environ.items())] + [f"cwd={Path.cwd()}"]
    raise RuntimeError("\n".join(told))


ACTIONS = {
    "nap": nap,
    "echo": returns(lambda given: given),
    "ulp": returns(lambda given: np.nextafter(given, np.float32(np.inf))),
    "twice": lambda given: [from_numpy(given), from_numpy(given)],
    "nothing": lambda given: [],
    "text": lambda given: ["not a tensor"],
    "double": returns(lambda given: given.astype(np.float64)),
    "transposed": returns(lambda given: np.ascontiguousarray(given.T)),
    "flat": returns(lambda given: given.reshape(-1)),
    "zero": returns(np.zeros_like),
    "raise": raise_error,
    "raise_unreadable": raise_unreadable,
    "stdout": print_out,
    "stderr": flood_stderr,
    "stderr_die": flood_and_die,
    "sleep": lambda given: time.sleep(600),
    "sleep_stubbornly": sleep_stubbornly,
    "slow": answer_late,
    "memory": eat_memory,
    "child": leave_child,
    "wrong_id": lambda given: frame_with(999999),
    "no_id": lambda given: frame_with(None),
    "garbage": write_garbage,
    "half": write_half,
    "too_much": announce_too_much,
    "remove_folder": remove_folder,
    "environment": tell_environment,
    "unload_segv": returns(lambda given: given),
}


if __name__ == "__main__":
    worker_protocol.serve(Echo)
