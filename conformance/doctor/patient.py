"""A worker under examination: it is asked directly, one request after the other; and what it can do.

That is which element types it carries, and which operator sets it takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from onnx import ModelProto
from onnx.defs import get_schema, onnx_opset_version

from conformance.judging.judge import expect, judge
from conformance.judging.responses import Answered
from conformance.models.case_models import Form, build_model
from conformance.models.ir_versions import least_ir_version
from conformance.processes.frames import BrokenProtocol, Frame, hello
from conformance.processes.worker_limits import Limits
from conformance.processes.worker_process import Launch, WorkerHung, WorkerLost, WorkerProcess
from conformance.running.requests import CaseRequest, Offer, encode_case, read_offer
from conformance.running.returned_values import read_outputs
from conformance.running.session import PRINTED_NOTHING
from conformance.runtimes.runtimes import Runtime, install
from conformance.suite.cases import Case, call_digest
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import OpcertError, RuntimeUnavailable
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor, tensor

IDENTITY = OperatorName("ai.onnx", "Identity", 13)
_PATIENCE = 10.0


class Fails(Exception):
    """A check that failed; its text says what was seen."""


class NotTaken(Fails):
    """What the worker says that its runtime does not offer."""


class CannotBeLooked(Exception):
    """A check that cannot be made on this worker, and why."""


@dataclass
class Patient:
    """A worker, its models by their numbers, and the case that it is tried with."""

    launch: Launch
    limits: Limits
    process: WorkerProcess | None = None
    offer: Offer | None = None
    case: Case | None = None
    lacking: dict[str, str] = field(default_factory=dict)
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
                hello(self.launch.options),
                seconds=self.limits.start_seconds,
            )
            if frame.header.get("type") == "error":
                raise BrokenProtocol(f"{frame.header.get('kind')}: {frame.header.get('message')}")
            self.offer = read_offer(frame.header)
            self.lacking = self.process.read_isolation()
        except (WorkerLost, WorkerHung, BrokenProtocol) as error:
            self.process.kill()
            stderr = getattr(error, "stderr", "") or None
            raise RuntimeUnavailable(
                f"the runtime's worker did not start: {error}",
                got=stderr,
                remedy=None if stderr else PRINTED_NOTHING,
            ) from error
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

    def answer(self, case: Case, form: Form | None = None, threads: int | None = None) -> Answered:
        """The outputs of a case, loaded as a model of its own; Fails where it is refused."""
        return self.run(self.load(case, form, threads))

    def load(self, case: Case, form: Form | None = None, threads: int | None = None) -> int:
        """The number of a new model of a case, in the preferred form unless another is named."""
        assert self.offer is not None
        how = self.offer.takes_as(case)
        if how is None:
            raise CannotBeLooked("the worker offers no operator to try")
        try:
            ends = self.offer.ends_of(case)
            request = encode_case(case, form or self.offer.forms[0], how, None, threads, ends=ends)
        except (OpcertError, ValueError, TypeError) as error:
            raise CannotBeLooked(f"the case cannot be sent: {error}") from error
        model = self.numbers + 1
        frame = self.ask({**request.load, "model": model}, request.load_blobs)
        demand_type(frame, "loaded")
        self.models[model] = request
        return model

    def run(self, model: int) -> Answered:
        """The outputs of a model that was loaded; Fails where it is refused."""
        request = self.models[model]
        frame = self.ask({**request.run, "model": model}, request.run_blobs)
        demand_type(frame, "outputs")
        return read_outputs(frame, 0.0, request.returned)

    def patiently(self, seconds: float) -> Patient:
        """The same worker with so much time for each request."""
        return replace(self, limits=replace(self.limits, case_seconds=seconds))

    def demand_case(self) -> Case:
        """The case that it is tried with; CannotBeLooked where there is none."""
        if self.case is None:
            raise CannotBeLooked("no case is known that this runtime answers; name a suite with -s")
        return self.case

    def await_end(self, otherwise: str) -> WorkerLost | None:
        """How the worker goes, None where it answers instead; Fails in these words where it does neither."""
        assert self.process is not None
        try:
            self.process.receive(-1, self.patience, time.monotonic() + self.patience)
        except WorkerLost as lost:
            return lost
        except WorkerHung as hung:
            raise Fails(otherwise) from hung
        return None

    def leave(self) -> None:
        """Let the worker go that is there."""
        if self.process is not None:
            self.process.close()


def demand_type(frame: Frame, wanted: str) -> None:
    """Fails where an answer is of another type."""
    found = frame.header
    if found.get("type") == "error":
        told = f"{found.get('kind')}: {found.get('message')}"
        if found.get("class") == "unsupported":
            raise NotTaken(f"unsupported: {told}")
        raise Fails(f"rejected: {told}")
    if found.get("type") != wanted:
        raise Fails(f"an answer of type {found.get('type')!r} instead of {wanted!r}")


def identity(
    array: np.ndarray[Any, Any], element_type: str | None = None, version: int = IDENTITY.since_version
) -> Case:
    """A call of a version of ONNX's Identity, which any runtime of ONNX models answers."""
    given = tensor(array) if element_type is None else Tensor(ELEMENT_TYPES[element_type], array)
    inputs = (("X", given),)
    operator = replace(IDENTITY, since_version=version)
    case = Case(
        id=CaseId(operator, "cover", None, call_digest(operator, {}, inputs)),
        element_type=given.element_type,
        attributes={},
        inputs=inputs,
        output_names=("Y",),
        demand="answer",
    )
    return expect(case, (given,))


MAIN = "ai.onnx"
"""The domain of ONNX's main operator set, in the handshake's `opsets`."""


@dataclass(frozen=True)
class Abilities:
    """What calls of Identity showed; all empty for a runtime that takes no ONNX model.

    `opsets` are the oldest and the newest version of ONNX's main operator set that it answers, None where it
    answers none. `carried` are the element types that came back unharmed from the newest Identity that it
    knows, `lost` the others.
    """

    opsets: tuple[int, int] | None = None
    carried: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def find_abilities(patient: Patient) -> Abilities:
    """Ask a worker; it is started again where it does not survive. RuntimeUnavailable where that fails."""
    assert patient.offer is not None
    if patient.offer.takes_as(identity(np.zeros(1, np.float32))) is None:
        return Abilities()
    opsets = [version for version in range(1, onnx_opset_version() + 1) if _answers_opset(patient, version)]
    if not opsets:
        return Abilities()
    version = get_schema("Identity", opsets[-1], "").since_version
    carried = [name for name in ELEMENT_TYPES if _carries(patient, name, version)]
    lost = [name for name in ELEMENT_TYPES if name not in carried]
    return Abilities((opsets[0], opsets[-1]), tuple(carried), tuple(lost))


@dataclass(frozen=True)
class Taken:
    """The newest of ONNX's opsets that a runtime takes, None without one, and the domains that it names."""

    opset: int | None
    domains: frozenset[str]


def find_taken(
    runtime: Runtime, oldest: int, newest: int, note: Callable[[str], None] = lambda _: None
) -> Taken:
    """Which of ONNX's opsets from `oldest` to `newest` a runtime takes, and which domains.

    What its handshake names (`opsets`) is believed; else it is asked for Identity, the newest opset first.
    Raises RuntimeUnavailable where it cannot be installed or started.
    """
    patient = Patient(install(runtime, note).launch, Limits())
    offer = patient.start()
    try:
        return Taken(_newest_opset(patient, offer, oldest, newest), frozenset(offer.domains))
    finally:
        patient.leave()


def find_newest_opset(
    runtime: Runtime, oldest: int, newest: int, note: Callable[[str], None] = lambda _: None
) -> int | None:
    """The newest of ONNX's opsets that a runtime takes, as `find_taken`; None where it takes none."""
    return find_taken(runtime, oldest, newest, note).opset


def _newest_opset(patient: Patient, offer: Offer, oldest: int, newest: int) -> int | None:
    named = offer.facts.get("opsets", {}).get(MAIN)
    if type(named) is int:
        return min(named, newest) if named >= oldest else None
    if offer.takes_as(identity(np.zeros(1, np.float32))) is None:
        return None
    return next((each for each in range(newest, oldest - 1, -1) if _answers_opset(patient, each)), None)


def _answers_opset(patient: Patient, version: int) -> bool:
    case = identity(np.zeros(1, np.float32))
    model = ModelProto.FromString(build_model(case))
    model.opset_import[0].version = version
    model.ir_version = least_ir_version(model.opset_import, ["float"])
    return _answers(patient, replace(case, model=model.SerializeToString(deterministic=True)))


def _carries(patient: Patient, name: str, version: int) -> bool:
    kind = ELEMENT_TYPES[name]
    values = [b"a", b"bc"] if kind.kind == "string" else [0, 1]
    return _answers(patient, identity(np.array(values, dtype=kind.storage), name, version))


def _answers(patient: Patient, case: Case) -> bool:
    """Whether the worker gives the right answer."""
    if not patient.alive:
        patient.start()
    assert patient.offer is not None
    if patient.offer.refusal(case) is not None:
        return False
    try:
        return judge(case, patient.answer(case)).verdict == "pass"
    except (Fails, CannotBeLooked, BrokenProtocol, WorkerLost, WorkerHung):
        return False
