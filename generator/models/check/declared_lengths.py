"""Lengths that the shapes which an operator declares give to the classes of an outline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Partial
from generator.calls.variables.extents import EXTENTS, bounds_within
from generator.models.check.call_drawing import plain_values
from generator.models.check.model_extents import UNDECIDED, Chosen, Class, Outline, length_of
from generator.models.check.node_calls import NodeCall
from specs.language.shape_expressions import ShapePart, evaluate_part

LENGTHS = (2, 3, 5, 4, 7, 6, 8)
"""Those that are tried first: all different, and small."""
MOST = 4096
"""A longer one is none."""


@dataclass(eq=False)
class DeclaredLengths:
    """Draws lengths by the shapes that an operator declares.

    Extents that stand at known lengths are those: of a weight's shape, of a class that has a length by now.
    What then is open is drawn within its declared bounds, or one of the `counts` that attributes may ask for.
    `are_told` is false where some input has no declared shape, or known lengths are none of it.
    """

    node: NodeCall
    outline: Outline
    counts: Sequence[int]
    draw: Draw = field(init=False)
    chosen: Chosen = field(init=False)
    are_told: bool = field(init=False)

    def __post_init__(self) -> None:
        self._stated = self.outline.known
        self.chosen, self._bound = self._stated, self._given()
        pairs = zip(self.node.inputs, self.outline.inputs, strict=True)
        self._left = [(node_input.name, axes) for node_input, axes in pairs if axes is not None]
        spec = self.node.spec
        self.are_told = all(
            name in spec.shapes and not spec.input_forms[name].holds_several for name, _ in self._left
        ) and all(self._learn(name, axes) for name, axes in self._left)
        self._learned = self._bound

    def find(self, draw: Draw) -> Chosen | None:
        """A length for each class; None where what was drawn contradicts itself."""
        self.draw, self.chosen, self._bound = draw, dict(self._stated), dict(self._learned)
        left = list(self._left)
        while left:
            # Those of which most is known tell the extents of the others.
            left.sort(key=lambda one: sum(self._known(axis) is None for axis in one[1]))
            taken = next((place for place, one in enumerate(left) if self._is_told(one[0])), None)
            if taken is None or not self._take(*left.pop(taken)):
                return None
        return self.chosen

    def _learn(self, name: str, axes: Sequence[int | Class]) -> bool:
        """Bind extents that stand alone in parts of a shape whose length is known; whether they can be."""
        try:
            parts = self.node.spec.shapes[name].chosen(self._scope)
            for part, axis in zip(parts, axes, strict=False):
                if part.several or part.word is not None:
                    break
                names, known = part.names & self._open, self._known(axis)
                if len(names) == 1 and known is not None:
                    (own,) = names
                    if (number := self._solved(part, own, known)) is None:
                        return False
                    self._bound[own] = number
        except UNDECIDED:
            return True
        return True

    def _given(self) -> dict[str, Any]:
        """What is known before: attributes, values that are kept, inputs that are left out."""
        node = self.node
        found: dict[str, Any] = {f"level:type_{name}": each for name, each in node.types.items()}
        for name in node.spec.attributes:
            value = None if (given := node.attributes.get(name)) is None else given.value
            found[name] = list(value) if isinstance(value, tuple) else value
        for node_input in node.inputs:
            if node_input.value is None:
                found |= {f"shape:{node_input.name}": None, f"level:{node_input.name}": OMITTED}
            elif node_input.kept is not None:
                found[node_input.name] = plain_values(node_input.kept)
        return found

    @property
    def _scope(self) -> Partial:
        return Partial(self.node.spec, self._bound)

    def _known(self, axis: int | Class) -> int | None:
        return length_of(axis, self.chosen)

    def _is_told(self, name: str) -> bool:
        """Whether what the shape of an input hangs on beside its extents is known by now."""
        try:
            parts = self.node.spec.shapes[name].chosen(self._scope)
        except UNDECIDED:
            return False
        extents = {each: 1 for part in parts for each in part.names & self.node.spec.extents}
        packs = {each: [1] for part in parts for each in part.starred & self.node.spec.extents}
        scope = Partial(self.node.spec, {**extents, **packs, **self._bound})
        for named in {each for part in parts for each in part.names}:
            try:
                scope[named]
            except UNDECIDED:
                return False
        return True

    def _take(self, name: str, axes: Sequence[int | Class]) -> bool:
        """Bind what the shape of an input has open, and its classes; whether that goes together."""
        try:
            placed = self._placed(self.node.spec.shapes[name].chosen(self._scope), axes)
            if placed is None or not all(self._match(part, own) for part, own in placed):
                return False
        except UNDECIDED:
            return False
        shape = tuple(self._known(axis) for axis in axes)
        self._bound[f"shape:{name}"] = shape
        return None not in shape

    def _placed(
        self, parts: Sequence[ShapePart], axes: Sequence[int | Class]
    ) -> list[tuple[ShapePart, Sequence[int | Class]]] | None:
        """Each part with the axes that it is about; None where they are too few or too many."""
        counts = [self._count(part) for part in parts]
        spare = len(axes) - sum(count or 0 for count in counts)
        at_will = [place for place, count in enumerate(counts) if count is None]
        missing = [place for place in at_will if parts[place].word == "maybe"]
        there = self.draw.shuffled(missing)[: max(spare, 0)]
        for place in at_will:
            counts[place] = int(place in there) if place in missing else None
        spare -= len(there)
        for place in [place for place in at_will if place not in missing]:
            counts[place], spare = max(spare, 0), 0
        if spare or sum(count or 0 for count in counts) != len(axes):
            return None
        found, start = [], 0
        for part, count in zip(parts, counts, strict=True):
            found.append((part, axes[start : start + (count or 0)]))
            start += count or 0
        return found

    def _count(self, part: ShapePart) -> int | None:
        """How many axes a part is about; None where that is left to it."""
        if part.word is not None:
            return None
        if not part.several:
            return 1
        return None if part.names & self._open else len(evaluate_part(part, self._scope))

    @property
    def _open(self) -> frozenset[str]:
        return self.node.spec.extents - self._bound.keys()

    def _match(self, part: ShapePart, axes: Sequence[int | Class]) -> bool:
        if part.word is not None:
            return self._match_choice(part, axes)
        if part.several:
            return self._match_several(part, axes)
        (axis,) = axes
        known, names = self._known(axis), sorted(part.names & self._open)
        for name in names[:-1] if known is not None else names:
            self._bound[name] = self._drawn(name)
        if known is not None and names:
            if (number := self._solved(part, names[-1], known)) is None:
                return False
            self._bound[names[-1]] = number
        (extent,) = evaluate_part(part, self._scope)
        return self._fits(axis, extent)

    def _match_several(self, part: ShapePart, axes: Sequence[int | Class]) -> bool:
        names = part.names & self._open
        if names:
            (name,) = names  # a pack of which nothing is known is what stands there
            lengths = self._listed(len(axes)) or [self._drawn(name) for _ in axes]
            self._bound[name] = [self._known(axis) or own for axis, own in zip(axes, lengths, strict=True)]
        extents = evaluate_part(part, self._scope)
        return len(extents) == len(axes) and all(map(self._fits, axes, extents))

    def _match_choice(self, part: ShapePart, axes: Sequence[int | Class]) -> bool:
        """Of a part that leaves a choice the plainest that has so many axes; known ones may be 1."""
        if part.word == "maybe":
            return not axes or self._match(part.arguments[0], axes)
        for argument in part.arguments:
            for name in sorted(argument.names & self._open):
                own = [self._known(axis) or self._drawn(name) for axis in axes]
                self._bound[name] = own if argument.several else self._drawn(name)
        full = [extent for one in part.arguments for extent in evaluate_part(one, self._scope)]
        last = full[len(full) - len(axes) :]
        return len(last) == len(axes) and all(
            self._known(axis) == 1 or self._fits(axis, extent)
            for axis, extent in zip(axes, last, strict=True)
        )

    def _fits(self, axis: int | Class, extent: int) -> bool:
        known = self._known(axis)
        if known is None and not isinstance(axis, int):
            self.chosen[axis] = known = extent
        return known == extent and extent <= MOST

    def _solved(self, part: ShapePart, name: str, extent: int) -> int | None:
        """The least number that a part says an extent with; None without one."""
        for number in range(MOST + 1):
            try:
                if evaluate_part(part, Partial(self.node.spec, {**self._bound, name: number})) == [extent]:
                    return number
            except UNDECIDED:
                continue
        return None

    def _listed(self, count: int) -> Sequence[int]:
        """So many lengths that an attribute lists, now and then, as of a kernel; none where none does."""
        lists = [
            given.numbers
            for given in self.node.attributes.values()
            if len(given.numbers) == count and all(0 < number <= MOST for number in given.numbers)
        ]
        stream = self.draw.child(f"list/{len(self._bound)}")
        if not lists or stream.integer(0, 1):
            return ()
        return [int(number) for number in stream.choice(lists)]

    def _drawn(self, name: str) -> int:
        declared = self.node.spec.declared
        low, high = bounds_within(None if declared is None else declared.extents.get(name), EXTENTS)
        stream = self.draw.child(f"{name}/{len(self._bound)}/{len(self.chosen)}")
        if self.counts and stream.integer(0, 1) == 0:
            return stream.choice(self.counts)
        return stream.choice([each for each in LENGTHS if low <= each <= high] or [max(low, 1)])
