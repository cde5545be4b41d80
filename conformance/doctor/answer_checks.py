"""What the doctor looks at in a worker's answers: right ones, repeated ones, large ones, in each form.

Each check is a function whose docstring is its name; it returns what was seen.
"""

from __future__ import annotations

import time

import numpy as np

from conformance.doctor.patient import IDENTITY, CannotBeLooked, Fails, Patient, demand_type, identity
from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.running.judge_check import expect, perturb
from conformance.running.returned_values import read_touched
from conformance.suite.cases import Case
from opcert.vocabulary.tensors import Tensor

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
    outputs = tuple(each for each in found.outputs if isinstance(each, Tensor))
    if len(outputs) != len(found.outputs) or not any(each.array.size for each in outputs):
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
    if any(judge(expect(case, _tensors(answers[0])), each).verdict != "pass" for each in answers[1:]):
        raise Fails("the answers differ")
    return ""


def _tensors(answer: Answered) -> tuple[Tensor, ...]:
    return tuple(each for each in answer.outputs if isinstance(each, Tensor))


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
    found = patient.patiently(_LARGE_SECONDS).answer(large)
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
    outputs = tuple(each for each in first.outputs if isinstance(each, Tensor))
    return judge(expect(identity(np.zeros(1, np.float32)), outputs), second).verdict == "pass"


ANSWERS = (
    look_at_answers,
    look_at_perturbed,
    look_at_repeats,
    look_at_forms,
    look_at_threads,
    look_at_unloads,
    look_at_large,
)
