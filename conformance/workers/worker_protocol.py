"""The worker's side of the worker protocol (docs/worker-protocol.md), for workers in Python.

Python 3.9 or newer, the standard library and numpy. A worker script lies beside this file, so that Python
finds it, and ends with `serve(start)`:

    def start(options):  # called once; standard output is already put aside: import the runtime here
        return MyWorker(options)

    if __name__ == "__main__":
        serve(start)
"""

from __future__ import annotations

import os
import platform
import sys
import time
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Dict, List, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from conformance.workers.wire_frames import (
        Blobs,
        BrokenFrame,
        Header,
        read_frame,
        take_standard_streams,
        write_frame,
    )
    from conformance.workers.wire_requests import (
        LoadRequest,
        NotTensor,
        WireMap,
        WireOptional,
        WireTensor,
        read_tensor,
        read_value,
        write_value,
    )
else:
    from wire_frames import Blobs, BrokenFrame, Header, read_frame, take_standard_streams, write_frame
    from wire_requests import (
        LoadRequest,
        NotTensor,
        WireMap,
        WireOptional,
        WireTensor,
        read_tensor,
        read_value,
        write_value,
    )

__all__ = [
    "BrokenFrame",
    "Header",
    "LoadRequest",
    "NotTensor",
    "Unsupported",
    "WireMap",
    "WireOptional",
    "WireTensor",
    "Worker",
    "WorkerFault",
    "read_frame",
    "serve",
    "write_frame",
]

VERSION = 1
MAX_MESSAGE = 4096


class Unsupported(Exception):
    """The worker knows that its runtime, or the runtime's Python interface, does not offer this at all."""


class WorkerFault(Exception):
    """The worker's own mistake, or a request without sense; never the runtime's."""


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

    def run(self, model: Any, inputs: Dict[str, Any]) -> Sequence[Any]:
        """Run a model on inputs by name; returns WireTensor and NotTensor objects, as the runtime did.

        Inputs are WireTensor objects. Where `hello` named `values`, they may be lists of these or of WireMap,
        WireMap and None as well, and so may outputs (an optional as WireOptional). In the form `untouched`
        it returns what `watched_memory.Watch` makes of them.
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
        descriptions = [write_value(each, out) for each in outputs]
        reply: Header = {"type": "outputs", "seconds": seconds, "outputs": descriptions}
        touched = getattr(outputs, "touched", None)
        return (reply if touched is None else dict(reply, touched=touched)), out

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


def _with_values(tensors: Dict[str, Any], values: List[Header]) -> Dict[str, Any]:
    """The inputs by name: those tensors that are part of no value, and the values."""
    made = {
        each["name"]: read_value(
            each["type"], [tensors[part] for part in each["parts"]], bool(each.get("empty"))
        )
        for each in values
    }
    parts = {part for each in values for part in each["parts"]}
    return dict({name: each for name, each in tensors.items() if name not in parts}, **made)


def _message_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a runtime's own __str__ may raise anything
        return "(the error has no readable message)"
