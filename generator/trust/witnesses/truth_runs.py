"""Runtimes as witnesses: calls without an expectation, answered or refused in processes that may crash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from conformance.models.case_models import OutputType, build_model
from conformance.models.input_names import map_parts, named_inputs
from conformance.recording.rows import Result
from conformance.running.harness import run_suite
from conformance.running.progress import Progress
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import Runtime
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite, write_suite
from generator.asking.bare_cases import bare_case
from generator.asking.calls import Call
from generator.trust.witnesses.truth import Inferred, WitnessRefusal, ask_checker, ask_inference
from opcert.vocabulary.errors import WorkerMistake
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName
from specs.model.spec import Spec

_LONGEST = 2_000

Reaction = Literal["answered", "refused", "not offered", "crashed", "timed out", "none"]


@dataclass(frozen=True)
class Witnessed:
    """What one witness did with one call; `message` is what it said, where it did not answer."""

    reaction: Reaction
    message: str = ""


@dataclass(frozen=True)
class TypedCall:
    """A call, and the types of its outputs as far as inference tells them of it or of a valid one near it."""

    call: Call
    outputs: tuple[OutputType, ...] | None = None


Answers = Mapping[str, Witnessed]
"""By the digest of the call."""


def ask_onnx(spec: Spec, call: Call, near: Call | None = None) -> tuple[TypedCall, dict[str, Witnessed]]:
    """What inference and checker say of a call, by their names; the checker is asked what inference accepts.

    `near` is the valid call that one which breaks a rule was made from: it tells the types of its outputs.
    """
    answer = ask_inference(spec, call)
    if isinstance(answer, WitnessRefusal):
        told = ask_inference(spec, near) if near is not None else answer
        outputs = told.outputs if isinstance(told, Inferred) else None
        return TypedCall(call, outputs), {"inference": Witnessed("refused", answer.message)}
    checked = ask_checker(answer)
    said = Witnessed("answered") if checked is None else Witnessed("refused", checked.message)
    return TypedCall(call, answer.outputs), {"inference": Witnessed("answered"), "checker": said}


def ask_runtime(
    asked: Sequence[tuple[Spec, Sequence[TypedCall]]], runtime: Runtime, folder: Path, progress: Progress
) -> tuple[str, dict[OperatorName, Answers]]:
    """Ask a runtime about calls of operators, through the harness; its version, and what it did with each.

    One worker is asked about them all. `folder` is empty, and the caller's to remove. Raises
    RuntimeUnavailable where it cannot be started, WorkerMistake where a worker of one's own fails by itself.
    """
    cases = {
        spec.operator: {each.call.digest(spec.operator): _case_of(spec, each) for each in calls}
        for spec, calls in asked
    }
    suite = folder / "suite"
    write_suite(suite, (each for own in cases.values() for each in own.values()), {"operators": {}}, {})
    with open_suite(suite) as opened:
        record = run_suite(opened, runtime, folder / "run.jsonl", RunOptions(), progress)
    if record.failed_by_worker:
        failed = [each for each in record.results if each.worker_failed]
        first = f"{failed[0].case}: {one_line(failed[0].reason or '', _LONGEST)}"
        raise WorkerMistake(f"{len(failed)} of {len(record.results)} calls", first)
    rows = {each.case: each for each in record.results}
    version = str((record.header.get("runtime") or {}).get("version", ""))
    return version, {
        operator: {digest: _witnessed(rows[str(case.id)]) for digest, case in own.items()}
        for operator, own in cases.items()
    }


def _case_of(spec: Spec, asked: TypedCall) -> Case:
    """The case of a call, with its own model: what its outputs are is known from inference alone."""
    case = bare_case(spec, asked.call)
    if asked.outputs is not None:
        told = zip(case.wanted, asked.outputs, strict=False)
        whole = {name: each.whole for name, each in told if each.whole is not None}
        case = replace(case, output_types={**case.output_types, **whole})
    model = build_model(case, declared=asked.outputs)
    if map_parts(case.slots):
        # No model makes maps of tensors: the worker does, by the slots.
        return replace(case, model=model, output_types={})
    return replace(case, model=model, inputs=tuple(named_inputs(case.inputs)), slots=(), output_types={})


def _witnessed(row: Result) -> Witnessed:
    reaction: Reaction = row.response
    if row.unsupported is not None:
        reaction = "not offered"
    if reaction == "answered":
        return Witnessed(reaction)
    said = f"{row.error}: {row.message}" if row.message else row.reason or ""
    return Witnessed(reaction, " ".join(said.split())[:1000])
