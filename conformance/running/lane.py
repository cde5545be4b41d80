"""One lane of a run: a worker, and the cases that it is given one after the other.

While the harness judges a case, the worker already has the next ones. When a worker is lost, the case that
it was at gets the blame, and those behind it are given to a new worker.
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from conformance.judging.responses import (
    Answered,
    Crashed,
    HarnessFailed,
    Loaded,
    NotOffered,
    Refused,
    Response,
    TimedOut,
)
from conformance.processes.frames import BrokenProtocol
from conformance.processes.worker_limits import Limits
from conformance.processes.worker_process import Launch, WorkerHung, WorkerLost, WorkerProcess
from conformance.running.first_worker import begin_worker
from conformance.running.requests import CaseRequest, Offer, encode_runs, read_error, seconds_of
from conformance.running.returned_values import read_outputs, read_touched
from conformance.running.run_options import Task
from conformance.running.session import Sent, WholeRequest, WorkerSession, load_whole, send_task, shake_hands
from conformance.runtimes.adapter import Adapter
from conformance.suite.cases import Case
from opcert.vocabulary.errors import OpcertError, RuntimeUnavailable

_SECONDS_IN_FLIGHT = 0.1
_FEWEST_IN_FLIGHT, _MOST_IN_FLIGHT = 4, 64
_BYTES_IN_FLIGHT = 8 << 20
"""A worker has as many cases before it as take it about so long, within limits, and of large ones two."""

_NAP = 0.25
"""The part of the time that a worker needs for what it has in which nobody looks for its answers."""

_REACHES, _HANGS = 3, 2
"""So often a case is asked of another machine where the connection ends, and where no answer comes."""
_LONGER = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds until another machine that is out of reach is asked for a worker again."""

_REMEMBERED = 0.9
"""How much of what a case is thought to take stays when another one has been answered."""


Begun = Sent | tuple[Task, Response]
"""A task that a worker has, or one that is not to be sent, with its response."""


class Lane:
    """Runs tasks on workers of one launch.

    `deaths` counts the workers lost in a row, without an answer in between. `unload_losses` counts those that
    were lost between two cases, which no case is to blame for, `cuts` connections to another machine that
    ended. `lacking` says what the worker that was started last could not be kept from, each with the reason.
    `begun` is a worker that has its `hello` already and is the lane's first.
    Once a worker was lost, the one behind the next starts as well: a runtime that dies once may do so again.
    What is lost on the way to another machine is asked again, and no case is blamed for it.
    """

    def __init__(
        self, launch: Launch, adapter: Adapter, limits: Limits, begun: WorkerProcess | None = None
    ) -> None:
        self._launch = launch
        self._begun = begun
        self._adapter = adapter
        self._limits = limits
        self._session: WorkerSession | None = None
        self._offer: Offer | None = None
        self.lacking: dict[str, str] = {}
        # Seconds that a case takes, the latest counting most.
        self._pace = _SECONDS_IN_FLIGHT / _FEWEST_IN_FLIGHT
        self._latest = "nothing"
        self.deaths = 0
        self._unreached: Counter[tuple[str, str, bool]] = Counter()
        self.unload_losses: list[str] = []
        self.cuts = 0

    def begin(self) -> None:
        """Let the first worker start, without waiting for it; raises RuntimeUnavailable where it cannot."""
        if self._begun is None:
            self._begun = begin_worker(self._launch, self._limits)

    def start(self) -> Offer:
        """Start a worker and read its offer; raises RuntimeUnavailable, with what the worker printed."""
        again = self._session is not None
        pauses = iter(_LONGER if again and self._launch.machine else ())
        while True:
            waited = again and self._begun is not None
            self.begin()
            process, self._begun = self._begun, None
            assert process is not None
            self._session = WorkerSession(process)
            try:
                self._offer = shake_hands(process, self._limits)
                break
            except RuntimeUnavailable:
                # One that waited for its turn may have gone: a new one says whether the runtime starts.
                if not waited and not self._pause(next(pauses, 0.0)):
                    raise
        self.lacking = process.read_isolation()
        if again and not self._launch.machine:
            with suppress(RuntimeUnavailable):
                self.begin()
        return self._offer

    def run(
        self, tasks: Iterable[Task], wanted: Callable[[Task], bool] = lambda _: True
    ) -> Iterator[tuple[Task, Response]]:
        """The response to each task, in order; tasks are taken from `tasks` no sooner than they can be sent.

        What is not `wanted` when it is taken, or when a lost worker's tasks are given to a new one, has none.
        Raises RuntimeUnavailable where a new worker is needed and does not start.
        """
        ahead: deque[Begun] = deque()
        for task in filter(wanted, tasks):
            self._revive(ahead, wanted)
            ahead.append(self._submit(task))
            while self._is_enough(ahead):
                yield from self._finish(ahead, wanted)
        while ahead:
            yield from self._finish(ahead, wanted)

    def load(self, model: WholeRequest) -> Response | Loaded:
        """What the worker says to a model before it runs; it is forgotten at once.

        Raises RuntimeUnavailable where a worker is needed and does not start.
        """
        for left in range(_REACHES if self._launch.machine else 1, 0, -1):
            offer = self._offer or self.start()
            if self._session is None or not self._session.process.alive:
                offer = self.start()
            assert self._session is not None
            found = load_whole(self._session, offer, model, self._adapter, self._limits.to_load)
            if left == 1 or not isinstance(found, HarnessFailed | TimedOut):
                break
        return found

    def loaded_files(self) -> set[Path]:
        """The files that the worker runs code from; none where there is no worker."""
        return set() if self._session is None else self._session.process.loaded_files()

    def close(self) -> None:
        """Let the workers go."""
        if self._session is not None:
            self._session.process.close()
        if self._begun is not None:
            self._begun.kill()

    def stop(self) -> None:
        """Called by another thread: end the wait for the worker that is running."""
        if self._session is not None:
            self._session.process.stop = True

    def kill(self) -> None:
        for process in (self._begun, None if self._session is None else self._session.process):
            if process is not None:
                process.kill()

    def _submit(self, task: Task) -> Begun:
        """Send a task to the worker; a task that is not to be sent has its response at once."""
        offer = self._offer or self.start()
        case, valid = task.case, task.valid_case
        try:
            request = offer.refusal(case) or _request_of(task, case, valid, offer)
        except (OpcertError, ValueError, TypeError) as error:
            return task, HarnessFailed(f"the case cannot be sent: {type(error).__name__}: {error}")
        return (task, request) if isinstance(request, NotOffered) else self._send(task, request)

    def _send(self, task: Task, request: CaseRequest) -> Sent:
        if self._session is None or not self._session.process.alive:
            self.start()
        session = self._session
        assert session is not None
        return send_task(session, task, request)

    def _is_enough(self, ahead: deque[Begun]) -> bool:
        """Whether the worker has enough before it for a while."""
        wanted = min(_MOST_IN_FLIGHT, max(_FEWEST_IN_FLIGHT, _SECONDS_IN_FLIGHT / self._pace))
        if len(ahead) >= wanted:
            return True
        size = sum(sent.bytes for sent in ahead if isinstance(sent, Sent)) if len(ahead) > 1 else 0
        return size > _BYTES_IN_FLIGHT

    def _finish(
        self, ahead: deque[Begun], wanted: Callable[[Task], bool]
    ) -> tuple[()] | tuple[tuple[Task, Response]]:
        """The oldest task with its response; nothing where none is wanted any more."""
        while True:
            self._revive(ahead, wanted)
            if not ahead:
                return ()
            first = ahead.popleft()
            if not isinstance(first, Sent):
                return (first,)
            response = self._await_all(first, _NAP * self._pace * len(ahead))
            if response is None:
                # The worker was lost between two cases: this one has had no chance yet.
                ahead.appendleft(first)
                continue
            first.session.answered = True
            self.deaths = self.deaths + 1 if isinstance(response, Crashed | TimedOut) else 0
            self._latest = first.task.case_id
            if isinstance(response, Answered | Refused):
                self._pace = _REMEMBERED * self._pace + (1 - _REMEMBERED) * max(response.seconds, 1e-6)
            return ((first.task, response),)

    def _revive(self, ahead: deque[Begun], wanted: Callable[[Task], bool]) -> None:
        """Send again, to a new worker, what a lost one had been given: all that was sent, or nothing."""
        oldest = next((sent for sent in ahead if isinstance(sent, Sent)), None)
        if oldest is None or (oldest.session is self._session and oldest.session.process.alive):
            return
        kept = [each for each in ahead if wanted(each.task if isinstance(each, Sent) else each[0])]
        ahead.clear()
        for each in kept:
            ahead.append(self._send(each.task, each.request) if isinstance(each, Sent) else each)

    def _await_all(self, sent: Sent, nap: float) -> Response | None:
        """The response to a task; where it is run twice, the outputs of both runs one behind the other.

        Where its form has several runs, the first answer with the others; or the first that is none.
        """
        found: list[Response] = []
        for each in (sent, *sent.further):
            response = self._await(each, nap)
            if isinstance(response, Crashed | TimedOut) and not each.request.asked:
                # What another call kills is no fault of this one, which runs without it.
                return self._await_all(self._send(sent.task, sent.request.without_others()), nap)
            if response is None or isinstance(response, Crashed | TimedOut):
                return response
            if isinstance(response, Answered):
                response = replace(response, told=each.request.told)
            if each.request.asked:
                found.append(response)
        answers = [answered for answered in found if isinstance(answered, Answered)]
        if len(answers) < len(found):
            return next(each for each in found if not isinstance(each, Answered))
        first, *others = answers
        if sent.request.again:
            outputs = tuple(output for answer in answers for output in answer.outputs)
            return Answered(outputs, math.fsum(answer.seconds for answer in answers))
        return replace(first, further=tuple(others)) if others else first

    def _await(self, sent: Sent, nap: float) -> Response | None:
        """The response to the oldest task that the worker has; None where an earlier model took it down."""
        session = sent.session
        process, limit, to_load = session.process, self._limits.case_seconds, self._limits.to_load
        process.mark(max(sent.printed, process.settled))
        begin = time.monotonic()
        stage = "unload"
        try:
            if sent.unload is not None:
                process.receive(sent.unload, limit, begin + limit, nap)
            stage, begin = "load", time.monotonic()
            seconds = 0.0
            if sent.load is not None:
                frame = process.receive(sent.load, to_load, begin + to_load, nap)
                seconds = seconds_of(frame)
                if frame.header.get("type") == "error":
                    session.refused[sent.model] = read_error(frame.header, stage, self._adapter, seconds)
                elif frame.header.get("type") != "loaded":
                    raise BrokenProtocol(f"an answer to load of type {frame.header.get('type')!r}")
            stage = "run"
            if self._limits.load_seconds is not None:
                begin = time.monotonic()
            frame = process.receive(sent.run, limit, begin + limit, nap)
            if sent.model in session.refused:
                session.loaded = (
                    None if session.loaded and session.loaded[0] == sent.model else session.loaded
                )
                return session.refused[sent.model]
            seconds = seconds + seconds_of(frame) or time.monotonic() - begin
            if frame.header.get("type") == "error":
                return read_error(frame.header, stage, self._adapter, seconds)
            answered = read_outputs(frame, seconds, sent.request.returned)
            if frame.header.get("kept") is True:
                answered = replace(answered, kept=True)
            if sent.task.form == "untouched":
                return replace(answered, touched=read_touched(frame))
            return answered
        except WorkerHung as hung:
            if stage == "unload":
                self._note_loss(f"no answer within {limit:g} s")
                return None
            if self._is_asked_again(sent, hung=True):
                return None
            return TimedOut(hung.limit, stage, hung.stderr)
        except WorkerLost as lost:
            if lost.out_of_reach:
                self.cuts += 1
                if self._is_asked_again(sent, hung=False):
                    return None
                return HarnessFailed(f"{lost.reason} {_REACHES} times while the case ran")
            # Who has answered nothing yet does so each time, and there is no earlier case to be blamed.
            if stage == "unload" or (lost.earlier and session.answered):
                self._note_loss(lost.reason)
                return None
            reason = f"{lost.reason} at {stage}"
            spent = time.monotonic() - begin
            return Crashed(reason, lost.signal_name, lost.status, lost.stderr, spent, lost.by_limit)
        except BrokenProtocol as error:
            return Crashed(f"broke the protocol with {error}", stderr=process.kill())

    def _pause(self, seconds: float) -> bool:
        """Wait for so long; False where that is no time, or the run is to end meanwhile."""
        assert self._session is not None
        process, end = self._session.process, time.monotonic() + seconds
        while not process.stop and time.monotonic() < end:
            time.sleep(min(0.1, seconds))
        return seconds > 0 and not process.stop

    def _is_asked_again(self, sent: Sent, *, hung: bool) -> bool:
        """Whether a case that another machine did not answer is asked again: nobody knows yet who failed."""
        if not self._launch.machine:
            return False
        loss = (sent.task.case_id, sent.task.form, hung)
        self._unreached[loss] += 1
        return self._unreached[loss] < (_HANGS if hung else _REACHES)

    def _note_loss(self, reason: str) -> None:
        self.unload_losses.append(f"{reason} after {self._latest}")


def _request_of(task: Task, case: Case, valid_case: Case | None, offer: Offer) -> CaseRequest:
    """A task as it is sent to a worker with an offer."""
    how = offer.takes_as(case)
    assert how is not None
    between = task.between if task.form == "again" else None
    return encode_runs(case, task.form, how, valid_case, offer, task.repeat, between).encoded()
