"""The worker's side of the worker protocol (docs/worker-protocol.md), for workers in Python.

Python 3.9 or newer, the standard library and numpy. A worker script lies beside this file, so that Python
finds it, and ends with `serve(start)`:

    def start(options):  # called once; standard output is already put aside: import the runtime here
        return MyWorker(options)

    if __name__ == "__main__":
        serve(start)
"""

from __future__ import annotations

import json
import os
import platform
import struct
import sys
import time
from typing import Any, BinaryIO, Callable, Dict, List, Optional, Sequence, Tuple

VERSION = 1
MAX_HEADER = 16 << 20
MAX_MESSAGE = 4096

Header = Dict[str, Any]
Blobs = List[bytes]


class Unsupported(Exception):
    """The worker knows that its runtime, or the runtime's Python interface, does not offer this at all."""


class WorkerFault(Exception):
    """The worker's own mistake, or a request without sense; never the runtime's."""


class BrokenFrame(Exception):
    """What came in is no frame; nothing after it can be read."""


class WireTensor:
    """A tensor on its way: element type (ONNX's name), shape, and raw bytes as the protocol has them."""

    __slots__ = ("data", "element_type", "shape")

    def __init__(self, element_type: str, shape: Tuple[int, ...], data: bytes) -> None:
        self.element_type = element_type
        self.shape = shape
        self.data = data


class NotTensor:
    """Something that a runtime returned in place of a tensor."""

    __slots__ = ("kind", "text")

    def __init__(self, value: object) -> None:
        self.kind = type(value).__name__
        try:
            self.text = repr(value)[:200]
        except Exception:  # noqa: BLE001 - a runtime's own __repr__ may raise anything
            self.text = ""


class LoadRequest:
    """One model to load.

    `onnx` is the serialized ModelProto where the worker takes the domain as `onnx`, else None. `domain`,
    `name`, `since_version`, `attributes` (name to plain value: int, float, str or a list) and `outputs`
    (names) describe the node. `inputs` are its inputs in order, (name, element type, shape) each, None for an
    omitted one; a shape holds None where an extent is not known. `constants` are the inputs that do not come
    with `run`. `threads` is one of the counts that the worker's `hello` named, None for its own.
    """

    def __init__(self, header: Header, blobs: Blobs) -> None:
        operator = header["operator"]
        self.domain: str = operator["domain"]
        self.name: str = operator["name"]
        self.since_version: int = operator["since_version"]
        self.form: str = header["form"]
        self.threads: Optional[int] = header.get("threads")
        self.onnx: Optional[bytes] = None if header.get("onnx") is None else blobs[header["onnx"]]
        self.attributes: Dict[str, Any] = {
            name: _read_attribute(each) for name, each in header["attributes"].items()
        }
        self.attribute_kinds: Dict[str, str] = {
            name: each["kind"] for name, each in header["attributes"].items()
        }
        self.inputs: List[Optional[Tuple[str, str, Tuple[Optional[int], ...]]]] = [
            None if each is None else (each["name"], each["element_type"], tuple(each["shape"]))
            for each in header["inputs"]
        ]
        self.constants: Dict[str, WireTensor] = {
            each["name"]: read_tensor(each, blobs)
            for each in header["inputs"]
            if each and each.get("constant")
        }
        self.outputs: List[str] = list(header["outputs"])


def read_tensor(description: Header, blobs: Blobs) -> WireTensor:
    return WireTensor(description["element_type"], tuple(description["shape"]), blobs[description["blob"]])


_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def _read_attribute(description: Header) -> Any:
    kind, value = description["kind"], description["value"]
    if kind == "float":
        return _NUMBERS[value] if isinstance(value, str) else float(value)
    if kind == "floats":
        return [_NUMBERS[each] if isinstance(each, str) else float(each) for each in value]
    return value


def read_frame(stream: BinaryIO) -> Optional[Tuple[Header, Blobs]]:
    """The next frame, or None where the stream has ended; raises BrokenFrame on anything else."""
    prefix = _read_exactly(stream, 4)
    if not prefix:
        return None
    if len(prefix) < 4:
        raise BrokenFrame("the stream ends inside a frame's length")
    (length,) = struct.unpack("<I", prefix)
    if length > MAX_HEADER:
        raise BrokenFrame("a header of %d bytes; at most %d are allowed" % (length, MAX_HEADER))
    raw = _read_exactly(stream, length)
    if len(raw) < length:
        raise BrokenFrame("the stream ends inside a header")
    try:
        header = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BrokenFrame("a header is not JSON: %s" % error) from error
    if not isinstance(header, dict):
        raise BrokenFrame("a header is not an object")
    lengths = header.get("blobs", [])
    if not isinstance(lengths, list) or not all(type(each) is int and each >= 0 for each in lengths):
        raise BrokenFrame("`blobs` is not a list of lengths")
    blobs = []
    for each in lengths:
        blob = _read_exactly(stream, each)
        if len(blob) < each:
            raise BrokenFrame("the stream ends inside a blob")
        blobs.append(blob)
    return header, blobs


def _read_exactly(stream: BinaryIO, count: int) -> bytes:
    return stream.read(count) if count else b""


def write_frame(stream: BinaryIO, header: Header, blobs: Sequence[bytes] = ()) -> None:
    if blobs:
        header = dict(header, blobs=[len(each) for each in blobs])
    raw = json.dumps(header, separators=(",", ":")).encode("utf-8")
    stream.write(struct.pack("<I", len(raw)) + raw)
    for each in blobs:
        stream.write(each)
    stream.flush()


def platform_facts() -> Dict[str, str]:
    """The `platform` of a `hello` answer."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "python": platform.python_version(),
    }


class Worker:
    """What a worker script implements. Any exception but WorkerFault that leaves `load` or `run` is taken as
    the runtime's refusal (`rejected`; Unsupported: `unsupported`) with the name of its class and its message.
    """

    def hello(self) -> Header:
        """Its part of the `hello` answer: `runtime` (name, version), `domains`, `forms`, and what it adds."""
        raise NotImplementedError

    def load(self, request: LoadRequest) -> Any:
        """Prepare a model; what is returned is handed to `run`."""
        raise NotImplementedError

    def run(self, model: Any, inputs: Dict[str, WireTensor]) -> Sequence[Any]:
        """Run a model on inputs by name; returns WireTensor and NotTensor objects, as the runtime did."""
        raise NotImplementedError

    def unload(self, model: Any) -> None:
        """Forget a model."""


def take_standard_streams() -> Tuple[BinaryIO, BinaryIO]:
    """Keep descriptors 0 and 1 for frames; afterwards 0 is the null device and 1 is standard error."""
    sys.stdout.flush()
    incoming = os.fdopen(os.dup(0), "rb", 1 << 16)
    outgoing = os.fdopen(os.dup(1), "wb", 1 << 16)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return incoming, outgoing


def serve(start: Callable[[Dict[str, str]], Worker]) -> None:
    """Answer requests until the harness shuts the worker down; exits the process."""
    incoming, outgoing = take_standard_streams()
    session = Session(start, outgoing)
    status = 0
    try:
        while session.open:
            frame = read_frame(incoming)
            if frame is None:
                break
            session.answer(*frame)
    except BrokenFrame as error:
        session.send_error(None, "internal", "BrokenFrame", str(error))
        status = 3
    except BrokenPipeError:
        status = 3
    sys.stderr.flush()
    # A runtime's threads and destructors may hang or crash at exit, which would say nothing about any case.
    os._exit(status)


class Session:
    """The state of one worker: its models, and whether it was told to go."""

    def __init__(self, start: Callable[[Dict[str, str]], Worker], outgoing: BinaryIO) -> None:
        self.open = True
        self._start = start
        self._outgoing = outgoing
        self._worker: Optional[Worker] = None
        self._models: Dict[int, Any] = {}

    def answer(self, header: Header, blobs: Blobs) -> None:
        """Answer one request; exceptions become `error` answers."""
        number = header.get("id")
        handler = _HANDLERS.get(str(header.get("type")))
        try:
            if handler is None:
                raise WorkerFault("unknown request type %r" % (header.get("type"),))
            reply, out = handler(self, header, blobs)
        except Unsupported as error:
            self.send_error(number, "unsupported", "Unsupported", str(error))
        except WorkerFault as error:
            self.send_error(number, "internal", "WorkerFault", str(error))
        except Exception as error:  # noqa: BLE001 - whatever a runtime raises is its answer
            self.send_error(number, "rejected", type(error).__name__, _message_of(error))
        else:
            write_frame(self._outgoing, dict(reply, id=number), out)

    def send_error(self, number: Optional[int], error_class: str, kind: str, message: str) -> None:
        text = message.encode("utf-8", "replace").decode("utf-8")
        if len(text) > MAX_MESSAGE:
            text = text[: MAX_MESSAGE - 1003] + "..." + text[-1000:]
        reply = {"type": "error", "id": number, "class": error_class, "kind": kind, "message": text}
        write_frame(self._outgoing, reply)

    def _hello(self, header: Header, blobs: Blobs) -> Tuple[Header, Blobs]:
        if header.get("protocol") != VERSION:
            raise WorkerFault("protocol %r is not spoken here; %d is" % (header.get("protocol"), VERSION))
        self._worker = self._start(dict(header.get("options") or {}))
        reply = {"type": "hello", "protocol": VERSION, "platform": platform_facts()}
        reply.update(self._worker.hello())
        return reply, []

    def _load(self, header: Header, blobs: Blobs) -> Tuple[Header, Blobs]:
        worker = self._ready()
        try:
            number = int(header["model"])
            request = LoadRequest(header, blobs)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise WorkerFault("a load request without sense: %r" % error) from error
        begin = time.perf_counter()
        self._models[number] = worker.load(request)
        return {"type": "loaded", "seconds": time.perf_counter() - begin}, []

    def _run(self, header: Header, blobs: Blobs) -> Tuple[Header, Blobs]:
        worker = self._ready()
        try:
            inputs = {each["name"]: read_tensor(each, blobs) for each in header["inputs"]}
            number = int(header["model"])
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise WorkerFault("a run request without sense: %r" % error) from error
        if number not in self._models:
            raise WorkerFault("model %d is not loaded" % number)
        begin = time.perf_counter()
        outputs = worker.run(self._models[number], inputs)
        seconds = time.perf_counter() - begin
        descriptions: List[Header] = []
        out: Blobs = []
        for each in outputs:
            if isinstance(each, WireTensor):
                shape = list(each.shape)
                descriptions.append({"element_type": each.element_type, "shape": shape, "blob": len(out)})
                out.append(each.data)
            else:
                other = each if isinstance(each, NotTensor) else NotTensor(each)
                descriptions.append({"not_a_tensor": other.kind, "text": other.text})
        return {"type": "outputs", "seconds": seconds, "outputs": descriptions}, out

    def _unload(self, header: Header, blobs: Blobs) -> Tuple[Header, Blobs]:
        worker = self._ready()
        number = header.get("model")
        if not isinstance(number, int):
            raise WorkerFault("an unload request without sense: model %r" % (number,))
        model = self._models.pop(number, None)
        if model is not None:
            worker.unload(model)
        return {"type": "unloaded"}, []

    def _shutdown(self, header: Header, blobs: Blobs) -> Tuple[Header, Blobs]:
        self.open = False
        return {"type": "bye"}, []

    def _ready(self) -> Worker:
        if self._worker is None:
            raise WorkerFault("no hello yet")
        return self._worker


_HANDLERS: Dict[str, Callable[[Session, Header, Blobs], Tuple[Header, Blobs]]] = {
    "hello": Session._hello,
    "load": Session._load,
    "run": Session._run,
    "unload": Session._unload,
    "shutdown": Session._shutdown,
}


def _message_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a runtime's own __str__ may raise anything
        return "(the error has no readable message)"
