"""What a run is asked to do: its options, the rows that it is to have, and which of them a lane runs next."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import islice
from typing import Any, Self

from conformance.models.case_models import Form
from conformance.processes.worker_limits import Limits
from conformance.recording.records import Order
from conformance.running.requests import Offer
from conformance.runtimes.runtimes import Runtime
from conformance.suite.case_selection import Shard, nothing_selected
from conformance.suite.cases import Case
from conformance.suite.form_sample import CASES, form_sample, forms_by_case
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import NothingRan, Place, UserError


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
_LEAST_PACE = 1e-6
"""Seconds: rows that are not asked take none, and a mean of nothing but them is no number to divide by."""
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
        """The forms that each selected case goes in."""
        return forms_by_case(self.suite, self.forms, self.sampled, self.own_forms, self.selected)

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
        return form_sample(self.suite, self.sampled or CASES, self.selected).between

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
            wanted = min(_MOST_TOGETHER, _SECONDS_TOGETHER / max(self._pace, _LEAST_PACE))
            return list(islice(self._left, max(1, int(wanted))))


SAMPLE = "sample"
"""Every case in the preferred form, and some of each operator version in the others too."""
MOST_WORKERS = 4
_CASES_THAT_PAY = 250
"""Workers at a time where nobody says how many: for each processor one, and for so many cases."""


@dataclass(frozen=True)
class RunOptions:
    """Options of a run.

    `pattern` selects cases (see `Suite.select`). `jobs` are the workers at a time, None for as many as a run
    on this machine gains by (see `lanes`). `forms` is `preferred` (the one that the runtime names first),
    `sample` (that, and some cases of each operator version in the others too), `all`, or names of forms with
    commas between. `shard` leaves the other parts of the suite to other machines. `max_failures`
    ends the run after so many failing cases, None never. `max_deaths` is how many workers may be lost in a
    row before the runtime counts as one that never survives. With `identify` the record's footer holds the
    digests of the files that the workers ran code from, for a certificate. `most_lost` is how many cases of
    one call with other values (those whose ids differ in their digest alone) may lose their worker before the
    others of that call are left out, None for all.
    """

    pattern: str | None = None
    jobs: int | None = 1
    forms: str = "preferred"
    repeat: int = 1
    limits: Limits = field(default_factory=Limits)
    max_failures: int | None = None
    max_deaths: int = 10
    shard: Shard | None = None
    identify: bool = False
    most_lost: int | None = None

    def lanes(self, cases: int) -> int:
        """How many workers at a time run so many cases: no more than there are cases.

        A worker costs its start, and this process keeps only a few of them busy.
        """
        wanted = self.jobs or min(MOST_WORKERS, os.cpu_count() or 1, 1 + cases // _CASES_THAT_PAY)
        return max(1, min(wanted, cases))

    def to_json(self) -> dict[str, Any]:
        """The options as a record's header states them."""
        return {
            "pattern": self.pattern,
            "jobs": self.jobs or 1,
            "forms": self.forms,
            "repeat": self.repeat,
            "timeout": self.limits.case_seconds,
            "start_timeout": self.limits.start_seconds,
            "memory": self.limits.resident_bytes,
            "network": self.limits.network,
            "max_failures": self.max_failures,
            "shard": None if self.shard is None else str(self.shard),
            **({} if self.limits.load_seconds is None else {"load_timeout": self.limits.load_seconds}),
            **({} if self.most_lost is None else {"most_lost": self.most_lost}),
        }


@dataclass(frozen=True)
class RunRequest:
    """What is asked of whom: cases of a suite, of a runtime.

    With `only` no case runs that is not in it; a case that `own_forms` has runs in these of the forms alone.
    """

    suite: Suite
    runtime: Runtime
    options: RunOptions = RunOptions()
    only: Container[str] | None = None
    own_forms: Mapping[str, Sequence[str]] | None = None

    def selected(self) -> Sequence[str]:
        """The cases that a run is of, in suite order; NothingRan where there are none."""
        found = self.suite.select(self.options.pattern)
        if not found:
            raise nothing_selected(self.options.pattern, self.suite.case_ids, str(self.suite.path))
        if self.options.shard is not None:
            found = tuple(filter(self.options.shard.holds, found))
        if self.only is not None:
            found = tuple(case_id for case_id in found if case_id in self.only)
        if not found:
            told = "no case is left to run: what is selected lies in other parts"
            raise NothingRan(told, where=Place(str(self.suite.path)))
        return found

    def plan(self, selected: Sequence[str], forms: Sequence[Form]) -> RunPlan:
        """The rows of the selected cases in these forms."""
        sampled = _sampled(self.options, forms)
        own = self.own_forms or {}
        return RunPlan(self.suite, selected, forms, self.options.repeat, sampled=sampled, own_forms=own)

    def told_forms(self) -> dict[str, Any]:
        """What a record's header says, beside the options, of cases that go in forms of their own."""
        return {} if self.own_forms is None else {"own_forms": True}


def told_options(options: RunOptions, forms: Sequence[str]) -> dict[str, Any]:
    """Options as a record's header states them, with the forms that cases go in."""
    return {**options.to_json(), "forms": list(forms), "sampled": _sampled(options, forms)}


def _sampled(options: RunOptions, forms: Sequence[str]) -> int | None:
    """How many cases of each operator version go in all of these forms; None where every case does."""
    return CASES if options.forms == SAMPLE and len(forms) > 1 else None


def choose_forms(asked: str, offer: Offer) -> Sequence[Form]:
    """The forms to run in; raises UserError where one is asked for that the runtime does not take."""
    if asked == "preferred":
        return offer.forms[:1]
    if asked in ("all", SAMPLE):
        return offer.forms
    wanted = [word.strip() for word in asked.split(",")]
    chosen = [form for form in offer.forms if form in wanted]
    missing = [each for each in wanted if each not in chosen]
    if missing or len(wanted) != len(set(wanted)):
        raise UserError(
            f"{offer.name} does not run cases in this form" if missing else "a form is named twice",
            got=asked,
            expected=f"all, sample, preferred, or some of {', '.join(offer.forms)}",
        )
    return chosen
