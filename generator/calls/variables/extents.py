"""Extents, packs and shapes as variables of a search: what values each may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Level
from specs.language.shape_expressions import Shape, ShapePart, evaluate_part
from specs.model.declared import DeclaredBounds

BROADCAST: tuple[Level, ...] = ("same", "last", "first", "mutual", "fewer_axes", "scalar")
"""How inputs differ that broadcast each other: not at all; the last or first has an extent of one where
others have more; each has one where another has more; the last has fewer axes; the first has no axes."""
WITHIN: tuple[Level, ...] = ("same", "ones", "fewer_axes", "scalar")
UPTO: tuple[Level, ...] = ("same", "shorter")
MAYBE: tuple[Level, ...] = ("there", "missing")
_DRAWS_UP_TO = 4


@dataclass(frozen=True)
class Choices:
    """The factors of the choices that an operator's shapes leave, and which inputs broadcast each other."""

    factors: Mapping[str, tuple[Level, ...]]
    group: tuple[str, ...]

    def needs(self, name: str, shape: Shape) -> set[str]:
        """The levels that the shape of an input hangs on."""
        return {f"level:{factor}" for part in shape.words() if (factor := factor_of(name, part)) is not None}


def find_choices(shapes: Mapping[str, Shape]) -> Choices:
    """The factors of these inputs' shapes."""
    factors: dict[str, tuple[Level, ...]] = {}
    group = []
    levels = {"broadcast": BROADCAST, "upto": UPTO, "maybe": MAYBE}
    for name, shape in shapes.items():
        for part in shape.words():
            if part.word == "broadcast" and name not in group:
                group.append(name)
            if part.word is not None:
                these = levels.get(part.word) or _within_levels(part)
                factor = factor_of(name, part) or ""
                known = factors.get(factor, ())
                factors[factor] = (*known, *(each for each in these if each not in known))
    return Choices(factors, tuple(group))


def _within_levels(part: ShapePart) -> tuple[Level, ...]:
    """Those of `within` that its extents can have: a single one has no fewer axes but none, 1 is one."""
    if any(argument.several for argument in part.arguments) or len(part.arguments) > 1:
        return WITHIN
    expression = part.arguments[0].expression
    is_one = expression is not None and expression.text == "1"
    return ("same", "scalar") if is_one else ("same", "ones", "scalar")


def factor_of(name: str, part: ShapePart) -> str | None:
    """The factor of a part that leaves a choice, in the shape of an input."""
    if part.word == "broadcast":
        return "broadcast"
    if part.word == "maybe":
        first = part.arguments[0].expression
        return f"maybe_{first.text if first is not None else name}"
    return f"form_{name}" if part.word is not None else None


def is_choice(factor: str) -> bool:
    """Whether a factor is how the shape of an input differs from that of others; see `factor_of`."""
    return factor == "broadcast" or factor.startswith("form_")


def candidate_shapes(
    name: str, shape: Shape, scope: Partial, draw: Draw, members: Sequence[str]
) -> Iterator[tuple[int, ...]]:
    """The shapes that an input may have under the levels in `scope`; `members` broadcast each other."""
    yield from _joined(name, shape.chosen(scope), scope, draw, members, False)


def _joined(
    name: str, parts: Sequence[ShapePart], scope: Partial, draw: Draw, members: Sequence[str], batched: bool
) -> Iterator[tuple[int, ...]]:
    """The extents of all parts, in every combination; `batched` where a pack before them is not empty."""
    if not parts:
        yield ()
        return
    part = parts[0]
    for first in _extents(name, part, scope, draw, members):
        packed = batched or (part.several and part.word != "maybe" and bool(first))
        if packed and _lacks_axis(name, parts, scope):
            continue  # with other axes before it, it could not be told that the axis is missing
        for rest in _joined(name, parts[1:], scope, draw, members, packed):
            yield (*first, *rest)


def _extents(
    name: str, part: ShapePart, scope: Partial, draw: Draw, members: Sequence[str]
) -> Iterator[tuple[int, ...]]:
    if part.word is None:
        yield tuple(evaluate_part(part, scope))
        return
    level = scope.level(factor_of(name, part) or "")
    if part.word == "maybe" and level == "missing":
        yield ()
        return
    full = tuple(extent for argument in part.arguments for extent in evaluate_part(argument, scope))
    if part.word == "broadcast":
        yield from _broadcast(full, str(level), members.index(name), len(members))
    elif part.word == "within":
        yield from _within(full, str(level), draw)
    elif part.word == "upto":
        yield from _upto(full, str(level), draw)
    else:
        yield full


def _lacks_axis(name: str, parts: Sequence[ShapePart], scope: Partial) -> bool:
    maybe = [part for part in parts if part.word == "maybe"]
    return any(scope.level(factor_of(name, shape_part) or "") == "missing" for shape_part in maybe)


def _within(full: tuple[int, ...], level: str, draw: Draw) -> Iterator[tuple[int, ...]]:
    wide = [axis for axis, extent in enumerate(full) if extent > 1]
    if level == "same":
        yield full
    elif level == "scalar" and full:
        yield ()
    elif level == "fewer_axes" and len(full) > 1:
        yield full[draw.integer(1, len(full) - 1) :]
    elif level == "ones" and wide:
        axis = draw.choice(wide)
        yield (*full[:axis], 1, *full[axis + 1 :])


def _upto(full: tuple[int, ...], level: str, draw: Draw) -> Iterator[tuple[int, ...]]:
    if level == "same":
        yield full
        return
    for _ in range(_DRAWS_UP_TO):
        shorter = tuple(draw.integer(1, extent) if extent else 0 for extent in full)
        if shorter != full:
            yield shorter


def _broadcast(full: tuple[int, ...], level: str, place: int, count: int) -> Iterator[tuple[int, ...]]:
    """The shape of the input at a place among those that broadcast each other to `full`."""
    wide = [axis for axis, extent in enumerate(full) if extent > 1]
    if level == "same":
        yield full
    elif level in ("first", "last"):
        if wide:
            axis, which = (wide[0], 0) if level == "first" else (wide[-1], count - 1)
            yield (*full[:axis], 1, *full[axis + 1 :]) if place == which else full
    elif level == "mutual":
        if len(wide) >= count:
            yield tuple(
                1 if axis in wide and wide.index(axis) % count == place else extent
                for axis, extent in enumerate(full)
            )
    elif level == "fewer_axes":
        if len(full) > 1 or (full and full[0] > 1):
            yield full[1:] if place == count - 1 else full
    elif level == "scalar" and full:
        yield () if place == 0 else full


RANKS = DeclaredBounds(0, 4)
"""Ranks of a pack, where the declaration bounds them not."""
EXTENTS = DeclaredBounds(1, 8)
"""Values of an extent, likewise."""
LEVELS: tuple[Level, ...] = ("ordinary", "with_one")
"""Whether all extents are greater than one where they may be, or one of a pack is one, and others may be."""
_ORDINARY = (2, 3, 4, 5, 6, 7)
_MANY_AXES = (2, 3, 2, 1, 2, 1, 3, 2)
"""Of packs with more than five axes: few elements in all."""
_SINGLE = (2, 3, 4, 6, 8)
_DRAWS = 25


def bounds_within(given: DeclaredBounds | None, default: DeclaredBounds) -> tuple[int, int]:
    """The ends of declared bounds; an end that is left open is the default's, or as far from the other."""
    low = given.low if given is not None and given.low is not None else default.low or 0
    high = given.high if given is not None and given.high is not None else max(default.high or 0, low + 4)
    return low, high


@dataclass(frozen=True)
class Pack:
    """The extents of a pack: different from each other, one of them 1 at the level `with_one`.

    Their product is at most `most`, where that is given.
    """

    name: str
    beside_extents: bool
    most: int | None = None

    def __call__(self, scope: Partial, draw: Draw) -> Iterator[Bindings]:
        rank = int(scope.level(f"rank_{self.name}"))
        with_one = scope.level("extents") == "with_one"
        if rank == 0:
            if not with_one or self.beside_extents:
                yield {self.name: []}
            return
        seen: set[tuple[int, ...]] = set()
        for attempt in range(_DRAWS):
            stream = draw.child(str(attempt))
            shuffled = stream.shuffled(self._lengths(rank))
            found = [shuffled[axis % len(shuffled)] for axis in range(rank)]
            if with_one:
                found[stream.integer(0, rank - 1)] = 1
            if with_one and attempt >= _DRAWS // 2:
                found[stream.integer(0, rank - 1)] = 1  # perhaps a second one
            if tuple(found) not in seen and (self.most is None or prod(found) <= self.most):
                seen.add(tuple(found))
                yield {self.name: found}

    def _lengths(self, rank: int) -> tuple[int, ...]:
        """What the extents are taken from: of three or more, those that may stand beside 2 and 3."""
        if rank > 5:
            return _MANY_AXES
        if self.most is None or rank < 3:
            return _ORDINARY
        return tuple(each for each in _ORDINARY if 2 * 3 * each <= self.most)


@dataclass(frozen=True)
class ExtentVariable:
    """A single extent, the ordinary ones first; 1 only where the level or the bounds ask for it."""

    name: str
    low: int
    high: int

    def __call__(self, scope: Partial, draw: Draw) -> Iterator[Bindings]:
        ordinary = [each for each in _SINGLE if self.low <= each <= self.high] or [self.low]
        one = [1] if self.low <= 1 <= self.high and 1 not in ordinary else []
        if scope.level("extents") == "with_one":
            values = draw.shuffled([*ordinary, *one])
        else:
            values = [*draw.shuffled(ordinary), *one]
        for value in values:
            yield {self.name: value}


@dataclass(frozen=True)
class InputShape:
    """The shape of an input, None where it is left out."""

    name: str
    shape: Shape
    group: Sequence[str]

    def __call__(self, scope: Partial, draw: Draw) -> Iterator[Bindings]:
        if scope.level(self.name) == OMITTED:
            yield {f"shape:{self.name}": None}
            return
        for candidate_shape in candidate_shapes(self.name, self.shape, scope, draw, self.group):
            yield {f"shape:{self.name}": candidate_shape}


@dataclass(frozen=True)
class VariadicShapes:
    """The shapes of the tensors of a variadic input, or of a sequence, as the declaration says of them."""

    name: str
    shape: Shape

    def __call__(self, scope: Partial, draw: Draw) -> Iterator[Bindings]:
        count = int(scope.level(f"{self.name}_count"))
        members = [f"{self.name}/{place}" for place in range(count)]
        found: list[tuple[int, ...]] = []
        for member in members:
            first = next(candidate_shapes(member, self.shape, scope, draw.child(member), members), None)
            if first is None:
                return
            found.append(first)
        yield {f"shapes:{self.name}": found}
