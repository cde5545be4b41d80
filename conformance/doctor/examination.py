"""Whether a worker keeps the protocol, and what its runtime can do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.doctor.abilities import Abilities, find_abilities
from conformance.doctor.answer_checks import ANSWERS
from conformance.doctor.manners import PROTOCOL
from conformance.doctor.patient import CannotBeLooked, Fails, Patient
from conformance.doctor.trial_case import choose_case
from conformance.processes.frames import BrokenProtocol
from conformance.processes.worker_limits import Limits, describe_confinement
from conformance.processes.worker_process import WorkerHung, WorkerLost
from conformance.running.progress import Progress, Silent
from conformance.running.requests import Offer
from conformance.runtimes.runtimes import Runtime, install
from conformance.suite.cases import Case
from opcert.vocabulary.errors import RuntimeUnavailable


@dataclass(frozen=True)
class Check:
    """One thing looked at. `ok` is None where it could not be; `detail` says what was seen, or why not."""

    name: str
    ok: bool | None
    detail: str = ""


@dataclass(frozen=True)
class WorkerExamination:
    """What a worker says of itself, what is known of its environment, what it can do, and every check."""

    offer: Offer
    environment: Mapping[str, Any]
    confinement: Mapping[str, Any]
    seconds_to_start: float
    checks: tuple[Check, ...]
    abilities: Abilities

    @property
    def sound(self) -> bool:
        """Whether no check failed."""
        return all(each.ok is not False for each in self.checks)


def examine(
    runtime: Runtime,
    limits: Limits | None = None,
    find_cases: Callable[[Offer], Iterable[Case]] | None = None,
    progress: Progress | None = None,
) -> WorkerExamination:
    """Start workers of a runtime and check each promise of the protocol.

    A worker is tried with Identity; one that does not take it, with the first of the cases of `find_cases`
    that it answers rightly. Raises RuntimeUnavailable where the runtime cannot be installed or started.
    """
    note = (progress or Silent()).note
    limits = limits or Limits()
    installed = install(runtime, note)
    patient = Patient(installed.launch, limits)
    begin = time.monotonic()
    offer = patient.start()
    seconds = time.monotonic() - begin
    checks = []
    try:
        note("looking for a case that the runtime answers")
        patient.case = choose_case(patient, () if find_cases is None else find_cases(offer))
        for look in (*ANSWERS, *PROTOCOL):
            note(f"looking whether {look.__doc__}")
            checks.append(_look(look, patient))
        note("looking what the runtime can do.")
        abilities = find_abilities(patient)
    finally:
        patient.leave()
    confinement = describe_confinement(limits, patient.lacking)
    return WorkerExamination(offer, dict(installed.facts), confinement, seconds, tuple(checks), abilities)


def _look(look: Callable[[Patient], str], patient: Patient) -> Check:
    name = str(look.__doc__).rstrip(".")
    try:
        if not patient.alive:
            patient.start()
        return Check(name, True, look(patient))
    except CannotBeLooked as reason:
        return Check(name, None, str(reason))
    except (Fails, BrokenProtocol) as seen:
        return Check(name, False, str(seen))
    except WorkerLost as lost:
        return Check(name, False, f"the worker {lost.reason}")
    except WorkerHung as hung:
        return Check(name, False, f"no answer within {hung.limit:g} s")
    except RuntimeUnavailable as error:
        return Check(name, False, f"the worker does not start again: {error}")
