"""What a runtime can do, found by asking: which element types it carries, which operator sets it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from onnx import ModelProto
from onnx.defs import get_schema, onnx_opset_version

from conformance.doctor.patient import CannotBeLooked, Fails, Patient, identity
from conformance.judging.judge import judge
from conformance.models.case_models import build_model
from conformance.models.ir_versions import least_ir_version
from conformance.processes.frames import BrokenProtocol
from conformance.processes.worker_limits import Limits
from conformance.processes.worker_process import WorkerHung, WorkerLost
from conformance.runtimes.runtimes import Runtime, install
from conformance.suite.cases import Case
from opcert.vocabulary.element_types import ELEMENT_TYPES

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


def find_newest_opset(
    runtime: Runtime, oldest: int, newest: int, note: Callable[[str], None] = lambda _: None
) -> int | None:
    """The newest of ONNX's opsets from `oldest` to `newest` that a runtime takes; None where it takes none.

    What its handshake names (`opsets`) is believed; else it is asked for Identity, the newest opset first.
    Raises RuntimeUnavailable where it cannot be installed or started.
    """
    patient = Patient(install(runtime, note).launch, Limits())
    offer = patient.start()
    try:
        named = offer.facts.get("opsets", {}).get(MAIN)
        if type(named) is int:
            return min(named, newest) if named >= oldest else None
        if offer.takes_as(identity(np.zeros(1, np.float32))) is None:
            return None
        return next((each for each in range(newest, oldest - 1, -1) if _answers_opset(patient, each)), None)
    finally:
        patient.leave()


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
