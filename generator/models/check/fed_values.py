"""Values for inputs that the model feeds and a kind gives values to: drawn by it, beside what is fixed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Kind, Level
from generator.models.check.node_calls import NodeCall
from specs.language.evaluation import EvaluationError

MOST_CANDIDATES = 60
"""Candidates of a kind that are looked at for one call, over all levels that are tried."""
_LEVELS = 12
_UNKNOWING = (EvaluationError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError)
"""What a kind raises that lacks something which the node does not say."""


def feeding_kinds(node: NodeCall) -> tuple[Kind, ...]:
    """The kinds that have to give values to inputs of a node, in the order in which they can."""
    by_name = {f"kind:{each.name}": each for each in node.space.kinds}
    ordered = [by_name[each.name] for each in node.space.search.variables if each.name in by_name]
    return tuple(each for each in ordered if node.fed & set(each.covers))


def feeding_factors(node: NodeCall, kind: Kind) -> Mapping[str, tuple[Level, ...]]:
    """The dimensions of what a kind draws for a node: those of what the node fixes are none."""
    fixed = {*node.spec.attributes, *(each.name for each in node.inputs if each.name not in node.fed)}
    fixed |= {f"type_{each}" for each in node.types}
    return {name: levels for name, levels in kind.factors().items() if name not in fixed}


def fed_bindings(
    node: NodeCall, kind: Kind, levels: Mapping[str, Level], bound: Bindings, draw: Draw
) -> Iterator[Bindings]:
    """What a kind binds for fed inputs with these levels, then with others where it has none.

    What the node fixes stays as it is bound; values that contradict it are left out, unless there are none
    that do not.
    """
    scope = Partial(node.spec, bound)
    contradicting: list[Bindings] = []
    left = MOST_CANDIDATES
    for turn, chosen in enumerate(_levels(kind, levels, draw)):
        try:
            for candidate in islice(kind.candidates(chosen, scope, draw.child(f"values/{turn}")), left):
                left -= 1
                own = {name: value for name, value in candidate.items() if _is_free(node, name, bound)}
                if any(not _equal(bound[name], candidate[name]) for name in candidate if name in bound):
                    contradicting.append(own)
                else:
                    yield own
        except _UNKNOWING:
            continue
        if left <= 0:
            break
    yield from contradicting


def _levels(kind: Kind, wanted: Mapping[str, Level], draw: Draw) -> Iterator[Mapping[str, Level]]:
    factors = kind.factors()
    for turn in range(_LEVELS):
        stream = draw.child(f"levels/{turn}")
        free = {name: stream.child(name).choice(levels) for name, levels in factors.items()}
        # The levels that are wanted are tried beside several of the others before they are given up.
        yield {**free, **wanted} if turn < _LEVELS // 2 else free


def _is_free(node: NodeCall, name: str, bound: Bindings) -> bool:
    return name in node.fed or name not in bound


def _equal(before: Any, after: Any) -> bool:
    if before is None or after is None:
        return before is after
    try:
        one, other = np.asarray(before), np.asarray(after)
        return one.shape == other.shape and bool((one == other).all())
    except (TypeError, ValueError):
        return False
