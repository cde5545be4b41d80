"""Runtimes as witnesses: calls without an expectation, answered or refused in processes that may crash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

import onnx
from onnx import ModelProto, ValueInfoProto

from conformance.models.case_models import OutputType, build_model, has_onnx_form
from conformance.models.input_names import named_inputs
from conformance.models.ir_versions import LEAST_IR
from conformance.models.packing_nodes import is_packing, native_parts
from conformance.recording.rows import Result
from conformance.running.harness import run_suite
from conformance.running.progress import Progress
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import Runtime
from conformance.suite.cases import Case
from conformance.suite.protos import read_type, write_tensor, write_type
from conformance.suite.suites import open_suite, write_suite
from generator.asking.bare_cases import bare_case
from generator.asking.calls import Call
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from opcert.vocabulary.errors import WorkerMistake
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.value_types import SequenceType, TensorType, element_type_in
from specs.model.spec import Spec

_UNTYPED = "Field 'shape' of 'type' is required but missing"


@dataclass(frozen=True)
class WitnessRefusal:
    """A witness refuses the call; `message` is what it says, on one line."""

    witness: str
    message: str


@dataclass(frozen=True)
class Inferred:
    """Strict inference accepts the call: the model with the types of its outputs, as far as they are told."""

    model: ModelProto
    outputs: tuple[OutputType, ...]


def ask_inference(spec: Spec, call: Call) -> Inferred | WitnessRefusal:
    """Strict shape inference with data propagation; inputs are constants, so that it sees their values."""
    model = _constant_model(spec, call)
    try:
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except Exception as error:  # noqa: BLE001 - the witness may raise anything
        return WitnessRefusal("inference", _one_line(error))
    return Inferred(inferred, tuple(_output_types(inferred)))


def ask_checker(inferred: Inferred) -> WitnessRefusal | None:
    """ONNX's checker on an inferred model; None where it accepts it."""
    try:
        onnx.checker.check_model(inferred.model)
    except Exception as error:  # noqa: BLE001 - as above
        text = _one_line(error)
        # An output whose rank nobody can tell before it runs has no shape.
        return None if _UNTYPED in text else WitnessRefusal("checker", text)
    return None


def _constant_model(spec: Spec, call: Call) -> ModelProto:
    """The call as a model of one node, whose inputs are initializers and whose outputs are of no type."""
    case = replace(bare_case(spec, call), output_types={})
    model = ModelProto()
    model.ParseFromString(build_model(case))
    given = named_inputs(call.inputs)
    for name, tensor in given:
        model.graph.initializer.append(write_tensor(tensor, name))
    taken = [value_info for value_info in model.graph.input if not value_info.type.HasField("tensor_type")]
    del model.graph.input[:]
    model.graph.input.extend([*taken, *_unpacked(model)])
    model.ir_version = max(model.ir_version, LEAST_IR)
    for output in model.graph.output:
        output.ClearField("type")
    return model


def _unpacked(model: ModelProto) -> Iterator[ValueInfoProto]:
    """Sequences of types that no node makes, as inputs of the model in the place of their nodes."""
    types = {initializer.name: initializer.data_type for initializer in model.graph.initializer}
    packing = [node for node in model.graph.node if is_packing(node)]
    made = {name: _carried_types(name) for name in ("SequenceConstruct", "SequenceEmpty")}
    for node in packing:
        if node.op_type in made:
            code = types[node.input[0]] if node.input else node.attribute[0].i
            element_type = BY_CODE[code]
            if f"seq(tensor({element_type}))" not in made[node.op_type]:
                kind = write_type(SequenceType(TensorType(element_type)))
                yield ValueInfoProto(name=node.output[0], type=kind)
                model.graph.node.remove(node)


@cache
def _carried_types(operator: str) -> frozenset[str]:
    """The types of sequences that an operator makes."""
    schema = onnx.defs.get_schema(operator)
    output = schema.outputs[0].type_str
    return frozenset(
        text
        for type_constraint in schema.type_constraints
        if type_constraint.type_param_str == output
        for text in type_constraint.allowed_type_strs
    )


def _output_types(model: ModelProto) -> list[OutputType]:
    found = []
    for value_info in model.graph.output:
        if value_info.type.WhichOneof("value") not in (None, "tensor_type"):
            whole = read_type(value_info.type)
            found.append(OutputType(element_type_in(whole), None, whole))
            continue
        kind = value_info.type.tensor_type
        element_type = BY_CODE.get(kind.elem_type, ELEMENT_TYPES["float"])
        found.append(OutputType(element_type, len(kind.shape.dim) if kind.HasField("shape") else None))
    return found


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]


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
    asked: Sequence[tuple[Spec, Sequence[TypedCall]]],
    runtime: Runtime,
    folder: Path,
    progress: Progress,
    options: RunOptions | None = None,
) -> tuple[str, dict[OperatorName, Answers]]:
    """Ask a runtime about calls of operators, through the harness; its version, and what it did with each.

    One worker is asked about them all. `folder` is empty, and the caller's to remove. Raises
    RuntimeUnavailable where it cannot be started, WorkerMistake where a worker of one's own fails by itself.
    """
    cases = {
        spec.operator: {call.call.digest(spec.operator): _case_of(spec, call) for call in calls}
        for spec, calls in asked
    }
    suite = folder / "suite"
    write_suite(suite, (each for own in cases.values() for each in own.values()), {"operators": {}}, {})
    with open_suite(suite) as opened:
        record = run_suite(opened, runtime, folder / "run.jsonl", options or RunOptions(), progress)
    if record.failed_by_worker:
        failed = [result for result in record.results if result.worker_failed]
        first = f"{failed[0].case}: {one_line(failed[0].reason or '', _LONGEST)}"
        raise WorkerMistake(f"{len(failed)} of {len(record.results)} calls", first)
    rows = {result.case: result for result in record.results}
    version = str((record.header.get("runtime") or {}).get("version", ""))
    return version, {
        operator: {digest: _witnessed(rows[str(case.id)]) for digest, case in own.items()}
        for operator, own in cases.items()
    }


def _case_of(spec: Spec, asked: TypedCall) -> Case:
    """The case of a call, with its own model: what its outputs are is known from inference alone."""
    case = bare_case(spec, asked.call)
    if not has_onnx_form(spec.operator):
        return case
    if asked.outputs is not None:
        told = zip(case.wanted, asked.outputs, strict=False)
        whole = {name: output_type.whole for name, output_type in told if output_type.whole is not None}
        case = replace(case, output_types={**case.output_types, **whole})
    model = build_model(case, declared=asked.outputs)
    if asked.outputs is None and not is_known_to_onnx(spec.operator):
        model = _without_output_types(model)
    if native_parts(case.slots):
        # No model makes maps of tensors: the worker does, by the slots.
        return replace(case, model=model, output_types={})
    return replace(case, model=model, inputs=tuple(named_inputs(case.inputs)), slots=(), output_types={})


def is_known_to_onnx(operator: OperatorName) -> bool:
    """Whether ONNX's inference and checker know the operator: of another one they can say nothing."""
    return bool(onnx.defs.has(operator.name, "" if operator.domain == "ai.onnx" else operator.domain))


def _without_output_types(raw: bytes) -> bytes:
    """A model that says nothing of its outputs: runtimes that have the operator know them."""
    model = ModelProto.FromString(raw)
    for value_info in model.graph.output:
        if not value_info.type.HasField("sequence_type") and not value_info.type.HasField("optional_type"):
            value_info.ClearField("type")
    return bytes(model.SerializeToString(deterministic=True))


def _witnessed(row: Result) -> Witnessed:
    reaction: Reaction = row.response
    if row.unsupported is not None:
        reaction = "not offered"
    if reaction == "answered":
        return Witnessed(reaction)
    said = f"{row.error}: {row.message}" if row.message else row.reason or ""
    return Witnessed(reaction, " ".join(said.split())[:1000])
