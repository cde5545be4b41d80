"""The output that an example prints is not what the operator gives for its inputs."""

from __future__ import annotations

from collections.abc import Iterator

from reference.registry import find_operator, implemented
from reference.registry.printed_examples import ExampleCall, find_difference, read_call
from specs.model.spec import Example, Finding, Severity, Spec

CODE = "example-vs-reference"
SEVERITY: Severity = "error"


def examine(spec: Spec) -> Iterator[Finding]:
    """One finding for each example that no combination of the operator's readings explains.

    Nothing is said of examples whose inputs are not known, or that the reference does not take.
    """
    if spec.reference_module is None and spec.operator not in implemented():
        return
    operator = find_operator(spec.operator, spec.reference_module)
    for example in spec.examples:
        call = read_call(spec, operator, example) if example.printed else None
        reason = _disagreement(call, example) if call is not None else None
        if reason is not None:
            printed = next((each for _, each in example.outputs if each is not None and each.source), None)
            yield Finding(
                CODE,
                SEVERITY,
                printed.source if printed is not None and printed.source is not None else example.source,
                f"the output that example {example.id} prints is not what the operator gives",
                reason,
                "noted",
            )


def _disagreement(call: ExampleCall, example: Example) -> str | None:
    """Why no combination explains the printed outputs (that of the first); None where one does."""
    reasons = []
    for readings in call.combinations():
        answers = call.answers(readings)
        if answers is None:
            continue
        reason = find_difference(answers, example.outputs, call.inputs)
        if reason is None:
            return None
        reasons.append(reason)
    return reasons[0] if reasons else None
