"""Bodies that are run for each slice: their graph, and the ways in which slices are taken."""

from __future__ import annotations

from collections.abc import Sequence

from generator.bodies import BodyMaker, shaped_type
from generator.kind import Level
from generator.partial import OMITTED
from opcert.vocabulary.attributes import Graph

WAYS: tuple[Level, ...] = (OMITTED, "forward", "backward", "mixed")


def scanning_graph(
    name: str,
    kind: str,
    states: Sequence[Sequence[int]],
    slices: Sequence[Sequence[int]],
    step: str,
    gathered: int,
) -> Graph:
    """A body that gives its states and `gathered` values of each run; below 0 fewer states."""
    body = BodyMaker(name)
    types = [shaped_type(kind, each) for each in (*states, *slices)]
    taken = [body.take(each) for each in types]
    results = [body.step(each, step) for each in taken]
    for place in range(len(states) + min(gathered, 0)):
        body.give(results[place], types[place])
    for place in range(gathered):
        at = len(states) + place % len(slices)
        body.give(results[at], types[at])
    return body.made()


def scanned_ways(level: Level, count: int) -> list[int]:
    """The directions of a level; of a single one, mixed is backward. Empty where they are left out."""
    if level == OMITTED:
        return []
    return [(place + 1) % 2 if level == "mixed" else int(level == "backward") for place in range(count)]
