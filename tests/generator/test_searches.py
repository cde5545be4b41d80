"""Searches: what is remembered of one is what another finds, whatever it draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.solver.solving import CallSearch, Found, NotFound, SearchVariable
from generator.calls.space.space import open_space
from opcert.vocabulary.names import OperatorName
from specs.files.library import load_spec
from specs.model.spec import Constraint, Origin, Spec
from tests.generator.declared import space_of

IDENTITY = OperatorName("ai.onnx", "Identity", 25)
SPEC = space_of(IDENTITY).spec


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates for a name, and how often they were asked for; with `drawn` a number is drawn first."""

    name: str
    values: tuple[object, ...]
    drawn: bool = False
    asked: list[str] = field(default_factory=list)

    def __call__(self, _: Partial, draw: Draw) -> Iterator[Bindings]:
        self.asked.append(self.name)
        if self.drawn:
            draw.integer(0, 9)
        yield from ({self.name: value} for value in self.values)


def search_over(*made: Candidates, rules: Mapping[str, str], spec: Spec = SPEC) -> CallSearch:
    variables = [
        SearchVariable(candidates.name, frozenset([candidates.name]), frozenset(), candidates)
        for candidates in made
    ]
    constraints = [
        Constraint(name, None, text, "error", None, None, Origin("derived", why="a test"))
        for name, text in rules.items()
    ]
    return CallSearch(spec, variables, constraints)


def test_levels_that_no_draw_has_a_call_of_are_searched_once() -> None:
    extent = Candidates("S", (1, 2, 3))
    search = search_over(extent, rules={"large": "S > 3"})
    for turn in range(3):
        assert isinstance(search.solve({}, Draw(str(turn))), NotFound)
    assert extent.asked == ["S"]


def test_what_fails_with_some_draws_is_searched_with_others() -> None:
    extent = Candidates("S", (1, 2, 3), drawn=True)
    search = search_over(extent, rules={"large": "S > 3"})
    for turn in range(3):
        assert isinstance(search.solve({}, Draw(str(turn))), NotFound)
    assert extent.asked == ["S"] * 3


def test_what_rules_said_of_levels_holds_for_other_searches() -> None:
    """A space that was searched often finds what one finds that never was."""
    used, fresh = space_of(IDENTITY), open_space(load_spec(IDENTITY))
    levels = [
        dict(used.plainest, type_V=factor, input="optional(tensor)") for factor in used.factors["type_V"]
    ]
    found = [used.search.solve(level, Draw("used")) for level in (*levels, *levels)]
    alone = [fresh.search.solve(level, Draw("used")) for level in levels]
    assert [_bindings(each) for each in found] == [_bindings(each) for each in (*alone, *alone)]
    assert 0 < sum(isinstance(each, Found) for each in alone) < len(alone)


def _bindings(found: Found | NotFound) -> dict[str, object] | None:
    return dict(found.scope.bindings) if isinstance(found, Found) else None


def test_the_form_of_an_input_and_its_type_fail_in_a_few_steps() -> None:
    """A sequence of a type that no sequence has: no shape mends that, and none is tried."""
    space = space_of(IDENTITY)
    wanted = {"type_V": "float8e4m3fn", "input": "seq(tensor) of 2"}
    failure = space.search.solve(wanted, Draw("a sequence of what has none"))
    assert isinstance(failure, NotFound)
    assert failure.tried <= len(space.variables)
    assert failure.blame >= {"level:type_V", "level:input"}
