"""What a lane knows of the worker that it has: its handshake, its models, and the tasks that it was given.

One may also be given a whole model to load and not to run: what `opcert check` asks first.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from conformance.judging.responses import (
    Crashed,
    HarnessFailed,
    Loaded,
    NotOffered,
    Refused,
    Response,
    TimedOut,
    WorkerFailed,
)
from conformance.processes.frames import LONGEST_MESSAGE, BrokenProtocol, cut, frame_head
from conformance.processes.worker_limits import Limits
from conformance.processes.worker_process import WorkerHung, WorkerLost, WorkerProcess
from conformance.running.requests import CaseRequest, Offer, read_error, read_offer, seconds_of
from conformance.running.run_options import Task
from conformance.runtimes.adapter import Adapter
from opcert.vocabulary.errors import RuntimeUnavailable
from opcert.vocabulary.names import OperatorName

_UNLOAD = frame_head({"type": "unload"})
_SENT_TOGETHER = 48
_SENT_ALONE = 1 << 16
"""So many pieces of requests, of some eight tasks, go out at one time; a task of more bytes goes at once."""


@dataclass(eq=False)
class WorkerSession:
    """One worker: the numbers given to requests so far, the model that it holds, those that it refused, and
    whether it has come to the end of any task."""

    process: WorkerProcess
    numbers: int = 0
    loaded: tuple[int, CaseRequest] | None = None
    refused: dict[int, Refused | WorkerFailed] = field(default_factory=dict)
    answered: bool = False

    def number(self) -> int:
        self.numbers += 1
        return self.numbers


@dataclass(eq=False)
class Sent:
    """A task that a worker has: its model's number, how much the worker had printed on standard error
    before, the numbers of its requests, and the bytes of its tensors and model."""

    session: WorkerSession
    task: Task
    request: CaseRequest
    model: int
    printed: int
    bytes: int
    unload: int | None = None
    load: int | None = None
    run: int = 0
    further: tuple[Sent, ...] = ()
    """What was sent behind it: the same with its model loaded anew, or what its request says."""


def send_task(session: WorkerSession, task: Task, request: CaseRequest) -> Sent:
    """Send a task, and before it what loads its model, unless the worker holds that.

    Small ones wait for the next, or for somebody who waits for an answer.
    """
    process = session.process
    size = request.size
    # A generator goes on from where the last case of the same model left it.
    sent = _send_once(session, task, request, size, anew=request.again or bool(request.further))
    if request.again:
        sent.further = (_send_once(session, task, request, size, anew=True),)
    elif request.further:
        sent.further = tuple(
            _send_once(session, task, case_request, case_request.size, anew=False)
            for case_request in request.further
        )
    if process.unsent >= _SENT_TOGETHER or size > _SENT_ALONE:
        process.flush()
    return sent


def _send_once(session: WorkerSession, task: Task, request: CaseRequest, size: int, *, anew: bool) -> Sent:
    process = session.process
    if not anew and session.loaded is not None and request.same_model(session.loaded[1]):
        sent = Sent(session, task, request, session.loaded[0], process.printed, size)
    else:
        sent = Sent(session, task, request, session.number(), process.printed, size)
        if session.loaded is not None:
            sent.unload = session.number()
            process.send_numbered(_UNLOAD, sent.unload, session.loaded[0])
        sent.load = session.number()
        process.send_numbered(request.load_head, sent.load, sent.model, request.load_blobs)
        session.loaded = (sent.model, request)
    sent.run = session.number()
    process.send_numbered(request.run_head, sent.run, sent.model, request.run_blobs)
    return sent


PRINTED_NOTHING = (
    "It printed nothing on standard error. A worker reads requests from its standard input until that ends: "
    "docs/reference.md has the protocol."
)
"""What to do about a worker that went without a word."""


def shake_hands(process: WorkerProcess, limits: Limits) -> Offer:
    """What a worker that was sent its `hello` offers.

    Raises RuntimeUnavailable, with what the worker printed, where it does not start; then it is dead.
    """
    limit = limits.start_seconds
    started = False
    try:
        frame = process.receive(0, limit, time.monotonic() + limit)
        if frame.header.get("type") == "error":
            message = f"{frame.header.get('kind')}: {frame.header.get('message')}"
            raise RuntimeUnavailable("the runtime does not start", got=cut(message, LONGEST_MESSAGE))
        offer = read_offer(frame.header)
        started = True
    except WorkerLost as error:
        raise RuntimeUnavailable(
            f"the runtime's worker did not start: {error.reason}",
            got=error.stderr or None,
            remedy=None if error.stderr else PRINTED_NOTHING,
        ) from error
    except WorkerHung as error:
        raise RuntimeUnavailable(
            f"the runtime's worker did not start within {limit:g} s", got=error.stderr or None
        ) from error
    except BrokenProtocol as error:
        raise RuntimeUnavailable("the runtime's worker broke the protocol", got=str(error)) from error
    finally:
        if not started:
            process.kill()
    return offer


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
        if lost.out_of_reach:
            return HarnessFailed(reason)
        return Crashed(reason, lost.signal_name, lost.status, lost.stderr, time.monotonic() - begin)
    except BrokenProtocol as error:
        return Crashed(f"broke the protocol with {error}", stderr=process.kill())
    # A worker that is lost while it forgets the model has loaded it.
    with suppress(WorkerHung, WorkerLost, BrokenProtocol):
        process.send({"type": "unload", "id": unload, "model": number})
        process.receive(unload, seconds, time.monotonic() + seconds)
    return found
