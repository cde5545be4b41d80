"""Calls that break exactly one rule, each from a valid call: what kinds propose, shapes, types, presence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from generator.asking.calls import Call
from generator.calls.borders.breach_attempts import (
    BASES,
    Stage,
    bases,
    bases_of,
    beyond_allowed,
    broken_rules,
    changed_calls,
    solve_base,
    valid_base,
)
from generator.calls.data.draws import Draw
from generator.calls.solver.solving import CallSearch
from generator.calls.space.space import CallSpace
from specs.language.shape_expressions import Shape, ShapePart, parse_shape
from specs.model.spec import Constraint, Spec
from specs.model.structures import holds_several, is_structured, type_variable


def unbreakable_rules(spec: Spec, beyond: Callable[[Sequence[str]], Sequence[str]]) -> frozenset[str]:
    """The ids of these rules; `beyond` are the types that calls are given which may not have them."""
    return frozenset((*_of_shapes(spec), *_of_types(spec, beyond)))


def _of_shapes(spec: Spec) -> Iterator[str]:
    """The rule on the shape of the first input, where that is a pack, which only later inputs hold to it."""
    declared = spec.declared.shapes if spec.declared is not None else {}
    shapes = {name: parse_shape(text) for name, text in declared.items()}
    first = next((parameter for parameter in spec.inputs if parameter.name in shapes), None)
    if first is None or holds_several(spec, first) or is_structured(spec, first):
        return
    part = _only_part(shapes[first.name])
    packs = spec.extents
    if part is None:
        return
    inner = part.arguments[0] if part.word == "broadcast" and len(part.arguments) == 1 else part
    if not _is_pack(inner, packs):
        return
    if part.word == "broadcast" and not _is_broadcast_alone(inner.names, shapes):
        return
    for rule in spec.constraints:
        if rule.shape_of == first.name:
            yield rule.id


def _only_part(shape: Shape) -> ShapePart | None:
    parts = list(shape.parts())
    return parts[0] if len(shape.alternatives) == 1 and len(parts) == 1 else None


def _is_pack(part: ShapePart, wanted: frozenset[str]) -> bool:
    """Whether a part is the name of a pack, and nothing else."""
    if part.word is not None or not part.several or part.expression is None:
        return False
    return part.names == {part.expression.text} == part.starred and part.names <= wanted


def _is_broadcast_alone(names: frozenset[str], shapes: Mapping[str, Shape]) -> bool:
    """Whether shapes speak of a pack only as that to which inputs broadcast each other."""
    about = [part for shape in shapes.values() for part in shape.parts() if part.names & names]
    conditions = [one for shape in shapes.values() for one, _ in shape.alternatives if one is not None]
    return all(shape_part.word == "broadcast" for shape_part in about) and not any(
        condition.names & names for condition in conditions
    )


def _of_types(spec: Spec, beyond: Callable[[Sequence[str]], Sequence[str]]) -> Iterator[str]:
    """The rules on type variables that allow every type which is tried."""
    ids = {constraint.id for constraint in spec.constraints if constraint.origin.how == "derived"}
    for name, known in spec.type_constraints.items():
        members = [parameter for parameter in spec.inputs if type_variable(spec, parameter) == name]
        plain = not any(is_structured(spec, member) for member in members)
        if plain and f"type_of_{name}" in ids and not beyond(known.types):
            yield f"type_of_{name}"


MOST = 3
"""Breaches of one rule that are kept."""


@dataclass(frozen=True)
class Breach:
    """A call that breaks one rule alone, and the valid call that it was made from."""

    constraint: Constraint
    valid: Call
    call: Call


def find_breaches(space: CallSpace, draw: Draw) -> list[Breach]:
    """At most three breaches of each rule, in the order of the rules; each breaks that rule and no other."""
    hopeless = unbreakable_rules(space.spec, beyond_allowed)
    rules = {
        rule.id: rule
        for rule in space.spec.constraints
        if rule.otherwise is not None and rule.id not in hopeless
    }
    kept: dict[str, list[Breach]] = {name: [] for name in rules}
    for stage in Stage:
        if lacking := {name: rules[name] for name, found in kept.items() if not found}:
            _keep(space, stage, draw, lacking, kept)
    for name, found in kept.items():
        if not found and rules[name].origin.how != "derived":
            found.extend(islice(_searched(space, rules[name], draw), MOST))
    return [breach for found in kept.values() for breach in found]


def _keep(
    space: CallSpace,
    stage: Stage,
    draw: Draw,
    rules: Mapping[str, Constraint],
    kept: Mapping[str, list[Breach]],
) -> None:
    """Keep the first calls of a stage's valid ones, changed, that break one of the rules and nothing else."""
    for base in islice(bases_of(space, stage, draw, rules), BASES):
        if all(len(kept[rule]) >= MOST for rule in rules):
            return
        for call in changed_calls(space, base, draw, stage):
            broken = broken_rules(space, call)
            if len(broken) != 1 or broken[0] not in rules or len(kept[broken[0]]) >= MOST:
                continue
            known = kept[broken[0]]
            digest = call.digest(space.spec.operator)
            if all(breach.call.digest(space.spec.operator) != digest for breach in known):
                known.append(Breach(rules[broken[0]], base.call, call))


def broken_by_search(space: CallSpace, rule: Constraint, draw: Draw) -> set[str]:
    """The rules that some call breaks which breaks this one; none where no call was found that does."""
    for base in islice(bases(space, draw, space.plain_types), BASES):
        for changed in changed_calls(space, base, draw):
            broken = set(broken_rules(space, changed))
            if rule.id in broken:
                return broken
    search = CallSearch(space.spec, space.variables, [opposite_of(rule)])
    for turn in range(BASES):
        breaking = solve_base(space, search, space.plain_types, draw.child(str(turn)))
        broken = set() if breaking is None else set(broken_rules(space, breaking.call))
        if rule.id in broken:
            return broken
    return set()


def opposite_of(rule: Constraint) -> Constraint:
    """The rule that holds where this one, which requires something, is broken."""
    opposite = f"not ({rule.require})" if rule.when is None else f"({rule.when}) and not ({rule.require})"
    return Constraint(rule.id, None, opposite, rule.otherwise, None, None, rule.origin)


def _searched(space: CallSpace, rule: Constraint, draw: Draw) -> Iterator[Breach]:
    """Calls found by a search for the rule's opposite, beside the valid ones of the same levels."""
    if rule.require is None:
        return
    others = [constraint for constraint in space.spec.constraints if constraint.id != rule.id]
    search = CallSearch(space.spec, space.variables, [*others, opposite_of(rule)])
    for levels, turn in product((space.plain_types, {}), range(BASES)):
        stream = draw.child(rule.id).child(str(turn))
        breaking = solve_base(space, search, levels, stream)
        if breaking is not None and broken_rules(space, breaking.call) == [rule.id]:
            valid = valid_base(space, solve_base(space, space.search, levels, stream))
            if valid is not None:
                yield Breach(rule, valid.call, breaking.call)
