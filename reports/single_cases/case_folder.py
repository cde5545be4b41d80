"""A case as a folder for other tools: the layout of ONNX's backend tests, and `case.json` with the rest.

`model.onnx`, `test_data_set_0/input_N.pb` and `output_N.pb` are what that layout knows. A sequence, a map
or an optional is a message of its own there (SequenceProto, MapProto, OptionalProto). What it cannot hold
stands in `case.json`: what must happen, the error allowed to each element (`allowed_N.pb`, double tensors),
further values of single elements, and further expectations under other readings (`expectations/E/`).
A whole suite has `index.json` beside its cases ([its schema](../../conformance/schemas/export_index.json)):
what each is of, and the digests of its files.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import Message  # type: ignore[import-untyped] # protobuf ships no types

from conformance.models.case_models import CARRIED, build_model, has_onnx_form
from conformance.models.input_names import input_names, slot_names
from conformance.models.node_descriptions import describe_node
from conformance.models.packing_nodes import EVERY_END, NO_ENDS, Ends, is_carried
from conformance.runtimes.adapter import WORKERS, Adapter, load_adapter
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.canonical import plain, sha256
from conformance.suite.cases import Case, Expectation, ExpectedOutput
from conformance.suite.flat_values import take_value, value_of_parts
from conformance.suite.form_sample import form_sample
from conformance.suite.properties import describe_property
from conformance.suite.protos import write_tensor, write_value
from conformance.suite.suites import Suite
from opcert.vocabulary.attributes import describe_value
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.slots import gather, slots_of
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import TensorType
from opcert.vocabulary.whole_files import write_bytes, write_text
from reports.single_cases.device_folder import index_entry, write_index
from reports.single_cases.reproduction.reproduce import RUNTIMES
from reports.text.rule_words import absent_inputs, broken_rule

DATA = "test_data_set_0"
PACKED = "packed"
"""The same case for runtimes that take no sequence at the ends of a graph: nodes make it of tensors."""
_RUNTIMES = {"org.openvino": "openvino", "org.tensorflow": "tensorflow"}


def write_case(
    case: Case,
    folder: Path,
    valid_case: Case | None = None,
    between: Case | None = None,
    further: Mapping[str, Any] | None = None,
) -> Path:
    """Write a case into a folder of its own and return it; raises UserError where it cannot be written.

    An operator that cannot stand in an ONNX model has no model.onnx: case.json has its name and attributes.
    A case that demands no answer has no outputs. `valid_case` is the one that an invalid case was made from,
    `between` a call of other dimensions that may run before it on the same model: of that there are inputs.
    case.json ends with what it says `further`.
    """
    ends = ends_of(case)
    if has_onnx_form(case.operator):
        write_bytes(folder / "model.onnx", build_model(case, "inputs", valid_case, ends=ends))
    inputs = _write_values(case, folder) if ends else _write_inputs(case, folder, DATA)
    if ends:
        _write_outputs(case, folder)
    description = {
        "format": "opcert-case/1",
        "id": str(case.id),
        "domain": case.operator.domain,
        "name": case.operator.name,
        "since_version": case.operator.since_version,
        "family": case.family,
        "element_type": case.element_type.name,
        "attributes": {
            name: describe_value(attribute.value) for name, attribute in sorted(case.attributes.items())
        },
        "inputs": inputs,
        "outputs": list(case.output_names),
        "demand": case.demand,
        "must": must_text(case),
        "may_refuse": case.may_refuse,
        "constraint": case.constraint,
        "valid_case": case.valid_case,
        "rule": case.rule,
        "levels": dict(case.levels),
        "expectations": [
            _write_expectation(
                expectation, folder, DATA if number == 0 and not ends else f"expectations/{number}"
            )
            for number, expectation in enumerate(case.expectations)
        ],
        "types": {name: str(kind) for name, kind in case.output_types.items()} if ends else {},
        "packed": _write_inputs(case, folder, PACKED) if ends and _is_packed(case) else [],
        "between": [] if between is None else _write_inputs(between, folder, "between"),
        "beyond": beyond_script(case),
        "runtime": _RUNTIMES.get(case.operator.domain, "onnxruntime"),
    }
    write_text(folder / "case.json", json.dumps({**plain(description), **(further or {})}, indent=1) + "\n")
    return folder


def ends_of(case: Case) -> Ends:
    """What stands at the ends of a case's model as it is; nothing where it takes and gives tensors alone."""
    if case.model is not None or not has_onnx_form(case.operator):
        return NO_ENDS
    kinds = [*(slot.type for slot in case.slots), *case.output_types.values()]
    return EVERY_END if any(kind is not None for kind in kinds) else NO_ENDS


def _is_packed(case: Case) -> bool:
    """Whether nodes can make of tensors what the case gives, and tensors of what it expects."""
    kinds = [*(slot.type for slot in case.slots), *case.output_types.values()]
    return all(kind is None or is_carried(case.operator, kind) for kind in kinds)


def _write_values(case: Case, folder: Path) -> list[dict[str, Any]]:
    """The inputs in the order of the model's: tensors first, behind them what is made of several."""
    slots = slots_of(case.inputs, case.slots)
    named = list(zip(slot_names(case.inputs, slots), slots, strict=True))
    found: list[dict[str, Any]] = []
    for name, slot in sorted(named, key=lambda pair: pair[1].type is not None):
        tensors = list(gather(slot, case.inputs))
        if slot.type is None and not tensors:
            continue
        file = f"{DATA}/input_{len(found)}.pb"
        if slot.type is None:
            _write_tensor(folder / file, tensors[0], name)
        else:
            value = value_of_parts(slot.type, tensors, empty=slot.empty)
            _write_message(folder / file, write_value(slot.type, value, name))
        found.append({"name": name, "file": file, "type": None if slot.type is None else str(slot.type)})
    return found


def _write_outputs(case: Case, folder: Path) -> None:
    """What the first expectation says of each output, as ONNX's own layout has it."""
    if not case.expectations:
        return
    tensors = [output.expected for output in case.expectations[0].outputs]
    at = 0
    for number, name in enumerate(case.wanted):
        kind = case.output_types.get(name) or TensorType(tensors[at].element_type)
        value, at = take_value(kind, tensors, at)
        _write_message(folder / DATA / f"output_{number}.pb", write_value(kind, value, name))


def _write_message(path: Path, message: Message) -> None:
    write_bytes(path, message.SerializeToString(deterministic=True))


def _write_inputs(case: Case, folder: Path, place: str) -> list[dict[str, Any]]:
    inputs: list[dict[str, Any]] = []
    given = 0
    for name, (_, tensor) in zip(input_names(case.inputs), case.inputs, strict=True):
        file = None
        if tensor is not None:
            file = f"{place}/input_{given}.pb"
            _write_tensor(folder / file, tensor, name)
            given += 1
        inputs.append({"name": name, "file": file})
    return inputs


def beyond_script(case: Case) -> str | None:
    """Why the script beside an exported case cannot judge it: demands that are no values."""
    if case.properties:
        return f"it demands what is no value: {_properties(case)}"
    if any(expectation.unordered for expectation in case.expectations):
        return "the order of its outputs is open"
    return None


def must_text(case: Case) -> str:
    """What must happen, in one sentence."""
    if case.demand == "refuse":
        rule = broken_rule(case.constraint, absent_inputs(case)) if case.constraint else ""
        return f"the call must be rejected: it is {rule}" if rule else "the call must be rejected"
    if case.demand == "survive":
        return "nothing is demanded but survival"
    if case.properties and not case.expectations:
        return f"the answer must have what is demanded of it: {_properties(case)}"
    leave = f"; a rejection is no fault ({case.may_refuse})" if case.may_refuse else ""
    if len(case.expectations) > 1:
        return f"the answer must hold under one of {len(case.expectations)} readings of the document{leave}"
    return f"the answer must hold element by element{leave}"


def _properties(case: Case) -> str:
    kinds = dict.fromkeys(str(describe_property(each)["kind"]) for each in case.properties)
    return ", ".join(kinds).replace("_", " ")


def _write_expectation(expectation: Expectation, folder: Path, place: str) -> dict[str, Any]:
    return {
        "readings": {name: list(options) for name, options in expectation.readings.items()},
        "behaviours": {name: list(options) for name, options in expectation.behaviours.items()},
        "outputs": [
            _write_output(output, folder, place, number) for number, output in enumerate(expectation.outputs)
        ],
    }


def _write_output(output: ExpectedOutput, folder: Path, place: str, number: int) -> dict[str, Any]:
    file = f"{place}/output_{number}.pb"
    _write_tensor(folder / file, output.expected, output.name)
    allowed = None
    if output.allowed is not None:
        allowed = f"{place}/allowed_{number}.pb"
        _write_tensor(folder / allowed, Tensor(ELEMENT_TYPES["double"], output.allowed), output.name)
    return {
        "name": output.name,
        "file": file,
        "allowed": allowed,
        "alternatives": _write_alternatives(output, folder, f"{place}/alternatives_{number}.pb"),
    }


def _write_alternatives(output: ExpectedOutput, folder: Path, file: str) -> dict[str, Any] | None:
    """Further values as one tensor, and for each the flat index of its element."""
    pairs = [
        (alternative.index, value) for alternative in output.alternatives for value in alternative.values
    ]
    if not pairs:
        return None
    element_type = output.expected.element_type
    values = np.empty(len(pairs), dtype=element_type.storage)
    values[:] = [value for _, value in pairs]
    _write_tensor(folder / file, Tensor(element_type, values), output.name)
    return {"index": [index for index, _ in pairs], "file": file}


def _write_tensor(path: Path, tensor: Tensor, name: str) -> None:
    write_bytes(path, write_tensor(tensor, name).SerializeToString(deterministic=True))


@dataclass(frozen=True)
class Exported:
    """One exported case: `plain` where the layout holds all of it, else what stands in case.json alone."""

    case_id: str
    folder: Path
    beyond: tuple[str, ...]


def export_suite(suite: Suite, folder: Path, pattern: str | None = None) -> Iterator[Exported]:
    """Write the cases that a pattern selects to `<folder>/<case id>/`, one after the other, and their index.

    Raises UserError where that cannot be done.
    """
    known = frozenset(suite.case_ids)
    listed: list[dict[str, Any]] = []
    for case in suite.cases(pattern):
        valid = suite.case(case.valid_case) if case.valid_case in known else None
        place = write_case(case, folder / str(case.id), valid)
        listed.append(
            {
                **index_entry(case, str(case.id)),
                "demand": case.demand,
                "files": {
                    str(path.relative_to(folder)): sha256(path.read_bytes())
                    for path in sorted(place.rglob("*"))
                    if path.is_file()
                },
            }
        )
        beyond = []
        if not has_onnx_form(case.operator):
            beyond.append("no ONNX model")
        if case.demand != "answer":
            beyond.append("no answer demanded")
        if len(case.expectations) > 1:
            beyond.append("several readings")
        if any(
            output.allowed is not None for expectation in case.expectations for output in expectation.outputs
        ):
            beyond.append("allowed error by element")
        if case.properties or any(expectation.unordered for expectation in case.expectations):
            beyond.append("demands that are no values")
        if any(output.alternatives for expectation in case.expectations for output in expectation.outputs):
            beyond.append("further values of elements")
        yield Exported(str(case.id), place, tuple(beyond))
    write_index(suite, listed, folder)


SCRIPT = "reproduce.py"
RUNTIMES_FOLDER = "runtimes"
"""Where in the folder of a case the script finds how each runtime is called."""
_A_PROVIDER = "onnxruntime[ep=openvino]"
RULES = "unsupported.json"
"""How each runtime that the script knows says that it does not offer something."""


def write_reproduction(suite: Suite, case_id: str, folder: Path, form: str | None = None) -> Path:
    """Write the case, a script that runs it, and what it reads as unsupported; returns the script.

    `form` is the one that the script takes unless it is told another; None is the runtime's own first.
    Raises UserError where the suite has no such case, or the folder cannot be written.
    """
    case = suite.case(case_id)
    named = case.valid_case
    valid = suite.case(named) if named is not None and named in suite else None
    between = form_sample(suite, among=[case_id]).between.get(case_id)
    further: dict[str, Any] = {} if form is None else {"form": form}
    if case.operator.domain == "org.tensorflow":
        further |= _models_of_tensorflow(case)
        for name in _WORKERS:
            write_bytes(folder / RUNTIMES_FOLDER / name, (WORKERS / name).read_bytes())
    write_case(case, folder, valid, None if between is None else suite.case(between), further)
    if has_onnx_form(case.operator):
        ends = ends_of(case)
        _write_forms(case, folder, valid, ends)
        if ends and _is_packed(case):
            packed = folder / PACKED
            write_bytes(packed / "model.onnx", build_model(case, "inputs", valid))
            _write_forms(case, packed, valid, NO_ENDS)
    rules = {name: _rules(load_adapter(name)) for name in sorted(RUNTIMES)}
    rules["provider"] = _rules(find_runtime(_A_PROVIDER).adapter)
    write_text(folder / RULES, json.dumps(rules, indent=1) + "\n")
    carried = files("reports.single_cases.reproduction")
    for name in sorted(path.name for path in carried.iterdir()):
        if name.endswith((".py", ".mjs")) and name not in ("__init__.py", SCRIPT):
            write_bytes(folder / RUNTIMES_FOLDER / name, carried.joinpath(name).read_bytes())
    return write_text(folder / SCRIPT, carried.joinpath(SCRIPT).read_text(encoding="utf-8"))


_WORKERS = (
    *("tflite_models.py", "tflite_flatbuffers.py", "tflite_micro_worker.py"),
    *("wire_arrays.py", "worker_protocol.py"),
    *("tfjs_graphs.mjs", "worker_protocol.mjs"),
)
"""Of the workers of TensorFlow's runtimes: what makes their models, graphs and tensors, and reads them."""


def _models_of_tensorflow(case: Case) -> dict[str, Any]:
    """What runtimes need that take TensorFlow's call as a model: `constants` and `load` of case.json.

    An output has the shape that is expected: TensorFlow Lite Micro works out none.
    """
    described, blobs = describe_node(case, "initializers")
    shapes = [list(each.expected.shape) for told in case.expectations[:1] for each in told.outputs[:1]]
    constants = {
        "load": {**described, "form": "initializers"},
        "blobs": [base64.b64encode(each).decode() for each in blobs],
        "shape": shapes[0] if shapes else None,
    }
    return {"constants": constants, "load": describe_node(case, "inputs")[0]}


def _write_forms(case: Case, folder: Path, valid: Case | None, ends: Ends) -> None:
    """The models of the other forms, as far as they are not that of the first."""
    plain, *others = (build_model(case, form, valid, ends=ends) for form in CARRIED)
    for form, model in zip(CARRIED[1:], others, strict=True):
        if model != plain:
            write_bytes(folder / "forms" / f"{form}.onnx", model)


def _rules(adapter: Adapter) -> list[dict[str, str]]:
    """A runtime's own words; what only a worker can say does not come up here."""
    own = [
        unsupported_rule
        for unsupported_rule in adapter.unsupported
        if unsupported_rule.error_class != "unsupported"
    ]
    return [{"kind": unsupported_rule.kind, "message": unsupported_rule.message} for unsupported_rule in own]
