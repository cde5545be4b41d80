"""A window that slides over spatial extents: kernel, strides, pads, dilations, auto_pad, ceil_mode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Kind, KindChange, Level
from generator.calls.variables.misreadings import window_changes
from generator.calls.variables.placements import (
    Placement,
    are_never_together,
    mix,
    padded_as_much_as_lost,
    placements,
)
from specs.language.expressions import Expression
from specs.language.functions.sliding_windows import (
    same_padding_fits,
    valid_leaves_nothing,
    windows_begin_inside,
    windows_hold_elements,
)
from specs.model.spec import Constraint

_NAMES = ("kernel_shape", "strides", "pads", "dilations", "auto_pad", "ceil_mode")
_AUTO = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
_LEADS = 6
_FAR_BEHIND = 4
"""Of so long an extent a window that is one shorter reaches two places behind it when it comes twice."""


@dataclass(frozen=True)
class Window(Kind):
    """A window over the extents `over`, whose kernel has the name `kernel` for other expressions.

    It covers those of kernel_shape, strides, pads, dilations, auto_pad and ceil_mode that the version has.
    """

    over: Expression
    kernel: Expression

    covered: ClassVar[tuple[str, ...]] = _NAMES

    @property
    def binds(self) -> tuple[str, ...]:
        return (self.kernel.text,)

    @property
    def brings(self) -> Mapping[str, str]:
        return {self.kernel.text: "kernel_shape"}

    @property
    def most_elements(self) -> int:
        return 60

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        found: dict[str, tuple[Level, ...]] = {
            "kernel": ("small", "one", "mixed", "whole"),
            "remainder": ("none", "some"),
            "strides": (OMITTED, "one", "some", "beyond"),
            "pads": (OMITTED, "begin", "end", "both", "mixed", "zero"),
            "auto_pad": (OMITTED, *_AUTO),
            "dilations": (OMITTED, "one", "some"),
            "ceil_mode": (0, 1),
        }
        if self.subject.may_be_omitted("kernel_shape"):
            found["kernel_shape"] = ("given", OMITTED)
        beside = ("kernel", "remainder")
        return {name: levels for name, levels in found.items() if name in beside or name in self.covers}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        if are_never_together(levels):
            return
        automatic = str(levels.get("auto_pad", OMITTED))
        extents = list(scope.value(self.over))
        if not extents or (len(extents) < 2 and levels["kernel"] == "mixed"):
            return
        loose: list[list[Placement]] | None = None
        for lead in draw.shuffled(range(len(extents))):
            shown = draw.shuffled(self._placements(extents[lead], levels, automatic, strict=True))
            if not shown:
                continue
            loose = loose or [self._placements(extent, levels, automatic, strict=False) for extent in extents]
            if not all(loose):
                return
            for first in shown[:_LEADS]:
                row = [first if axis == lead else draw.choice(loose[axis]) for axis in range(len(extents))]
                if levels["kernel"] == "mixed" and not mix(row, lead, loose, draw):
                    continue
                yield self._bindings(levels, row)

    def _placements(
        self, extent: int, levels: Mapping[str, Level], automatic: str, *, strict: bool
    ) -> list[Placement]:
        """Every window that an axis may have at these levels, of which a text says what comes of them."""
        found = placements(extent, levels, automatic, strict=strict)
        return [
            placement
            for placement in found
            if self._is_clear(extent, placement, automatic, levels.get("ceil_mode"))
        ]

    def _is_clear(self, extent: int, placed: Placement, automatic: str, ceil_mode: Level | None) -> bool:
        pads = [placed.begin, placed.end]
        told = ([extent], [placed.kernel], [placed.stride], [placed.dilation], pads, automatic)
        if not same_padding_fits(*told):
            return False
        ceil = int(ceil_mode or 0)
        if not self._is_brought:
            return True
        inside = self._ignores_windows_behind or windows_begin_inside(*told, ceil)
        return inside and windows_hold_elements(*told, ceil) and valid_leaves_nothing(*told, ceil)

    @property
    def _ignores_windows_behind(self) -> bool:
        """Whether the text says that windows which would begin in the padding at the end are none."""
        return self.subject.spec.operator.since_version >= 22

    def _bindings(self, levels: Mapping[str, Level], row: Sequence[Placement]) -> Bindings:
        kernel = [placement.kernel for placement in row]
        values: dict[str, Any] = {
            "kernel_shape": kernel,
            "strides": [placement.stride for placement in row],
            "dilations": [placement.dilation for placement in row],
            "pads": [*(placement.begin for placement in row), *(placement.end for placement in row)],
            "auto_pad": levels.get("auto_pad"),
            "ceil_mode": levels.get("ceil_mode"),
        }
        left_out = {name for name in values if levels.get(name) == OMITTED}
        found = {name: None if name in left_out else values[name] for name in self.covers}
        return {self.kernel.text: kernel, **found}

    def rules(self) -> Iterable[Constraint]:
        over, kernel = self.over.text, self.kernel.text
        covers = self.covers
        for name, times in (("strides", ""), ("dilations", ""), ("pads", "2 * ")):
            if name in covers:
                yield self.rule(
                    f"{name}_length", f"len({name}) == {times}len({over})", f"present({name})", about=name
                )
        for name in ("strides", "dilations"):
            if name in covers:
                yield self.rule(
                    f"{name}_positive", f"all(each > 0 for each in {name})", f"present({name})", about=name
                )
        if "pads" in covers:
            yield self.rule(
                "pads_not_negative", "all(each >= 0 for each in pads)", "present(pads)", about="pads"
            )
        if "kernel_shape" in covers and self._is_brought:
            positive = "all(each > 0 for each in kernel_shape)"
            yield self.rule("kernel_positive", positive, about="kernel_shape")
            length = f"len(kernel_shape) == len({over})"
            yield self.rule("kernel_shape_length", length, about="kernel_shape")
        elif "kernel_shape" in covers:
            same, given = f"kernel_shape == {kernel}", "present(kernel_shape)"
            yield self.rule("kernel_shape_agrees", same, given, about="kernel_shape")
        if "auto_pad" in covers:
            yield self.rule("auto_pad_value", f"auto_pad in {list(_AUTO)!r}", *self._given, about="auto_pad")
            if "pads" in covers:
                both = " and ".join(("present(pads)", *self._given))
                yield self.rule("pads_or_auto_pad", "auto_pad == 'NOTSET'", both, about="auto_pad")
        if "ceil_mode" in covers:
            yield self.rule("ceil_mode_value", "ceil_mode in [0, 1]", about="ceil_mode")
        names = ("strides", "dilations", "pads", "auto_pad")
        told = ", ".join(name if name in covers else "None" for name in names)
        yield self.rule("window_fits", f"window_covers({over}, {kernel}, {told})", about=covers[0])
        if "auto_pad" in covers:
            fits = f"same_padding_fits({over}, {kernel}, {told})"
            yield self.rule("same_padding_fits", fits, about="auto_pad", otherwise="undefined")
        if self._is_brought:
            yield from self._rules_of_pools(f"{over}, {kernel}, {told}")

    @property
    def _given(self) -> tuple[str, ...]:
        """When auto_pad has a value: without a default only where it is given."""
        attribute = self.subject.attribute("auto_pad")
        return ("present(auto_pad)",) if attribute is not None and attribute.default is None else ()

    def _rules_of_pools(self, told: str) -> Iterable[Constraint]:
        """What a pool makes of no elements, and how many windows it has where texts say it in two ways."""
        ceil = "ceil_mode" if "ceil_mode" in self.covers else "None"
        hold = f"windows_hold_elements({told}, {ceil})"
        yield self.rule("windows_hold_elements", hold, about=self.covers[0], otherwise="undefined")
        if ceil == "None":
            return
        if not self._ignores_windows_behind:
            begin = f"windows_begin_inside({told}, ceil_mode)"
            yield self.rule("windows_begin_inside", begin, about=ceil, otherwise="undefined")
        agree = f"valid_leaves_nothing({told}, ceil_mode)"
        yield self.rule("valid_leaves_nothing", agree, about=ceil, otherwise="undefined")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        extents = list(scope.value(self.over))
        rank, covers = len(extents), self.covers
        kernel = list(scope.value(self.kernel))
        own = [1] * rank
        for name, wrong in (("strides", own), ("dilations", own), ("pads", [0] * 2 * rank)):
            if name in covers:
                yield f"{name}_length", {name: [*wrong, 1]}
                yield f"{name}_length", {name: wrong[1:]}
        for name in ("strides", "dilations"):
            if name in covers:
                for value in (0, -1):
                    yield f"{name}_positive", {name: [value, *own[1:]]}
        if "pads" in covers:
            yield "pads_not_negative", {"pads": [-1] + [1] * (2 * rank - 1), "auto_pad": None}
            if "auto_pad" in covers:
                yield "pads_or_auto_pad", {"pads": [1] * 2 * rank, "auto_pad": "SAME_UPPER"}
                yield "pads_or_auto_pad", {"pads": [0] * 2 * rank, "auto_pad": "VALID"}
        if "auto_pad" in covers:
            for word in ("SAME", "same_upper", ""):
                yield "auto_pad_value", {"auto_pad": word, "pads": None}
        if "ceil_mode" in covers:
            yield "ceil_mode_value", {"ceil_mode": 2}
        if "kernel_shape" in covers and not self._is_brought:
            yield "kernel_shape_agrees", {"kernel_shape": [length + 1 for length in kernel]}
            yield "kernel_shape_agrees", {"kernel_shape": [*kernel, 1]}
        elif "kernel_shape" in covers:
            for value in (0, -1):
                wrong_kernel = [value, *kernel[1:]]
                yield "kernel_positive", {"kernel_shape": wrong_kernel, self.kernel.text: wrong_kernel}
            yield "kernel_shape_length", {"kernel_shape": [*kernel, 1], self.kernel.text: [*kernel, 1]}
        yield from self._too_large(extents, kernel)
        if "auto_pad" in covers:
            less = {
                "pads": None,
                "auto_pad": "SAME_UPPER",
                "strides": [2 * max(extent, 1) for extent in extents],
            }
            one = {"kernel_shape": own, self.kernel.text: own} if self._is_brought else {}
            cut = {**less, "dilations": None, **one}
            yield "same_padding_fits", {name: value for name, value in cut.items() if self._has(name)}
        if self._is_brought:
            yield from self._unclear_pools(extents, kernel)

    def _unclear_pools(self, extents: Sequence[int], kernel: Sequence[int]) -> Iterator[tuple[str, Bindings]]:
        """Windows of padding alone, those that begin behind the extents, and a rest that VALID leaves."""
        rank = len(extents)
        plain: dict[str, Any] = {"dilations": None, "auto_pad": None, "strides": None, "ceil_mode": None}
        wide = {**plain, "pads": [*kernel, *([0] * rank)]}
        yield "windows_hold_elements", {name: wide[name] for name in self.covers if name in wide}
        if "ceil_mode" not in self.covers:
            return
        ones, doubled = [1] * rank, [2 * extent for extent in extents]
        behind = {**plain, "pads": [0] * rank + ones, "ceil_mode": 1, "strides": extents}
        behind |= {"kernel_shape": ones, self.kernel.text: ones}
        if not self._ignores_windows_behind:
            yield "windows_begin_inside", {name: behind[name] for name in behind if self._has(name)}
        rest = {**plain, "pads": None, "auto_pad": "VALID", "ceil_mode": 1, "strides": doubled}
        rest |= {"kernel_shape": ones, self.kernel.text: ones}
        yield "valid_leaves_nothing", {name: rest[name] for name in rest if self._has(name)}

    def _has(self, name: str) -> bool:
        return name in self.covers or name == self.kernel.text

    def _too_large(self, extents: Sequence[int], kernel: Sequence[int]) -> Iterator[tuple[str, Bindings]]:
        """A window that is longer than the padded extents, by its kernel or its dilations."""
        plain: dict[str, Any] = {name: None for name in ("pads", "auto_pad") if name in self.covers}
        if self._is_brought and "kernel_shape" in self.covers:
            large = [extent + 1 for extent in extents]
            yield "window_fits", {**plain, "dilations": None, "kernel_shape": large, self.kernel.text: large}
        if "dilations" in self.covers and max(kernel, default=1) > 1:
            yield "window_fits", {**plain, "dilations": [max(extents) + 1] * len(extents)}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for word, values in padded_as_much_as_lost(list(scope.value(self.kernel))):
            if "pads" in self.covers:
                yield word, {name: value for name, value in values.items() if name in self.covers}
        if not self._is_brought and "pads" in self.covers:
            kernel = list(scope.value(self.kernel))
            behind: dict[str, Any] = {"pads": [0] * len(kernel) + [2 * length for length in kernel]}
            plain = dict.fromkeys(("strides", "dilations", "auto_pad"))
            yield "windows_in_the_padding", {name: None for name in plain if name in self.covers} | behind
        yield from self._far_behind(list(scope.value(self.over)))

    def _far_behind(self, extents: Sequence[int]) -> Iterator[tuple[str, Bindings]]:
        """A pool whose last windows reach behind the extents by more than one place, where that counts."""
        counts = "count_include_pad" in self.subject.spec.attributes
        if not counts or "ceil_mode" not in self.covers or min(extents, default=0) < _FAR_BEHIND:
            return
        near = [extent - 1 for extent in extents]
        yield (
            "far_behind_the_padding",
            {
                "kernel_shape": near,
                self.kernel.text: near,
                "strides": near,
                "ceil_mode": 1,
                "count_include_pad": 1,
                **{name: None for name in ("pads", "dilations", "auto_pad") if name in self.covers},
            },
        )

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """Windows of one element, where the kernel is that of an attribute."""
        if self._is_brought and "kernel_shape" in self.covers:
            ones = [1] * len(list(scope.value(self.over)))
            plain = dict.fromkeys(name for name in self.covers if name != "kernel_shape")
            yield "windows_of_one", {**plain, "kernel_shape": ones, self.kernel.text: ones}

    def changes(self) -> Iterable[KindChange]:
        return window_changes(self.covers)

    @property
    def _is_brought(self) -> bool:
        """Whether the kernel is that of kernel_shape alone: no input's shape tells it."""
        declared = self.subject.spec.declared
        texts = declared.shapes.values() if declared is not None else ()
        return not any(self.kernel.text in text.replace("*", " ").replace(",", " ").split() for text in texts)
