"""Places in a page that links lead to; every count has one that holds exactly the cases counted."""

from __future__ import annotations

from opcert.names import CaseId, OperatorName


def case_anchor(case: CaseId) -> str:
    """A failing case in full."""
    return f"case/{case}"


def class_anchor(number: int) -> str:
    """A failure class, which is also the note of that number."""
    return f"note-{number}"


def class_cases_anchor(number: int) -> str:
    """The cases of a failure class in full."""
    return f"note-{number}-cases"


def verdict_anchor(verdict: str) -> str:
    """All cases with a verdict, by operator version."""
    return f"verdict/{verdict}"


def operator_anchor(operator: OperatorName) -> str:
    """All cases of an operator version."""
    return f"list/{operator.path}"


def types_anchor(operator: OperatorName, element_type: str | None) -> str:
    """The cases of an operator version and an element type (None: of every type), by verdict."""
    return f"list/{operator.path}/type/{element_type}" if element_type else operator_anchor(operator)


def list_anchor(operator: OperatorName, verdict: str, element_type: str | None = None) -> str:
    """The cases of an operator version with a verdict, and of one element type where that is given."""
    tail = f"/{element_type}" if element_type else ""
    return f"list/{operator.path}/{verdict}{tail}"


def readings_anchor(operator: OperatorName) -> str:
    """The readings of an operator version."""
    return f"readings/{operator.path}"
