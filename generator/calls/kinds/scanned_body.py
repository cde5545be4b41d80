"""A graph that is run for each slice of some tensors, beside states; and the attributes that slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.bodies import NESTED, STEPS, BodyMaker, can_double, shaped_type
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Kind, Level
from generator.calls.variables.kind_checks import need_graph, need_variadic
from generator.calls.variables.wanted_outputs import NAMES
from opcert.vocabulary.attributes import Graph
from specs.language.expressions import Expression
from specs.model.spec import Constraint, ParameterSpec

_SLICED = "num_scan_inputs"
_INPUT_AXES, _OUTPUT_AXES = "scan_input_axes", "scan_output_axes"
_INPUT_WAYS, _OUTPUT_WAYS = "scan_input_directions", "scan_output_directions"
_BATCH_WAYS, _LENGTHS = "directions", "sequence_lens"
_LISTS = (_INPUT_AXES, _INPUT_WAYS, _OUTPUT_AXES, _OUTPUT_WAYS, _BATCH_WAYS)
_WAYS: tuple[Level, ...] = (OMITTED, "forward", "backward", "mixed")
_AXES: tuple[Level, ...] = (OMITTED, "first", "last")


@dataclass(frozen=True)
class ScannedBody(Kind):
    """The body, the tensors of the last input (states, then what is sliced), axes and directions.

    `negative` says whether an axis may be counted from the end. Where it is `batched`, every tensor has the
    batch as its first axis, what is sliced is so along its second, and members have lengths of their own.
    """

    negative: Expression | None = None
    batched: Expression | None = None

    def __post_init__(self) -> None:
        need_graph(self.subject)
        need_variadic(self.subject, self.given.name)

    @property
    def given(self) -> ParameterSpec:
        """The input that holds states and slices."""
        return self.subject.spec.inputs[-1]

    @property
    def binds(self) -> tuple[str, ...]:
        return (self._shapes,)

    @property
    def _shapes(self) -> str:
        return f"shapes:{self.given.name}"

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"level:type_{self.given.type}"})

    @property
    def covers(self) -> tuple[str, ...]:
        named = (self.name, _SLICED, *_LISTS, _LENGTHS)
        return tuple(name for name in named if self.subject.has(name))

    @property
    def _lists(self) -> tuple[str, ...]:
        """The lists of axes and directions that the version has."""
        return tuple(name for name in _LISTS if self.subject.has(name))

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        counted: tuple[Level, ...] = ("negative",) if self.says(self.negative, default=True) else ()
        lists: dict[str, tuple[Level, ...]] = {
            _INPUT_AXES: (*_AXES, *counted),
            _OUTPUT_AXES: (*_AXES, *counted),
            _INPUT_WAYS: _WAYS,
            _OUTPUT_WAYS: _WAYS,
        }
        if self.says(self.batched):
            lists = {_BATCH_WAYS: _WAYS, _LENGTHS: (OMITTED, "full", "ragged")}
        return {
            f"{self.name}_step": (*STEPS, NESTED),
            **({"batch": (2, 1, 3)} if self.says(self.batched) else {}),
            "states": (1, 0, 2),
            "sliced": (1, 2),
            "slices": (3, 1),
            "rank_of_slice": (1, 0, 2),
            "gathered": (1, 0, 2),
            **lists,
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        counted = ("states", "sliced", "slices", "rank_of_slice", "gathered")
        states, sliced, slices, rank, gathered = (int(levels[name]) for name in counted)
        step, kind = str(levels[f"{self.name}_step"]), scope.element_type(self.given)
        if not states and not gathered:
            return
        if step in ("doubled", NESTED) and not can_double(self.subject.spec.operator, kind):
            return
        shape = tuple(draw.shuffled((2, 3, 4))[:rank])
        found: dict[str, Any] = {
            self.name: self._graph(kind, [shape] * states, [shape] * sliced, step, gathered),
            _SLICED: sliced,
        }
        if self.says(self.batched):
            batch = int(levels["batch"])
            found[self._shapes] = [(batch, *shape)] * states + [(batch, slices, *shape)] * sliced
            found[_BATCH_WAYS] = _ways(levels[_BATCH_WAYS], sliced) or None
            found[_LENGTHS] = _lengths(levels[_LENGTHS], batch, slices, draw)
            yield found
            return
        input_axes = _axes(levels[_INPUT_AXES], sliced, rank + 1)
        places = [axis % (rank + 1) for axis in input_axes or [0] * sliced]
        found[self._shapes] = [shape] * states + [(*shape[:at], slices, *shape[at:]) for at in places]
        found[_INPUT_AXES] = input_axes or None
        found[_OUTPUT_AXES] = _axes(levels[_OUTPUT_AXES], gathered, rank + 1) or None
        found[_INPUT_WAYS] = _ways(levels[_INPUT_WAYS], sliced) or None
        found[_OUTPUT_WAYS] = _ways(levels[_OUTPUT_WAYS], gathered) or None
        yield found

    def rules(self) -> Iterable[Constraint]:
        body, given = self.name, self.given.name
        count = f"1 <= {_SLICED} <= len({given})"
        yield self.rule(f"{_SLICED}_range", count, about=_SLICED)
        takes = f"len(body_inputs({body})) == len({given})"
        yield self.rule(f"{body}_takes", takes)
        yield self.rule(f"{body}_gives", f"len(body_outputs({body})) >= len({given}) - {_SLICED}", count)
        types = f"[element_type(each) for each in {given}]"
        yield self.rule(f"{body}_types", f"body_inputs({body}) == {types}", takes)
        yield from self._rules_of_batches(count) if self.says(self.batched) else self._rules_of_axes()
        gathered = f"len(body_outputs({body})) - (len({given}) - {_SLICED})"
        for name in (_INPUT_AXES, _INPUT_WAYS, _OUTPUT_AXES, _OUTPUT_WAYS, _BATCH_WAYS):
            if name in self._lists:
                much = gathered if name in (_OUTPUT_AXES, _OUTPUT_WAYS) else _SLICED
                when = f"present({name}) and {count}"
                yield self.rule(f"{name}_length", f"len({name}) == {much}", when, about=name)
        for name in (_INPUT_WAYS, _OUTPUT_WAYS, _BATCH_WAYS):
            if name in self._lists:
                listed = f"all(each in [0, 1] for each in {name})"
                yield self.rule(f"{name}_values", listed, f"present({name})", about=name)
        if self.says(self.batched):
            told = f"present({_LENGTHS}) and rank({given}[-1]) >= 2"
            one_each = f"shape({_LENGTHS}) == [shape({given}[-1])[0]]"
            yield self.rule(f"{_LENGTHS}_shape", one_each, told, about=_LENGTHS)
            inside = f"all(0 <= each <= shape({given}[-1])[1] for each in values({_LENGTHS}))"
            yield self.rule(f"{_LENGTHS}_range", inside, told, about=_LENGTHS)

    def _rules_of_axes(self) -> Iterable[Constraint]:
        given = self.given.name
        low = f"-rank({given}[-1])" if self.says(self.negative, default=True) else "0"
        ranges = f"all({low} <= each < rank({given}[-1]) for each in {_INPUT_AXES})"
        yield self.rule(f"{_INPUT_AXES}_range", ranges, f"present({_INPUT_AXES})", about=_INPUT_AXES)
        body, count = self.name, f"1 <= {_SLICED} <= len({given})"
        first = f"(len({given}) - {_SLICED})"
        axes = f"({_INPUT_AXES} if present({_INPUT_AXES}) else [0 for each in {given}[{first}:]])"
        own = "axis % max(rank(each), 1)"
        sliced = f"zip({given}[{first}:], {axes})"
        cut = f"[shape(each)[:{own}] + shape(each)[{own} + 1:] for each, axis in {sliced}]"
        states = f"[shape(each) for each in {given}[:{first}]]"
        fits = f"body_takes({body}, {states} + {cut})"
        one_each = f"not present({_INPUT_AXES}) or len({_INPUT_AXES}) == {_SLICED}"
        yield self.rule(
            f"{body}_shapes", fits, f"{count} and ({one_each}) and len(body_inputs({body})) == len({given})"
        )
        gathered = f"body_shapes({body})[{first}:]"
        placed = f"all(-len(each) - 1 <= axis <= len(each) for each, axis in zip({gathered}, {_OUTPUT_AXES}))"
        yield self.rule(
            f"{_OUTPUT_AXES}_range", placed, f"present({_OUTPUT_AXES}) and {count}", about=_OUTPUT_AXES
        )

    def _rules_of_batches(self, count: str) -> Iterable[Constraint]:
        given = self.given.name
        batch = f"all(rank(each) >= 1 and shape(each)[0] == shape({given}[-1])[0] for each in {given})"
        yield self.rule("same_batch", f"rank({given}[-1]) >= 2 and {batch}", about=given)
        scanned = f"{given}[len({given}) - {_SLICED}:]"
        first = f"(len({given}) - {_SLICED})"
        states = f"[shape(each)[1:] for each in {given}[:{first}]]"
        shapes = f"{states} + [shape(each)[2:] for each in {given}[{first}:]]"
        takes = f"{count} and len(body_inputs({self.name})) == len({given})"
        yield self.rule(f"{self.name}_shapes", f"body_takes({self.name}, {shapes})", takes)
        slices = f"all(rank(each) >= 2 and shape(each)[1] == shape({given}[-1])[1] for each in {scanned})"
        yield self.rule("same_slices", slices, f"{count} and rank({given}[-1]) >= 2", about=given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        kind, batched = scope.element_type(self.given), self.says(self.batched)
        shapes = [tuple(shape) for shape in scope.find(self._shapes)]
        sliced = int(scope.find(_SLICED))
        first = len(shapes) - sliced
        states = [shape[1:] if batched else shape for shape in shapes[:first]]
        # Slices are all alike.
        slices = [shape[2:] for shape in shapes[first:]] if batched else [shapes[-1][1:]] * sliced
        gathered = len(scope.find(self.name).outputs) - first
        nothing = dict.fromkeys(self._lists)
        more = self._graph(kind, states, [*slices, ()], "kept", gathered)
        longer = self._graph(kind, states, [(*each, 2) for each in slices], "kept", gathered)
        yield f"{self.name}_shapes", {self.name: longer}
        yield f"{self.name}_takes", {self.name: more}
        for other in ("int64", "bool", "double"):
            yield f"{self.name}_types", {self.name: self._graph(other, states, slices, "kept", gathered)}
        for count in (0, len(shapes) + 1):
            yield f"{_SLICED}_range", {_SLICED: count, **nothing}
        if first > 1:
            fewer = self._graph(kind, states, slices, "kept", -1)
            names = {NAMES: scope.find(NAMES)[: first - 1]}
            yield f"{self.name}_gives", {self.name: fewer, **({} if batched else nothing), **names}
        yield from (
            self._breaches_of_batches(shapes, sliced)
            if batched
            else self._breaches_of_axes(len(shapes[-1]), sliced, gathered)
        )

    def _breaches_of_axes(self, rank: int, sliced: int, gathered: int) -> Iterator[tuple[str, Bindings]]:
        yield f"{_INPUT_AXES}_range", {_INPUT_AXES: [rank] * sliced}
        yield f"{_INPUT_AXES}_length", {_INPUT_AXES: [0] * (sliced + 1)}
        yield f"{_OUTPUT_AXES}_length", {_OUTPUT_AXES: [0] * (gathered + 1)}
        yield f"{_OUTPUT_AXES}_range", {_OUTPUT_AXES: [rank + 1] * gathered}
        ways = ((_INPUT_WAYS, sliced), (_OUTPUT_WAYS, gathered))
        for name, count in ways:
            yield f"{name}_length", {name: [0] * (count + 1)}
        for name, count in ways:
            yield f"{name}_values", {name: [2] * count}

    def _breaches_of_batches(
        self, shapes: list[tuple[int, ...]], sliced: int
    ) -> Iterator[tuple[str, Bindings]]:
        first, (batch, length) = len(shapes) - sliced, shapes[-1][:2]
        if len(shapes) > 1:
            yield "same_batch", {self._shapes: [(batch + 1, *shapes[0][1:]), *shapes[1:]]}
        if sliced > 1:
            longer = (batch, length + 1, *shapes[first][2:])
            yield "same_slices", {self._shapes: [*shapes[:first], longer, *shapes[first + 1 :]]}
        yield f"{_BATCH_WAYS}_length", {_BATCH_WAYS: [0] * (sliced + 1)}
        yield f"{_BATCH_WAYS}_values", {_BATCH_WAYS: [2] * sliced}
        yield f"{_LENGTHS}_shape", {_LENGTHS: np.full(batch + 1, length, dtype=np.int64)}
        for wrong in (length + 1, -1):
            yield f"{_LENGTHS}_range", {_LENGTHS: np.full(batch, wrong, dtype=np.int64)}

    def _graph(
        self,
        kind: str,
        states: Sequence[Sequence[int]],
        slices: Sequence[Sequence[int]],
        step: str,
        gathered: int,
    ) -> Graph:
        """A body that gives its states and `gathered` values of each run; below 0 fewer states."""
        body = BodyMaker(self.name)
        types = [shaped_type(kind, shape) for shape in (*states, *slices)]
        taken = [body.take(tensor_type) for tensor_type in types]
        results = [body.step(value, step, kind_of) for value, kind_of in zip(taken, types, strict=True)]
        for place in range(len(states) + min(gathered, 0)):
            body.give(results[place], types[place])
        for place in range(gathered):
            at = len(states) + place % len(slices)
            body.give(results[at], types[at])
        return body.made()


def _ways(level: Level, count: int) -> list[int]:
    """The directions of a level; of a single one, mixed is backward. Empty where they are left out."""
    if level == OMITTED:
        return []
    return [(place + 1) % 2 if level == "mixed" else int(level == "backward") for place in range(count)]


def _axes(level: Level, count: int, rank: int) -> list[int]:
    """The axes of a level; empty where they are left out, or are those of nothing."""
    if level == OMITTED:
        return []
    if level == "negative":
        return [-1 if place % 2 == 0 else -rank for place in range(count)]
    return [rank - 1 if level == "last" else 0] * count


def _lengths(level: Level, batch: int, most: int, draw: Draw) -> np.ndarray[Any, Any] | None:
    """How long each member of the batch is; None where that is left out."""
    if level == OMITTED:
        return None
    found = np.full(batch, most, dtype=np.int64)
    if level == "ragged":
        found[-1] = draw.integer(0, most - 1)
    return found
