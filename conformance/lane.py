"""One lane of a run: a worker, and the cases that it is given one after the other.

While the harness judges a case, the worker already has the next one. When a worker is lost, the case that it
was at gets the blame, and those behind it are given to a new worker.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from conformance.adapter import Adapter
from conformance.cases import Case
from conformance.frames import BrokenProtocol
from conformance.limits import Limits
from conformance.models import Form
from conformance.requests import (
    CaseRequest,
    Offer,
    encode_case,
    read_error,
    read_offer,
    read_outputs,
    seconds_of,
)
from conformance.responses import Crashed, HarnessFailed, Refused, Response, TimedOut
from conformance.worker_process import Launch, WorkerHung, WorkerLost, WorkerProcess
from opcert.errors import OpcertError, RuntimeUnavailable

_IN_FLIGHT = 2


@dataclass(frozen=True, eq=False)
class Task:
    """One row to come: a case in a form, for the `repeat`th time.

    `order` is its place in the record, `rows` the number of rows of its case. `valid_case` is the case that
    one that must be refused was made from.
    """

    case: Case
    form: Form
    repeat: int
    order: tuple[int, int, int]
    rows: int = 1
    valid_case: Case | None = None


@dataclass(eq=False)
class _Session:
    """What is known of the worker that is running now."""

    process: WorkerProcess
    numbers: int = 0
    loaded: tuple[int, CaseRequest] | None = None
    refused: dict[int, Refused | HarnessFailed] = field(default_factory=dict)

    def number(self) -> int:
        self.numbers += 1
        return self.numbers


@dataclass(eq=False)
class _Sent:
    """A task that a worker has: its model's number, how much the worker had printed on standard error
    before, and the numbers of its requests."""

    session: _Session
    task: Task
    request: CaseRequest
    model: int
    printed: int
    unload: int | None = None
    load: int | None = None
    run: int = 0


class Lane:
    """Runs tasks on workers of one launch.

    `deaths` counts the workers lost in a row, without an answer in between. `unload_losses` counts those that
    were lost between two cases, which no case is to blame for. `network` says why the worker that was started
    last can reach the network; None where it is cut off, or was not to be.
    """

    def __init__(self, launch: Launch, adapter: Adapter, limits: Limits) -> None:
        self._launch = launch
        self._adapter = adapter
        self._limits = limits
        self._session: _Session | None = None
        self._offer: Offer | None = None
        self.network: str | None = None
        self.deaths = 0
        self.unload_losses: list[str] = []

    def start(self) -> Offer:
        """Start a worker and read its offer; raises RuntimeUnavailable, with what the worker printed."""
        process = WorkerProcess(self._launch, self._limits)
        self._session = _Session(process)
        started = False
        limit = self._limits.start_seconds
        hello = {"type": "hello", "id": 0, "protocol": 1, "options": dict(self._launch.options)}
        process.send(hello)
        try:
            frame = process.receive(0, limit, time.monotonic() + limit)
            if frame.header.get("type") == "error":
                message = f"{frame.header.get('kind')}: {frame.header.get('message')}"
                raise RuntimeUnavailable("the runtime does not start", got=message)
            self._offer = read_offer(frame.header)
            self.network = process.read_isolation()
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
        return self._offer

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Response]]:
        """The response to each task, in order; tasks are taken from `tasks` no sooner than they can be sent.

        Raises RuntimeUnavailable where a new worker is needed and does not start.
        """
        ahead: deque[_Sent | tuple[Task, Response]] = deque()
        for task in tasks:
            self._revive(ahead)
            ahead.append(self._submit(task))
            while len(ahead) >= _IN_FLIGHT:
                yield self._finish(ahead)
        while ahead:
            yield self._finish(ahead)

    def loaded_files(self) -> set[Path]:
        """The files that the worker runs code from; none where there is no worker."""
        return set() if self._session is None else self._session.process.loaded_files()

    def close(self) -> None:
        """Let the worker go."""
        if self._session is not None:
            self._session.process.close()

    def stop(self) -> None:
        """Called by another thread: end the wait for the worker that is running."""
        if self._session is not None:
            self._session.process.stop = True

    def kill(self) -> None:
        if self._session is not None:
            self._session.process.kill()

    def _submit(self, task: Task) -> _Sent | tuple[Task, Response]:
        """Send a task to the worker; a task that is not to be sent has its response at once."""
        offer = self._offer or self.start()
        refusal = offer.refusal(task.case)
        if refusal is not None:
            return task, refusal
        try:
            how = offer.takes_as(task.case)
            assert how is not None
            request = encode_case(task.case, task.form, how, task.valid_case, offer.threads_of(task.repeat))
        except (OpcertError, ValueError, TypeError) as error:
            return task, HarnessFailed(f"the case cannot be sent: {type(error).__name__}: {error}")
        return self._send(task, request)

    def _send(self, task: Task, request: CaseRequest) -> _Sent:
        if self._session is None or not self._session.process.alive:
            self.start()
        session = self._session
        assert session is not None
        send, printed = session.process.send, session.process.printed
        if session.loaded is not None and request.same_model(session.loaded[1]):
            sent = _Sent(session, task, request, session.loaded[0], printed)
        else:
            sent = _Sent(session, task, request, session.number(), printed)
            if session.loaded is not None:
                sent.unload = session.number()
                send({"type": "unload", "id": sent.unload, "model": session.loaded[0]})
            sent.load = session.number()
            send({**request.load, "id": sent.load, "model": sent.model}, request.load_blobs)
            session.loaded = (sent.model, request)
        sent.run = session.number()
        send({**request.run, "id": sent.run, "model": sent.model}, request.run_blobs)
        session.process.flush()
        return sent

    def _finish(self, ahead: deque[_Sent | tuple[Task, Response]]) -> tuple[Task, Response]:
        while True:
            self._revive(ahead)
            first = ahead.popleft()
            if not isinstance(first, _Sent):
                return first
            response = self._await(first)
            if response is None:
                # The worker was lost between two cases: this one has had no chance yet.
                ahead.appendleft(first)
                continue
            self.deaths = self.deaths + 1 if isinstance(response, Crashed | TimedOut) else 0
            return first.task, response

    def _revive(self, ahead: deque[_Sent | tuple[Task, Response]]) -> None:
        """Send again, to a new worker, what a lost one had been given."""
        for position, each in enumerate(ahead):
            if isinstance(each, _Sent) and not (each.session is self._session and each.session.process.alive):
                ahead[position] = self._send(each.task, each.request)

    def _await(self, sent: _Sent) -> Response | None:
        """The response to the oldest task that the worker has; None where an earlier model took it down."""
        session = sent.session
        process, limit = session.process, self._limits.case_seconds
        process.mark(sent.printed)
        begin = time.monotonic()
        stage = "unload"
        try:
            if sent.unload is not None:
                process.receive(sent.unload, limit, begin + limit)
            stage, begin = "load", time.monotonic()
            seconds = 0.0
            if sent.load is not None:
                frame = process.receive(sent.load, limit, begin + limit)
                seconds = seconds_of(frame)
                if frame.header.get("type") == "error":
                    session.refused[sent.model] = read_error(frame.header, stage, self._adapter, seconds)
                elif frame.header.get("type") != "loaded":
                    raise BrokenProtocol(f"an answer to load of type {frame.header.get('type')!r}")
            stage = "run"
            frame = process.receive(sent.run, limit, begin + limit)
            if sent.model in session.refused:
                session.loaded = (
                    None if session.loaded and session.loaded[0] == sent.model else session.loaded
                )
                return session.refused[sent.model]
            seconds = seconds + seconds_of(frame) or time.monotonic() - begin
            if frame.header.get("type") == "error":
                return read_error(frame.header, stage, self._adapter, seconds)
            return read_outputs(frame, seconds)
        except WorkerHung as hung:
            if stage == "unload":
                self.unload_losses.append(f"no answer within {limit:g} s")
                return None
            return TimedOut(hung.limit, stage, hung.stderr)
        except WorkerLost as lost:
            if stage == "unload" or lost.earlier:
                self.unload_losses.append(lost.reason)
                return None
            reason = f"{lost.reason} at {stage}"
            return Crashed(reason, lost.signal_name, lost.status, lost.stderr, time.monotonic() - begin)
        except BrokenProtocol as error:
            return Crashed(f"broke the protocol with {error}", stderr=process.kill())
