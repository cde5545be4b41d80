"""Tasks: the rows that a run is to have, and which of them a lane runs next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import islice
from typing import Self

from conformance.models.case_models import Form
from conformance.recording.records import Order
from conformance.suite.cases import Case
from conformance.suite.form_sample import CASES, form_sample, forms_by_case
from conformance.suite.suites import Suite


@dataclass(frozen=True, eq=False)
class Task:
    """One row to come: a case in a form, for the `repeat`th time.

    `order` is its place in the record, `rows` the number of rows of its case. `read` reads the case, and
    `read_valid` the one that a case which must be refused was made from: only where somebody asks for it.
    `read_between` reads the call of other extents that runs before each run of the case, where there is one.
    """

    case_id: str
    form: Form
    repeat: int
    order: Order
    rows: int
    read: Callable[[str], Case]
    read_valid: Callable[[Case], Case | None]
    read_between: Callable[[str], Case | None] = lambda _: None

    @classmethod
    def of(
        cls,
        case: Case,
        form: Form,
        repeat: int = 0,
        order: Order = (0, 0, 0),
        rows: int = 1,
        valid_case: Case | None = None,
    ) -> Self:
        """A task of a case that was read."""
        return cls(str(case.id), form, repeat, order, rows, lambda _: case, lambda _: valid_case)

    @cached_property
    def case(self) -> Case:
        return self.read(self.case_id)

    @cached_property
    def valid_case(self) -> Case | None:
        """The case that one that must be refused was made from, where there is one."""
        return self.read_valid(self.case)

    @property
    def between(self) -> Case | None:
        """The call of other extents, of the same model where its extents are open."""
        return self.read_between(self.case_id)

    @property
    def must_be_refused(self) -> bool:
        return self.case.demand == "refuse"

    @property
    def valid_case_id(self) -> str | None:
        """The id of `valid_case`."""
        return None if self.valid_case is None else str(self.valid_case.id)

    @property
    def call(self) -> str:
        """What the ids of cases of one call with other values have in common."""
        return call_in(self.case_id)


def call_in(case_id: str) -> str:
    """What the ids of cases of one call with other values have in common."""
    return case_id.rpartition("-")[0]


_MOST_SHARED = 16
"""So many cases stay that others were made from which must be refused: those stand beside each other."""
_MOST_TOGETHER, _SECONDS_TOGETHER = 16, 0.05
_REMEMBERED = 0.9


@dataclass(frozen=True)
class RunPlan:
    """The rows that a run is to have: each selected case in each form, so many times.

    With `sampled` only so many cases of each operator version go in all forms, the others in the first alone.
    A case that `own_forms` has goes in those of its forms that there are, or else in the first of all.
    `between` says which case runs before another one, on its model; None leaves that to the suite's sample.
    """

    suite: Suite
    selected: Sequence[str]
    forms: Sequence[Form]
    repeat: int
    done: Collection[str] = ()
    sampled: int | None = None
    own_forms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    between: Mapping[str, str] | None = None

    @cached_property
    def forms_by_case(self) -> Mapping[str, Sequence[str]]:
        """The forms that each case of the suite goes in."""
        return forms_by_case(self.suite, self.forms, self.sampled, self.own_forms)

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
                order = (position, form_position, number)
                yield Task(case_id, form, number, order, rows, read, self._read_valid, self._read_between)

    @cached_property
    def cases_between(self) -> Mapping[str, str]:
        """Of cases in the form `again` the one that runs before each of their runs."""
        if self.between is not None or "again" not in self.forms:
            return self.between or {}
        return form_sample(self.suite, self.sampled or CASES).between

    def _read_between(self, case_id: str) -> Case | None:
        found = self.cases_between.get(case_id)
        return None if found is None else self.suite.case(found)

    def _read_valid(self, case: Case) -> Case | None:
        """The case that one that must be refused was made from, where the suite has it."""
        if case.valid_case is None or case.demand == "answer" or case.valid_case not in self.suite:
            return None
        return self._read_shared(case.valid_case)

    @cached_property
    def _read_shared(self) -> Callable[[str], Case]:
        """Reads a case that neighbours are made from as well."""
        return lru_cache(maxsize=_MOST_SHARED)(self.suite.case)


class TaskSource:
    """Hands out tasks to one lane or to several, in the order of the record.

    All rows of a case go to one lane, and so do neighbours that take little time: many of them share a model,
    which is loaded once. What takes long goes one by one, so that all lanes end at about one time.
    """

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._lock = threading.Lock()
        selected = enumerate(plan.selected)
        self._left = (position for position, case_id in selected if case_id not in plan.done)
        # Seconds that a row takes, the latest counting most; until one is there cases go one by one.
        self._pace = _SECONDS_TOGETHER

    def lane(self) -> Iterator[Task]:
        """The tasks for one lane, until there are none left."""
        while positions := self._take():
            for position in positions:
                yield from self._plan.tasks_of(position)

    def measured(self, seconds: float) -> None:
        """What a row took."""
        with self._lock:
            self._pace = _REMEMBERED * self._pace + (1 - _REMEMBERED) * seconds

    def _take(self) -> list[int]:
        with self._lock:
            wanted = (
                min(_MOST_TOGETHER, int(_SECONDS_TOGETHER / self._pace)) if self._pace else _MOST_TOGETHER
            )
            return list(islice(self._left, max(1, wanted)))
