"""A whole model that a worker is to load and not to run: what `opcert check` asks first."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from conformance.judging.responses import Crashed, Loaded, NotOffered, Response, TimedOut
from conformance.processes.frames import BrokenProtocol
from conformance.processes.worker_process import WorkerHung, WorkerLost
from conformance.running.requests import Offer, read_error, seconds_of
from conformance.running.session import WorkerSession
from conformance.runtimes.adapter import Adapter
from opcert.vocabulary.names import OperatorName

WHOLE = OperatorName("ai.onnx", "Model", 1)
"""What stands in the place of the operator where a request is of a whole model."""


@dataclass(frozen=True)
class WholeRequest:
    """A serialized ModelProto; its inputs, by name, with element type and shape (None: an open extent), as
    far as they are tensors; and the names of its outputs."""

    raw: bytes
    inputs: Sequence[tuple[str, str, tuple[int | None, ...]]]
    outputs: Sequence[str]

    @property
    def header(self) -> dict[str, Any]:
        """The `load` request without its numbers."""
        is_open = any(None in shape for _, _, shape in self.inputs)
        return {
            "type": "load",
            "form": "dynamic" if is_open else "inputs",
            "operator": {"domain": WHOLE.domain, "name": WHOLE.name, "since_version": WHOLE.since_version},
            "attributes": {},
            "inputs": [
                {"name": name, "element_type": kind, "shape": list(shape)}
                for name, kind, shape in self.inputs
            ],
            "outputs": list(self.outputs),
            "onnx": 0,
        }


def load_whole(
    session: WorkerSession, offer: Offer, model: WholeRequest, adapter: Adapter, seconds: float
) -> Response | Loaded:
    """The answer of a worker to `load`, within so many seconds; the worker then forgets the model."""
    if offer.takes_operator_as(WHOLE) != "onnx":
        return NotOffered(f"{offer.name} takes no ONNX models")
    process = session.process
    number, load, unload = session.number(), session.number(), session.number()
    begin = time.monotonic()
    process.mark(process.printed)
    try:
        process.send({**model.header, "id": load, "model": number}, (model.raw,))
        frame = process.receive(load, seconds, begin + seconds)
        if frame.header.get("type") == "error":
            return read_error(frame.header, "load", adapter, seconds_of(frame))
        if frame.header.get("type") != "loaded":
            raise BrokenProtocol(f"an answer to load of type {frame.header.get('type')!r}")
        found = Loaded(seconds_of(frame) or time.monotonic() - begin)
    except WorkerHung as hung:
        return TimedOut(hung.limit, "load", hung.stderr)
    except WorkerLost as lost:
        reason = f"{lost.reason} at load"
        return Crashed(reason, lost.signal_name, lost.status, lost.stderr, time.monotonic() - begin)
    except BrokenProtocol as error:
        return Crashed(f"broke the protocol with {error}", stderr=process.kill())
    # A worker that is lost while it forgets the model has loaded it.
    with suppress(WorkerHung, WorkerLost, BrokenProtocol):
        process.send({"type": "unload", "id": unload, "model": number})
        process.receive(unload, seconds, time.monotonic() + seconds)
    return found
