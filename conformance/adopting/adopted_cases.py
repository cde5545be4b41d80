"""One test in the layout of ONNX's backend tests as cases: one for each of its data sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto
from onnx.defs import OpSchema

from conformance.adopting.foreign_models import (
    declared_types,
    find_schema,
    is_random,
    lower,
    operator_of,
    parse_model,
)
from conformance.adopting.foreign_tensors import parse_tensor, read_foreign_tensor
from conformance.adopting.layout import TestFolder, list_values, read_file
from conformance.cases import Case, Demand, Expectation, ExpectedOutput, call_digest
from conformance.goldens import read_attribute
from conformance.values import decode_floats
from opcert.attributes import Attributes
from opcert.element_types import BY_CODE, ElementType
from opcert.errors import UserError
from opcert.names import CaseId, OperatorName
from opcert.tensors import Tensor

WRITTEN_AS = "written_as"
"""The level that says how a test writes its call: `node`, `expanded` (the operator's function body in place
of the operator: the twin of another test) or `graph` (several nodes that are no such twin)."""

GRAPH_DOMAIN = "graph"
_TWIN = re.compile(r"(?P<base>.+)_expanded(?:_ver[0-9]+)?")
_LONGEST_WORD = 120
# ONNX's own runner widens the relative tolerance of bfloat16 to two steps of that type.
_RTOL_OF_BFLOAT16 = 2.0**-6

Inputs = tuple[tuple[str, Tensor | None], ...]


@dataclass(frozen=True)
class Called:
    """What a test's model calls. `plain` says that the one node can be built again from what is here."""

    operator: OperatorName
    attributes: Attributes
    plain: bool


def adopt_test(test: TestFolder, base: TestFolder | None) -> Iterator[Case]:
    """The cases of a test; `base` is the test that this one is the expanded twin of, None where it is none.

    Raises UserError, with the reason in few words, where it cannot be carried.
    """
    model = parse_model(test.model())
    declared = declared_types(model)
    called = _called(model)
    written_as = "node" if len(model.graph.node) == 1 else "graph"
    if base is not None:
        # The twin counts for the operator whose body it is.
        origin = _called(parse_model(base.model()))
        called, written_as = Called(origin.operator, origin.attributes, False), "expanded"
    lower(model)
    tolerances = test.tolerances()
    sets = test.data_sets()
    for number, data_set in enumerate(sets):
        yield _adopt_set(
            test.name if len(sets) == 1 else f"{test.name}_set_{number}",
            model,
            called,
            declared,
            written_as,
            _read_values(data_set, model),
            tolerances,
        )


def base_name(name: str) -> str | None:
    """The name of the test that one of this name would be the expanded twin of; None where it is none."""
    match = _TWIN.fullmatch(name)
    return match["base"] if match is not None else None


def _called(model: ModelProto) -> Called:
    graph = model.graph
    if len(graph.node) > 1:
        opset = max(
            (each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), default=1
        )
        return Called(OperatorName(GRAPH_DOMAIN, "Model", opset), {}, False)
    node = graph.node[0]
    attributes, whole = {}, True
    for each in node.attribute:
        try:
            attributes[each.name] = read_attribute(each)
        except UserError:  # a tensor, a graph, a type
            whole = False
    return Called(operator_of(model, node), attributes, whole and _is_plain(model, node))


def _is_plain(model: ModelProto, node: NodeProto) -> bool:
    """Whether the graph is nothing but the node, its inputs and its outputs."""
    graph = model.graph
    given = [each for each in node.input if each]
    return (
        not (graph.initializer or graph.sparse_initializer or model.functions or node.overload)
        and given == [each.name for each in graph.input]
        and len(set(given)) == len(given)
        and [*node.output] == [each.name for each in graph.output]
        and find_schema(model, node) is not None
    )


def _read_values(data_set: Path, model: ModelProto) -> tuple[list[Tensor], list[Tensor]]:
    """The inputs and outputs of a data set; raises UserError where they are not those of the model."""
    inputs, outputs = list_values(data_set)
    graph = model.graph
    wanted = len(_open_inputs(graph))
    if len(inputs) not in (wanted, len(graph.input)):
        raise UserError("not as many inputs as the model takes", got=str(len(inputs)), expected=str(wanted))
    if len(outputs) not in (0, len(graph.output)):
        raise UserError(
            "not as many outputs as the model has", got=str(len(outputs)), expected=str(len(graph.output))
        )
    return [_read_tensor(each) for each in inputs], [_read_tensor(each) for each in outputs]


def _open_inputs(graph: GraphProto) -> list[str]:
    """The inputs that have no value of their own."""
    known = {each.name for each in graph.initializer}
    return [each.name for each in graph.input if each.name not in known]


def _read_tensor(path: Path) -> Tensor:
    raw = read_file(path)
    try:
        return parse_tensor(raw)
    except UserError as error:
        raise UserError(f"{path.parent.name}/{path.name}: {error}") from error


def _adopt_set(
    name: str,
    model: ModelProto,
    called: Called,
    declared: Sequence[str],
    written_as: str,
    values: tuple[list[Tensor], list[Tensor]],
    tolerances: tuple[float, float],
) -> Case:
    given, expected = values
    graph = model.graph
    names = _open_inputs(graph)
    if len(given) != len(names):
        names = [each.name for each in graph.input]
    random = is_random(model, _single_values(graph, names, given))
    demand: Demand = "answer" if expected and not random else "survive"
    outputs = [each.name for each in graph.output]
    inputs: Inputs = tuple(zip(names, given, strict=True))
    carried = None
    if called.plain and demand == "answer":
        inputs = _formal_inputs(model, graph.node[0], dict(inputs))
        outputs = [*graph.node[0].output]
    else:
        carried = bytes(model.SerializeToString(deterministic=True))
    digest = call_digest(called.operator, called.attributes, inputs, carried)
    expectations: tuple[Expectation, ...] = ()
    if demand == "answer":
        expectations = (
            Expectation(
                tuple(
                    ExpectedOutput(output, tensor, allowed_error(tensor, *tolerances))
                    for output, tensor in zip(outputs, expected, strict=True)
                )
            ),
        )
    return Case(
        id=_case_id(name, called.operator, demand, digest),
        element_type=_element_type(given, expected, declared),
        attributes=called.attributes,
        inputs=inputs,
        output_names=tuple(outputs),
        demand=demand,
        expectations=expectations,
        levels={WRITTEN_AS: written_as},
        rule="its output is random" if random else None,
        model=carried,
    )


def _case_id(name: str, operator: OperatorName, demand: Demand, digest: str) -> CaseId:
    """An exported case keeps its id where it is still the same call; any other is named for its test."""
    try:
        known = CaseId.parse(name)
    except UserError:
        pass
    else:
        if known.operator == operator and known.digest == digest and demand == "answer":
            return known
    word = re.sub(r"[^A-Za-z0-9_]+", "_", name)[-_LONGEST_WORD:].strip("_")
    return CaseId(operator, "survival" if demand == "survive" else "example", word or None, digest)


def _single_values(graph: GraphProto, names: Sequence[str], given: Sequence[Tensor]) -> dict[str, float]:
    """The inputs and constants of one element that is a number, by name."""
    found = dict(zip(names, given, strict=True))
    for each in graph.initializer:
        if each.data_type in BY_CODE and [*each.dims] in ([], [1]):
            found.setdefault(each.name, read_foreign_tensor(each))
    numbers = {}
    for name, tensor in found.items():
        if tensor.array.size == 1:
            if tensor.element_type.is_float:
                numbers[name] = float(decode_floats(tensor.element_type, tensor.array.reshape(1))[0])
            elif tensor.element_type.kind == "bool":
                numbers[name] = float(tensor.array.reshape(1)[0])
    return numbers


def _formal_inputs(model: ModelProto, node: NodeProto, given: dict[str, Tensor | None]) -> Inputs:
    """The inputs by the names that the operator's document gives them, omitted ones as None."""
    schema = find_schema(model, node)
    assert schema is not None
    names = [*node.input]
    while names and not names[-1]:
        names.pop()
    return tuple((_formal_name(schema, position), given.get(each)) for position, each in enumerate(names))


def _formal_name(schema: OpSchema, position: int) -> str:
    # The last one may be variadic.
    formal: Any = schema.inputs[min(position, len(schema.inputs) - 1)]
    return str(formal.name)


def _element_type(
    given: Sequence[Tensor], expected: Sequence[Tensor], declared: Sequence[str]
) -> ElementType:
    """The type that a case counts under: of its first input, or of its first output where it has none."""
    first = next(iter((*given, *expected)), None)
    if first is not None:
        return first.element_type
    return next(each for each in BY_CODE.values() if each.name == declared[0])


def allowed_error(expected: Tensor, rtol: float, atol: float) -> NDArray[np.float64] | None:
    """What `atol + rtol * |expected|` allows to each element, rounded up; None where equality is asked.

    An element that is no finite number has to be what it is. Strings and booleans have to be equal. Of a
    complex number each part may be off by what its magnitude allows.
    """
    element_type = expected.element_type
    if element_type.kind in ("string", "bool"):
        return None
    if element_type.name == "bfloat16":
        rtol = max(rtol, _RTOL_OF_BFLOAT16)
    if element_type.is_float:
        magnitude = np.abs(decode_floats(element_type, expected.array))
    else:
        magnitude = np.abs(
            expected.array.astype(np.complex128 if element_type.kind == "complex" else np.float64)
        )
    with np.errstate(over="ignore", invalid="ignore"):
        allowed = np.nextafter(atol + rtol * magnitude, np.inf)
    finite = np.isfinite(magnitude)
    if rtol == 0 and atol == 0:
        finite = np.zeros_like(finite)
    return np.asarray(np.where(finite, allowed, 0.0), dtype=np.float64)
