"""A worker under examination: it is asked directly, one request after the other."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from conformance.judging.judge import expect
from conformance.judging.responses import Answered
from conformance.models.case_models import Form
from conformance.processes.frames import BrokenProtocol, Frame
from conformance.processes.worker_limits import Limits
from conformance.processes.worker_process import Launch, WorkerHung, WorkerLost, WorkerProcess
from conformance.running.requests import CaseRequest, Offer, encode_case, read_offer
from conformance.running.returned_values import read_outputs
from conformance.suite.cases import Case, call_digest
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import OpcertError, RuntimeUnavailable
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor, tensor

IDENTITY = OperatorName("ai.onnx", "Identity", 13)
_PATIENCE = 10.0


class Fails(Exception):
    """A check that failed; its text says what was seen."""


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
                {"type": "hello", "protocol": 1, "options": dict(self.launch.options)},
                seconds=self.limits.start_seconds,
            )
            if frame.header.get("type") == "error":
                raise BrokenProtocol(f"{frame.header.get('kind')}: {frame.header.get('message')}")
            self.offer = read_offer(frame.header)
            self.lacking = self.process.read_isolation()
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
            request = encode_case(case, form or self.offer.forms[0], how, None, threads)
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
        return read_outputs(frame, 0.0)

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
        raise Fails(f"refused: {found.get('kind')}: {found.get('message')}")
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
