"""Tasks: the rows that a run is to have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from conformance.models.case_models import Form
from conformance.recording.row_places import Order
from conformance.suite.cases import Case


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
