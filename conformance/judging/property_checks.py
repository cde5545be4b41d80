"""An answer held against the properties that its case demands."""

from __future__ import annotations

from conformance.running.responses import NotTensor
from conformance.suite.cases import Case
from conformance.suite.properties import OfOutput, SameAgain, runs_twice
from opcert.vocabulary.tensors import Tensor

Outputs = tuple[Tensor | NotTensor, ...]


def check_properties(case: Case, outputs: Outputs) -> tuple[Outputs, str | None]:
    """The outputs of the (first) run, and what the first property says that does not hold, or None."""
    if runs_twice(case.properties):
        half = len(outputs) // 2
        first, second = outputs[:half], outputs[half:]
        if len(first) != len(second):
            return first, f"two runs return {len(outputs)} outputs together"
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            if isinstance(one, NotTensor) or isinstance(other, NotTensor) or one != other:
                return first, f"a second run with the same seed returns another {_name(case, place)}"
        outputs = first
    if not case.output_types and len(outputs) != len(case.wanted):
        return outputs, f"{len(outputs)} outputs instead of {len(case.wanted)}"
    for each in case.properties:
        if not isinstance(each, SameAgain):
            told = _check(case, each, outputs)
            if told is not None:
                return outputs, told
    return outputs, None


def _check(case: Case, found: OfOutput, outputs: Outputs) -> str | None:
    names = case.wanted
    if case.output_types and case.expectations:
        names = tuple(each.name for each in case.expectations[0].outputs)
    place = names.index(found.output) if found.output in names else len(outputs)
    if place >= len(outputs):
        return f"output {found.output} is missing"
    got = outputs[place]
    if isinstance(got, NotTensor):
        return f"output {found.output} is no tensor but a {got.kind}: {got.text}"
    return found.violation(got)


def _name(case: Case, place: int) -> str:
    return f"output {case.wanted[place]}" if place < len(case.wanted) else f"output {place}"
