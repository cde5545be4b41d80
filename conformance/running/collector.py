"""Where the responses of all lanes come together: they are judged, recorded, counted and compared."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from conformance.judging.judge import Judgement, check_judge, decisive, judge
from conformance.judging.responses import Answered, Crashed, Refused, Response, TimedOut
from conformance.judging.verdicts import FAILING, NOT_RUN
from conformance.recording.faults import FaultFinder
from conformance.recording.records import Order, Record, RecordWriter
from conformance.recording.rows import CaseVerdicts, Result, count_verdicts, make_result
from conformance.running.progress import Progress
from conformance.running.run_options import RunOptions, RunPlan, Task
from conformance.suite.suites import Suite

_UNKNOWN, _ANSWERED, _REFUSED = range(3)
_LEFT_OUT = "other cases of the same call have lost their workers"


class Halt:
    """Why the run is to end before its cases do; the first reason stands."""

    def __init__(self) -> None:
        self.kind: str | None = None
        self.reason: str | None = None
        self._lock = threading.Lock()

    def set(self, kind: str, reason: str) -> None:
        with self._lock:
            if self.reason is None:
                self.kind, self.reason = kind, reason


class Collector:
    """Takes responses from lanes, which may be in several threads, and writes the record.

    `threads` is how many thread counts take turns in repetitions. `answered_task` is the first task that the
    runtime answered; `rows` counts what was recorded. `machine` names in each row where it was made.
    """

    def __init__(
        self,
        suite: Suite,
        writer: RecordWriter,
        progress: Progress,
        options: RunOptions,
        threads: int = 1,
        *,
        machine: str | None = None,
    ) -> None:
        self.options = options
        self.progress = progress
        self.halt = Halt()
        self.rows = 0
        self.answered_task: Task | None = None
        self._suite = suite
        self._writer = writer
        self._lock = threading.Lock()
        self._faults = FaultFinder(threads)
        # By place in the run and in the suite, because there may be many cases.
        self._verdicts = CaseVerdicts()
        self._answered: dict[str, bytearray] = {}
        self._same_case: dict[int, list[tuple[Order, Result]]] = {}
        self._unsettled: list[tuple[Task, Refused]] = []
        self._failing = 0
        self._lost: Counter[str] = Counter()
        self._machine = machine

    def wants(self, task: Task) -> bool:
        """Whether a task is to run still: of its call not as many cases as may have lost their workers."""
        most = self.options.most_lost
        return most is None or self._lost[task.call] < most

    def take(self, task: Task, response: Response, again: tuple[str, ...] = ()) -> None:
        """Judge and record a response, or keep it until it is known whether the valid case is answered.

        `again` is what further tries of a case came to that killed its worker.
        """
        valid = True
        if isinstance(response, Refused) and task.must_be_refused:
            known = self._valid_case_answered(task)
            if known is None:
                with self._lock:
                    self._unsettled.append((task, response))
                return
            valid = known
        response = decisive(task.case, response)
        judgement = judge(task.case, response, valid_case_answered=valid)
        with self._lock:
            if isinstance(response, Crashed | TimedOut):
                self._lost[task.call] += 1
            if (
                self.answered_task is None
                and isinstance(response, Answered)
                and check_judge(task.case, response)
            ):
                self.answered_task = task
            self._note_answered(task.case_id, task.form, isinstance(response, Answered))
            self._record(task, response, judgement, again)

    def settle(self, ask: Callable[[Iterable[Task]], Iterable[tuple[Task, Response]]]) -> None:
        """Judge what waits for a valid case that was not among those that ran, by asking the runtime."""
        while True:
            with self._lock:
                if not self._unsettled:
                    return
                task, response = self._unsettled.pop()
            if self._valid_case_answered(task) is None:
                assert task.valid_case is not None
                probe = Task.of(task.valid_case, task.form, 0, task.order)
                for _, answer in ask([probe]):
                    with self._lock:
                        self._note_answered(str(task.valid_case.id), task.form, isinstance(answer, Answered))
            self.take(task, response)

    def _valid_case_answered(self, task: Task) -> bool | None:
        valid_case = task.valid_case_id
        if valid_case is None:
            return False
        known = self._answered.get(task.form)
        found = known[self._suite.position(valid_case)] if known else _UNKNOWN
        return None if found == _UNKNOWN else found == _ANSWERED

    def _note_answered(self, case_id: str, form: str, answered: bool) -> None:
        if form not in self._answered:
            self._answered[form] = bytearray(len(self._suite.case_ids))
        self._answered[form][self._suite.position(case_id)] = _ANSWERED if answered else _REFUSED

    def begin(self, kept: Iterable[tuple[Result, Order]], plan: RunPlan) -> None:
        """Count the rows that an earlier part of the run has recorded already; the others are to come."""
        for result, order in kept:
            self._note_answered(result.case, result.form, result.response == "answered")
            self._count(result, order, plan.rows_of(result.case))
        self.progress.start(plan.rows - plan.rows_done, len(plan.selected) - len(plan.done))

    def accept(self, rows: Sequence[tuple[Result, Order, bytes]], plan: RunPlan) -> None:
        """Record, by their lines, and count rows of elsewhere, where valid cases were asked about as well."""
        self._writer.append_lines(rows)
        for result, order, _ in rows:
            self.rows += 1
            self._count(result, order, plan.rows_of(result.case))
            self.progress.advance(result)

    def finish(
        self,
        tasks: Iterable[Task],
        unload_losses: Sequence[str],
        loaded: Sequence[Mapping[str, Any]] | None = None,
        **told: Any,
    ) -> Record:
        """Record what was not run as such, and write the footer; `loaded` are files by their digests in it,
        `told` is what else it says.

        Returns the record as it was written.
        """
        stopped = None
        if self.halt.reason is not None:
            stopped = {"kind": self.halt.kind, "reason": self.halt.reason}
        if stopped is not None or self.options.most_lost is not None:
            recorded = self._writer.places.orders()
            for task in tasks:
                if task.order not in recorded:
                    self._record(task, None, Judgement(NOT_RUN, self.halt.reason or _LEFT_OUT))
        counts = count_verdicts(self._verdicts)
        more: dict[str, Any] = {**told, **({} if stopped is None else {"stopped": stopped})}
        if loaded is not None:
            more["loaded"] = list(loaded)
        return self._writer.finish(counts, self._faults.faults(unload_losses), **more)

    def _record(
        self, task: Task, response: Response | None, judgement: Judgement, again: tuple[str, ...] = ()
    ) -> None:
        outputs: tuple[Any, ...] = ()
        if isinstance(response, Answered):
            matched = judgement.matched or (None,) * len(response.outputs)
            keep = self._writer.outputs.keep
            outputs = tuple(keep(output, bit) for output, bit in zip(response.outputs, matched, strict=True))
        result = make_result(
            task.case, task.form, task.repeat, response, judgement, outputs, again, self._machine
        )
        self._writer.append(result, task.order)
        self.rows += 1
        self._count(result, task.order, task.rows)
        self.progress.advance(result)

    def _count(self, result: Result, order: tuple[int, int, int], rows: int) -> None:
        before, verdict = self._verdicts.add(order[0], result.verdict)
        if verdict in FAILING and before not in FAILING:
            self._failing += 1
            if self._failing == self.options.max_failures:
                self.halt.set("max_failures", f"{self._failing} cases have failed, as many as were allowed")
        self._faults.see(result, order[0])
        if rows > 1 and result.response != "none":
            self._compare_rows(result, order, rows)

    def _compare_rows(self, result: Result, order: Order, count: int) -> None:
        """Keep the rows of a case until they are all there, then compare them in the order of the record."""
        place = order[0]
        rows = self._same_case.setdefault(place, [])
        rows.append((order, result))
        if len(rows) == count:
            self._faults.compare([row for _, row in sorted(rows, key=itemgetter(0))], place)
            del self._same_case[place]
