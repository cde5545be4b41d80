"""How a tensor is resized: scales or sizes along its axes, which axes they are for, regions of interest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.extents import bounds_within
from generator.calls.variables.kind import Kind, KindChange, Level
from generator.calls.variables.misread_resizing import resizing_changes
from generator.calls.variables.rescaled_axes import (
    GROWING,
    PARTS,
    RATIOS,
    REGIONS,
    ResizedAxis,
    Wish,
    changing_axes,
    draw_axes,
)
from generator.calls.variables.resizing_breaches import breaches_of
from generator.calls.variables.resizing_edges import COORDINATES, CROP, POLICY, edges_of, kept_lengths_of
from specs.language.expressions import Expression
from specs.model.declared import DeclaredBounds
from specs.model.spec import Constraint

_NAMES = ("scales", "sizes", "axes", "roi")
_DECIDING = (COORDINATES, POLICY)
_LISTS: tuple[Level, ...] = ("all", "permuted", "partial", "negative")
_RANKS = DeclaredBounds(1, 5)
_LARGEST = "3.4028234663852886e+38"


@dataclass(frozen=True)
class Resizing(Kind):
    """A resize of the tensor whose shape is the pack `over`, which it binds: lengths and scales go together.

    It covers those of scales, sizes, axes and roi that the version has; `at_least` is the least scale there.
    """

    over: Expression
    at_least: Expression | None = None

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
        known = {each.id for each in scope.spec.constraints}
        found = breaches_of(self.subject, self.pack, scope, self.nothing)
        return (each for each in found if each[0] in known)

    def changes(self) -> Iterable[KindChange]:
        return resizing_changes(self.subject)

    def _has(self, name: str) -> bool:
        return name in self.covers


def singles(values: Iterable[float]) -> list[float]:
    """The nearest float32 numbers: every type gets the same, so that types differ in precision alone."""
    return [float(np.float32(each)) for each in values]


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
