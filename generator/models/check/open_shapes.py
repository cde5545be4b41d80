"""Cases once more in a model that leaves open what the user's model leaves open, as one with a batch does.

Open are the extents that the model's own inputs have by name: a runtime knows none of them before the run.
Of others that stand open where shapes are inferred it may know more than the inference does, so where a node
has such extents nothing is asked. Those that are numbers stay numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from onnx import ModelProto

from conformance.models.case_models import build_model
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
    given = [each.value for each in node.inputs if each.value is not None]
    extents = [
        one
        for each in given
        if not each.is_constant
        for one in ((None,) if each.shape is None else each.shape)
        if not isinstance(one, int)
    ]
    return bool(extents) and all(each in node.run_extents for each in extents)


def rows_to_open(rows: Sequence[Row]) -> tuple[int, ...]:
    """Places of rows in which each level of each dimension stands: they are asked with open extents, too.

    The first rows that have a level which none before them has.
    """
    seen: set[tuple[str, object]] = set()
    found: list[int] = []
    for place, row in enumerate(rows):
        fresh = set(row.items()) - seen
        if fresh:
            found.append(place)
            seen |= fresh
    return tuple(found)


def opened(node: NodeCall, case: Case) -> Case | None:
    """The same case in a model of its own, whose extents are open where those of the node are.

    Extents of one name keep one. None where no extent comes out as open, or the case has its model already.
    """
    if case.model is not None or case.slots:
        return None
    model = ModelProto.FromString(build_model(case))
    declared = {each.name: each.type.tensor_type.shape.dim for each in model.graph.input}
    names: dict[str, str] = {}
    for each, name in zip(node.inputs, input_names(case.inputs), strict=False):
        value = each.value
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
