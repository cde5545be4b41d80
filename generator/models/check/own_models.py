"""The models in which cases of a call run, where that of the case's node alone will not do.

A form feeds every input, or the first alone. A node of which something else is constant (weights of an LSTM
whose states are fed, a table from which fed indices gather) is asked in a model of its own. So is a case once
more where extents are open that the model's own inputs have by name: a runtime knows none of them before the
run. Of others that stand open where shapes are inferred it may know more than the inference does, so where a
node has such extents nothing is asked. Those that are numbers stay numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from onnx import ModelProto

from conformance.models.case_models import build_model, hold_as_constants
from conformance.models.input_names import input_names
from conformance.suite.cases import Case
from generator.models.check.node_calls import NodeCall
from opcert.vocabulary.names import CaseId

SHAPES = "shapes"
"""The dimension of what a case's model says of extents."""
FIXED, OPEN = "fixed", "open"
Row = Mapping[str, object]


def leaves_open(node: NodeCall) -> bool:
    """Whether an extent of a node comes with each run, and every other one is stated."""
    given = [node_input.value for node_input in node.inputs if node_input.value is not None]
    extents = [
        one
        for value in given
        if not value.is_constant
        for one in ((None,) if value.shape is None else value.shape)
        if not isinstance(one, int)
    ]
    return bool(extents) and all(extent in node.run_extents for extent in extents)


def rows_to_open(rows: Sequence[Row]) -> tuple[int, ...]:
    """Places of rows in which each level of each dimension stands: they are asked with open extents, too.

    The first rows that have a level which none before them has.
    """
    first: dict[tuple[str, object], int] = {}
    for place, row in enumerate(rows):
        for level in row.items():
            first.setdefault(level, place)
    return tuple(sorted(set(first.values())))


def opened(node: NodeCall, case: Case) -> Case | None:
    """The same case in a model of its own, whose extents are open where those of the node are.

    Extents of one name keep one. None where no extent comes out as open, or the case has its model already.
    """
    if case.model is not None or case.slots:
        return None
    model = ModelProto.FromString(build_model(case))
    declared = {value_info.name: value_info.type.tensor_type.shape.dim for value_info in model.graph.input}
    names: dict[str, str] = {}
    for node_input, name in zip(node.inputs, input_names(case.inputs), strict=False):
        value = node_input.value
        if value is None or value.is_constant or name not in declared:
            continue
        for said, dimension in zip(value.shape or (), declared[name], strict=True):
            if isinstance(said, str):
                dimension.dim_param = names.setdefault(said, f"n{len(names)}")
    if not names:
        return None
    return in_model(replace(case, levels={**case.levels, SHAPES: OPEN}), model)


def in_model(case: Case, model: ModelProto) -> Case:
    """The case with a model of its own, and the id that it has by that."""
    made = replace(case, model=bytes(model.SerializeToString(deterministic=True)))
    return replace(made, id=CaseId(case.id.operator, case.id.family, case.id.word, made.call_digest()))


def holds_some(node: NodeCall) -> bool:
    """Whether some of a node's inputs are constants, some are fed, and no form says which.

    A case with a model of its own is asked in no other form.
    """
    given = [node_input.value for node_input in node.inputs if node_input.value is not None]
    constant = [value.is_constant for value in given]
    a_form = constant == [False] + [True] * (len(given) - 1) and not node.is_aged
    return any(constant) and not all(constant) and not a_form


def held(node: NodeCall, case: Case) -> Case:
    """The same case in a model that holds the node's constants; its inputs are those that are fed.

    The case itself where it takes more than tensors.
    """
    if case.slots:
        return case
    names = input_names(case.inputs)
    pairs = zip(names, (tensor for _, tensor in case.inputs), strict=True)
    given = [(name, tensor) for name, tensor in pairs if tensor is not None]
    fixed = {
        name
        for node_input, name in zip(node.inputs, names, strict=False)
        if node_input.value is not None and node_input.value.is_constant
    }
    model = ModelProto.FromString(case.model or build_model(case))
    hold_as_constants(model, {name: tensor for name, tensor in given if name in fixed})
    inputs = tuple((name, tensor) for name, tensor in given if name not in fixed)
    return in_model(replace(case, inputs=inputs), model)
