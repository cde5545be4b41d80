"""A fake runtime that holds on to the processor, to pipes, to processes and folders.

Its operator returns its input, or does whatever its attribute `do` says; the first argument of the command is
what goes wrong before any case. It needs no numpy, and so starts quickly.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
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

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
GIGABYTE = 1 << 30
SLEEPS = [sys.executable, "-c", "import time; time.sleep(600)", MODE]
ASKED: list[Any] = []
read_frame = worker_protocol.read_frame


def remember_number(stream: Any) -> Any:
    frame = read_frame(stream)
    if frame is not None:
        ASKED.append(frame[0].get("id"))
    return frame


class Rogue(worker_protocol.Worker):
    def __init__(self, options: dict[str, str]) -> None:
        if MODE == "native_hang":
            hang_natively(None)
        if MODE == "memory":
            grow(None)
        if MODE == "dies_at_start":
            os.kill(os.getpid(), signal.SIGSEGV)

    def hello(self) -> dict[str, Any]:
        return {
            "runtime": {"name": "rogue", "version": "1.0"},
            "domains": {"org.example": "node"},
            "forms": ["inputs"],
        }

    def load(self, request: worker_protocol.LoadRequest) -> Any:
        do = request.attributes["do"]
        if do == "load_native_hang":
            hang_natively(None)
        return do

    def run(self, model: Any, inputs: Any) -> Any:
        (given,) = inputs.values()
        return DEEDS[model](given)


def hang_natively(_: Any) -> Any:
    """Native code that never comes back, never lets Python run, and does not care to be asked to end."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    ctypes.PyDLL(None).sleep(600)


def stop_itself(_: Any) -> Any:
    os.kill(os.getpid(), signal.SIGSTOP)


def leave_daemon(given: Any) -> Any:
    """Start a process that is in no group or session of ours, and has no parent any more."""
    starter = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"
    subprocess.run([sys.executable, "-c", starter, *SLEEPS], check=True)
    return [given]


def die_with_children(_: Any) -> Any:
    for _each in range(3):
        subprocess.Popen(SLEEPS, start_new_session=True)
    os.kill(os.getpid(), signal.SIGSEGV)


def grow(_: Any) -> Any:
    kept = []
    while True:
        kept.append(b"x" * (16 << 20))


def grow_in_child(_: Any) -> Any:
    subprocess.run(
        [sys.executable, "-c", "x = []\nwhile True: x.append(b'x' * (16 << 20))", MODE], check=False
    )
    time.sleep(600)


def print_gigabyte(descriptor: int) -> Any:
    def action(given: Any) -> Any:
        line = b"=" * ((1 << 20) - 1) + b"\n"
        for _ in range(GIGABYTE >> 20):
            os.write(descriptor, line)
        return [given]

    return action


def protocol_descriptor() -> int:
    """The duplicate of standard output: the pipe for writing that is open beside the standard streams."""
    found = [each for each in range(3, 20) if _is_pipe_for_writing(each)]
    return found[-1]


def _is_pipe_for_writing(descriptor: int) -> bool:
    try:
        mode = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
    except OSError:
        return False
    return mode == os.O_WRONLY


def print_into_protocol(_: Any) -> Any:
    print_gigabyte(protocol_descriptor())(None)


def send(*pieces: bytes) -> None:
    with os.fdopen(protocol_descriptor(), "wb", closefd=False) as outgoing:
        outgoing.writelines(pieces)


def answer_twice(given: Any) -> Any:
    """The right answer and, behind it, the same again."""
    write_output(given)
    return [given]


def write_output(given: Any, **changes: Any) -> None:
    """Answer by ourselves, with a description of the output in which something is changed."""
    output = {"element_type": given.element_type, "shape": list(given.shape), "blob": 0, **changes}
    header = {"type": "outputs", "id": ASKED[-1], "outputs": [output]}
    with os.fdopen(protocol_descriptor(), "wb", closefd=False) as outgoing:
        worker_protocol.write_frame(outgoing, header, [given.data])


def describe(**changes: Any) -> Any:
    def action(given: Any) -> Any:
        write_output(given, **changes)
        time.sleep(600)

    return action


def say(header: bytes) -> Any:
    """Answer with a header as it stands."""

    def action(_: Any) -> Any:
        send(len(header).to_bytes(4, "little"), header)
        time.sleep(600)

    return action


def keep_quiet() -> None:
    """What has been answered by ourselves is not answered again."""
    write = worker_protocol.write_frame

    def skip(*_: Any) -> None:
        worker_protocol.write_frame = write

    worker_protocol.write_frame = skip  # type: ignore[assignment] # for one answer


def answer_with(more: dict[str, Any], outputs: Any, *blobs: bytes, goes_on: bool = False) -> Any:
    """Answer by ourselves, with these outputs and blobs, and `more` in the header."""

    def action(given: Any) -> Any:
        header = {"type": "outputs", "id": ASKED[-1], "outputs": outputs, **more}
        with os.fdopen(protocol_descriptor(), "wb", closefd=False) as outgoing:
            worker_protocol.write_frame(outgoing, header, blobs)
        if not goes_on:
            time.sleep(600)
        keep_quiet()
        return [given]

    return action


def answer_raw(text: str, *blobs: bytes) -> Any:
    """Answer with a header as it stands, in which `ID` is the number that was asked for."""

    def action(_: Any) -> Any:
        header = text.replace("ID", str(ASKED[-1])).encode()
        send(len(header).to_bytes(4, "little"), header, *blobs)
        time.sleep(600)

    return action


def refuse_at_length(_: Any) -> Any:
    """The error that the protocol knows, with a message that it does not."""
    text = "begin " + "x" * (5 << 20) + " end"
    header = {"type": "error", "id": ASKED[-1], "class": "rejected", "kind": "K" * 10_000, "message": text}
    with os.fdopen(protocol_descriptor(), "wb", closefd=False) as outgoing:
        worker_protocol.write_frame(outgoing, header)
    keep_quiet()
    return []


def flat(blob: Any, **more: Any) -> dict[str, Any]:
    return {"element_type": "float", "shape": [2, 3], "blob": blob, **more}


def dribble(_: Any) -> Any:
    for byte in b"\x40\0\0\0" + b" " * 60:
        send(bytes([byte]))
        time.sleep(0.1)
    time.sleep(600)


def answer_too_much(given: Any) -> Any:
    return [worker_protocol.WireTensor("uint8", (80 << 20,), bytes(80 << 20))]


def close_output(_: Any) -> Any:
    os.close(protocol_descriptor())
    time.sleep(600)


def lock_folders(given: Any) -> Any:
    """Leave files where HOME, TMPDIR and the working folder are, and take away the right to remove them."""
    folder = Path.cwd().parent
    for path in (Path.home(), Path(os.environ["TMPDIR"]), Path.cwd()):
        (path / "cache" / "deep").mkdir(parents=True)
        (path / "cache" / "deep" / "file").write_text("left behind")
        (path / "cache" / "deep").chmod(0)
        (path / "cache").chmod(0)
    folder.chmod(0o500)
    return [given]


def tell(look: Any) -> Any:
    def action(given: Any) -> Any:
        raise RuntimeError(look())

    return action


def look_at_network() -> str:
    """What can be reached: the port that MODE names, on this machine, and a port of its own."""
    port = int(MODE)
    own = socket.create_server(("127.0.0.1", 0))
    reached = []
    for name, address in (("own", own.getsockname()), ("caller", ("127.0.0.1", port))):
        try:
            socket.create_connection(address, timeout=2).close()
            reached.append(name)
        except OSError:
            continue
    devices = [line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]]
    return f"reached={','.join(reached)} devices={','.join(devices)} user={os.geteuid()}"


def try_to_write(path: Path) -> bool:
    try:
        path.write_text("harmed")
    except OSError:
        return False
    return True


def look_at_writes() -> str:
    """Where files can be made and changed: MODE is a folder of the caller's, with a file `victim`."""
    folder = Path(MODE)
    own = {
        "home": Path.home() / "x",
        "temporary": Path(os.environ["TMPDIR"], "x"),
        "work": Path("x"),
        "shm": Path("/dev/shm/x"),
    }
    others = [
        *(folder / "victim", folder / "made-by-a-worker", folder / "run.jsonl"),
        *(Path(__file__).with_name("made-by-a-worker"), Path(sys.executable).with_name("made-by-a-worker")),
        *(Path("/tmp/made-by-a-worker"), Path("/root/made-by-a-worker"), Path("/var/tmp/made-by-a-worker")),
    ]
    made = [name for name, path in own.items() if try_to_write(path)]
    harmed = [str(other) for other in others if try_to_write(other)]
    try:  # what the whole system goes by is opened and left alone
        os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
        harmed.append("/proc/sys")
    except OSError:
        pass
    return f"own={','.join(made)} others={','.join(harmed)}"


def look_at_remounts() -> str:
    """Whether what is read-only can be made writable, from here or from a user namespace of its own."""
    libc = ctypes.CDLL(None)
    folder = MODE.encode()
    done = []

    def remount(how: str) -> None:
        libc.mount(None, b"/", None, 0x1000 | 0x20, None)  # MS_BIND | MS_REMOUNT
        libc.umount2(folder, 2)
        libc.mount(folder, folder, None, 0x1000, None)
        libc.mount(None, folder, None, 0x1000 | 0x20, None)
        if try_to_write(Path(MODE, f"made-{how}")):
            done.append(how)

    remount("here")
    capabilities = next(
        line for line in Path("/proc/self/status").read_text().splitlines() if "CapEff" in line
    )
    if not libc.unshare(0x10000000 | 0x20000):
        remount("in-a-namespace")
    return f"remounted={','.join(done)} capabilities={capabilities.split()[1]}"


def look_at_kills() -> str:
    """Which processes can be killed, of those of MODE and the parents, and which are seen."""
    bystander, harness_id = map(int, MODE.split(","))
    killed = []
    # The harness is asked only whether it could be: a test that fails is not to end the tests.
    for number, sent in ((bystander, signal.SIGKILL), (harness_id, 0)):
        try:
            os.kill(number, sent)
        except OSError:
            continue
        killed.append(str(number))
    os.kill(1, signal.SIGKILL)  # the first of this namespace, which heeds nobody in it
    seen = sorted((each for each in os.listdir("/proc") if each.isdigit()), key=int)  # noqa: PTH208
    try:
        first = "open" if Path("/proc/1/environ").read_bytes() else "empty"
    except OSError:
        first = "closed"
    harness = "seen" if Path("/proc", str(harness_id)).exists() else "hidden"
    return f"killed={','.join(killed)} seen={','.join(seen)} harness={harness} first={first}"


def look_at_descriptors() -> str:
    found = []
    for name in sorted(os.listdir("/proc/self/fd"), key=int):  # noqa: PTH208 - the one that it opens itself is closed
        try:
            fcntl.fcntl(int(name), fcntl.F_GETFD)
        except OSError:
            continue
        found.append(f"{name}={Path('/proc/self/fd', name).readlink()}")
    return "\n".join(found)


DEEDS: dict[str, Any] = {
    "echo": lambda given: [given],
    "SIGSEGV": lambda _: os.kill(os.getpid(), signal.SIGSEGV),
    "exit0": lambda _: os._exit(0),
    "native_hang": hang_natively,
    "stop": stop_itself,
    "daemon": leave_daemon,
    "children": die_with_children,
    "child_memory": grow_in_child,
    "stdout_gigabyte": print_gigabyte(1),
    "stderr_gigabyte": print_gigabyte(2),
    "protocol_gigabyte": print_into_protocol,
    "twice_answered": answer_twice,
    "negative_shape": describe(shape=[-1, 6]),
    "shape_of_others": describe(shape=[5, 5]),
    "endless_shape": describe(shape=[1 << 62, 1 << 62]),
    "shape_of_words": describe(shape="23"),
    "unknown_type": describe(element_type="float7"),
    "no_such_blob": describe(blob=4),
    "no_blob": describe(blob=None),
    "not_json": say(b"{" * 40),
    "deep_json": say(b"[" * 100_000),
    "not_text": say(b"\xff\xfe\xfd\xfc"),
    "long_number": say(b'{"id":' + b"9" * 10_000 + b"}"),
    "no_object": say(b"[1, 2, 3]"),
    "wrong_blobs": say(b'{"type":"outputs","id":1,"blobs":[-5]}'),
    "message_of_5_mb": refuse_at_length,
    "no_tensor_of_2_mb": answer_with(
        {}, [{"not_a_tensor": "T" * (1 << 20), "text": "t" * (1 << 20)}], goes_on=True
    ),
    "type_of_1_mb": answer_with({"type": "y" * (1 << 20)}, []),
    "id_of_1_mb": answer_with({"id": "9" * (1 << 20)}, []),
    "outputs_of_200": answer_with({}, [flat(0, shape=[0])] * 200),
    "blobs_of_200": answer_with({}, [flat(0)], bytes(24), *[b"x"] * 200),
    "blobs_without_end": answer_raw('{"type":"outputs","id":ID,"blobs":[' + "0," * (4 << 20) + "0]}"),
    "negative_blob": answer_with({}, [flat(-1)], bytes(24)),
    "true_blob": answer_with({}, [flat(True)], bytes(24), bytes(24)),
    "blob_of_two": answer_with({}, [flat(0), flat(0)], bytes(24)),
    "huge_extents": answer_with({}, [flat(0, shape=[1 << 64, 0])], b""),
    "many_dimensions": answer_with({}, [flat(0, shape=[1] * 100)], bytes(4)),
    "shape_of_1_mb": answer_with({}, [flat(0, shape=[1] * (1 << 19))], bytes(4)),
    "strings_of_nothing": answer_with({}, [flat(0, element_type="string", shape=[1 << 40])], b""),
    "strings_of_8_mb": answer_with({}, [flat(0, element_type="string", shape=[2 << 20])], bytes(8 << 20)),
    "keys_twice": answer_raw(
        '{"type":"error","type":"outputs","id":ID,"outputs":[{"element_type":"float","shape":[2,3],"blob":0}],'
        '"blobs":[24]}',
        bytes(24),
    ),
    "nan_literal": answer_raw('{"type":"outputs","id":ID,"seconds":NaN,"outputs":[]}'),
    "infinite_number": answer_raw('{"type":"outputs","id":ID,"seconds":1e999,"outputs":[]}'),
    "nested_100_deep": answer_raw('{"type":"outputs","id":ID,"x_y":' + "[" * 100 + "]" * 100 + "}"),
    "seconds_of_300_digits": answer_with({"seconds": 10**300}, [], goes_on=True),
    "dribble": dribble,
    "too_large": answer_too_much,
    "close_output": close_output,
    "lock_folders": lock_folders,
    "network": tell(look_at_network),
    "writes": tell(look_at_writes),
    "remounts": tell(look_at_remounts),
    "kills": tell(look_at_kills),
    "descriptors": tell(look_at_descriptors),
}


if __name__ == "__main__":
    worker_protocol.read_frame = remember_number
    worker_protocol.serve(Rogue)
