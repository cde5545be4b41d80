"""The worker's side of the worker protocol (docs/reference.md), for workers in Python.

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
from typing import Any, BinaryIO, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

MAX_HEADER = 16 << 20
_ENCODER = json.JSONEncoder(separators=(",", ":"))

Header = Dict[str, Any]
Blobs = List[bytes]


class BrokenFrame(Exception):
    """What came in is no frame; nothing after it can be read."""


def read_frame(stream: BinaryIO) -> Optional[Tuple[Header, Blobs]]:
    """The next frame, or None where the stream has ended; raises BrokenFrame on anything else."""
    prefix = stream.read(4)
    if not prefix:
        return None
    if len(prefix) < 4:
        raise BrokenFrame("the stream ends inside a frame's length")
    (length,) = struct.unpack("<I", prefix)
    if length > MAX_HEADER:
        raise BrokenFrame("a header of %d bytes; at most %d are allowed" % (length, MAX_HEADER))
    raw = stream.read(length)
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
        blob = stream.read(each)
        if len(blob) < each:
            raise BrokenFrame("the stream ends inside a blob")
        blobs.append(blob)
    return header, blobs


def write_frame(stream: BinaryIO, header: Header, blobs: Sequence[bytes] = ()) -> None:
    if blobs:
        header = dict(header, blobs=[len(blob) for blob in blobs])
    raw = _ENCODER.encode(header).encode("utf-8")
    stream.write(struct.pack("<I", len(raw)) + raw)
    for blob in blobs:
        stream.write(blob)
    stream.flush()


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


class Unsupported(Exception):
    """The worker knows that its runtime, or the runtime's Python interface, does not offer this at all."""


class WorkerFault(Exception):
    """The worker's own mistake, or a request without sense; never the runtime's."""


class WireTensor(NamedTuple):
    """A tensor on its way: element type (ONNX's name), shape, and raw bytes as the protocol has them."""

    element_type: str
    shape: Tuple[int, ...]
    data: bytes


class NotTensor:
    """Something that a runtime returned in place of a tensor."""

    __slots__ = ("kind", "text")

    def __init__(self, value: object) -> None:
        self.kind = type(value).__name__
        try:
            self.text = repr(value)[:200]
        except Exception:  # noqa: BLE001 - a runtime's own __repr__ may raise anything
            self.text = ""


class WireMap(NamedTuple):
    """A map: its keys and its values, in one order, each a tensor of one axis."""

    keys: WireTensor
    values: WireTensor


class WireOptional(NamedTuple):
    """An optional that is returned: what it holds, or None."""

    held: Any


class LoadRequest:
    """One model to load.

    `onnx` is the serialized ModelProto where the worker takes the domain as `onnx`, else None. `domain`,
    `name`, `since_version`, `attributes` (name to plain value: int, float, str or a list) and `outputs`
    (names) describe the node. `inputs` are its inputs in order, (name, element type, shape) each, None for an
    omitted one; a shape holds None where an extent is not known. `constants` are the inputs that do not come
    with `run`. An input made of several tensors, or of none, has its type (`seq(tensor(float))`) in place of
    an element type, and no shape; `output_types` are those of outputs that are no tensors. `threads` is one
    of the counts that the worker's `hello` named, None for its own.
    """

    def __init__(self, header: Header, blobs: Blobs) -> None:
        operator = header["operator"]
        self.domain: str = operator["domain"]
        self.name: str = operator["name"]
        self.since_version: int = operator["since_version"]
        self.form: str = header["form"]
        self.threads: Optional[int] = header.get("threads")
        self.onnx: Optional[bytes] = None if header.get("onnx") is None else blobs[header["onnx"]]
        attributes = header["attributes"].items()
        self.attributes: Dict[str, Any] = {
            name: _read_attribute(attribute, blobs) for name, attribute in attributes
        }
        self.attribute_kinds: Dict[str, str] = {name: attribute["kind"] for name, attribute in attributes}
        self.inputs: List[Optional[Tuple[str, str, Tuple[Optional[int], ...]]]] = [
            None if each is None else _read_input(each) for each in header["inputs"]
        ]
        self.constants: Dict[str, WireTensor] = {
            each["name"]: read_tensor(each, blobs)
            for entry in header["inputs"]
            for each in ((entry or {}).get("parts") or [entry])
            if each and each.get("constant")
        }
        self.output_types: Dict[str, str] = dict(header.get("output_types") or {})
        self.outputs: List[str] = list(header["outputs"])

    def demand_onnx(self) -> bytes:
        """The serialized ModelProto; raises WorkerFault where there is none."""
        if self.onnx is None:
            raise WorkerFault("no ONNX model in the request")
        return self.onnx


def read_tensor(description: Header, blobs: Blobs) -> WireTensor:
    return WireTensor(description["element_type"], tuple(description["shape"]), blobs[description["blob"]])


def read_value(kind: str, parts: List[WireTensor], empty: bool = False) -> Any:
    """A value of a type (`seq(map(string,tensor(float)))`) out of its tensors.

    A list, a WireMap, a WireTensor; None for an optional that holds nothing.
    """
    if kind.startswith("optional("):
        return None if empty else read_value(kind[len("optional(") : -1], parts)
    if kind.startswith("seq("):
        inner = kind[len("seq(") : -1]
        step = 2 if inner.startswith("map(") else 1
        return [read_value(inner, parts[at : at + step]) for at in range(0, len(parts), step)]
    if kind.startswith("map("):
        keys, values = parts
        return WireMap(keys, values)
    (tensor,) = parts
    return tensor


def write_value(value: Any, blobs: Blobs) -> Header:
    """The description of what a runtime returned; its tensors go behind the others in `blobs`."""
    if isinstance(value, WireTensor):
        blobs.append(value.data)
        shape = list(value.shape)
        return {"element_type": value.element_type, "shape": shape, "blob": len(blobs) - 1}
    if isinstance(value, WireMap):
        both = {"keys": write_value(value.keys, blobs), "values": write_value(value.values, blobs)}
        return {"map": both}
    if isinstance(value, WireOptional):
        return {"optional": None if value.held is None else write_value(value.held, blobs)}
    if isinstance(value, list) and all(isinstance(each, (WireTensor, WireMap, NotTensor)) for each in value):
        return {"sequence": [write_value(each, blobs) for each in value]}
    other = value if isinstance(value, NotTensor) else NotTensor(value)
    return {"not_a_tensor": other.kind, "text": other.text}


def _read_input(entry: Header) -> Tuple[str, str, Tuple[Optional[int], ...]]:
    if "type" in entry:
        return entry["name"], entry["type"], ()
    return entry["name"], entry["element_type"], tuple(entry["shape"])


_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def _read_attribute(description: Header, blobs: Blobs) -> Any:
    """A plain value; a WireTensor, the bytes of a GraphProto, or the text of a type; or a list of these."""
    kind, value = description["kind"], description["value"]
    if kind in ("tensors", "graphs"):
        return [_read_attribute({"kind": kind[:-1], "value": each}, blobs) for each in value]
    if kind == "tensor":
        return read_tensor(value, blobs)
    if kind == "graph":
        return bytes(blobs[value["blob"]])
    if kind == "float":
        return _NUMBERS[value] if isinstance(value, str) else float(value)
    if kind == "floats":
        return [_NUMBERS[each] if isinstance(each, str) else float(each) for each in value]
    return value


VERSIONS = (1, 2)
"""Those of the protocol; in the second the values of `hello` stand at the ends of a model as they are."""
MAX_MESSAGE = 4096


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

    def run(self, model: Any, inputs: Dict[str, Any]) -> Sequence[Any]:
        """Run a model on inputs by name; returns WireTensor and NotTensor objects, as the runtime did.

        Inputs are WireTensor objects. Where `hello` named `values`, they may be lists of these or of WireMap,
        WireMap and None as well, and so may outputs (an optional as WireOptional). In the form `untouched`
        it returns what `watched_memory.watch_for` makes of them. A list with `kept` says whether these are
        the outputs of the model as it was before what is tested changed it.
        """
        raise NotImplementedError

    def unload(self, model: Any) -> None:
        """Forget a model."""


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
        asked = header.get("protocols", [header.get("protocol")])
        spoken = [version for version in VERSIONS if isinstance(asked, list) and version in asked]
        if not spoken:
            ours = " and ".join(map(str, VERSIONS))
            raise WorkerFault("protocol %r is not spoken here; %s are" % (header.get("protocol"), ours))
        self._worker = self._start(dict(header.get("options") or {}))
        facts = {name: getattr(platform, name)() for name in ("system", "release", "machine")}
        facts["python"] = platform.python_version()
        reply = {"type": "hello", "protocol": spoken[-1], "platform": facts}
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
            tensors = {each["name"]: read_tensor(each, blobs) for each in header["inputs"]}
            inputs = _with_values(tensors, header.get("values") or [])
            number = int(header["model"])
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise WorkerFault("a run request without sense: %r" % error) from error
        if number not in self._models:
            raise WorkerFault("model %d is not loaded" % number)
        begin = time.perf_counter()
        outputs = worker.run(self._models[number], inputs)
        seconds = time.perf_counter() - begin
        out: Blobs = []
        descriptions = [write_value(output, out) for output in outputs]
        reply: Header = {"type": "outputs", "seconds": seconds, "outputs": descriptions}
        for name in ("touched", "kept"):
            if getattr(outputs, name, None) is not None:
                reply[name] = getattr(outputs, name)
        return reply, out

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


_TYPES = ("hello", "load", "run", "unload", "shutdown")
_HANDLERS: Dict[str, Callable[[Session, Header, Blobs], Tuple[Header, Blobs]]] = {
    name: getattr(Session, "_" + name) for name in _TYPES
}


def _with_values(tensors: Dict[str, Any], values: List[Header]) -> Dict[str, Any]:
    """The inputs by name: those tensors that are part of no value, and the values."""
    made = {
        value["name"]: read_value(
            value["type"], [tensors[part] for part in value["parts"]], bool(value.get("empty"))
        )
        for value in values
    }
    parts = {part for value in values for part in value["parts"]}
    return dict({name: tensor for name, tensor in tensors.items() if name not in parts}, **made)


def _message_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a runtime's own __str__ may raise anything
        return "(the error has no readable message)"
