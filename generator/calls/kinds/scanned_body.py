"""A graph that is run for each slice of some tensors, beside states; and the attributes that slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.bodies import STEPS
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Level
from generator.calls.variables.scanning import SLICED, WAYS, Scanned, scanned_ways
from generator.calls.variables.wanted_outputs import NAMES
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_INPUT_AXES, _OUTPUT_AXES = "scan_input_axes", "scan_output_axes"
_INPUT_WAYS, _OUTPUT_WAYS = "scan_input_directions", "scan_output_directions"
_AXES: tuple[Level, ...] = (OMITTED, "first", "last")


@dataclass(frozen=True)
class ScannedBody(Scanned):
    """The body, the tensors of the operator's only input (states, then what is sliced), axes and directions.

    `negative` says whether an axis may be counted from the end.
    """

    negative: Expression | None = None

    @property
    def covers(self) -> tuple[str, ...]:
        named = (self.name, SLICED, _INPUT_AXES, _INPUT_WAYS, _OUTPUT_AXES, _OUTPUT_WAYS)
        return tuple(each for each in named if self.subject.has(each))

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        negative: tuple[Level, ...] = ("negative",) if self.says(self.negative, default=True) else ()
        return {
            f"{self.name}_step": STEPS,
            **self.body_factors(),
            _INPUT_AXES: (*_AXES, *negative),
            _OUTPUT_AXES: (*_AXES, *negative),
            _INPUT_WAYS: WAYS,
            _OUTPUT_WAYS: WAYS,
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        states, gathered = int(levels["states"]), int(levels["gathered"])
        if not self.is_possible(levels, scope):
            return
        step, kind = str(levels[f"{self.name}_step"]), scope.element_type(self.given)
        sliced = int(levels["sliced"])
        rank = int(levels["rank_of_slice"])
        shape = tuple(draw.shuffled((2, 3, 4))[:rank])
        input_axes = _axes(levels[_INPUT_AXES], sliced, rank + 1)
        output_axes = _axes(levels[_OUTPUT_AXES], gathered, rank + 1)
        ways = [
            scanned_ways(levels[each], count)
            for each, count in ((_INPUT_WAYS, sliced), (_OUTPUT_WAYS, gathered))
        ]
        whole = []
        for axis in input_axes or [0] * sliced:
            at = axis % (rank + 1)
            whole.append((*shape[:at], int(levels["slices"]), *shape[at:]))
        yield {
            f"shapes:{self.given.name}": [shape] * states + whole,
            self.name: self.graph(kind, [shape] * states, [shape] * sliced, step, gathered),
            SLICED: sliced,
            _INPUT_AXES: input_axes or None,
            _OUTPUT_AXES: output_axes or None,
            _INPUT_WAYS: ways[0] or None,
            _OUTPUT_WAYS: ways[1] or None,
        }

    def rules(self) -> Iterable[Constraint]:
        body, given, count = self.name, self.given.name, self.count
        yield from self.body_rules()
        low = f"-rank({given}[-1])" if self.says(self.negative, default=True) else "0"
        ranges = f"all({low} <= each < rank({given}[-1]) for each in {_INPUT_AXES})"
        yield self.rule(f"{_INPUT_AXES}_range", ranges, f"present({_INPUT_AXES})", about=_INPUT_AXES)
        gathered = f"len(body_outputs({body})) - (len({given}) - {SLICED})"
        for name, much in (
            (_INPUT_AXES, SLICED),
            (_INPUT_WAYS, SLICED),
            (_OUTPUT_AXES, gathered),
            (_OUTPUT_WAYS, gathered),
        ):
            when = f"present({name}) and {count}"
            yield self.rule(f"{name}_length", f"len({name}) == {much}", when, about=name)
        for name in (_INPUT_WAYS, _OUTPUT_WAYS):
            listed = f"all(each in [0, 1] for each in {name})"
            yield self.rule(f"{name}_values", listed, f"present({name})", about=name)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        kind = scope.element_type(self.given)
        shapes = scope.find(f"shapes:{self.given.name}")
        sliced = int(scope.find(SLICED))
        states, rank = shapes[: len(shapes) - sliced], len(shapes[-1])
        slices, gathered = [shapes[-1][1:]] * sliced, len(scope.find(self.name).outputs) - len(states)
        nothing = dict.fromkeys((_INPUT_AXES, _INPUT_WAYS, _OUTPUT_AXES, _OUTPUT_WAYS))
        more = self.graph(kind, states, [*slices, ()], "kept", gathered)
        yield f"{self.name}_takes", {self.name: more}
        for other in ("int64", "bool", "double"):
            yield f"{self.name}_types", {self.name: self.graph(other, states, slices, "kept", gathered)}
        for count in (0, len(shapes) + 1):
            yield f"{SLICED}_range", {SLICED: count, **nothing}
        if len(states) > 1:
            fewer = self.graph(kind, states, slices, "kept", -1)
            names = {NAMES: scope.find(NAMES)[: len(states) - 1]}
            yield f"{self.name}_gives", {self.name: fewer, **nothing, **names}
        yield f"{_INPUT_AXES}_range", {_INPUT_AXES: [rank] * sliced}
        for name, count in (
            (_INPUT_AXES, sliced),
            (_OUTPUT_AXES, gathered),
            (_INPUT_WAYS, sliced),
            (_OUTPUT_WAYS, gathered),
        ):
            yield f"{name}_length", {name: [0] * (count + 1)}
        for name, count in ((_INPUT_WAYS, sliced), (_OUTPUT_WAYS, gathered)):
            yield f"{name}_values", {name: [2] * count}


def _axes(level: Level, count: int, rank: int) -> list[int]:
    """The axes of a level; empty where they are left out, or are those of nothing."""
    if level == OMITTED:
        return []
    if level == "negative":
        return [-1 if place % 2 == 0 else -rank for place in range(count)]
    return [rank - 1 if level == "last" else 0] * count
