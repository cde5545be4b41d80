"""Which case a lane runs next: one lane takes them in suite order, several the longest first."""

from __future__ import annotations

import json
import math
import threading
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from conformance.models.case_models import Form
from conformance.running.kept_answers import KeptRun
from conformance.running.responses import NotOffered
from conformance.running.tasks import Task
from conformance.suite.cases import Case
from conformance.suite.form_sample import forms_by_case
from conformance.suite.suites import Suite

_MOST_TOGETHER = 16
_NONE_LEFT = -1.0


@dataclass(frozen=True)
class Plan:
    """The rows that a run is to have: each selected case in each form, so many times.

    With `sampled` only so many cases of each operator version go in all forms, the others in the first alone.
    A case that `own_forms` has goes in those of its forms that there are, or else in the first of all.
    `kept` is what earlier runs knew of these rows.
    """

    suite: Suite
    selected: Sequence[str]
    forms: Sequence[Form]
    repeat: int
    done: Collection[str] = ()
    sampled: int | None = None
    own_forms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kept: KeptRun | None = None

    @cached_property
    def forms_by_case(self) -> Mapping[str, Sequence[str]]:
        """The forms that each case of the suite goes in."""
        return forms_by_case(self.suite.case_ids, self.forms, self.sampled, self.own_forms)

    def rows_of(self, case_id: str) -> int:
        """How many rows a case has."""
        return len(self.forms_by_case[case_id]) * self.repeat

    @property
    def rows(self) -> int:
        """How many rows the selected cases have."""
        return sum(map(self.rows_of, self.selected))

    @property
    def rows_done(self) -> int:
        """How many rows those have that are done."""
        return sum(map(self.rows_of, self.done))

    def tasks(self) -> Iterator[Task]:
        """Every row of the cases that are not done, in the order of the record."""
        for position, case_id in enumerate(self.selected):
            if case_id not in self.done:
                yield from self.tasks_of(position)

    def tasks_of(self, position: int) -> Iterator[Task]:
        """The rows of one selected case; it is read once, where somebody asks for it."""
        case_id = self.selected[position]
        own = self.forms_by_case[case_id]
        rows, read = len(own) * self.repeat, cache(self.suite.case)
        for form_position, form in enumerate(self.forms):
            for number in range(self.repeat if form in own else 0):
                known = None if self.kept is None or number else self.kept.find(case_id, form)
                order = (position, form_position, number)
                yield Task(case_id, form, number, order, rows, read, self._read_valid, known)

    def _read_valid(self, case: Case) -> Case | None:
        """The case that one that must be refused was made from, where the suite has it."""
        if case.valid_case is None or case.demand == "answer" or case.valid_case not in self.suite:
            return None
        return self.suite.case(case.valid_case)


class TaskSource:
    """Hands out tasks to one lane, in the order of the record."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def lane(self) -> Iterator[Task]:
        """The tasks for one lane, until there are none left."""
        return self._plan.tasks()

    def measured(self, task: Task, seconds: float) -> None:
        """What a row took; here nothing depends on it."""


class LongestFirst(TaskSource):
    """Hands out tasks to several lanes, what takes longest first, so that they end at one time.

    All rows of a case go to one lane, and so do neighbours that share a model. What takes longest is known by
    `times`, the seconds that cases took before, or else by what the operator's cases take in this run; what
    nobody knows comes first.
    """

    def __init__(self, plan: Plan, times: Mapping[str, float] | None = None) -> None:
        super().__init__(plan)
        self._times = times or {}
        self._lock = threading.Lock()
        self._taken = bytearray(len(plan.selected))
        numbers: dict[str, int] = {}
        self._group_of = array("I")
        self._waiting: list[array[int]] = []
        for position, case_id in enumerate(plan.selected):
            group = numbers.setdefault(case_id.rsplit("/", 2)[0], len(numbers))
            self._group_of.append(group)
            if group == len(self._waiting):
                self._waiting.append(array("I"))
            if case_id in plan.done:
                self._taken[position] = 1
            else:
                self._waiting[group].append(position)
        self._waiting = [self._last_first(each) for each in self._waiting]
        self._spent = [(0.0, 0)] * len(numbers)
        self._expected = [0.0] * len(numbers)
        for group in range(len(numbers)):
            self._expect(group)

    def _last_first(self, positions: array[int]) -> array[int]:
        """The cases of a group, of which the last is taken first."""
        if self._times:
            selected = self._plan.selected
            ordered = sorted(positions, key=lambda each: -self._times.get(selected[each], math.inf))
            positions = array("I", ordered)
        positions.reverse()
        return positions

    def lane(self) -> Iterator[Task]:
        """The tasks for one lane, until there are none left."""
        while cases := self._take():
            for position in cases:
                yield from self._plan.tasks_of(position)

    def measured(self, task: Task, seconds: float) -> None:
        """What a row took."""
        with self._lock:
            group = self._group_of[task.order[0]]
            total, count = self._spent[group]
            self._spent[group] = total + seconds, count + 1
            self._expect(group)

    def _take(self) -> list[int]:
        with self._lock:
            position = self._longest()
            if position is None:
                return []
            found = [position]
            first = self._first_task(position)
            while len(found) < _MOST_TOGETHER:
                position += 1
                if position == len(self._taken) or self._taken[position]:
                    break
                if not _send_one_model(first, self._first_task(position)):
                    break
                found.append(position)
            for each in found:
                self._taken[each] = 1
            return found

    def _longest(self) -> int | None:
        """The case that is expected to take longest of those that nobody took."""
        while self._expected:
            group = max(range(len(self._expected)), key=self._expected.__getitem__)
            if self._expected[group] == _NONE_LEFT:
                return None
            position = self._waiting[group].pop()
            self._expect(group)
            if not self._taken[position]:
                return position
        return None

    def _expect(self, group: int) -> None:
        """Say what the next case of a group is expected to take."""
        waiting = self._waiting[group]
        if not waiting:
            self._expected[group] = _NONE_LEFT
            return
        total, count = self._spent[group]
        known = self._times.get(self._plan.selected[waiting[-1]]) if self._times else None
        self._expected[group] = known if known is not None else total / count if count else math.inf

    def _first_task(self, position: int) -> Task:
        return next(self._plan.tasks_of(position))


def _send_one_model(first: Task, second: Task) -> bool:
    """Whether two tasks are the same call with other data, by what they were sent as where that is kept."""
    if first.kept is None or second.kept is None:
        return share_model(first.case, second.case)
    requests = first.kept.request, second.kept.request
    if isinstance(requests[0], NotOffered) or isinstance(requests[1], NotOffered):
        return False
    return requests[0].same_model(requests[1])


def share_model(first: Case, second: Case) -> bool:
    """Whether two cases are the same call with other data."""
    return (
        first.operator == second.operator
        and first.attributes == second.attributes
        and first.model == second.model
        and _types(first) == _types(second)
    )


def _types(case: Case) -> list[object]:
    return [(name, None if each is None else (each.element_type, each.shape)) for name, each in case.inputs]


def earlier_times(path: Path, suite: str, runtime: str) -> dict[str, float]:
    """The seconds of each case in a record of the same suite and runtime at a place; none where it is not.

    Of one that is broken they are those before the place.
    """
    found: dict[str, float] = {}
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError), path.open("rb") as lines:
        header = json.loads(lines.readline())
        if header.get("suite") != suite or (header.get("runtime") or {}).get("source") != runtime:
            return {}
        for line in lines:
            row = json.loads(line)
            if row.get("type") == "result" and row["seconds"] > 0:
                found[row["case"]] = found.get(row["case"], 0.0) + float(row["seconds"])
    return found
