"""One test in the layout of ONNX's backend tests as cases: one for each of its data sets."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto
from onnx.defs import OpSchema

from conformance.adopting.foreign_models import (
    PackedModel,
    find_schema,
    is_packed,
    is_random,
    length_outputs,
    lower,
    operator_of,
    own_nodes,
    pack_values,
    parse_model,
)
from conformance.adopting.foreign_values import (
    declared_inputs,
    declared_outputs,
    read_data_set,
    read_foreign_tensor,
)
from conformance.adopting.layout import TestFolder
from conformance.suite.cases import Case, Demand, Expectation, ExpectedOutput, call_digest
from conformance.suite.protos import read_attribute
from conformance.suite.values import decode_floats
from opcert.vocabulary.attributes import PLAIN_KINDS, Attribute, Attributes
from opcert.vocabulary.element_types import BY_CODE, ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor

Inputs = tuple[tuple[str, Tensor | None], ...]
_LONGEST_WORD = 120


def name_case(name: str, operator: OperatorName, demand: Demand, digest: str) -> CaseId:
    """An exported case keeps its id where it is still the same call, else its word; any other is named for
    its test."""
    known = exported_id(name)
    if (
        known is not None
        and (demand == "answer" or known.family == "survival")
        and (known.operator, known.digest) == (operator, digest)
    ):
        return known
    word = (
        known.word if known is not None else re.sub(r"[^A-Za-z0-9_]+", "_", name)[-_LONGEST_WORD:].strip("_")
    )
    return CaseId(operator, "survival" if demand == "survive" else "example", word or None, digest)


def exported_id(name: str) -> CaseId | None:
    """The case id that a test is named by where opcert exported it."""
    try:
        return CaseId.parse(name)
    except UserError:
        return None


def name_inputs(
    name: str,
    model: ModelProto,
    operator: OperatorName,
    attributes: Attributes,
    given: dict[str, Tensor | None],
) -> Inputs:
    """The inputs by the names that the operator's document gives them, omitted ones as None.

    The model's own names stay where onnx does not know the operator, and where it is by them that the call is
    the exported case that the test is named for.
    """
    node = model.graph.node[0]
    own = [*node.input]
    while own and not own[-1]:
        own.pop()
    by_own_names = tuple((each, given.get(each)) for each in own)
    schema = find_schema(model, node)
    known = exported_id(name)
    if schema is None or not schema.inputs:
        return by_own_names
    if known is not None and known.digest == call_digest(operator, attributes, by_own_names):
        return by_own_names
    return tuple((_formal_name(schema, position), given.get(each)) for position, each in enumerate(own))


def _formal_name(schema: OpSchema, position: int) -> str:
    # The last one may be variadic.
    formal: Any = schema.inputs[min(position, len(schema.inputs) - 1)]
    return str(formal.name)


WRITTEN_AS = "written_as"
"""The level that says how a test writes its call: `node`, `expanded` (the operator's function body in place
of the operator: the twin of another test) or `graph` (several nodes that are no such twin)."""

VALUES, UNPACKED = "values", "unpacked"
"""The level of a case whose model has tensors in place of the sequences and optionals of its test."""

GRAPH_DOMAIN = "graph"
_TWIN = re.compile(r"(?P<base>.+)_expanded(?:_ver[0-9]+)?")


@dataclass(frozen=True)
class AdoptedCall:
    """What a test's model calls. `plain` says that the one node can be built again from what is here."""

    operator: OperatorName
    attributes: Attributes
    plain: bool


def adopt_test(test: TestFolder, base: TestFolder | None) -> Iterator[Case]:
    """The cases of a test; `base` is the test that this one is the expanded twin of, None where it is none.

    Raises UserError, with the reason in few words, where it cannot be carried.
    """
    model = parse_model(test.model())
    declared = (*declared_inputs(model), *declared_outputs(model))
    if not declared:
        raise UserError("the model takes nothing and gives nothing")
    called = _called(model)
    written_as = "node" if len(own_nodes(model)) == 1 else "graph"
    if base is not None:
        # The twin counts for the operator whose body it is.
        origin = _called(parse_model(base.model()))
        called, written_as = AdoptedCall(origin.operator, origin.attributes, False), "expanded"
    else:
        known = exported_id(test.name)
        if known is not None and known.operator != called.operator:
            if known.operator.domain != GRAPH_DOMAIN:
                # What opcert exported for an operator and is written otherwise is a twin of it.
                called, written_as = AdoptedCall(known.operator, {}, False), "expanded"
            elif written_as == "graph":
                # The opset that it is named for may have been lowered since.
                called = AdoptedCall(known.operator, {}, False)
    tolerances = test.tolerances()
    sets = test.data_sets()
    for number, data_set in enumerate(sets):
        packed = pack_values(model, read_data_set(data_set, model))
        lower(packed.model)
        yield _adopt_set(
            test.name if len(sets) == 1 else f"{test.name}_set_{number}",
            packed,
            called,
            declared[0].element_type,
            written_as,
            tolerances,
        )


def base_name(name: str) -> str | None:
    """The name of the test that one of this name would be the expanded twin of; None where it is none."""
    match = _TWIN.fullmatch(name)
    return match["base"] if match is not None else None


def _called(model: ModelProto) -> AdoptedCall:
    nodes = own_nodes(model)
    if len(nodes) > 1:
        opset = max(
            (each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), default=1
        )
        return AdoptedCall(OperatorName(GRAPH_DOMAIN, "Model", opset), {}, False)
    node = nodes[0]
    attributes: dict[str, Attribute] = {}
    whole = True
    for attribute in node.attribute:
        try:
            found = read_attribute(attribute)
        except UserError:  # a sparse tensor, a tensor as other tools write it
            found = None
        if found is not None and found.kind in PLAIN_KINDS:
            attributes[attribute.name] = found
        else:
            # Such a node is carried with its model, by which its case has its id.
            whole = False
    return AdoptedCall(operator_of(model, node), attributes, whole and _is_plain(model))


def _is_plain(model: ModelProto) -> bool:
    """Whether the graph is nothing but one node, its inputs and its outputs."""
    graph = model.graph
    node = graph.node[0]
    given = [value_info for value_info in node.input if value_info]
    return (
        len(graph.node) == 1
        and not (graph.initializer or graph.sparse_initializer or model.functions or node.overload)
        and given == [value_info.name for value_info in graph.input]
        and len(set(given)) == len(given)
        and [*node.output] == [value_info.name for value_info in graph.output]
    )


def _adopt_set(
    name: str,
    packed: PackedModel,
    called: AdoptedCall,
    declared: ElementType,
    written_as: str,
    tolerances: tuple[float, float],
) -> Case:
    model = packed.model
    random = is_random(model, _single_values(model.graph, packed.inputs))
    demand: Demand = "answer" if packed.outputs and not random else "survive"
    inputs: Inputs = packed.inputs
    carried = None
    if called.plain and demand == "answer" and not is_packed(model):
        inputs = name_inputs(name, model, called.operator, called.attributes, dict(inputs))
    else:
        carried = bytes(model.SerializeToString(deterministic=True))
    digest = call_digest(called.operator, called.attributes, inputs, carried)
    expectations: tuple[Expectation, ...] = ()
    if demand == "answer":
        lengths = length_outputs(model)
        expectations = (
            Expectation(
                tuple(
                    ExpectedOutput(
                        output, tensor, None if output in lengths else allowed_error(tensor, *tolerances)
                    )
                    for output, tensor in packed.outputs
                )
            ),
        )
    levels = {WRITTEN_AS: written_as} | ({VALUES: UNPACKED} if is_packed(model) else {})
    first = next((tensor for _, tensor in (*packed.inputs, *packed.outputs)), None)
    return Case(
        id=name_case(name, called.operator, demand, digest),
        # That of its first input, or of its first output where it has none.
        element_type=declared if first is None else first.element_type,
        attributes=called.attributes,
        inputs=inputs,
        output_names=tuple(value_info.name for value_info in model.graph.output),
        demand=demand,
        expectations=expectations,
        levels=levels,
        rule="its output is random" if random else None,
        model=carried,
    )


def _single_values(graph: GraphProto, inputs: Sequence[tuple[str, Tensor]]) -> dict[str, float]:
    """The inputs and constants of one element that is a number, by name."""
    found = dict(inputs)
    for initializer in graph.initializer:
        if initializer.data_type in BY_CODE and [*initializer.dims] in ([], [1]):
            found.setdefault(initializer.name, read_foreign_tensor(initializer))
    numbers = {}
    for name, tensor in found.items():
        if tensor.array.size == 1:
            if tensor.element_type.is_float:
                numbers[name] = float(decode_floats(tensor.element_type, tensor.array.reshape(1))[0])
            elif tensor.element_type.kind == "bool":
                numbers[name] = float(tensor.array.reshape(1)[0])
    return numbers


# ONNX's own runner widens the relative tolerance of bfloat16 to two steps of that type.
_RTOL_OF_BFLOAT16 = 1 / 64


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
    elif element_type.kind == "complex":
        magnitude = _modulus(expected.array.astype(np.complex128))
    else:
        magnitude = np.abs(expected.array.astype(np.float64))
    with np.errstate(over="ignore", invalid="ignore"):
        allowed = np.nextafter(atol + rtol * magnitude, np.inf)
    finite = np.isfinite(magnitude)
    if rtol == 0 and atol == 0:
        finite = np.zeros_like(finite)
    return np.asarray(np.where(finite, allowed, 0.0), dtype=np.float64)


def _modulus(numbers: NDArray[np.complex128]) -> NDArray[np.float64]:
    """At least the magnitude of each complex number, and less than 2**-49 of it above: numpy's own varies."""
    with np.errstate(invalid="ignore", over="ignore"):
        real, imaginary = np.abs(numbers.real), np.abs(numbers.imag)
        long, short = np.maximum(real, imaginary), np.minimum(real, imaginary)
        ratio = np.divide(short, long, out=np.zeros(long.shape), where=(long > 0) & np.isfinite(long))
        return np.asarray(long * np.sqrt(1 + ratio * ratio) * (1 + math.ldexp(1.0, -50)))
