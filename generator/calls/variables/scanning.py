"""Bodies that are run for each slice: what kinds of them share, their graph, and how slices are taken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generator.calls.solver.bodies import BodyMaker, can_double, shaped_type
from generator.calls.solver.partial import OMITTED, Partial
from generator.calls.variables.kind import Kind, Level
from generator.calls.variables.kind_checks import need_graph, need_variadic
from opcert.vocabulary.attributes import Graph
from specs.model.spec import Constraint, ParameterSpec

SLICED = "num_scan_inputs"
WAYS: tuple[Level, ...] = (OMITTED, "forward", "backward", "mixed")


@dataclass(frozen=True)
class Scanned(Kind):
    """A body, and the tensors of the operator's last input: states, then what is sliced."""

    def __post_init__(self) -> None:
        need_graph(self.subject)
        need_variadic(self.subject, self.given.name)

    @property
    def given(self) -> ParameterSpec:
        """The input that holds states and slices."""
        return self.subject.spec.inputs[-1]

    @property
    def binds(self) -> tuple[str, ...]:
        return (f"shapes:{self.given.name}",)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"level:type_{self.given.type}"})

    def body_factors(self) -> Mapping[str, tuple[Level, ...]]:
        """How many states and slices there are, and what is gathered."""
        return {
            "states": (1, 0, 2),
            "sliced": (1, 2),
            "slices": (3, 1),
            "rank_of_slice": (1, 0, 2),
            "gathered": (1, 0, 2),
        }

    def is_possible(self, levels: Mapping[str, Level], scope: Partial) -> bool:
        """Whether a body with these levels gives anything, and can do its step in the element type."""
        if not int(levels["states"]) and not int(levels["gathered"]):
            return False
        doubled = levels[f"{self.name}_step"] == "doubled"
        return not doubled or can_double(self.subject.spec.operator, scope.element_type(self.given))

    @property
    def count(self) -> str:
        """The rule that as many tensors are sliced as there can be."""
        return f"1 <= {SLICED} <= len({self.given.name})"

    def body_rules(self) -> Iterable[Constraint]:
        """What the body takes and gives."""
        body, given = self.name, self.given.name
        yield self.rule(f"{SLICED}_range", self.count, about=SLICED)
        takes = f"len(body_inputs({body})) == len({given})"
        yield self.rule(f"{body}_takes", takes)
        yield self.rule(f"{body}_gives", f"len(body_outputs({body})) >= len({given}) - {SLICED}", self.count)
        types = f"[element_type(each) for each in {given}]"
        yield self.rule(f"{body}_types", f"body_inputs({body}) == {types}", takes)

    def graph(
        self, kind: str, states: Sequence[Any], slices: Sequence[Any], step: str, gathered: int
    ) -> Graph:
        """A body of the kind's name."""
        return scanning_graph(self.name, kind, states, slices, step, gathered)


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
