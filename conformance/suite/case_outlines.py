"""What is said of a case's call without the values of its inputs: little, and so it stays in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.suite.cases import Case, Demand
from opcert.vocabulary.attributes import Attributes
from opcert.vocabulary.names import CaseId


@dataclass(frozen=True, eq=False, slots=True)
class CaseOutline:
    """A case with `shapes` of its inputs, by name and in order, in place of them; None is one left out."""

    id: CaseId
    element_type: str
    demand: Demand
    constraint: str | None
    levels: Mapping[str, str]
    attributes: Attributes
    shapes: tuple[tuple[str, tuple[int, ...] | None], ...]


def outline_of(case: Case) -> CaseOutline:
    """The outline of a case."""
    shapes = tuple((name, None if each is None else each.shape) for name, each in case.inputs)
    return CaseOutline(
        case.id, case.element_type.name, case.demand, case.constraint, case.levels, case.attributes, shapes
    )
