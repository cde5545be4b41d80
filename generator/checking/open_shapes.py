"""Cases once more in a model that leaves open what the user's model leaves open, as one with a batch does.

Of two extents that the model gives one name, or of none that it states, a runtime then knows no length before
the run. The extents that the model states as numbers stay numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from onnx import ModelProto

from conformance.models.case_models import build_model
from conformance.models.input_names import input_names
from conformance.suite.cases import Case
from generator.checking.node_calls import NodeCall
from opcert.vocabulary.names import CaseId

SHAPES = "shapes"
"""The dimension of what a case's model says of extents."""
FIXED, OPEN = "fixed", "open"
Row = Mapping[str, object]


def leaves_open(node: NodeCall) -> bool:
    """Whether the model leaves an extent of something that is no constant open."""
    given = [each.value for each in node.inputs if each.value is not None and not each.value.is_constant]
    return any(each.shape is None or any(not isinstance(one, int) for one in each.shape) for each in given)


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


def opened(node: NodeCall, case: Case, *, named: bool = True) -> Case | None:
    """The same case in a model of its own, whose extents are open where those of the node are.

    Extents of one name keep one, unless `named` is False. None where no extent comes out as open, or the
    case has its model already.
    """
    if case.model is not None or case.slots:
        return None
    model = ModelProto.FromString(build_model(case))
    declared = {each.name: each.type.tensor_type.shape.dim for each in model.graph.input}
    names: dict[str, str] = {}
    found = False
    for place, (each, name) in enumerate(zip(node.inputs, input_names(case.inputs), strict=False)):
        value = each.value
        if value is None or value.is_constant or name not in declared:
            continue
        for axis, dimension in enumerate(declared[name]):
            said = None if value.shape is None else value.shape[axis]
            if isinstance(said, int):
                continue
            own = f"input{place}_axis{axis}"
            dimension.dim_param = names.setdefault(said, f"n{len(names)}") if said and named else own
            found = True
    if not found:
        return None
    raw = bytes(model.SerializeToString(deterministic=True))
    levels = {**case.levels, SHAPES: OPEN}
    made = replace(case, model=raw, levels=levels)
    own_id = CaseId(case.id.operator, case.id.family, case.id.word, made.call_digest())
    return replace(made, id=own_id)
