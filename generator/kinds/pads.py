"""How many elements are added to a tensor, or taken away, before and behind each of some axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generator.draws import Draw
from generator.kind import InputName, Kind, Level
from generator.partial import OMITTED, Bindings, Partial
from specs.model import Constraint

_NAMES = ("pads", "axes")
_PADS: tuple[Level, ...] = (
    "both",
    "zero",
    "begin",
    "end",
    "uneven",
    "crop",
    "pad_and_crop",
    "most",
    "to_one",
)


@dataclass(frozen=True)
class Pads(Kind):
    """`pads` of an input, and `axes` where the version has them; `mode` is an attribute beside them."""

    of: InputName

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(each for each in _NAMES if self.subject.has(each))

    @property
    def needs(self) -> frozenset[str]:
        return super().needs | {"mode"}

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        found: dict[str, tuple[Level, ...]] = {"pads": _PADS}
        if "axes" in self.covers:
            found["axes"] = (OMITTED, "partial", "all", "permuted", "negative")
        return found

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        shape = scope.shape(self.of)
        axes = _axes(levels.get("axes", OMITTED), len(shape), draw)
        if axes is None or (not axes and levels["pads"] != "zero"):
            return
        mode = "constant" if levels["pads"] == "zero" else str(scope["mode"])
        lead = draw.integer(0, len(axes) - 1) if axes else 0
        pairs = []
        for place, axis in enumerate(axes):
            amounts = list(_amounts(levels["pads"] if place == lead else "zero", shape[axis], mode))
            if place != lead and levels["pads"] not in ("zero", "crop", "to_one"):
                amounts += list(_amounts(levels["pads"], shape[axis], mode))
            if not amounts:
                return
            pairs.append(draw.choice(amounts))
        named = [each - len(shape) for each in axes] if levels.get("axes") == "negative" else list(axes)
        pads = [*(begin for begin, _ in pairs), *(end for _, end in pairs)]
        found = {"pads": pads, "axes": None if levels.get("axes", OMITTED) == OMITTED else named}
        yield {name: found[name] for name in self.covers}

    def rules(self) -> Iterable[Constraint]:
        rank, listed = f"rank({self.of})", f"range(rank({self.of}))"
        if "axes" in self.covers:
            given = "present(axes)"
            listed = f"(axes if present(axes) else {listed})"
            inside = f"all(-{rank} <= each < {rank} for each in axes)"
            yield self.rule("axes_range", inside, given, about="axes")
            distinct = f"len(set([(each + {rank}) % {rank} for each in axes])) == len(axes)"
            when = f"present(axes) and {rank} > 0"
            yield self.rule("axes_distinct", distinct, when, about="axes", otherwise="undefined")
        yield self.rule("pads_length", f"len(pads) == 2 * len({listed})", about="pads")
        every = f"padding(shape({self.of}), pads, {listed})"
        left = f"all(extent + min(begin, 0) + min(end, 0) >= 0 for extent, begin, end in {every})"
        yield self.rule("pads_leave_no_less", left, about="pads")
        kept = "extent + min(begin, 0) + min(end, 0)"
        some = f"all({kept} > 0 or max(begin, end) <= 0 or {kept} < 0 for extent, begin, end in {every})"
        yield self.rule("something_to_pad_with", some, "mode != 'constant'", about="mode")
        far = f"all(max(begin, end) < max({kept}, 1) for extent, begin, end in {every})"
        yield self.rule("reflection_fits", far, "mode == 'reflect'", about="mode")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shape = scope.shape(self.of)
        rank = len(shape)
        plain: dict[str, Any] = {"axes": None} if "axes" in self.covers else {}
        zeros = [0] * 2 * rank
        yield "pads_length", {**plain, "pads": [*zeros, 0]}
        if rank:
            yield "pads_length", {**plain, "pads": zeros[2:]}
            yield "pads_leave_no_less", {**plain, "pads": [-shape[0] - 1, *zeros[1:]]}
            yield "reflection_fits", {**plain, "pads": [shape[0], *zeros[1:]], "mode": "reflect"}
            yield (
                "something_to_pad_with",
                {**plain, "pads": [-shape[0], *zeros[1:rank], 2, *zeros[rank + 1 :]], "mode": "edge"},
            )
        if "axes" in self.covers and rank:
            for axis in (rank, -rank - 1, 2**31 - 1):
                yield "axes_range", {"axes": [axis], "pads": [0, 0]}
            for pair in ([0, 0], [0, -rank]):
                yield "axes_distinct", {"axes": pair, "pads": [0] * 4}

    def smaller(self, name: str, value: Any, scope: Partial) -> Iterator[Any]:
        if name == "pads" and any(value):
            yield [0] * len(value)


def _axes(level: Level, rank: int, draw: Draw) -> Sequence[int] | None:
    """The axes in the order in which they are named; None where the level has none."""
    plain = list(range(rank))
    if level in (OMITTED, "all"):
        return plain
    if level == "permuted":
        return [*plain[1:], 0] if rank > 1 else None
    if level == "partial":
        return sorted(draw.shuffled(plain)[: draw.integer(1, rank - 1)]) if rank > 1 else None
    return plain if rank else None


def _amounts(level: Level, extent: int, mode: str) -> Iterator[tuple[int, int]]:
    """What may be added before and behind an axis of this extent, such that it shows the level."""
    most = extent - 1 if mode == "reflect" else 3 if extent or mode == "constant" else 0
    if level == "zero":
        yield (0, 0)
    elif level == "begin":
        yield from ((each, 0) for each in range(1, most + 1))
    elif level == "end":
        yield from ((0, each) for each in range(1, most + 1))
    elif level == "both":
        yield from ((each, each) for each in range(1, most + 1))
    elif level == "uneven":
        yield from ((each, 1) for each in range(2, most + 1))
    elif level == "crop" and extent > 2:
        yield from ((-1, 0), (0, -1), (-1, -1))
    elif level == "to_one" and extent > 1:
        yield from ((1 - extent, 0), (0, 1 - extent))
    elif level == "pad_and_crop" and extent > 2:
        # What is cropped goes first: the rest is what is reflected, repeated or wrapped.
        yield from ((-1, 1), (1, -1))
    elif level == "most":
        far = {"reflect": extent - 1, "wrap": extent}.get(mode, extent + 2)
        if far > 0 and (extent or mode == "constant"):
            yield from ((far, 0), (0, far), (far, far))
