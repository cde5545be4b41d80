"""Which case a worker is tried with: one that it answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from conformance.doctor.patient import CannotBeLooked, Fails, Patient, identity
from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.processes.frames import BrokenProtocol
from conformance.processes.worker_process import WorkerHung, WorkerLost
from conformance.suite.cases import Case

_MOST_WRONG = 20
_MOST_LOST = 3


def choose_case(patient: Patient, candidates: Iterable[Case]) -> Case | None:
    """Identity unless the worker refuses it, and then the first candidate that it answers rightly.

    Of a worker that answers none rightly the first that it answers; of one that answers none at all
    Identity where its domain is offered, or else the first candidate; None where there is neither. Raises
    RuntimeUnavailable where a worker that a candidate killed does not start again.
    """
    assert patient.offer is not None
    first = identity(np.array([[1.5, -2.0, 0.25]], np.float32))
    refused: Case | None = None
    if patient.offer.takes_as(first) is not None:
        refused = first
        try:
            if _answer(patient, first) is not None:
                return first
        except (BrokenProtocol, WorkerLost, WorkerHung):
            return first
    wrong: list[Case] = []
    lost = 0
    for each in candidates:
        if each.demand != "answer" or patient.offer.refusal(each) is not None:
            continue
        refused = refused or each
        try:
            found = _answer(patient, each)
        except (BrokenProtocol, WorkerLost, WorkerHung):
            lost += 1
            if lost >= _MOST_LOST:
                break
            patient.start()
            continue
        if found is None:
            continue
        if judge(each, found).verdict == "pass":
            return each
        wrong.append(each)
        if len(wrong) >= _MOST_WRONG:
            break
    return wrong[0] if wrong else refused


def _answer(patient: Patient, case: Case) -> Answered | None:
    """What the worker answers; None where it refuses the case."""
    try:
        return patient.answer(case)
    except (Fails, CannotBeLooked):
        return None


def one_of_each_type(cases: Iterable[Case]) -> Iterator[Case]:
    """The first case of each operator and element type that has an answer."""
    seen = set()
    for each in cases:
        sort = (each.operator, each.element_type)
        if each.demand == "answer" and sort not in seen:
            seen.add(sort)
            yield each
