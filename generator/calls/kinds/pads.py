"""How many elements are added to a tensor, or taken away, before and behind each of some axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, KindChange, Level
from generator.calls.variables.misreadings import padding_changes
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_NAMES = ("pads", "axes")
_PADS: tuple[Level, ...] = (
    "both",
    "zero",
    "begin",
    "end",
    "uneven",
    "crop_begin",
    "crop_end",
    "crop_both",
    "pad_and_crop",
    "most",
    "to_one",
)
_CROPS = ("crop_begin", "crop_end", "crop_both")
_WHERE: tuple[Level, ...] = ("some", "first", "last", "every")
"""Which of the axes are padded so: one and perhaps others, the first, the last, or every one."""
_FORMS: tuple[Level, ...] = ("list", "row")


@dataclass(frozen=True)
class Pads(Kind):
    """`pads` of an input, and `axes` where the version has them; `mode` is an attribute beside them.

    With `rows=True` the pads may be the only row of a matrix as well; with `again=True` mode reflect goes on
    at the other end of an axis that is too short for it.
    """

    of: InputName
    rows: Expression | None = None
    again: Expression | None = None

    covered: ClassVar[tuple[str, ...]] = _NAMES

    @property
    def needs(self) -> frozenset[str]:
        return super().needs | {"mode"}

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        found: dict[str, tuple[Level, ...]] = {"pads": _PADS, "padded_axes": _WHERE}
        if "axes" in self.covers:
            found["axes"] = (OMITTED, "partial", "all", "permuted", "negative")
        if self.says(self.rows):
            found["pads_form"] = _FORMS
        return found

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        shape = scope.shape(self.of)
        axes = _axes(levels.get("axes", OMITTED), len(shape), draw)
        if axes is None or (not axes and levels["pads"] != "zero"):
            return
        mode = "constant" if levels["pads"] == "zero" else str(scope["mode"])
        where, level = levels["padded_axes"], levels["pads"]
        lead = draw.integer(0, len(axes) - 1) if axes else 0
        lead = {"first": 0, "last": len(axes) - 1}.get(str(where), lead)
        pairs = []
        for place, axis in enumerate(axes):
            shown = place == lead or where == "every"
            amounts = list(_amounts(level if shown else "zero", shape[axis], mode))
            if where == "some" and not shown and level not in ("zero", "to_one", *_CROPS):
                amounts += list(_amounts(level, shape[axis], mode))
            if not amounts:
                return
            pairs.append(draw.choice(amounts))
        named = [axis - len(shape) for axis in axes] if levels.get("axes") == "negative" else list(axes)
        pads = [*(begin for begin, _ in pairs), *(end for _, end in pairs)]
        formed = [pads] if levels.get("pads_form") == "row" else pads
        found = {"pads": formed, "axes": None if levels.get("axes", OMITTED) == OMITTED else named}
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
        flat, forms = "pads", f"len(pads) == 2 * len({listed})"
        if self.says(self.rows):
            flat, forms = "values(pads)", f"shape(pads) in [[2 * {rank}], [1, 2 * {rank}]]"
        yield self.rule("pads_length", forms, about="pads")
        every = f"padding(shape({self.of}), {flat}, {listed})"
        left = f"all(extent + min(begin, 0) + min(end, 0) >= 0 for extent, begin, end in {every})"
        yield self.rule("pads_leave_no_less", left, about="pads")
        kept = "extent + min(begin, 0) + min(end, 0)"
        some = f"all({kept} > 0 or max(begin, end) <= 0 or {kept} < 0 for extent, begin, end in {every})"
        yield self.rule("something_to_pad_with", some, "mode != 'constant'", about="mode")
        near = f"max(begin, end) < max({kept}, 1)"
        if self.says(self.again):
            near += " or (extent > 1 and min(begin, end) >= 0)"
        far = f"all({near} for extent, begin, end in {every})"
        yield self.rule("reflection_fits", far, "mode == 'reflect'", about="mode")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shape = scope.shape(self.of)
        rank = len(shape)
        plain: dict[str, Any] = {"axes": None} if "axes" in self.covers else {}
        zeros = [0] * 2 * rank
        yield "pads_length", {**plain, "pads": [*zeros, 0]}
        if self.says(self.rows) and rank:
            yield "pads_length", {**plain, "pads": [zeros[:rank], zeros[:rank]]}
            yield "pads_length", {**plain, "pads": [[zero] for zero in zeros]}
        if rank:
            yield "pads_length", {**plain, "pads": zeros[2:]}
            yield "pads_leave_no_less", {**plain, "pads": [-shape[0] - 1, *zeros[1:]]}
            low = -(2**31)  # twice that number is 0 in 32 bits
            for first, last in ((-shape[0] - 1, shape[0] + 1), (-(2**62), 0), (low, low), (1 - shape[0], -2)):
                yield "pads_leave_no_less", {**plain, "pads": _first_axis(rank, first, last)}
            if shape[0] < 2 or not self.says(self.again):
                yield "reflection_fits", {**plain, "pads": [shape[0], *zeros[1:]], "mode": "reflect"}
            beyond = _first_axis(rank, 1 - shape[0], shape[0])
            yield "reflection_fits", {**plain, "pads": beyond, "mode": "reflect"}
            if shape[0] > 1:
                removed = _first_axis(rank, shape[0] - 1, -1)
                yield "reflection_fits", {**plain, "pads": removed, "mode": "reflect"}
            yield (
                "something_to_pad_with",
                {**plain, "pads": [-shape[0], *zeros[1:rank], 2, *zeros[rank + 1 :]], "mode": "edge"},
            )
        if "axes" in self.covers and rank:
            for axis in (rank, -rank - 1, 2**31 - 1):
                yield "axes_range", {"axes": [axis], "pads": [0, 0]}
            for pair in ([0, 0], [0, -rank]):
                yield "axes_distinct", {"axes": pair, "pads": [0] * 4}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        rank = len(scope.shape(self.of))
        edges = (*_EDGES, *(_AGAIN if self.says(self.again) else ()))
        for word, extent, begin, end, modes in edges if rank else ():
            for mode in self._modes:
                if mode in modes:
                    yield f"{word}_{mode}", self._padded(mode, extent, _first_axis(rank, begin, end))
        beside = [0, 1, *[0] * (rank - 2), 0, 2, *[0] * (rank - 2)]
        for mode in self._modes if rank > 1 else ():
            yield f"nothing_padded_beside_{mode}", self._padded(mode, 0, beside)

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """As much before an axis as is taken behind it: no length changes, in any mode."""
        rank = len(scope.shape(self.of))
        for mode in self._modes if rank else ():
            yield f"no_longer_than_before_{mode}", self._padded(mode, 4, _first_axis(rank, 1, -1))

    @property
    def _modes(self) -> Sequence[str]:
        """The modes that the version has."""
        mode = self.subject.attribute("mode")
        return ("constant",) if mode is None or mode.allowed is None else tuple(map(str, mode.allowed))

    def _padded(self, mode: str, extent: int, pads: list[int]) -> Bindings:
        """A tensor whose first axis has that extent, and the others 3, padded along all of them."""
        shape = (extent, *[3] * (len(pads) // 2 - 1))
        given: dict[str, Any] = {"mode": mode} if self.subject.has("mode") else {}
        given |= {"axes": None} if "axes" in self.covers else {}
        return {**given, f"shape:{self.of}": shape, "pads": pads}

    def changes(self) -> Iterable[KindChange]:
        return padding_changes(self.of)


_EDGES: tuple[tuple[str, int, int, int, tuple[str, ...]], ...] = (
    ("nothing_stays", 0, 0, 0, ("constant", "edge", "reflect", "wrap")),
    ("nothing_filled", 0, 1, 2, ("constant",)),
    ("everything_removed", 4, -1, -3, ("constant", "edge", "reflect", "wrap")),
    ("everything_replaced", 4, -4, 3, ("constant",)),
    ("one_element", 1, 1, 2, ("constant", "edge", "wrap")),
    ("two_reflected", 2, 1, 1, ("reflect",)),
    ("one_left_then_repeated", 5, 3, -4, ("edge", "wrap")),
    ("two_left_then_reflected", 5, -3, 1, ("reflect",)),
    ("all_but_one_removed", 5, -2, -2, ("constant", "edge", "reflect")),
    ("greatest_reflection", 5, 4, 4, ("reflect",)),
    ("much", 3, 500, 500, ("constant", "edge")),
)
"""A word, the extent of the first axis, its pads, and the modes of which the call is made."""
_AGAIN = (("reflected_again", 3, 3, 6, ("reflect",)), ("two_reflected_again", 2, 2, 3, ("reflect",)))
"""The same of reflections that go on at the other end."""


def _first_axis(rank: int, begin: int, end: int) -> list[int]:
    """Pads of the first axis alone."""
    return [begin, *[0] * (rank - 1), end, *[0] * (rank - 1)]


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
    elif level == "crop_begin" and extent > 1:
        yield from ((-each, 0) for each in range(1, min(extent, 3)))
    elif level == "crop_end" and extent > 1:
        yield from ((0, -each) for each in range(1, min(extent, 3)))
    elif level == "crop_both" and extent > 2:
        yield (-1, -1)
        if extent > 3:
            yield from ((-2, -1), (-1, -2))
    elif level == "to_one" and extent > 1:
        yield from ((1 - extent, 0), (0, 1 - extent))
    elif level == "pad_and_crop" and extent > 2:
        # What is cropped goes first: the rest is what is reflected, repeated or wrapped.
        yield from ((-1, 1), (1, -1))
    elif level == "most":
        far = {"reflect": extent - 1, "wrap": extent}.get(mode, extent + 2)
        if far > 0 and (extent or mode == "constant"):
            yield from ((far, 0), (0, far), (far, far))
