"""Cases from the document's worked examples, whose printed outputs the reference's are compared with."""

from __future__ import annotations

import numpy as np

from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.making.workshop import Workshop, rule_text, word_of
from generator.values.data import fill
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer, UnstableLength
from reference.printed_examples import find_difference
from specs.model import Example, Finding, ParameterSpec, Spec, Value
from specs.structures import is_sequence, is_structured


def make_cases(workshop: Workshop) -> None:
    """Make a case of every example that fixes a call; what cannot be used is said in a finding."""
    for example in workshop.spec.examples:
        call = _call_of(workshop, example)
        if call is None:
            continue
        broken = workshop.violations(call)
        if broken:
            rule = rule_text(broken[0].constraint)
            _note(workshop, example, "example-vs-text", f"the example breaks the rule {broken[0].id}", rule)
            continue
        try:
            case = workshop.add_valid("example", word_of(example.id), call)
        except UnstableLength as error:
            _note(workshop, example, "example-vs-text", "an output length hangs on rounding", str(error))
            continue
        evidence = _disagreement(case, example)
        if evidence is not None:
            _note(
                workshop,
                example,
                "example-vs-reference",
                "the printed output is not the reference's",
                evidence,
            )


def _call_of(workshop: Workshop, example: Example) -> Call | None:
    """The call of an example, its random inputs filled; None where an input's shape is not known."""
    spec = workshop.spec
    inputs: list[tuple[str, Tensor | None]] = []
    for position, (name, value) in enumerate(example.inputs):
        parameter = _parameter_at(spec, position)
        if parameter is None or is_sequence(spec, parameter) or is_structured(spec, parameter):
            return None
        if name == "":
            inputs.append((parameter.name, None))
        elif value is None:
            return None
        else:
            inputs.append((parameter.name, _tensor_of(workshop, example, parameter, value)))
    attributes = _attributes_of(spec, example)
    return None if attributes is None else Call(attributes, tuple(inputs)).trimmed()


def _parameter_at(spec: Spec, position: int) -> ParameterSpec | None:
    """The input that a node's input is of: the last one may take any number of them."""
    if position < len(spec.inputs):
        return spec.inputs[position]
    return spec.inputs[-1] if spec.inputs and spec.inputs[-1].option == "variadic" else None


def _attributes_of(spec: Spec, example: Example) -> dict[str, Attribute] | None:
    attributes = {}
    for name, value in example.attributes.items():
        known = spec.attributes.get(name)
        if known is None or known.kind is None:
            return None
        plain = (
            [int(each) if isinstance(each, bool) else each for each in value]
            if isinstance(value, list)
            else value
        )
        attributes[name] = attribute(known.kind, int(plain) if isinstance(plain, bool) else plain)
    return attributes


def _tensor_of(workshop: Workshop, example: Example, parameter: ParameterSpec, value: Value) -> Tensor:
    allowed = workshop.spec.types_of(parameter)
    kind = value.element_type or ("float" if "float" in allowed or not allowed else allowed[0])
    if value.data is None:
        return fill(kind, value.shape, "distinct", workshop.draw("example", example.id, parameter.name))
    plain = np.array(value.data, dtype=np.object_ if kind == "string" else None).reshape(value.shape)
    return tensor(plain, kind)


def _disagreement(case: Case, example: Example) -> str | None:
    """Why the example's printed outputs fit none of the case's expectations; None where they fit one."""
    reasons = []
    for expectation in case.expectations:
        answers = [
            Answer(each.expected, each.allowed, {other.index: other.values for other in each.alternatives})
            for each in expectation.outputs
        ]
        reason = find_difference(answers, example.outputs, dict(case.inputs))
        if reason is None:
            return None
        reasons.append(reason)
    return reasons[0] if reasons else None


def _note(workshop: Workshop, example: Example, code: str, message: str, evidence: str) -> None:
    workshop.findings.append(
        Finding(code, "warning", example.source, f"{example.id}: {message}", evidence, "noted")
    )
