"""An answer held against the properties that its case demands."""

from __future__ import annotations

from conformance.judging.responses import ReturnedOther
from conformance.suite.cases import Case
from conformance.suite.properties import Masked, OfOutput, SameAgain, runs_twice
from opcert.vocabulary.tensors import Tensor

Outputs = tuple[Tensor | ReturnedOther, ...]


def check_properties(case: Case, outputs: Outputs) -> tuple[Outputs, str | None]:
    """The outputs of the (first) run, and what the first property says that does not hold, or None."""
    if runs_twice(case.properties):
        half = len(outputs) // 2
        first, second = outputs[:half], outputs[half:]
        if len(first) != len(second):
            return first, f"two runs return {len(outputs)} outputs together"
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            if isinstance(one, ReturnedOther) or isinstance(other, ReturnedOther) or one != other:
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


def _check(case: Case, found: OfOutput | Masked, outputs: Outputs) -> str | None:
    got = _output(case, found.output, outputs)
    if isinstance(got, str):
        return got
    if not isinstance(found, Masked):
        return found.violation(got)
    mask = _output(case, found.mask, outputs)
    return mask if isinstance(mask, str) else found.violation(got, mask)


def _output(case: Case, name: str, outputs: Outputs) -> Tensor | str:
    """The output of that name, or why there is no such tensor."""
    names = case.wanted
    if case.output_types and case.expectations:
        names = tuple(each.name for each in case.expectations[0].outputs)
    place = names.index(name) if name in names else len(outputs)
    if place >= len(outputs):
        return f"output {name} is missing"
    got = outputs[place]
    if isinstance(got, ReturnedOther):
        return f"output {name} is no tensor but a {got.kind}: {got.text}"
    return got


def _name(case: Case, place: int) -> str:
    return f"output {case.wanted[place]}" if place < len(case.wanted) else f"output {place}"
