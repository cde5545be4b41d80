"""Cases from the document's worked examples, whose printed outputs the reference's are compared with."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import isnan, ldexp, prod

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import Alternative, Case, Expectation, ExpectedOutput
from conformance.suite.values import decode_float, decode_floats
from generator.asking.answered_outputs import asked_outputs
from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.calls.data.data import fill
from generator.calls.data.scaling import scaled_down
from generator.calls.variables.data_levels import POINTS
from generator.making.operators.workshop import Workshop, rule_text, word_of
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, UnstableLength
from reference.registry.printed_examples import find_difference, tensor_of
from specs.language.expressions import parse
from specs.model.spec import Constraint, Example, Finding, ParameterSpec, Spec, Value
from specs.model.structures import is_sequence, is_structured

_SHARE = ldexp(1.0, -10)
"""Of a number, what programs of floats may be off by in an example, however many digits a page prints."""


_MOST_ELEMENTS = 1 << 20
"""Of an input that an example gives by its shape alone: pages show layers of networks, too."""


def make_cases(workshop: Workshop) -> None:
    """Make a case of every example that fixes a call; what cannot be used is said in a finding."""
    for example in workshop.spec.examples:
        call = _call_of(workshop, example)
        if call is None:
            continue
        broken = find_violations(workshop.stated, call)
        if broken and _reads_drawn(workshop.spec, example, broken[0].constraint):
            continue  # what was drawn for an input may be what breaks it
        if broken:
            rule = rule_text(broken[0].constraint)
            _note(workshop, example, "example-vs-text", f"the example breaks the rule {broken[0].id}", rule)
            continue
        known = workshop.has(call.trimmed())
        try:
            if not known and not workshop.affords(workshop.question(call)):
                continue
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
        elif not known:
            workshop.keep(call, _as_printed(case, example))


def _call_of(workshop: Workshop, example: Example) -> Call | None:
    """The call of an example, its random inputs filled; None where one's shape is not known, or too great."""
    spec = workshop.spec
    inputs: list[tuple[str, Tensor | None]] = []
    for position, (name, value) in enumerate(example.inputs):
        parameter = _parameter_at(spec, position)
        if parameter is None or is_sequence(spec, parameter) or is_structured(spec, parameter):
            return None
        if name == "":
            inputs.append((parameter.name, None))
        elif value is None or (value.data is None and prod(value.shape) > _MOST_ELEMENTS):
            return None
        else:
            inputs.append((parameter.name, _tensor_of(workshop, example, parameter, value)))
    attributes = _attributes_of(spec, example)
    if attributes is None:
        return None
    wanted = [name for name, _ in example.outputs]
    outputs = asked_outputs(spec, wanted) if wanted and spec.outputs else None
    return Call(attributes, tuple(inputs), outputs=outputs).trimmed()


_OF_FORM = ("shape", "rank", "element_type", "present")
"""What expressions ask of an input that is no value of it."""


def _reads_drawn(spec: Spec, example: Example, rule: Constraint) -> bool:
    """Whether a rule speaks of the values of an input that the example gives by its shape alone."""
    names = zip((parameter.name for parameter in spec.inputs), example.inputs, strict=False)
    drawn = {name for name, (_, value) in names if value is not None and value.data is None}
    texts = [text for text in (rule.when, rule.require) if text is not None]
    return any(drawn & _values_read(parse(text).tree, spec) for text in texts)


def _values_read(tree: ast.AST, spec: Spec) -> set[str]:
    """The names whose values an expression reads, those of what is told once included."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in _OF_FORM:
        return set()
    if isinstance(tree, ast.Name):
        told = spec.let.get(tree.id)
        return {tree.id} if told is None else _values_read(parse(told).tree, spec)
    return set[str]().union(*(_values_read(child, spec) for child in ast.iter_child_nodes(tree)))


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
        drawn = fill(kind, value.shape, "distinct", workshop.draw("example", example.id, parameter.name))
        return _beside_points(drawn, workshop.spec)
    return tensor_of(value.data, value.shape, kind)


def _beside_points(given: Tensor, spec: Spec) -> Tensor:
    """Floats no greater than the points of a declaration that prefers those: others tell nothing."""
    declared = spec.declared
    if declared is None or POINTS not in declared.prefer or not given.element_type.is_float:
        return given
    points = [Fraction(point) for point in declared.points if not isinstance(point, str)]
    return scaled_down(given, max((abs(point) for point in points), default=Fraction(1)))


def _as_printed(case: Case, example: Example) -> Case:
    """The case without what its printed outputs rule out: alternatives, wide allowances, and expectations.

    An expectation that another passage has by a reading is kept, as one that the example contradicts.
    """
    fitting = [
        expectation for expectation in case.expectations if _difference(expectation, case, example) is None
    ]
    others = (
        expectation
        for expectation in case.expectations
        if _difference(expectation, case, example) is not None
    )
    against = (replace(other, contradicted=_apart(other, fitting)) for other in others)
    return replace(
        case,
        expectations=(
            *(_narrowed(expectation, example) for expectation in fitting),
            *(expectation for expectation in against if expectation.contradicted),
        ),
    )


def _apart(expectation: Expectation, fitting: Sequence[Expectation]) -> tuple[str, ...]:
    """The readings of which no expectation that fits has an option of this one's."""
    return tuple(
        name
        for name, options in sorted(expectation.readings.items())
        if not any(set(options) & set(each.readings.get(name, options)) for each in fitting)
    )


def _narrowed(expectation: Expectation, example: Example) -> Expectation:
    printed = {name: value for name, value in example.outputs if value is not None}
    values = [printed.get(output.name) for output in expectation.outputs]
    outputs = (_output_as_printed(*each) for each in zip(expectation.outputs, values, strict=True))
    return replace(expectation, outputs=tuple(outputs))


def _output_as_printed(output: ExpectedOutput, value: Value | None) -> ExpectedOutput:
    """An output of floats within what its printed numbers stand for, or by a 1,024th where that is wider."""
    kind, allowed = output.expected.element_type, output.allowed
    if value is None or value.data is None or value.decimals is None or allowed is None or not kind.is_float:
        return output
    expected = decode_floats(kind, output.expected.array)
    numbers = np.array(value.data, dtype=np.float64).reshape(expected.shape)
    half = float(Fraction(10) ** -value.decimals / 2)
    with np.errstate(invalid="ignore"):
        widest = np.maximum(np.abs(expected - numbers) + half, np.abs(expected) * _SHARE)
    widest = np.where(np.isfinite(expected) & np.isfinite(numbers), widest, allowed)
    alternatives = (
        _alternative_as_printed(kind, alternative, numbers, half) for alternative in output.alternatives
    )
    return replace(
        output,
        allowed=np.minimum(allowed, widest),
        alternatives=tuple(alternative for alternative in alternatives if alternative.values),
    )


def _alternative_as_printed(
    kind: ElementType, each: Alternative, numbers: NDArray[np.float64], half: float
) -> Alternative:
    number = float(numbers.reshape(-1)[each.index])
    read = [(other, decode_float(kind, other)) for other in each.values]
    kept = (
        other
        for other, value in read
        if abs(value - number) <= half or value == number or (isnan(value) and isnan(number))
    )
    return replace(each, values=tuple(kept))


def _disagreement(case: Case, example: Example) -> str | None:
    """Why the example's printed outputs fit none of the case's expectations; None where they fit one."""
    reasons = []
    for expectation in case.expectations:
        reason = _difference(expectation, case, example)
        if reason is None:
            return None
        reasons.append(reason)
    return reasons[0] if reasons else None


def _difference(expectation: Expectation, case: Case, example: Example) -> str | None:
    answers = [
        Answer(output.expected, output.allowed, {other.index: other.values for other in output.alternatives})
        for output in expectation.outputs
    ]
    return find_difference(answers, example.outputs, dict(case.inputs), _SHARE)


def _note(workshop: Workshop, example: Example, code: str, message: str, evidence: str) -> None:
    workshop.findings.append(
        Finding(code, "warning", example.source, f"{example.id}: {message}", evidence, "noted")
    )
