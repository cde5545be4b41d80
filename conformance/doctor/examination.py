"""Whether a worker keeps the protocol, and what its runtime can do.

Each check is a function whose docstring is its name; it returns what was seen.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.doctor.patient import (
    IDENTITY,
    Abilities,
    CannotBeLooked,
    Fails,
    NotTaken,
    Patient,
    demand_type,
    find_abilities,
    identity,
)
from conformance.judging.judge import expect, judge, perturb
from conformance.judging.responses import Answered
from conformance.processes.frames import BrokenProtocol, Frame
from conformance.processes.worker_limits import Limits, describe_confinement
from conformance.processes.worker_process import WorkerHung, WorkerLost
from conformance.running.progress import Progress, Silent
from conformance.running.requests import Offer
from conformance.running.returned_values import read_touched
from conformance.runtimes.runtimes import Runtime, install
from conformance.suite.cases import Case
from opcert.vocabulary.errors import RuntimeUnavailable
from opcert.vocabulary.tensors import Tensor

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
    for candidate in candidates:
        if candidate.demand != "answer" or patient.offer.refusal(candidate) is not None:
            continue
        refused = refused or candidate
        try:
            found = _answer(patient, candidate)
        except (BrokenProtocol, WorkerLost, WorkerHung):
            lost += 1
            if lost >= _MOST_LOST:
                break
            patient.start()
            continue
        if found is None:
            continue
        if judge(candidate, found).verdict == "pass":
            return candidate
        wrong.append(candidate)
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
    """The first case of each operator and element type that has an answer, of those with elements if any."""
    seen = set()
    without: dict[tuple[object, object], Case] = {}
    for each in cases:
        sort = (each.operator, each.element_type)
        if each.demand != "answer" or sort in seen:
            continue
        outputs = each.expectations[0].outputs if each.expectations else ()
        if any(output.expected.array.size for output in outputs):
            seen.add(sort)
            yield each
        else:
            without.setdefault(sort, each)
    yield from (each for sort, each in without.items() if sort not in seen)


_LARGE = 200 << 20
_LARGE_SECONDS = 120.0


def look_at_answers(patient: Patient) -> str:
    """a right answer passes."""
    case = patient.demand_case()
    found = patient.answer(case)
    verdict = judge(case, found)
    if verdict.verdict != "pass":
        raise Fails(f"{case.id}: {verdict.verdict}: {verdict.reason}")
    return str(case.operator)


def look_at_perturbed(patient: Patient) -> str:
    """the same answer fails where another is expected."""
    case = patient.demand_case()
    found = patient.answer(case)
    outputs = _tensors(found)
    if len(outputs) != len(found.outputs) or not any(output.array.size for output in outputs):
        raise CannotBeLooked("the answer holds no elements")
    verdict = judge(expect(case, tuple(map(perturb, outputs))), found)
    if verdict.verdict != "mismatch":
        raise Fails(f"{verdict.verdict} for an answer with one element changed")
    return ""


def look_at_repeats(patient: Patient) -> str:
    """a model runs again, and another beside it, with the same answer."""
    case = patient.demand_case()
    first, second = patient.load(case), patient.load(case)
    answers = [patient.run(each) for each in (first, second, first)]
    if any(judge(expect(case, _tensors(answers[0])), answer).verdict != "pass" for answer in answers[1:]):
        raise Fails("the answers differ")
    return ""


def _tensors(answer: Answered) -> tuple[Tensor, ...]:
    return tuple(output for output in answer.outputs if isinstance(output, Tensor))


def look_at_unloads(patient: Patient) -> str:
    """a model is forgotten, and running it then is an error."""
    case = patient.demand_case()
    model = patient.load(case)
    for _ in range(2):
        demand_type(patient.ask({"type": "unload", "model": model}), "unloaded")
    request = patient.models[model]
    frame = patient.ask({**request.run, "model": model}, request.run_blobs)
    if frame.header.get("type") != "error":
        raise Fails(f"answered {frame.header.get('type')!r}")
    return ""


def look_at_large(patient: Patient) -> str:
    """a tensor of 200 MB comes back unharmed."""
    if patient.demand_case().operator != IDENTITY:
        raise CannotBeLooked("the worker offers no operator that copies")
    large = identity(np.arange(_LARGE // 4, dtype=np.float32))
    begin = time.monotonic()
    try:
        found = patient.patiently(_LARGE_SECONDS).answer(large)
    except NotTaken as error:
        raise CannotBeLooked(str(error)) from error
    if judge(large, found).verdict != "pass":
        raise Fails("it comes back changed")
    return f"{time.monotonic() - begin:.1f} s"


def look_at_forms(patient: Patient) -> str:
    """each form that it offers gives the same answer."""
    case = patient.demand_case()
    assert patient.offer is not None
    first = patient.answer(case)
    for form in patient.offer.forms[1:]:
        _demand_same(first, patient.answer(case, form), f"in the form {form}")
    if "untouched" in patient.offer.forms:
        _demand_memory(patient, case)
    return ", ".join(patient.offer.forms)


def _demand_memory(patient: Patient, case: Case) -> None:
    """Fails where a worker that offers the form says nothing of what a run touches."""
    model = patient.load(case, "untouched")
    request = patient.models[model]
    for _ in range(2):
        frame = patient.ask({**request.run, "model": model}, request.run_blobs)
        demand_type(frame, "outputs")
        if "touched" not in frame.header:
            raise Fails("an answer in the form untouched without `touched`")
        read_touched(frame)


def look_at_threads(patient: Patient) -> str:
    """each thread count that it offers gives the same answer."""
    case = patient.demand_case()
    assert patient.offer is not None
    if len(patient.offer.threads) < 2:
        raise CannotBeLooked("the worker offers no choice")
    first = patient.answer(case)
    for count in patient.offer.threads[1:]:
        _demand_same(first, patient.answer(case, threads=count), f"with {count} threads")
    return ", ".join(map(str, patient.offer.threads))


def _demand_same(first: Answered, second: Answered, where: str) -> None:
    if not _same(first, second):
        raise Fails(f"another answer {where}")


def _same(first: Answered, second: Answered) -> bool:
    return judge(expect(identity(np.zeros(1, np.float32)), _tensors(first)), second).verdict == "pass"


ANSWERS = (
    look_at_answers,
    look_at_perturbed,
    look_at_repeats,
    look_at_forms,
    look_at_threads,
    look_at_unloads,
    look_at_large,
)


def _demand_internal_error(frame: Frame) -> None:
    if (frame.header.get("type"), frame.header.get("class")) != ("error", "internal"):
        raise Fails(f"answered {frame.header.get('type')!r}, class {frame.header.get('class')!r}")


def look_at_unknown(patient: Patient) -> str:
    """a request of an unknown type, or without its keys, is an internal error, and the worker goes on."""
    for header in ({"type": "frobnicate"}, {"type": "load"}, {"type": "run", "model": 7}, {}):
        _demand_internal_error(patient.ask(header))
    return ""


def look_at_ignores(patient: Patient) -> str:
    """keys that the worker does not know are ignored."""
    demand_type(patient.ask({"type": "unload", "model": 99, "x_unknown": {"a": [1]}}), "unloaded")
    return ""


def look_at_garbage(patient: Patient) -> str:
    """bytes that are no frame are answered with an error, and the worker goes."""
    seen = []
    for raw in (b"\x04\0\0\0nope", struct.pack("<I", 0xFFFFFFFF), b"\x02\0\0\0[]"):
        patient.start()
        assert patient.process is not None
        patient.process.send_raw(raw)
        lost = patient.await_end(f"{raw!r}: nothing within {patient.patience:g} s")
        if lost is not None:
            seen.append(lost.reason)
    silent = [each for each in seen if not each.startswith("could not read a request")]
    if silent:
        raise Fails(f"no answer before the worker {silent[0]}")
    return ""


def look_at_half(patient: Patient) -> str:
    """half a frame and the end of the input end the worker."""
    for raw in (b"", b"\x10\0", b'\x10\0\0\0{"type":', b'\x1b\0\0\0{"type":"x","blobs":[1000]}ab'):
        patient.start()
        assert patient.process is not None
        patient.process.send_raw(raw)
        patient.process.end_input()
        patient.await_end(f"still there {patient.patience:g} s after {raw!r} and the end of its input")
    return ""


def look_at_leaves(patient: Patient) -> str:
    """the worker answers `shutdown` and goes with status 0."""
    demand_type(patient.ask({"type": "shutdown"}), "bye")
    lost = patient.await_end(f"still there {patient.patience:g} s later")
    if lost is not None and lost.status != 0:
        raise Fails(f"the worker {lost.reason}") from lost
    return ""


PROTOCOL = (look_at_unknown, look_at_ignores, look_at_leaves, look_at_garbage, look_at_half)


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
        return all(check.ok is not False for check in self.checks)


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
