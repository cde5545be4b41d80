"""Lengths with which a call is valid, to begin with: guessed, by declared shapes, then drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from generator.calls.data.draws import Draw
from generator.models.check.declared_lengths import LENGTHS, MOST, DeclaredLengths
from generator.models.check.model_extents import Chosen, Class, Outline, Shapes, length_of
from generator.models.check.node_calls import NodeCall
from specs.model.spec import Constraint

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
        declared = DeclaredLengths(self.node, outline, counts)
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
        return [number for number in self.numbers if 0 < number <= MOST][:_FEW_NUMBERS]

    def _counts(self) -> list[int]:
        """Lengths that attributes may ask for."""
        few = self._few
        found = [times * each for each in few if each > 1 for times in (1, 2)]
        return found + [
            whole // part for whole in few for part in few if 1 < part < whole and not whole % part
        ]


def _guesses(outline: Outline) -> Iterator[Chosen]:
    lengths = LENGTHS * (1 + len(outline.classes) // len(LENGTHS))
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
                length = at_axis.get(place, lengths[abs(place) % len(LENGTHS)]) if length is None else length
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
                length = blocks * (beside[0] if beside else LENGTHS[axis % len(LENGTHS)])
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
