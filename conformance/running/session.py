"""What a lane knows of the worker that it has: its handshake, its models, and the tasks that it was given."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from conformance.judging.responses import Refused, WorkerFailed
from conformance.processes.frames import LONGEST_MESSAGE, BrokenProtocol, cut, frame_head
from conformance.processes.worker_limits import Limits
from conformance.processes.worker_process import WorkerHung, WorkerLost, WorkerProcess
from conformance.running.requests import CaseRequest, Offer, read_offer
from conformance.running.tasks import Task
from opcert.vocabulary.errors import RuntimeUnavailable

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
            _send_once(session, task, each, each.size, anew=False) for each in request.further
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
            f"the runtime's worker did not start: {error.reason}", got=error.stderr or None
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
