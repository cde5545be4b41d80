"""Models of one node whose inputs or outputs are sequences and optionals: nodes around it make and open them.

A runtime of ONNX models gets and gives tensors alone in this way, whatever its interface to values is. Maps,
for which there are no such nodes, stay as they are: the worker itself has to carry them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import ModelProto, ValueInfoProto

from conformance.models.packing_nodes import SINCE, GraphSurroundings, Value, can_pack, import_operators
from conformance.suite.cases import Case
from conformance.suite.flat_values import take_value
from conformance.suite.protos import declare_tensor, write_type
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import OptionalType, SequenceType, ValueType

Names = Sequence[str]


def pack_model(model: ModelProto, case: Case, parts: Names, values: Names, outputs: Names) -> None:
    """Put nodes around the one of a case's model, in place.

    `parts` are the names of the case's inputs in the model, `values` those that its slots have at the node,
    `outputs` those of its wanted outputs. Raises UserError where the operator set has no such nodes.
    """
    around = GraphSurroundings(model.graph)
    for slot, name in zip(case.slots, values if case.slots else (), strict=True):
        if slot.type is None:
            continue
        if can_pack(slot.type):
            around.join(name, slot.type, None if slot.empty else [parts[each] for each in slot.parts])
        else:
            model.graph.input.append(ValueInfoProto(name=name, type=write_type(slot.type)))
    expected = expected_values(case)
    declared = {each.name: each for each in model.graph.output}
    del model.graph.output[:]
    for wanted, name in zip(case.wanted, outputs, strict=True):
        kind = case.output_types.get(wanted)
        if kind is None:
            model.graph.output.append(declared[name])
        elif not can_pack(kind):
            model.graph.output.append(ValueInfoProto(name=name, type=write_type(kind)))
        else:
            for part, tensor in around.unpack(name, kind, _packable(kind, expected.get(wanted))):
                declare_tensor(
                    model.graph.output.add(), part, tensor.element_type, [None] * len(tensor.shape)
                )
    around.write_into(model.graph)
    nodes = [*around.before, *around.after]
    if case.operator.domain != "ai.onnx":
        # The set beside the operator's own may be any.
        for each in model.opset_import:
            if not each.domain:
                each.version = max([each.version, *(SINCE[node.op_type] for node in nodes)])
    import_operators(model, nodes)


def is_carried(operator: OperatorName, kind: ValueType) -> bool:
    """Whether nodes of ONNX carry values of a type to and from the operator."""
    since = 15 if isinstance(kind, OptionalType) else 11
    return can_pack(kind) and (operator.domain != "ai.onnx" or operator.since_version >= since)


def expected_values(case: Case) -> Mapping[str, object]:
    """What the first expectation says of each output that is no tensor; none where there is no expectation.

    Raises UserError where expectations differ in what they hold: a model takes an output apart in one way.
    """
    found: dict[str, object] = {}
    forms = set()
    for expectation in case.expectations:
        tensors = [each.expected for each in expectation.outputs]
        place, form = 0, []
        for name in case.wanted:
            kind = case.output_types.get(name)
            if kind is None:
                place += 1
                continue
            value, behind = take_value(kind, tensors, place)
            form.append(behind - place)
            found.setdefault(name, value)
            place = behind
        forms.add(tuple(form))
    if len(forms) > 1:
        raise UserError("expectations of a case differ in the number of tensors", got=str(sorted(forms)))
    return found


def _packable(kind: ValueType, value: object) -> Value:
    """The value of a type that nodes take apart: what nobody expects anything of is taken for empty."""
    held = kind.of if isinstance(kind, OptionalType) else kind
    if isinstance(held, SequenceType) and isinstance(value, tuple):
        return tuple(each for each in value if isinstance(each, Tensor))
    return value if isinstance(value, Tensor) else None
