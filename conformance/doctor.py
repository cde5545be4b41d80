"""Whether a worker keeps the protocol, and what its runtime can do."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from conformance.cases import Case, call_digest
from conformance.collector import expect, perturb
from conformance.frames import BrokenProtocol, Frame
from conformance.judge import judge
from conformance.limits import Limits
from conformance.progress import Progress, Silent
from conformance.requests import CaseRequest, Offer, encode_case, read_offer, read_outputs
from conformance.responses import Answered
from conformance.runtimes import Runtime, install
from conformance.worker_process import Launch, WorkerHung, WorkerLost, WorkerProcess
from opcert.errors import OpcertError, RuntimeUnavailable
from opcert.names import CaseId, OperatorName
from opcert.tensors import Tensor, tensor

_IDENTITY = OperatorName("ai.onnx", "Identity", 13)
_LARGE = 200 << 20
_PATIENCE = 10.0


@dataclass(frozen=True)
class Check:
    """One thing looked at. `ok` is None where it could not be; `detail` says what was seen, or why not."""

    name: str
    ok: bool | None
    detail: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """What a worker says of itself, what is known of its environment, and every check."""

    offer: Offer
    environment: Mapping[str, Any]
    seconds_to_start: float
    checks: tuple[Check, ...]

    @property
    def sound(self) -> bool:
        """Whether no check failed."""
        return all(each.ok is not False for each in self.checks)


class _Fails(Exception):
    """A check that failed; its text says what was seen."""


class _CannotBeLooked(Exception):
    """A check that cannot be made on this worker, and why."""


def examine(
    runtime: Runtime,
    limits: Limits | None = None,
    find_case: Callable[[Offer], Case | None] | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Start workers of a runtime and check each promise of the protocol.

    A worker that takes ONNX models is asked for Identity; for another `find_case` may name a case that its
    runtime answers. Raises RuntimeUnavailable where the runtime cannot be installed or started at all.
    """
    note = (progress or Silent()).note
    installed = install(runtime, note)
    patient = _Patient(installed.launch, limits or Limits())
    begin = time.monotonic()
    offer = patient.start()
    seconds = time.monotonic() - begin
    patient.case = _identity(np.array([[1.5, -2.0, 0.25]], np.float32))
    if offer.takes_as(patient.case) is None:
        patient.case = None if find_case is None else find_case(offer)
    checks = []
    try:
        for look in _CHECKS:
            note(f"looking whether {look.__doc__}")
            checks.append(_look(look, patient))
    finally:
        patient.leave()
    return Diagnosis(offer, dict(installed.facts), seconds, tuple(checks))


def _look(look: Callable[[_Patient], str], patient: _Patient) -> Check:
    name = str(look.__doc__).rstrip(".")
    try:
        if not patient.alive:
            patient.start()
        return Check(name, True, look(patient))
    except _CannotBeLooked as reason:
        return Check(name, None, str(reason))
    except (_Fails, BrokenProtocol) as seen:
        return Check(name, False, str(seen))
    except WorkerLost as lost:
        return Check(name, False, f"the worker {lost.reason}")
    except WorkerHung as hung:
        return Check(name, False, f"no answer within {hung.limit:g} s")
    except RuntimeUnavailable as error:
        return Check(name, False, f"the worker does not start again: {error}")


@dataclass
class _Patient:
    """A worker that is asked directly, one request after the other."""

    launch: Launch
    limits: Limits
    process: WorkerProcess | None = None
    offer: Offer | None = None
    case: Case | None = None
    numbers: int = 0
    models: dict[int, CaseRequest] = field(default_factory=dict)

    @property
    def patience(self) -> float:
        """Seconds that it has for going."""
        return min(self.limits.case_seconds, _PATIENCE)

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.alive

    def start(self) -> Offer:
        """Start a new worker; raises RuntimeUnavailable where it does not answer `hello` as it must."""
        self.leave()
        self.process = WorkerProcess(self.launch, self.limits)
        try:
            frame = self.ask(
                {"type": "hello", "protocol": 1, "options": dict(self.launch.options)},
                seconds=self.limits.start_seconds,
            )
            if frame.header.get("type") == "error":
                raise BrokenProtocol(f"{frame.header.get('kind')}: {frame.header.get('message')}")
            self.offer = read_offer(frame.header)
        except (WorkerLost, WorkerHung, BrokenProtocol) as error:
            self.process.kill()
            stderr = getattr(error, "stderr", "") or None
            raise RuntimeUnavailable(f"the runtime's worker did not start: {error}", got=stderr) from error
        return self.offer

    def ask(
        self, header: dict[str, Any], blobs: tuple[bytes, ...] = (), seconds: float | None = None
    ) -> Frame:
        """The answer to a request, which gets the next number."""
        assert self.process is not None
        self.numbers += 1
        limit = seconds or self.limits.case_seconds
        self.process.send({**header, "id": self.numbers}, blobs)
        return self.process.receive(self.numbers, limit, time.monotonic() + limit)

    def answer(self, case: Case) -> Answered:
        """The outputs of a case, loaded as a model of its own; _Fails where it is refused."""
        model = self.load(case)
        return self.run(model)

    def load(self, case: Case) -> int:
        assert self.offer is not None
        how = self.offer.takes_as(case)
        if how is None:
            raise _CannotBeLooked("the worker offers no operator to try")
        try:
            request = encode_case(case, self.offer.forms[0], how, None)
        except (OpcertError, ValueError, TypeError) as error:
            raise _CannotBeLooked(f"the case cannot be sent: {error}") from error
        model = self.numbers + 1
        frame = self.ask({**request.load, "model": model}, request.load_blobs)
        _demand_type(frame, "loaded")
        self.models[model] = request
        return model

    def run(self, model: int) -> Answered:
        request = self.models[model]
        frame = self.ask({**request.run, "model": model}, request.run_blobs)
        _demand_type(frame, "outputs")
        return read_outputs(frame, 0.0)

    def demand_case(self) -> Case:
        if self.case is None:
            raise _CannotBeLooked("no case is known that this runtime answers; name a suite with -s")
        return self.case

    def leave(self) -> None:
        """Let the worker go that is there."""
        if self.process is not None:
            self.process.close()


def _demand_type(frame: Frame, wanted: str) -> None:
    found = frame.header
    if found.get("type") == "error":
        raise _Fails(f"refused: {found.get('kind')}: {found.get('message')}")
    if found.get("type") != wanted:
        raise _Fails(f"an answer of type {found.get('type')!r} instead of {wanted!r}")


def _demand_internal_error(frame: Frame) -> None:
    if (frame.header.get("type"), frame.header.get("class")) != ("error", "internal"):
        raise _Fails(f"answered {frame.header.get('type')!r}, class {frame.header.get('class')!r}")


def _identity(array: np.ndarray[Any, Any]) -> Case:
    given = tensor(array)
    inputs = (("X", given),)
    case = Case(
        id=CaseId(_IDENTITY, "cover", None, call_digest(_IDENTITY, {}, inputs)),
        element_type=given.element_type,
        attributes={},
        inputs=inputs,
        output_names=("Y",),
        demand="answer",
    )
    return expect(case, (given,))


def _answers(patient: _Patient) -> str:
    """a right answer passes."""
    case = patient.demand_case()
    found = patient.answer(case)
    verdict = judge(case, found)
    if verdict.verdict != "pass":
        raise _Fails(f"{case.id}: {verdict.verdict}: {verdict.reason}")
    return str(case.operator)


def _perturbed(patient: _Patient) -> str:
    """the same answer fails where another is expected."""
    case = patient.demand_case()
    found = patient.answer(case)
    outputs = tuple(each for each in found.outputs if isinstance(each, Tensor))
    if len(outputs) != len(found.outputs) or not any(each.array.size for each in outputs):
        raise _CannotBeLooked("the answer holds no elements")
    verdict = judge(expect(case, tuple(map(perturb, outputs))), found)
    if verdict.verdict != "mismatch":
        raise _Fails(f"{verdict.verdict} for an answer with one element changed")
    return ""


def _repeats(patient: _Patient) -> str:
    """a model runs again, and another beside it, with the same answer."""
    case = patient.demand_case()
    first, second = patient.load(case), patient.load(case)
    answers = [patient.run(each) for each in (first, second, first)]
    if any(judge(expect(case, _tensors(answers[0])), each).verdict != "pass" for each in answers[1:]):
        raise _Fails("the answers differ")
    return ""


def _tensors(answer: Answered) -> tuple[Tensor, ...]:
    return tuple(each for each in answer.outputs if isinstance(each, Tensor))


def _unloads(patient: _Patient) -> str:
    """a model is forgotten, and running it then is an error."""
    case = patient.demand_case()
    model = patient.load(case)
    for _ in range(2):
        _demand_type(patient.ask({"type": "unload", "model": model}), "unloaded")
    request = patient.models[model]
    frame = patient.ask({**request.run, "model": model}, request.run_blobs)
    if frame.header.get("type") != "error":
        raise _Fails(f"answered {frame.header.get('type')!r}")
    return ""


def _unknown(patient: _Patient) -> str:
    """a request of an unknown type, or without its keys, is an internal error, and the worker goes on."""
    for header in ({"type": "frobnicate"}, {"type": "load"}, {"type": "run", "model": 7}, {}):
        _demand_internal_error(patient.ask(header))
    return ""


def _ignores(patient: _Patient) -> str:
    """keys that the worker does not know are ignored."""
    _demand_type(patient.ask({"type": "unload", "model": 99, "x_unknown": {"a": [1]}}), "unloaded")
    return ""


def _garbage(patient: _Patient) -> str:
    """bytes that are no frame are answered with an error, and the worker goes."""
    seen = []
    for raw in (b"\x04\0\0\0nope", struct.pack("<I", 0xFFFFFFFF), b"\x02\0\0\0[]"):
        patient.start()
        assert patient.process is not None
        patient.process.send_raw(raw)
        try:
            patient.process.receive(-1, patient.patience, time.monotonic() + patient.patience)
        except WorkerLost as lost:
            seen.append(lost.reason)
        except WorkerHung as hung:
            raise _Fails(f"{raw!r}: nothing within {patient.patience:g} s") from hung
    silent = [each for each in seen if not each.startswith("could not read a request")]
    if silent:
        raise _Fails(f"no answer before the worker {silent[0]}")
    return ""


def _half(patient: _Patient) -> str:
    """half a frame and the end of the input end the worker."""
    for raw in (b"", b"\x10\0", b'\x10\0\0\0{"type":', b'\x1b\0\0\0{"type":"x","blobs":[1000]}ab'):
        patient.start()
        assert patient.process is not None
        patient.process.send_raw(raw)
        patient.process.end_input()
        try:
            patient.process.receive(-1, patient.patience, time.monotonic() + patient.patience)
        except WorkerLost:
            continue
        except WorkerHung as hung:
            raise _Fails(
                f"still there {patient.patience:g} s after {raw!r} and the end of its input"
            ) from hung
    return ""


def _large(patient: _Patient) -> str:
    """a tensor of 200 MB comes back unharmed."""
    if patient.demand_case().operator != _IDENTITY:
        raise _CannotBeLooked("the worker offers no operator that copies")
    large = _identity(np.arange(_LARGE // 4, dtype=np.float32))
    begin = time.monotonic()
    patient = replace(patient, limits=replace(patient.limits, case_seconds=120.0))
    found = patient.answer(large)
    if judge(large, found).verdict != "pass":
        raise _Fails("it comes back changed")
    return f"{time.monotonic() - begin:.1f} s"


def _leaves(patient: _Patient) -> str:
    """the worker answers `shutdown` and goes with status 0."""
    _demand_type(patient.ask({"type": "shutdown"}), "bye")
    assert patient.process is not None
    try:
        patient.process.receive(-1, patient.patience, time.monotonic() + patient.patience)
    except WorkerLost as lost:
        if lost.status != 0:
            raise _Fails(f"the worker {lost.reason}") from lost
    except WorkerHung as hung:
        raise _Fails(f"still there {patient.patience:g} s later") from hung
    return ""


_CHECKS = (
    _answers, _perturbed, _repeats, _unloads, _unknown, _ignores, _large, _leaves, _garbage, _half,
)  # fmt: skip
