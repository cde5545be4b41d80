"""A model as a case that a runtime runs, and what it returned by name."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.judging.responses import Answered, Crashed, NotOffered, Refused, Response, TimedOut
from conformance.suite.cases import Case
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor

_MODEL = CaseId(OperatorName("ai.onnx", "Model", 1), "survival", None, "0" * 12)
LOST = "lost: "
"""What the reason begins with where the runtime's process was lost."""
Values = dict[str, Tensor]


def whole_case(raw: bytes, inputs: Sequence[tuple[str, Tensor]], outputs: Sequence[str]) -> Case:
    """A model that is to be run on inputs by name; nothing is demanded."""
    return Case(
        id=_MODEL,
        element_type=ELEMENT_TYPES["float"],
        attributes={},
        inputs=tuple(inputs),
        output_names=tuple(outputs),
        demand="survive",
        model=raw,
    )


def returned(response: Response, names: Sequence[str]) -> Values | str:
    """The tensors of an answer by name, or why there are none."""
    match response:
        case Answered() if len(response.outputs) == len(names):
            pairs = zip(names, response.outputs, strict=True)
            return {name: each for name, each in pairs if isinstance(each, Tensor)}
        case Answered():
            return f"{len(response.outputs)} outputs came instead of {len(names)}"
        case Refused():
            return f"refused: {response.kind}: {response.message}"
        case TimedOut():
            return f"{LOST}no answer within {response.limit:g} s"
        case Crashed():
            return f"{LOST}{response.reason}"
        case NotOffered():
            return response.reason
    return str(response)
