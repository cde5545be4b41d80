"""Which calls an operator has, by its constraints, and the shapes that it declares of their outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opcert.vocabulary.slots import Slots
from specs.language.compiled_expressions import Layered
from specs.language.evaluation import EvaluationError
from specs.language.expressions import parse
from specs.language.shape_expressions import Shape, evaluate_part, parse_shape
from specs.language.words import PLACE
from specs.model.call_scopes import CallScope, Inputs, scope_of
from specs.model.spec import Constraint, ParameterSpec, Refusable, Spec


@dataclass(frozen=True)
class ResultShape:
    """What an output's shape must be: for each axis the least and the greatest extent."""

    extents: tuple[tuple[int, int], ...]

    def holds(self, shape: Sequence[int]) -> bool:
        """Whether a shape is one of these."""
        return len(shape) == len(self.extents) and all(
            least <= extent <= most for extent, (least, most) in zip(shape, self.extents, strict=True)
        )

    def __str__(self) -> str:
        said = (str(most) if least == most else f"up to {most}" for least, most in self.extents)
        return f"[{', '.join(said)}]"


def result_shapes(
    spec: Spec, attributes: Mapping[str, Any], inputs: Inputs, outputs: Sequence[str], slots: Slots = ()
) -> tuple[ResultShape | None, ...]:
    """Of each output of a call its shape; None where nothing is declared, or what is has no value for it.

    `outputs` are their names in order, empty where one is not asked for.
    """
    if not spec.results:
        return (None,) * len(outputs)
    scope = scope_of(spec, attributes, inputs, outputs, slots)
    found: list[ResultShape | None] = []
    for name in outputs:
        parameter, place = named_output(spec, name)
        declared = spec.results.get(parameter.name) if parameter is not None else None
        found.append(None if declared is None else _shape(declared, Layered(scope, {PLACE: place})))
    return tuple(found)


def named_output(spec: Spec, name: str) -> tuple[ParameterSpec | None, int]:
    """The output that a name of a call is of, and which of its tensors; None where the operator has none.

    The tensors of a variadic output are its name with `_0`, `_1` and so on.
    """
    for output in spec.outputs:
        if output.name == name:
            return output, 0
    label, _, place = name.rpartition("_")
    for output in spec.outputs:
        if output.option == "variadic" and output.name == label and place.isdecimal():
            return output, int(place)
    return None, 0


def _shape(declared: Shape, names: Mapping[str, object]) -> ResultShape | None:
    found: list[tuple[int, int]] = []
    try:
        for part in declared.chosen(names):
            for argument in part.arguments or (part,):
                found += ((0 if part.word else extent, extent) for extent in evaluate_part(argument, names))
    except EvaluationError:
        return None
    return ResultShape(tuple(found))


@dataclass(frozen=True)
class Violation:
    """A constraint that a concrete call breaks."""

    constraint: Constraint

    @property
    def id(self) -> str:
        return self.constraint.id


def check_constraints(
    spec: Spec,
    attributes: Mapping[str, Any],
    inputs: Inputs,
    outputs: Sequence[str] | None = None,
    slots: Slots = (),
    constraints: Sequence[Constraint] | None = None,
) -> list[Violation]:
    """The constraints that a call violates, in the spec's order; with `constraints`, of these alone.

    A rule without a value under this call (an index outside a list, say) counts as following from another one
    that is violated; raises EvaluationError where no other is, for then the rule itself is wrong.
    """
    scope = scope_of(spec, attributes, inputs, outputs, slots)
    violations: list[Violation] = []
    undecided: list[tuple[Constraint, EvaluationError]] = []
    for constraint in spec.constraints if constraints is None else constraints:
        try:
            if not holds(constraint, scope):
                violations.append(Violation(constraint))
        except EvaluationError as error:
            undecided.append((constraint, error))
    violations = [
        violation for violation in violations if not _follows(spec, violation.constraint, violations)
    ]
    if undecided and not violations:
        first, cause = undecided[0]
        raise EvaluationError(
            f"constraint {first.id} of {spec.operator} cannot be decided", got=str(cause)
        ) from cause
    return violations


def find_refusable(
    spec: Spec,
    attributes: Mapping[str, Any],
    inputs: Inputs,
    outputs: Sequence[str] | None = None,
    slots: Slots = (),
) -> Refusable | None:
    """What leaves it open whether a valid call may be refused; None where nothing does.

    Raises EvaluationError where a condition has no value for this call.
    """
    if not spec.may_refuse:
        return None
    scope = scope_of(spec, attributes, inputs, outputs, slots)
    return next((refusable for refusable in spec.may_refuse if parse(refusable.when).evaluate(scope)), None)


def _follows(spec: Spec, constraint: Constraint, violations: Sequence[Violation]) -> bool:
    """Whether a shape is wrong because something that it hangs on breaks a rule of its own."""
    if constraint.shape_of is None or spec.declared is None:
        return False
    names, pending = set[str](), list(parse_shape(spec.declared.shapes[constraint.shape_of]).names)
    while pending:
        name = pending.pop()
        if name not in names:
            names.add(name)
            pending.extend(parse(spec.let[name]).names if name in spec.let else ())
    others = [violation.constraint for violation in violations if violation.constraint.shape_of is None]
    texts = [text for other in others for text in (other.when, other.require) if text is not None]
    return any(parse(text).names & names & spec.attributes.keys() for text in texts)


def holds(constraint: Constraint, scope: Mapping[str, object]) -> bool:
    """Whether a rule holds under the names of a call; EvaluationError where it has no value."""
    if constraint.shape_of is not None:
        return not isinstance(scope, CallScope) or scope.has_shape(constraint.shape_of)
    if constraint.require is None:
        return True
    if constraint.when is not None and not parse(constraint.when).evaluate(scope):
        return True
    return bool(parse(constraint.require).evaluate(scope))
