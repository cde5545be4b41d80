"""How a tensor is resized: scales or sizes along its axes, which axes they are for, regions of interest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import floor, prod
from typing import Any, ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.extents import bounds_within
from generator.calls.variables.kind import Kind, KindChange, Level
from generator.calls.variables.misreadings import resizing_changes
from generator.calls.variables.resizing_borders import (
    COORDINATES,
    CROP,
    POLICY,
    breaches_of,
    edges_of,
    kept_lengths_of,
)
from specs.language.expressions import Expression
from specs.model.declared import DeclaredBounds
from specs.model.spec import Constraint

_NAMES = ("scales", "sizes", "axes", "roi")
_DECIDING = (COORDINATES, POLICY)
_LISTS: tuple[Level, ...] = ("all", "permuted", "partial", "negative")
_RANKS = DeclaredBounds(1, 5)
_LARGEST = "3.4028234663852886e+38"


MOST_ELEMENTS = 220
CANDIDATES = 40
DOWN = (0.3, 0.4, 0.6, 0.7, 0.75)
UP = (1.25, 1.3, 1.5, 1.7, 2.5)
RATIOS = ("up2", "same", "up_fraction", "mixed", "down2", "down_fraction", "to_one")
"""What becomes of the lengths that change: `mixed` has a ratio for each, `to_one` leaves one element."""
GROWING = ("up2", "same", "up_fraction")
"""Those that make no length less."""
PARTS = ("every", "inner", "outer")
"""Which axes change: all, those behind batch and channel (or the last one), or the others."""
REGIONS = ("inside", "across", "outside", "flipped")
"""Where a region lies in an axis; a flipped one ends before it begins."""


@dataclass(frozen=True)
class Wish:
    """What is asked of the axes: how many there are, which change, by what ratio, within which regions.

    `by_scales` says that lengths are those of the regions times the scales. With a policy the axes `listed`
    (all where it is None) share one scale. `shape` are the lengths where they are given.
    """

    rank: int
    part: str
    ratio: str
    region: str | None = None
    by_scales: bool = True
    policy: str = "stretch"
    only_changing: bool = False
    shape: Sequence[int] | None = None


@dataclass(frozen=True)
class ResizedAxis:
    """One axis: its length, its scale (a float32 number), its region of interest as two fractions."""

    length: int
    scale: float
    start: float = 0.0
    end: float = 1.0

    @property
    def resized(self) -> int:
        """The length that the scale makes."""
        return floor(self.length * _single(self.scale))

    def cropped(self) -> float:
        """The length that the scale makes of the region of interest, before it is rounded down."""
        return self.length * (_single(self.end) - _single(self.start)) * _single(self.scale)


@dataclass(frozen=True)
class Resizing(Kind):
    """A resize of the tensor whose shape is the pack `over`, which it binds: lengths and scales go together.

    It covers those of scales, sizes, axes and roi that the version has; `at_least` is the least scale there.
    """

    over: Expression
    at_least: Expression | None = None

    keeps_axes: ClassVar[bool] = True
    covered: ClassVar[tuple[str, ...]] = _NAMES

    @property
    def pack(self) -> str:
        return self.over.text

    @property
    def binds(self) -> tuple[str, ...]:
        return (self.pack,)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(each for each in _DECIDING if self.subject.has(each))

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        declared = self.subject.spec.declared
        low, high = bounds_within(declared.extents.get(self.pack) if declared else None, _RANKS)
        ranks = sorted(range(low, high + 1), key=lambda rank: (rank != min(2, high), rank))
        found: dict[str, tuple[Level, ...]] = {
            f"rank_{self.pack}": tuple(ranks),
            "ratio": RATIOS if self.at_least is None else GROWING,
            "resized": PARTS,
        }
        if "sizes" in self.covers:
            found["target"] = ("scales", "sizes")
        if "axes" in self.covers:
            found["axes"] = (OMITTED, *_LISTS)
        if "roi" in self.covers:
            found["roi"] = (OMITTED, *REGIONS)
        return found

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        region = levels.get("roi", OMITTED)
        by_scales = levels.get("target", "scales") == "scales"
        if self.subject.has(COORDINATES) and scope[COORDINATES] == CROP and region == OMITTED:
            return
        policy = str(scope[POLICY]) if self.subject.has(POLICY) else "stretch"
        if by_scales and (region == "flipped" or policy != "stretch"):
            return  # the length would be negative; policies are about sizes
        listed, part = str(levels.get("axes", OMITTED)), str(levels["resized"])
        if listed == "partial" and part == "every":
            return
        rank = int(levels[f"rank_{self.pack}"])
        if changing_axes(rank, part) is None or (listed == "permuted" and rank < 2):
            return
        wish = Wish(
            rank,
            part,
            str(levels["ratio"]),
            None if region == OMITTED else str(region),
            by_scales,
            policy,
            listed == "partial",
            scope.find(f"given:{self.pack}"),
        )
        axes = draw_axes(wish, draw.child("axes"))
        order = None if axes is None else _listed(listed, wish, draw.child("listed"))
        if axes is not None and order is not None:
            yield self.bindings(axes, order, wish, listed=listed != OMITTED)

    def bindings(
        self, axes: list[ResizedAxis], order: list[int], wish: Wish, *, listed: bool
    ) -> dict[str, Any]:
        """The values that resize these axes, named in an order."""
        picked = [axes[axis] for axis in order]
        region = [*(axis.start for axis in picked), *(axis.end for axis in picked)]
        found: dict[str, Any] = {
            "scales": singles(axis.scale for axis in picked) if wish.by_scales else self.nothing("scales"),
            "sizes": None if wish.by_scales else [axis.resized for axis in picked],
            "axes": order if listed else None,
            "roi": self.nothing("roi") if wish.region is None else singles(region),
        }
        return {self.pack: [axis.length for axis in axes], **{name: found[name] for name in self.covers}}

    def nothing(self, name: str) -> list[float] | None:
        """What an input says that says nothing: it is left out, or empty where it must be there."""
        return None if self.subject.may_be_omitted(name) else []

    def rules(self) -> Iterable[Constraint]:
        listed = every = f"len({self.pack})"
        if self._has("axes"):
            listed = f"(len(axes) if present(axes) else {every})"
        given = "present(scales)" if self.subject.may_be_omitted("scales") else None
        if self._has("sizes"):
            either = "present(sizes) or (present(scales) and len(scales) > 0)"
            yield self.rule("scales_or_sizes", either, about="sizes")
            both = "not (present(sizes) and present(scales) and len(scales) > 0)"
            yield self.rule("not_scales_and_sizes", both, about="sizes")
            yield self.rule("sizes_length", f"len(sizes) == {listed}", "present(sizes)", about="sizes")
            least = "all(each >= 0 for each in sizes)"
            yield self.rule("sizes_not_negative", least, "present(sizes)", about="sizes")
            given = "present(scales) and len(scales) > 0"
        yield self.rule("scales_length", f"len(scales) == {listed}", given, about="scales")
        least = "each > 0" if self.at_least is None else f"each >= ({self.at_least.text})"
        name = "scales_positive" if self.at_least is None else "scales_range"
        yield self.rule(name, f"all({least} for each in scales)", given, about="scales")
        finite = f"not any(each > {_LARGEST} for each in scales)"
        yield self.rule("scales_finite", finite, given, about="scales")
        if self._has("axes"):
            inside = f"all(-{every} <= axis < {every} for axis in axes)"
            yield self.rule("axes_in_range", inside, "present(axes)", about="axes")
            distinct = f"len(set([(axis + {every}) % {every} for axis in axes])) == len(axes)"
            yield self.rule("axes_unique", distinct, "present(axes)", about="axes", otherwise="undefined")

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        return edges_of(self.subject, self.pack, self.nothing)

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        return kept_lengths_of(self.subject, self.pack, self.nothing)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        known = {constraint.id for constraint in scope.spec.constraints}
        found = breaches_of(self.subject, self.pack, scope, self.nothing)
        return (each for each in found if each[0] in known)

    def changes(self) -> Iterable[KindChange]:
        return resizing_changes(self.subject)

    def _has(self, name: str) -> bool:
        return name in self.covers


def singles(values: Iterable[float]) -> list[float]:
    """The nearest float32 numbers: every type gets the same, so that types differ in precision alone."""
    return [_single(value) for value in values]


def _listed(form: str, wish: Wish, draw: Draw) -> list[int] | None:
    """The axes in the order in which they are named; None where a form needs more of them."""
    every = list(range(wish.rank))
    if form == "negative":
        return [axis - wish.rank for axis in every]
    if form == "permuted":
        return [*every[1:], 0] if wish.rank > 1 else None
    if form == "partial":
        changing = changing_axes(wish.rank, wish.part)
        return None if changing is None or len(changing) == wish.rank else draw.shuffled(changing)
    return every


def changing_axes(rank: int, part: str) -> list[int] | None:
    """The axes that change length, None where a rank has no such set beside all of its axes."""
    if part == "every":
        return list(range(rank))
    if rank < 2:
        return None
    split = min(2, max(1, rank - 2))
    return list(range(split, rank)) if part == "inner" else list(range(split))


def draw_axes(wish: Wish, draw: Draw) -> list[ResizedAxis] | None:
    """Axes as wished: the best of some draws by size, by empty outputs, and by equal lengths.

    None where the wishes exclude each other.
    """
    changing = changing_axes(wish.rank, wish.part)
    if changing is None or (wish.ratio == "mixed" and len(changing) < 2):
        return None
    best: tuple[tuple[int, ...], list[ResizedAxis]] | None = None
    for attempt in range(CANDIDATES):
        axes = _candidate(wish, changing, draw.child(str(attempt)))
        outputs = _output_lengths(axes, changing, wish)
        elements = max(prod(axis.length for axis in axes), prod(max(output, 0) for output in outputs))
        score = (
            sum(_hangs_on_rounding(axis.cropped()) for axis in axes) if wish.by_scales else 0,
            max(elements - MOST_ELEMENTS, 0) if wish.shape is None else 0,
            sum(output < 1 for output in outputs),
            wish.rank - len({axis.length for axis in axes}),
            wish.rank - len(set(outputs)),
        )
        if best is None or score < best[0]:
            best = (score, axes)
            if not any(score):
                break
    return best[1] if best else None


def _output_lengths(axes: list[ResizedAxis], changing: list[int], wish: Wish) -> list[int]:
    """About how long the output's axes become: what a choice among draws needs."""
    if wish.by_scales:
        return [floor(axis.cropped()) for axis in axes]
    if wish.policy == "stretch" or not all(axis.length for axis in axes):
        return [axis.resized for axis in axes]
    listed = changing if wish.only_changing else range(len(axes))
    factors = [Fraction(axes[axis].resized, axes[axis].length) for axis in listed]
    common = min(factors) if wish.policy == "not_larger" else max(factors)
    return [floor(axis.length * common + Fraction(1, 2)) if place in listed else axis.length
            for place, axis in enumerate(axes)]  # fmt: skip


def _candidate(wish: Wish, changing: list[int], draw: Draw) -> list[ResizedAxis]:
    axes = []
    for axis in range(wish.rank):
        given = None if wish.shape is None else wish.shape[axis]
        if axis not in changing:
            axes.append(ResizedAxis(draw.integer(1, 4) if given is None else given, 1.0))
            continue
        place = changing.index(axis)
        ratio = wish.ratio
        if ratio == "mixed":
            ratio = ("up2", "down_fraction", "down2", "up_fraction")[place % 4]
        # The more axes change, the shorter they must be to keep the tensors small.
        shortest, longest = (1, 4) if len(changing) > 3 else (2, 5) if len(changing) > 2 else (2, 8)
        length, scale = (
            _length_and_scale(ratio, shortest, longest, draw)
            if given is None
            else (given, _scale_of(ratio, given, draw))
        )
        start, end = _region(wish.region, place, draw)
        axes.append(ResizedAxis(length, scale, start, end))
    return axes


def _length_and_scale(ratio: str, shortest: int, longest: int, draw: Draw) -> tuple[int, float]:
    if ratio == "same":
        return draw.integer(2, longest - 1), 1.0
    if ratio == "down2":
        return 2 * draw.integer(1, longest // 2), 0.5
    if ratio == "up2":
        return draw.integer(shortest, 4), 2.0
    return draw.choice(_pairs(ratio, shortest, longest))


def _scale_of(ratio: str, length: int, draw: Draw) -> float:
    """A scale for a length that is given; where none has the ratio, one that keeps the length."""
    fixed = {"same": 1.0, "down2": 0.5, "up2": 2.0}
    if ratio in fixed:
        return fixed[ratio] if length > 1 or ratio != "down2" else 1.0
    fitting = [scale for pair, scale in _pairs(ratio, length, length) if pair == length]
    return draw.choice(fitting) if fitting else 1.0


@cache
def _pairs(ratio: str, shortest: int, longest: int) -> list[tuple[int, float]]:
    return [
        (length, scale)
        for length in range(shortest, longest + 1)
        for scale in (UP if ratio == "up_fraction" else DOWN)
        if _fits(ratio, length, scale)
    ]


def _fits(ratio: str, length: int, scale: float) -> bool:
    exact = length * _single(scale)
    if _hangs_on_rounding(exact):
        return False
    result = floor(exact)
    if ratio == "to_one":
        return result == 1
    return result > length if ratio == "up_fraction" else 1 <= result < length


def _hangs_on_rounding(length: float) -> bool:
    """Whether float32 may round a length to the next whole number."""
    return 0 < abs(length - round(length)) < 0.001


@cache
def _single(number: float) -> float:
    """The float32 number that is nearest: a short length times it is exact."""
    return float(np.float32(number))


def _region(region: str | None, place: int, draw: Draw) -> tuple[float, float]:
    """Where a region begins and ends; of several axes only the first leaves the tensor."""
    if region is None:
        return 0.0, 1.0
    inside = (draw.choice((0.0, 0.125, 0.2, 0.25)), draw.choice((0.625, 0.75, 0.8, 1.0)))
    if region == "flipped":
        return inside[1], inside[0]
    if place == 0 and region == "across":
        return draw.choice(((-0.25, 0.75), (0.25, 1.5), (-0.5, 1.25), (0.4, 1.2)))
    if place == 0 and region == "outside":
        return draw.choice(((1.25, 2.0), (-1.5, -0.25), (1.125, 1.75)))
    return inside
