"""How adopted cases and their inputs are named."""

from __future__ import annotations

import re
from typing import Any

from onnx import ModelProto
from onnx.defs import OpSchema

from conformance.adopting.foreign_models import find_schema
from conformance.suite.cases import Demand, call_digest
from opcert.vocabulary.attributes import Attributes
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
