"""The cores of all versions of an operator: learned once for versions whose calls differ in nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from generator.calls.rows.cores import ForbiddenCombination
from generator.calls.rows.covering_rows import learn_cores
from generator.calls.space.space import CallSpace
from specs.model.spec import Constraint

_ON_TYPES = re.compile(r"element_type|type_of_|BITS|LOW|HIGH|FLOATS|INTEGERS|COMPLEX")
_ABOUT_TYPES_ALONE = ("type_of_", "same_type_", "one_type_of_")


def learn_versions(spaces: Sequence[CallSpace]) -> dict[int, tuple[ForbiddenCombination, ...]]:
    """The cores of one operator's versions, by version; those of a newer one serve where nothing differs.

    Two versions have the same cores where their factors, kinds and rules are the same but for element types.
    """
    known: dict[object, tuple[ForbiddenCombination, ...]] = {}
    found: dict[int, tuple[ForbiddenCombination, ...]] = {}
    for space in sorted(spaces, key=lambda each: -each.spec.operator.since_version):
        key = _what_cores_hang_on(space)
        if key not in known:
            known[key] = learn_cores(space)
        found[space.spec.operator.since_version] = known[key]
    return found


def _what_cores_hang_on(space: CallSpace) -> object:
    """Everything of a space that decides which levels go together, as something to compare."""
    spec = space.spec
    rules = [each for each in spec.constraints if not each.id.startswith(_ABOUT_TYPES_ALONE)]
    texts = [*map(_rule_text, rules), *spec.let.values(), *_declared_texts(space)]
    is_of_types = any(_ON_TYPES.search(each) for each in texts)
    is_of_version = any(re.search(r"\bversion\b", each) for each in texts)
    return (
        _plain({name: levels for name, levels in space.factors.items() if name not in space.types}),
        _plain({name: levels for name, levels in space.factors.items() if is_of_types}),
        tuple((type(each).__name__, each.name, each.covers, each.binds) for each in space.kinds),
        tuple(texts),
        _plain({name: (each.default,) for name, each in spec.attributes.items()}),
        tuple((each.name, each.option) for each in spec.inputs),
        spec.operator.since_version if is_of_version else None,
    )


def _rule_text(rule: Constraint) -> str:
    return f"{rule.id}: {rule.when} -> {rule.require} {rule.shape_of}"


def _declared_texts(space: CallSpace) -> list[str]:
    declared = space.spec.declared
    if declared is None:
        return []
    shapes = [f"{name}: {text}" for name, text in declared.shapes.items()]
    bounds = [f"{name}: {each.low}..{each.high}" for name, each in declared.extents.items()]
    return [*shapes, *bounds, *(each.call for each in declared.kinds)]


def _plain(values: Mapping[str, Sequence[object]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, repr(each)) for name, each in sorted(values.items()))
