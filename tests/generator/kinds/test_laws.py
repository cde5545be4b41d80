"""The laws of kinds, for every kind of every declared operator: one test of each law, over random scopes."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import prod

import pytest

from generator.calls.borders.breach_attempts import broken_rules
from generator.calls.data.draws import Draw
from generator.calls.edits.attribute_changes import kind_changes
from generator.calls.kinds.axis import Axis
from generator.calls.kinds.transposed_window import TransposedWindow
from generator.calls.solver.partial import Partial
from generator.calls.space.declared_kinds import kind_names
from generator.calls.space.drawing import draw_call
from generator.calls.space.space import CallSpace
from generator.calls.variables.kind import Kind
from opcert.vocabulary.names import OperatorName
from specs.language.evaluation import EvaluationError
from specs.model.domain import holds
from tests.generator.declared import ends_of_operators, newest_operators, random_scopes, space_of
from tests.generator.kinds.exceptions import IDLE, NEVER_ALONE, UNBREACHED, excepted

SCOPES = 12
USES = 2
"""Operators on which each kind is tried: the laws are those of kinds, not of operators."""


def _tried() -> list[OperatorName]:
    """Operators that use every kind twice where two of them do: newest versions, and older ones with a kind
    that no newer one has.
    """
    uses: Counter[type[Kind]] = Counter()
    found, newest = [], set(newest_operators())
    for operator in ends_of_operators():
        kinds = {type(kind) for kind in space_of(operator).kinds}
        if any(uses[kind] < (USES if operator in newest else 1) for kind in kinds):
            found.append(operator)
            uses.update(kinds)
    return found


@pytest.fixture(params=_tried(), ids=str)
def space(request: pytest.FixtureRequest) -> CallSpace:
    operator: OperatorName = request.param
    return space_of(operator)


def test_a_solved_call_breaks_no_rule(space: CallSpace) -> None:
    solved = 0
    for found, draw in random_scopes(space, SCOPES, "valid"):
        call = draw_call(space, found.scope, {}, draw)
        assert broken_rules(space, call) == []
        solved += 1
    assert solved


@pytest.mark.slow
def test_a_breach_breaks_the_rule_that_it_names(space: CallSpace) -> None:
    """Alone in some scope: in others a breach may break another rule as well, and is not kept there."""
    alone: dict[tuple[str, str], bool] = {}
    for found, draw in random_scopes(space, 2 * SCOPES, "breaches"):
        for kind in space.kinds:
            for rule, broken in _breaches(space, kind, found.scope, draw):
                alone[kind.name, rule] = alone.get((kind.name, rule), False) or broken == [rule]
    never = {rule for (_, rule), holds in alone.items() if not holds}
    assert never == excepted(NEVER_ALONE, space.spec.operator)


@pytest.mark.nightly
@pytest.mark.slow
def test_every_rule_of_a_kind_has_a_breach(space: CallSpace) -> None:
    unbreached = set()
    for kind in space.kinds:
        rules = {rule.id for rule in kind.rules()}
        unbreached |= rules - {
            rule
            for found, draw in random_scopes(space, 8 * SCOPES, "rules")
            for rule, _ in _breaches(space, kind, found.scope, draw)
        }
    assert unbreached == excepted(UNBREACHED, space.spec.operator)


@pytest.mark.slow
def test_each_change_of_a_kind_changes_some_call_and_no_other_input(space: CallSpace) -> None:
    changes = list(kind_changes(space.spec))
    assert len({change.key for change in changes}) == len(changes)
    idle = {change.key for change in changes}
    for found, draw in random_scopes(space, 8 * SCOPES, "changes"):
        call = draw_call(space, found.scope, {}, draw)
        for change in changes:
            changed = change.apply(space.spec, call)
            if changed is None:
                continue
            given = [name for name, _ in changed.call.inputs]
            assert given[: len(call.inputs)] == [name for name, _ in call.inputs]
            assert set(given) <= {one.name for one in space.spec.inputs}
            if changed.expectations is not None:
                assert changed.call is call
                ((output,),) = ((one.outputs for one in changed.expectations),)
                assert output[0].expected.element_type in {one.element_type for _, one in call.inputs if one}
                idle.discard(change.key)
                continue
            assert changed.call.digest(space.spec.operator) != call.digest(space.spec.operator)
            if set(broken_rules(space, changed.call)) <= changed.breaks:
                idle.discard(change.key)  # what breaks another rule is refused, and explains nothing
    assert idle <= _without_such_values(space) | excepted(IDLE, space.spec.operator)


def _without_such_values(space: CallSpace) -> set[str]:
    """The changes of values that this operator's version does not have: no axis is negative, say."""
    found = {f"{name} absolute" for kind in space.kinds for name in (kind.name, *kind.covers)}
    if any(isinstance(kind, TransposedWindow) for kind in space.kinds):
        found.add("pads axes reversed")  # its levels pad every axis alike
    return found


def test_the_same_draw_gives_the_same_values(space: CallSpace) -> None:
    for (one, draw), (other, _) in zip(
        random_scopes(space, 4, "same"), random_scopes(space, 4, "same"), strict=True
    ):
        first = draw_call(space, one.scope, {}, draw)
        second = draw_call(space, other.scope, {}, draw)
        assert first.digest(space.spec.operator) == second.digest(space.spec.operator)


@pytest.mark.nightly
@pytest.mark.slow
def test_where_nothing_is_yielded_brute_force_finds_nothing() -> None:
    """Scopes are spoilt (other shapes, extents and numbers), so that some leave a kind no value at all."""
    asked = Counter[str]()
    for space in map(space_of, _tried()):
        for kind in space.kinds:
            values = _small_values(kind)
            for found, draw in random_scopes(space, 2 * SCOPES if values else 0, "nothing"):
                scope = _spoilt(kind, found.scope, draw)
                if scope is None or _yields(kind, scope, draw):
                    continue
                asked[type(kind).__name__] += 1
                for value in values:
                    tried = Partial(scope.spec, {**scope.bindings, kind.covers[0]: value})
                    assert not _keeps_rules(kind, tried), f"{kind.name} of {space.spec.operator}: {value!r}"
    assert {"_OneAxis", "_SeveralAxes", "Index", "Integer", "Lengths", "Tuples"} <= set(asked)


def _small_values(kind: Kind) -> list[object]:
    """Small numbers and short lists of them, of a kind of one name that has rules and such values."""
    if len(kind.covers) != 1 or not list(kind.rules()):
        return []
    attribute = kind.subject.attribute(kind.covers[0])
    form = "both" if attribute is None else attribute.kind
    lists = [list(each) for length in range(4) for each in product(range(-2, 4), repeat=length)]
    if isinstance(kind, Axis) and kind.several:
        lists.remove([])  # a level of its own, which a declaration may leave out
    return [
        *(range(-4, 5) if form in ("int", "both") else ()),
        *(lists if form in ("ints", "both") else ()),
    ]


def _spoilt(kind: Kind, scope: Partial, draw: Draw) -> Partial | None:
    """The scope with other shapes and numbers for what the kind needs; None where too much would be tried."""
    own = f"shape:{kind.covers[0]}"
    shape = scope.bindings.get(own, ())
    if shape is None or not 0 < prod(shape) <= 3:
        return None
    bindings = {
        name: binding for name, binding in scope.bindings.items() if name not in kind.covers + kind.binds
    }
    for name in sorted(kind.needs & bindings.keys() - {own}):
        value = bindings[name]
        if type(value) is int:
            bindings[name] = draw.integer(-1, 3)
        elif isinstance(value, list | tuple) and all(type(each) is int for each in value):
            bindings[name] = type(value)(draw.integer(0, 3) for _ in range(draw.integer(0, 3)))
    return Partial(scope.spec, bindings)


def _yields(kind: Kind, scope: Partial, draw: Draw) -> bool:
    """Whether a kind has a value here, at any of its levels; True as well where the scope is of no call."""
    factors = kind.factors()
    for chosen in product(*factors.values()):
        levels = dict(zip(factors, chosen, strict=True))
        here = Partial(
            scope.spec, {**scope.bindings, **{f"level:{name}": level for name, level in levels.items()}}
        )
        try:
            if any(
                candidate[kind.covers[0]] is not None for candidate in kind.candidates(levels, here, draw)
            ):
                return True
        except EvaluationError:
            continue  # something that the kind needs has no value here
        except (ArithmeticError, LookupError, ValueError, TypeError):
            return True
    return False


def _keeps_rules(kind: Kind, scope: Partial) -> bool:
    try:
        return all(holds(rule, scope) for rule in kind.rules())
    except EvaluationError:
        return False


def test_every_kind_is_used_by_an_operator() -> None:
    spaces = [space_of(operator) for operator in ends_of_operators()]
    used = {type(kind).__module__.rpartition(".")[2] for call_space in spaces for kind in call_space.kinds}
    assert set(kind_names()) <= used


def _breaches(space: CallSpace, kind: Kind, scope: Partial, draw: Draw) -> list[tuple[str, list[str]]]:
    found = []
    try:
        for rule, change in kind.breaches(scope, draw):
            bindings = {**scope.bindings, **change}
            call = draw_call(space, Partial(scope.spec, bindings), {}, draw)
            found.append((rule, broken_rules(space, call)))
    except EvaluationError:
        pass  # this scope does not have what the breach is about
    return found
