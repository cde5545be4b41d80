"""One test in the layout of ONNX's backend tests as cases: one for each of its data sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from onnx import GraphProto, ModelProto

from conformance.adopting.foreign_models import (
    declared_types,
    is_random,
    lower,
    operator_of,
    parse_model,
)
from conformance.adopting.foreign_tensors import parse_tensor, read_foreign_tensor
from conformance.adopting.layout import TestFolder, list_values, read_file
from conformance.adopting.naming import Inputs, exported_id, name_case, name_inputs
from conformance.adopting.tolerances import allowed_error
from conformance.cases import Case, Demand, Expectation, ExpectedOutput, call_digest
from conformance.protos import read_attribute
from conformance.values import decode_floats
from opcert.attributes import Attributes
from opcert.element_types import BY_CODE, ElementType
from opcert.errors import UserError
from opcert.names import OperatorName
from opcert.tensors import Tensor

WRITTEN_AS = "written_as"
"""The level that says how a test writes its call: `node`, `expanded` (the operator's function body in place
of the operator: the twin of another test) or `graph` (several nodes that are no such twin)."""

GRAPH_DOMAIN = "graph"
_TWIN = re.compile(r"(?P<base>.+)_expanded(?:_ver[0-9]+)?")


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
    else:
        known = exported_id(test.name)
        if known is not None and known.operator != called.operator and known.operator.domain != GRAPH_DOMAIN:
            # What opcert exported for an operator and is written otherwise is a twin of it.
            called, written_as = Called(known.operator, {}, False), "expanded"
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
    return Called(operator_of(model, node), attributes, whole and _is_plain(model))


def _is_plain(model: ModelProto) -> bool:
    """Whether the graph is nothing but one node, its inputs and its outputs."""
    graph = model.graph
    node = graph.node[0]
    given = [each for each in node.input if each]
    return (
        not (graph.initializer or graph.sparse_initializer or model.functions or node.overload)
        and given == [each.name for each in graph.input]
        and len(set(given)) == len(given)
        and [*node.output] == [each.name for each in graph.output]
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
        inputs = name_inputs(name, model, called.operator, called.attributes, dict(inputs))
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
        id=name_case(name, called.operator, demand, digest),
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


def _element_type(
    given: Sequence[Tensor], expected: Sequence[Tensor], declared: Sequence[str]
) -> ElementType:
    """The type that a case counts under: of its first input, or of its first output where it has none."""
    first = next(iter((*given, *expected)), None)
    if first is not None:
        return first.element_type
    return next(each for each in BY_CODE.values() if each.name == declared[0])
