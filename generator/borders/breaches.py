"""Calls that break exactly one rule, each from a valid call: what kinds propose, shapes, types, presence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, product

from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.borders.formed_breaches import formed_breaches
from generator.borders.input_breaches import (
    UNSAYABLE,
    ChangedCall,
    beyond_allowed,
    beyond_types,
    with_other_inputs,
    with_rare_inputs,
)
from generator.solved.drawing import draw_call, draw_outline
from generator.solved.partial import Bindings, Partial, levels_in
from generator.solved.solving import Found, Search
from generator.spaces.kind import Level
from generator.spaces.space import Space
from generator.spaces.unbreakable import unbreakable_rules
from generator.values.draws import Draw
from specs.call_scopes import scope_of
from specs.domain import holds
from specs.evaluation import EvaluationError
from specs.model import Constraint

MOST = 3
"""Breaches of one rule that are kept."""
BASES = 16
"""Valid calls that rules are broken from."""


@dataclass(frozen=True)
class Breach:
    """A call that breaks one rule alone, and the valid call that it was made from."""

    constraint: Constraint
    valid: Call
    call: Call


def find_breaches(space: Space, draw: Draw) -> list[Breach]:
    """At most three breaches of each rule, in the order of the rules; each breaks that rule and no other."""
    hopeless = unbreakable_rules(space.spec, beyond_allowed)
    rules = {
        each.id: each
        for each in space.spec.constraints
        if each.otherwise is not None and each.id not in hopeless
    }
    kept: dict[str, list[Breach]] = {name: [] for name in rules}
    _keep(space, _bases(space, draw, space.plain_types), draw, rules, kept)
    if lacking := _lacking(rules, kept):
        # Some rules are about certain types alone, which need not be the plainest,
        _keep(space, _bases(space, draw.child("types"), {}), draw, lacking, kept)
    if lacking := _lacking(rules, kept):
        # and some about calls that are rare.
        _keep(space, _bases_of(space, lacking, draw), draw, lacking, kept)
    if lacking := _lacking(rules, kept):
        # and some about elements that kinds never propose.
        bases = _bases(space, draw.child("rare"), {})
        _keep(space, bases, draw, lacking, kept, lambda base: with_rare_inputs(space, base.call))
    for name, rule in _lacking(rules, kept).items():
        if rule.origin.how != "derived":
            kept[name].extend(islice(_searched(space, rule, draw.child(name)), MOST))
    return [each for found in kept.values() for each in found]


def _lacking(rules: Mapping[str, Constraint], kept: Mapping[str, Sequence[Breach]]) -> dict[str, Constraint]:
    return {name: rules[name] for name, found in kept.items() if not found}


def _keep(
    space: Space,
    bases: Iterable[_Drawn],
    draw: Draw,
    rules: Mapping[str, Constraint],
    kept: Mapping[str, list[Breach]],
    change: Callable[[_Drawn], Iterable[ChangedCall]] | None = None,
) -> None:
    """Keep the first calls of some bases, changed, that break one of the rules and nothing else."""
    for base in islice(bases, BASES):
        if all(len(kept[each]) >= MOST for each in rules):
            return
        for changed in _changed_calls(space, base, draw) if change is None else change(base):
            touched = space.touched_rules.between(base.call, changed.outline)
            lacking = [each for each in touched if each.id in rules and len(kept[each.id]) < MOST]
            if not _breaks_any(space, changed.outline, lacking):
                continue
            broken = _broken_among(space, changed.outline, touched)
            if len(broken) != 1 or broken[0] not in rules or len(kept[broken[0]]) >= MOST:
                continue
            known, call = kept[broken[0]], changed.call()
            if call is None:
                continue
            digest = call.digest(space.spec.operator)
            if all(each.call.digest(space.spec.operator) != digest for each in known):
                known.append(Breach(rules[broken[0]], base.call, call))


def broken_rules(space: Space, call: Call) -> list[str]:
    """The ids of the rules that a call breaks; none where they cannot be decided."""
    return _broken_among(space, call, space.spec.constraints)


def _broken_among(space: Space, call: Call, rules: Sequence[Constraint]) -> list[str]:
    try:
        return [each.id for each in find_violations(space.spec, call, rules)]
    except EvaluationError:
        return []


def _breaks_any(space: Space, call: Call, rules: Sequence[Constraint]) -> bool:
    """Whether a call breaks one of some rules, be it because of another one."""
    if not rules:
        return False
    scope = scope_of(space.spec, call.attributes, call.inputs, call.outputs, call.slots)
    for each in rules:
        with suppress(EvaluationError):
            if not holds(each, scope):
                return True
    return False


@dataclass(frozen=True)
class _Drawn:
    """A call, and the bindings and levels that it was drawn of."""

    scope: Partial
    levels: Mapping[str, Level]
    call: Call


def _bases(space: Space, draw: Draw, types: Mapping[str, Level]) -> Iterator[_Drawn]:
    """Valid calls with these levels of types and data; with any, the plainest call first."""
    for turn in range(2 * BASES):
        stream = draw.child(f"base {turn}")
        levels = space.plainest if turn == 0 and types else types
        base = _solved(space, space.search, levels, stream)
        if base is not None and not broken_rules(space, base.call):
            yield base


def _bases_of(space: Space, rules: Mapping[str, Constraint], draw: Draw) -> Iterator[_Drawn]:
    """Valid calls that rules with a condition are about, with the plainest types and with any."""
    for rule in rules.values():
        if rule.when is None:
            continue
        about = Constraint(rule.id, None, rule.when, rule.otherwise, None, None, rule.origin)
        search = Search(space.spec, space.variables, [*space.spec.constraints, about])
        for types in (space.plain_types, {}):
            base = _solved(space, search, types, draw.child(f"about {rule.id}"))
            if base is not None and not broken_rules(space, base.call):
                yield base


def _solved(space: Space, search: Search, levels: Mapping[str, Level], draw: Draw) -> _Drawn | None:
    found = search.solve(levels, draw)
    if not isinstance(found, Found):
        return None
    return _Drawn(found.scope, levels, draw_call(space, found.scope, levels, draw))


def _changed_calls(space: Space, base: _Drawn, draw: Draw) -> Iterator[ChangedCall]:
    """Calls that may break a rule, made from a valid one."""
    stream = draw.child(base.call.digest(space.spec.operator))
    for kind in space.kinds:
        try:
            for _, change in kind.breaches(base.scope, stream.child(kind.name)):
                changed = _with(space, base, change, stream)
                if changed is not None:
                    yield changed
        except EvaluationError:
            continue  # this call does not have what the breach is about
    yield from map(ChangedCall, formed_breaches(space.spec, base.call))
    yield from with_other_inputs(space, base.call, stream)
    if base.call.outputs is not None and any(each.option == "variadic" for each in space.spec.outputs):
        names = base.call.outputs
        for asked in ((*names, f"{names[-1]}_more"), names[:-1]):
            if asked:
                yield ChangedCall(replace(base.call, outputs=asked))
    for name in () if base.call.slots else space.types:
        yield from beyond_types(space, base.call, name.removeprefix("type_"), stream)
    for name, attribute in space.spec.attributes.items():
        if attribute.required:
            yield ChangedCall(base.call.with_attribute(name, None))


def _with(space: Space, base: _Drawn, change: Bindings, draw: Draw) -> ChangedCall | None:
    """The call with values exchanged; None where the operator's version cannot even say it."""
    bindings = {**base.scope.bindings, **change}
    try:
        levels = {**base.levels, **levels_in(change)}
        scope = Partial(base.scope.spec, bindings)
        outline = draw_outline(space, scope, levels, draw)
    except UNSAYABLE:
        return None
    return ChangedCall(outline, lambda: draw_call(space, scope, levels, draw))


def broken_by_search(space: Space, rule: Constraint, draw: Draw) -> set[str]:
    """The rules that some call breaks which breaks this one; none where no call was found that does."""
    for base in islice(_bases(space, draw, space.plain_types), BASES):
        for changed in _changed_calls(space, base, draw):
            broken = set(broken_rules(space, changed.outline))
            if rule.id in broken:
                return broken
    search = Search(space.spec, space.variables, [opposite_of(rule)])
    for turn in range(BASES):
        breaking = _solved(space, search, space.plain_types, draw.child(str(turn)))
        broken = set() if breaking is None else set(broken_rules(space, breaking.call))
        if rule.id in broken:
            return broken
    return set()


def opposite_of(rule: Constraint) -> Constraint:
    """The rule that holds where this one, which requires something, is broken."""
    opposite = f"not ({rule.require})" if rule.when is None else f"({rule.when}) and not ({rule.require})"
    return Constraint(rule.id, None, opposite, rule.otherwise, None, None, rule.origin)


def _searched(space: Space, rule: Constraint, draw: Draw) -> Iterator[Breach]:
    """Calls found by a search for the rule's opposite, beside the valid ones of the same levels."""
    if rule.require is None:
        return
    others = [each for each in space.spec.constraints if each.id != rule.id]
    search = Search(space.spec, space.variables, [*others, opposite_of(rule)])
    for levels, turn in product((space.plain_types, {}), range(BASES)):
        stream = draw.child(str(turn))
        breaking = _solved(space, search, levels, stream)
        if breaking is None or broken_rules(space, breaking.call) != [rule.id]:
            continue
        valid = _solved(space, space.search, levels, stream)
        if valid is not None and not broken_rules(space, valid.call):
            yield Breach(rule, valid.call, breaking.call)
