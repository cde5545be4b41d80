"""Lengths with which a call is valid, to begin with: guessed, by declared shapes, then drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Partial
from generator.calls.variables.extents import EXTENTS, bounds_within
from generator.models.check.call_drawing import plain_values
from generator.models.check.model_extents import UNDECIDED, Chosen, Class, Outline, Shapes, length_of
from generator.models.check.node_calls import NodeCall
from specs.language.shape_expressions import ShapePart, evaluate_part
from specs.model.spec import Constraint

_LENGTHS = (2, 3, 5, 4, 7, 6, 8)
"""Those that are tried first: all different, and small."""
_MOST = 4096
"""A longer one is none."""
_TRIES = 800
_TRIES_OF_RANKS = 60
"""Where ranks are unknown, too: each of them is tried."""
_DECLARED = 60
"""Lengths that are drawn by the declared shapes for one outline."""
_DECLARED_OF_RANKS = 40
_FEW_NUMBERS = 6
_WIDE = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)
Broken = Callable[[Shapes], Constraint | None]


@dataclass(frozen=True, eq=False)
class FirstLengths:
    """Finds lengths for the classes of an outline of which no rule is broken.

    Classes of a known length keep it. The others are all different, or alike where they stand at one axis;
    then those that the declared shapes give, beside what is known; then those that a broken rule is about are
    drawn anew, again and again. `numbers` are those of attributes.
    """

    node: NodeCall
    broken: Broken
    numbers: Sequence[int]
    draw: Draw

    def find(self, outline: Outline, outlines: int) -> Chosen | None:
        """The lengths; None where none were found. `outlines` is how many there are to be tried."""
        known = outline.known
        loose = [each for each in outline.classes if each not in known]
        for chosen in _guesses(outline):
            rule = self.broken(outline.shapes(chosen))
            if rule is None:
                return chosen
            if not loose:
                return None
        for parted in _parted(outline, [number for number in self._few if number > 1]):
            if self.broken(outline.shapes(parted)) is None:
                return parted
        counts = self._counts()
        for count in dict.fromkeys(counts):
            chosen = {**chosen, **dict.fromkeys(loose, count)}
            if self.broken(outline.shapes(chosen)) is None:
                return chosen
        declared = _DeclaredLengths(self.node, outline, counts)
        for attempt in range(_DECLARED if outlines < 2 else _DECLARED_OF_RANKS):
            if not declared.are_told:
                break
            found = declared.find(self.draw.child(f"declared/{attempt}"))
            if found is not None:
                chosen, rule = found, self.broken(outline.shapes(found))
                if rule is None:
                    return chosen
        few = self._few
        # What shares a factor with an extent that is known, by one of the counts.
        counts += [
            each * (length // other)
            for length in known.values()
            for other in few
            for each in few
            if not length % other
        ]
        pools = (_WIDE, counts or _WIDE)
        for attempt in range(_TRIES if outlines < 2 else _TRIES_OF_RANKS):
            stream = self.draw.child(str(attempt))
            assert rule is not None
            about = _about(outline, rule, loose)
            some = stream.shuffled(about)[: 1 + stream.integer(0, min(3, len(about) - 1))]
            chosen = {**chosen, **{each: _drawn(outline, chosen, each, pools, stream) for each in some}}
            rule = self.broken(outline.shapes(chosen))
            if rule is None:
                return chosen
        return None

    @property
    def _few(self) -> list[int]:
        return [number for number in self.numbers if 0 < number <= _MOST][:_FEW_NUMBERS]

    def _counts(self) -> list[int]:
        """Lengths that attributes may ask for."""
        few = self._few
        found = [times * each for each in few if each > 1 for times in (1, 2)]
        return found + [
            whole // part for whole in few for part in few if 1 < part < whole and not whole % part
        ]


def _guesses(outline: Outline) -> Iterator[Chosen]:
    lengths = _LENGTHS * (1 + len(outline.classes) // len(_LENGTHS))
    known = outline.known
    loose = [each for each in outline.classes if each not in known]
    yield {**known, **dict(zip(loose, lengths, strict=False))}
    for from_end in (True, False):
        at_axis: dict[int, int] = {}
        found = dict(known)
        for axes in (each for each in outline.inputs if each is not None):
            for axis, each in enumerate(axes):
                place = axis - len(axes) if from_end else axis
                length = each if isinstance(each, int) else found.get(each)
                length = at_axis.get(place, lengths[abs(place) % len(_LENGTHS)]) if length is None else length
                at_axis.setdefault(place, length) if length != 1 else None
                if not isinstance(each, int):
                    found.setdefault(each, length)
        yield found


def _parted(outline: Outline, numbers: Sequence[int]) -> Iterator[Chosen]:
    """The first input's lengths for all of its rank, but along one axis others have one for so many of its.

    So a scale stands for each block of elements.
    """
    if not outline.inputs or not outline.inputs[0]:
        return
    first = outline.inputs[0]
    others = [axes for axes in outline.inputs[1:] if axes is not None and len(axes) == len(first)]
    known = outline.known
    for number, along in product(numbers, range(len(first)) if others else ()):
        found = dict(known)
        for axis, whole in enumerate(first):
            beside = [length for axes in others if (length := length_of(axes[axis], found)) is not None]
            blocks = number if axis == along else 1
            length = length_of(whole, found)
            if length is None:
                length = blocks * (beside[0] if beside else _LENGTHS[axis % len(_LENGTHS)])
            for each, own in [(whole, length), *((axes[axis], -(-length // blocks)) for axes in others)]:
                if not isinstance(each, int):
                    found.setdefault(each, own)
        if found.keys() >= set(outline.classes):
            yield found


def _about(outline: Outline, rule: Constraint, loose: Sequence[Class]) -> Sequence[Class]:
    """The loose classes in the shape of the input that a rule is about; all where it is about no one's."""
    named = zip(outline.names, outline.inputs, strict=False)
    own = {which for name, axes in named if name == rule.shape_of for which in axes or ()}
    return [which for which in loose if which in own] or loose


def _drawn(outline: Outline, chosen: Chosen, which: Class, pools: Sequence[Sequence[int]], draw: Draw) -> int:
    """A length that another input has at the same axis, from either end, or any of one of the pools."""
    stream = draw.child(str(which))
    shapes = outline.shapes(chosen)
    beside: list[int] = []
    for place, axes in enumerate(outline.inputs):
        for axis in (axis for axis, at in enumerate(axes or ()) if at == which):
            behind = len(axes or ()) - axis
            for shape in (other for at, other in enumerate(shapes) if at != place and other):
                beside += (*shape[axis : axis + 1], *(shape[-behind:][:1] if len(shape) >= behind else ()))
    every = [extent for shape in shapes if shape is not None for extent in shape]
    turn = stream.integer(0, 9)
    if beside and turn < 5:
        return stream.choice(beside)
    return stream.choice(every if every and turn == 5 else pools[turn % 2])


@dataclass(eq=False)
class _DeclaredLengths:
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
        return known == extent and extent <= _MOST

    def _solved(self, part: ShapePart, name: str, extent: int) -> int | None:
        """The least number that a part says an extent with; None without one."""
        for number in range(_MOST + 1):
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
            if len(given.numbers) == count and all(0 < number <= _MOST for number in given.numbers)
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
        return stream.choice([each for each in _LENGTHS if low <= each <= high] or [max(low, 1)])
