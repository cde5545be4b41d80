"""The covering model of a spec: its factors, and its exclusions worked out as forbidden combinations."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import product

from generator.calls.rows.feasibility import ExcludedLevels, FactorGroup, Level, Model
from opcert.vocabulary.errors import UserError
from specs.language.expressions import EvaluationError, Expression, parse, parse_tree
from specs.model.spec import Exclusion, Spec
from specs.model.structures import element_types_of, type_variable

LARGEST_EXCLUSION = 200_000
"""Combinations that one exclusion may be about: it is tried on each."""


def factor_model(spec: Spec, derived: Mapping[str, tuple[Level, ...]] | None = None) -> Model:
    """Factors, rules and groups of a spec; raises UserError for an exclusion that names no factors.

    `derived` are factors that nobody wrote; those that people wrote replace them or come beside them.
    """
    levels: dict[str, tuple[Level, ...]] = {
        **(derived or {}),
        **{factor.name: factor.levels for factor in spec.factors},
    }
    names = list(levels)
    groups = tuple(
        FactorGroup(tuple(names.index(name) for name in interaction.factors), interaction.strength)
        for interaction in spec.interactions
    )
    return Model(levels, tuple(_rule(spec, exclusion, levels) for exclusion in spec.exclusions), groups)


def first_types(spec: Spec, model: Model) -> tuple[str, tuple[str, ...]]:
    """The factor of the first input's element types, and its levels; rows lack it where types are dealt."""
    if not spec.inputs:
        return "", ()
    factor = f"type_{type_variable(spec, spec.inputs[0])}"
    levels = model.levels.get(factor, element_types_of(spec, spec.inputs[0]))
    return factor, tuple(str(level) for level in levels)


def _rule(spec: Spec, exclusion: Exclusion, levels: Mapping[str, tuple[Level, ...]]) -> ExcludedLevels:
    text = exclusion.when
    expression = parse(text)
    names = [name for name in levels if name in expression.names]
    count = 1
    for name in names:
        count *= len(levels[name])
    if not names or count > LARGEST_EXCLUSION:
        raise UserError(
            f"an exclusion of {spec.operator} is over {count if names else 'no'} combinations of factors",
            got=text,
            expected=f"names of some factors, at most {LARGEST_EXCLUSION} combinations",
        )
    forbidden = set()
    for indexes in product(*_possible(expression, {name: levels[name] for name in names})):
        bound = {name: levels[name][index] for name, index in zip(names, indexes, strict=True)}
        if expression.evaluate(bound):
            forbidden.add(indexes)
    order = list(levels)
    return ExcludedLevels(text, tuple(order.index(name) for name in names), frozenset(forbidden))


def _possible(expression: Expression, levels: Mapping[str, tuple[Level, ...]]) -> Iterator[list[int]]:
    """For each name the places of its levels that parts of a conjunction about it alone do not rule out."""
    tree = expression.tree
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        parts = [parse_tree(value) for value in tree.values]
    else:
        parts = []
    for name, these in levels.items():
        own = [part for part in parts if part.names == {name}]
        yield [at for at, level in enumerate(these) if all(_may_hold(each, name, level) for each in own)]


def _may_hold(part: Expression, name: str, level: Level) -> bool:
    """Whether a part holds for a level; one that has no value there is left to those before it."""
    try:
        return bool(part.evaluate({name: level}))
    except EvaluationError:
        return True
