"""Breaches made again at the places where a search found them: of all calls it tried, no others are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from generator.calls.borders.breach_attempts import Stage, base_makers, broken_rules, proposals
from generator.calls.borders.breaches import Breach, BreachPlace, breakable_rules, search_makers
from generator.calls.data.draws import Draw
from generator.calls.space.space import CallSpace
from specs.model.spec import Constraint

Places = tuple[tuple[BreachPlace, ...], ...]
"""For each rule whose breaches are looked for, in order, where they are: nowhere where no call breaks it."""
_Wanted = Sequence[tuple[Constraint, BreachPlace]]


def places_of(space: CallSpace, found: Sequence[Breach]) -> Places:
    """The places of what a search found in a space."""
    return tuple(
        tuple(each.place for each in found if each.constraint.id == name) for name in breakable_rules(space)
    )


def breaches_at(space: CallSpace, draw: Draw, places: Places) -> list[Breach] | None:
    """The breaches at these places, in the order of the search; None where one of them is no breach."""
    rules = breakable_rules(space)
    if len(places) != len(rules):
        return None
    known = dict(zip(rules, places, strict=True))
    wanted = [(rules[name], each) for name, these in known.items() for each in these]
    made = {
        (each.constraint.id, each.place): each
        for stage in Stage
        for each in _made(space, stage, draw, known, [one for one in wanted if one[1].stage == stage])
    }
    found = [made.get((rule.id, place)) for rule, place in wanted]
    whole = [each for each in found if each is not None and _breaks_its_rule_alone(space, each)]
    return whole if len(whole) == len(found) else None


def _made(
    space: CallSpace, stage: Stage, draw: Draw, known: Mapping[str, Sequence[BreachPlace]], wanted: _Wanted
) -> Iterator[Breach]:
    if stage is Stage.SEARCHED:
        yield from _searched(space, draw, wanted)
        return
    # A rule that has breaches of one stage is looked at in no later one.
    lacking = {
        name: rule
        for name, rule in breakable_rules(space).items()
        if not known[name] or known[name][0].stage >= stage
    }
    makers = base_makers(space, stage, draw, lacking)
    for turn in sorted({place.turn for _, place in wanted if place.turn < len(makers)}):
        base = makers[turn]()
        rules = {place.change: rule for rule, place in wanted if place.turn == turn}
        changes = () if base is None else islice(proposals(space, stage, base, draw), max(rules) + 1)
        for number, propose in enumerate(changes):
            changed = propose() if number in rules else None
            call = None if changed is None else changed.call()
            if base is not None and call is not None:
                yield Breach(rules[number], base.call, call, BreachPlace(stage, turn, number))


def _searched(space: CallSpace, draw: Draw, wanted: _Wanted) -> Iterator[Breach]:
    for rule, place in wanted:
        makers = search_makers(space, rule, draw)
        found = makers[place.turn]() if place.turn < len(makers) else None
        if found is not None:
            yield found


def _breaks_its_rule_alone(space: CallSpace, breach: Breach) -> bool:
    return broken_rules(space, breach.call) == [breach.constraint.id]
