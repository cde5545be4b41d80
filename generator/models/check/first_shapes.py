"""The first shapes of a node's inputs of which the rules hold: what the model leaves open is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from generator.calls.data.draws import Draw
from generator.models.check.extent_classes import Chosen, Class, Outline, own_length
from generator.models.check.shape_checks import Shapes
from specs.model.spec import Constraint

_TRIES = 800
_TRIES_OF_RANKS = 60
"""Where ranks are unknown, too: each of them is tried."""
_LENGTHS = (2, 3, 5, 4, 7, 6, 8)
_MOST = 4096
_FEW = 6
_WIDE = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)


def begin_with(
    outline: Outline,
    broken: Callable[[Shapes], Constraint | None],
    numbers: Sequence[int],
    draw: Draw,
    tries: int = _TRIES,
) -> Chosen | None:
    """Lengths for the classes of an outline of which no rule is broken; None where none were found.

    Classes of a known length keep it. The others are all different, or alike where they stand at one axis;
    then those that a broken rule is about are drawn anew, again and again. `numbers` are those of attributes.
    """
    loose = [each for each in outline.classes if own_length(each) is None]
    last: tuple[Chosen, Constraint] | None = None
    for chosen in _guesses(outline):
        rule = broken(outline.shapes(chosen))
        if rule is None:
            return chosen
        last = chosen, rule
        if not loose:
            return None
    if last is None:
        return None
    chosen, rule = last
    few = [each for each in numbers if 0 < each <= _MOST][:_FEW]
    counts = [times * each for each in few if each > 1 for times in (1, 2)]
    known = [length for each in outline.classes if (length := own_length(each)) is not None]
    # What shares a factor with an extent that is known, by one of the counts.
    counts += [
        each * (length // other) for length in known for other in few for each in few if not length % other
    ]
    pools = (_WIDE, counts or _WIDE)
    for attempt in range(tries):
        stream = draw.child(str(attempt))
        about = _about(outline, rule, loose)
        some = stream.shuffled(about)[: 1 + stream.integer(0, min(3, len(about) - 1))]
        chosen = {**chosen, **{each: _drawn(outline, chosen, each, pools, stream) for each in some}}
        found = broken(outline.shapes(chosen))
        if found is None:
            return chosen
        rule = found
    return None


def tries_of(outlines: int) -> int:
    """How many lengths are tried for each of so many outlines."""
    return _TRIES if outlines < 2 else _TRIES_OF_RANKS


def _guesses(outline: Outline) -> Iterator[Chosen]:
    lengths = _LENGTHS * (1 + len(outline.classes) // len(_LENGTHS))
    known = {each: length for each in outline.classes if (length := own_length(each)) is not None}
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


def _about(outline: Outline, rule: Constraint, loose: Sequence[Class]) -> Sequence[Class]:
    """The loose classes in the shape of the input that a rule is about; all where it is about no one's."""
    if rule.shape_of is None:
        return loose
    places = [place for place, name in enumerate(outline.names) if name == rule.shape_of]
    own = {each for place in places for each in outline.inputs[place] or ()}
    return [each for each in loose if each in own] or loose


def _drawn(outline: Outline, chosen: Chosen, which: Class, pools: Sequence[Sequence[int]], draw: Draw) -> int:
    """A length that another input has at the same axis, from either end, or any of one of the pools."""
    stream = draw.child(str(which))
    beside: list[int] = []
    shapes = outline.shapes(chosen)
    for place, axes in enumerate(outline.inputs):
        for axis, each in enumerate(axes or ()):
            if each != which:
                continue
            for other, shape in enumerate(shapes):
                if other != place and shape is not None and shape:
                    beside += shape[axis : axis + 1]
                    beside += (
                        shape[axis - len(axes or ()) :][:1] if len(shape) >= len(axes or ()) - axis else ()
                    )
    every = [extent for shape in shapes if shape is not None for extent in shape]
    turn = stream.integer(0, 9)
    if beside and turn < 5:
        return stream.choice(beside)
    return stream.choice(every if every and turn < 6 else pools[turn % 2])
