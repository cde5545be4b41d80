"""What several lanes run next: the cases that take longest first, so that all end at one time."""

from __future__ import annotations

import json
import math
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from conformance.running.task_source import RunPlan, TaskSource
from conformance.running.tasks import Task
from conformance.suite.cases import Case
from opcert.vocabulary.names import operator_path_of

_MOST_TOGETHER, _SECONDS_TOGETHER = 16, 0.05
_NONE_LEFT = -1.0
_DAMAGED = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)


class LongestFirst(TaskSource):
    """Hands out tasks to several lanes, what takes longest first, so that they end at one time.

    All rows of a case go to one lane, and so do neighbours that share a model or take little time. What takes
    longest is known by `times`, the seconds that cases took before, or else by what the operator's cases take
    in this run; what nobody knows comes first.
    """

    def __init__(self, plan: RunPlan, times: Mapping[str, float] | None = None) -> None:
        super().__init__(plan)
        self._times = times or {}
        self._lock = threading.Lock()
        self._taken = bytearray(len(plan.selected))
        self._looked_at: dict[int, list[Task]] = {}
        numbers: dict[str, int] = {}
        self._group_of = array("I")
        self._waiting: list[array[int]] = []
        for position, case_id in enumerate(plan.selected):
            group = numbers.setdefault(operator_path_of(case_id), len(numbers))
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
                yield from self._tasks_of(position)

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
            goes_along = self._company_of(position)
            while len(found) < _MOST_TOGETHER:
                position += 1
                if position == len(self._taken) or self._taken[position] or not goes_along(position):
                    break
                found.append(position)
            for each in found:
                self._taken[each] = 1
            return found

    def _company_of(self, first: int) -> Callable[[int], bool]:
        """Whether the case behind those that were asked for before may go along with them and a first one.

        Those of its operator may until they take too long; where nobody knows, those that share its model.
        """
        group = self._group_of[first]
        spent = self._seconds(first)
        if spent == math.inf:
            task = self._first_task(first)
            return lambda position: share_model(task.case, self._first_task(position).case)

        def short(position: int) -> bool:
            nonlocal spent
            spent += self._seconds(position)
            return self._group_of[position] == group and spent <= _SECONDS_TOGETHER

        return short

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
        self._expected[group] = self._seconds(waiting[-1]) if waiting else _NONE_LEFT

    def _seconds(self, position: int) -> float:
        """What a case is expected to take."""
        known = self._times.get(self._plan.selected[position]) if self._times else None
        total, count = self._spent[self._group_of[position]]
        return known if known is not None else total / count if count else math.inf

    def _tasks_of(self, position: int) -> Iterable[Task]:
        """The tasks of a case: those that were looked at, whose case was read then."""
        return self._looked_at.pop(position, None) or self._plan.tasks_of(position)

    def _first_task(self, position: int) -> Task:
        if position not in self._looked_at:
            self._looked_at[position] = list(self._plan.tasks_of(position))
        return self._looked_at[position][0]


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

    Of one that is broken they are those before the place. What the runtime died of counts as nothing: many
    workers lost one behind the other would look like a runtime that answers nothing.
    """
    found: dict[str, float] = {}
    deadly: set[str] = set()
    if not path.is_file():
        return found
    with suppress(*_DAMAGED), path.open("rb") as lines:
        header = json.loads(lines.readline())
        if header.get("suite") != suite or (header.get("runtime") or {}).get("source") != runtime:
            return {}
        for line in lines:
            row = json.loads(line)
            if row.get("type") == "result" and row["seconds"] > 0:
                found[row["case"]] = found.get(row["case"], 0.0) + float(row["seconds"])
                if row.get("verdict") == "crash":
                    deadly.add(row["case"])
    return found | dict.fromkeys(deadly, 0.0)
