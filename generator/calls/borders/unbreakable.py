"""Derived rules that no changed call breaks: of a shape that every tensor has, on types that allow all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from specs.language.shape_expressions import Shape, ShapePart, parse_shape
from specs.model.spec import Spec
from specs.model.structures import holds_several, is_structured, type_variable


def unbreakable_rules(spec: Spec, beyond: Callable[[Sequence[str]], Sequence[str]]) -> frozenset[str]:
    """The ids of these rules; `beyond` are the types that calls are given which may not have them."""
    return frozenset((*_of_shapes(spec), *_of_types(spec, beyond)))


def _of_shapes(spec: Spec) -> Iterator[str]:
    """The rule on the shape of the first input, where that is a pack, which only later inputs hold to it."""
    declared = spec.declared.shapes if spec.declared is not None else {}
    shapes = {name: parse_shape(text) for name, text in declared.items()}
    first = next((each for each in spec.inputs if each.name in shapes), None)
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
    about = [each for shape in shapes.values() for each in shape.parts() if each.names & names]
    conditions = [one for shape in shapes.values() for one, _ in shape.alternatives if one is not None]
    return all(each.word == "broadcast" for each in about) and not any(
        each.names & names for each in conditions
    )


def _of_types(spec: Spec, beyond: Callable[[Sequence[str]], Sequence[str]]) -> Iterator[str]:
    """The rules on type variables that allow every type which is tried."""
    ids = {each.id for each in spec.constraints if each.origin.how == "derived"}
    for name, known in spec.type_constraints.items():
        members = [each for each in spec.inputs if type_variable(spec, each) == name]
        plain = not any(is_structured(spec, each) for each in members)
        if plain and f"type_of_{name}" in ids and not beyond(known.types):
            yield f"type_of_{name}"
