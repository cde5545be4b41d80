"""A window that slides over spatial extents: kernel, strides, pads, dilations, auto_pad, ceil_mode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generator.draws import Draw
from generator.explanations.misread_windows import window_changes
from generator.kept_lengths import padded_as_much_as_lost
from generator.kind import Kind, KindChange, Level
from generator.partial import OMITTED, Bindings, Partial
from specs.expressions import Expression
from specs.model import Constraint

_NAMES = ("kernel_shape", "strides", "pads", "dilations", "auto_pad", "ceil_mode")
_AUTO = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
_KERNELS: Mapping[Level, tuple[int, ...]] = {"small": (2, 3), "one": (1,), "mixed": (1, 2, 3)}
_LEADS = 6
_SMALL = 8


@dataclass(frozen=True)
class Placement:
    """A window along one axis: its kernel, dilation and stride, and the padding before and behind."""

    kernel: int
    dilation: int
    stride: int
    begin: int
    end: int


@dataclass(frozen=True)
class Window(Kind):
    """A window over the extents `over`, whose kernel has the name `kernel` for other expressions.

    It covers those of kernel_shape, strides, pads, dilations, auto_pad and ceil_mode that the version has.
    """

    over: Expression
    kernel: Expression

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(each for each in _NAMES if each in self.subject.spec.attributes)

    @property
    def binds(self) -> tuple[str, ...]:
        return (self.kernel.text,)

    @property
    def brings(self) -> Mapping[str, str]:
        return {self.kernel.text: "kernel_shape"}

    @property
    def needs(self) -> frozenset[str]:
        return self.over.names

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
        if _are_never_together(levels):
            return
        automatic = str(levels.get("auto_pad", OMITTED))
        extents = list(scope.value(self.over))
        if not extents or (len(extents) < 2 and levels["kernel"] == "mixed"):
            return
        loose: list[list[Placement]] | None = None
        for lead in draw.shuffled(range(len(extents))):
            shown = draw.shuffled(list(_placements(extents[lead], levels, automatic, strict=True)))
            if not shown:
                continue
            loose = loose or [list(_placements(each, levels, automatic, strict=False)) for each in extents]
            if not all(loose):
                return
            for first in shown[:_LEADS]:
                row = [first if axis == lead else draw.choice(loose[axis]) for axis in range(len(extents))]
                if levels["kernel"] == "mixed" and not _mix(row, lead, loose, draw):
                    continue
                yield self._bindings(levels, row)

    def _bindings(self, levels: Mapping[str, Level], row: Sequence[Placement]) -> Bindings:
        kernel = [each.kernel for each in row]
        values: dict[str, Any] = {
            "kernel_shape": kernel,
            "strides": [each.stride for each in row],
            "dilations": [each.dilation for each in row],
            "pads": [*(each.begin for each in row), *(each.end for each in row)],
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
            yield self.rule("auto_pad_value", f"auto_pad in {list(_AUTO)!r}", about="auto_pad")
            if "pads" in covers:
                yield self.rule("pads_or_auto_pad", "auto_pad == 'NOTSET'", "present(pads)", about="auto_pad")
        if "ceil_mode" in covers:
            yield self.rule("ceil_mode_value", "ceil_mode in [0, 1]", about="ceil_mode")
        names = ("strides", "dilations", "pads", "auto_pad")
        told = ", ".join(name if name in covers else "None" for name in names)
        yield self.rule("window_fits", f"window_covers({over}, {kernel}, {told})", about=covers[0])

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
            yield "kernel_shape_agrees", {"kernel_shape": [each + 1 for each in kernel]}
            yield "kernel_shape_agrees", {"kernel_shape": [*kernel, 1]}
        elif "kernel_shape" in covers:
            for value in (0, -1):
                wrong_kernel = [value, *kernel[1:]]
                yield "kernel_positive", {"kernel_shape": wrong_kernel, self.kernel.text: wrong_kernel}
            yield "kernel_shape_length", {"kernel_shape": [*kernel, 1], self.kernel.text: [*kernel, 1]}
        yield from self._too_large(extents, kernel)

    def _too_large(self, extents: Sequence[int], kernel: Sequence[int]) -> Iterator[tuple[str, Bindings]]:
        """A window that is longer than the padded extents, by its kernel or its dilations."""
        plain: dict[str, Any] = {name: None for name in ("pads", "auto_pad") if name in self.covers}
        if self._is_brought and "kernel_shape" in self.covers:
            large = [each + 1 for each in extents]
            yield "window_fits", {**plain, "dilations": None, "kernel_shape": large, self.kernel.text: large}
        if "dilations" in self.covers and max(kernel, default=1) > 1:
            yield "window_fits", {**plain, "dilations": [max(extents) + 1] * len(extents)}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for word, values in padded_as_much_as_lost(list(scope.value(self.kernel))):
            if "pads" in self.covers:
                yield word, {name: value for name, value in values.items() if name in self.covers}

    def changes(self) -> Iterable[KindChange]:
        return window_changes(self.covers)

    def smaller(self, name: str, value: Any, scope: Partial) -> Iterator[Any]:
        if value is not None and name in ("strides", "dilations", "ceil_mode"):
            yield None

    @property
    def _is_brought(self) -> bool:
        """Whether the kernel is that of kernel_shape alone: no input's shape tells it."""
        declared = self.subject.spec.declared
        texts = declared.shapes.values() if declared is not None else ()
        return not any(self.kernel.text in text.replace("*", " ").replace(",", " ").split() for text in texts)


def _are_never_together(levels: Mapping[str, Level]) -> bool:
    """Whether levels contradict each other whatever the extents are; asks for few, so that few are blamed."""
    if levels.get("auto_pad", OMITTED) not in (OMITTED, "NOTSET") and levels.get("pads", OMITTED) != OMITTED:
        return True
    if levels["kernel"] == "one" and levels.get("pads", OMITTED) not in (OMITTED, "zero"):
        return True
    return levels["remainder"] == "some" and levels.get("strides", OMITTED) in (OMITTED, "one")


def _placements(
    extent: int, levels: Mapping[str, Level], automatic: str, *, strict: bool
) -> Iterator[Placement]:
    """Every window that an axis may have at these levels; a strict one shows each of them."""
    same = automatic.startswith("SAME")
    pads, remainder = levels.get("pads", OMITTED), levels["remainder"]
    for kernel in _KERNELS.get(levels["kernel"], (extent,)):
        for dilation in _dilations(levels, strict):
            reach = (kernel - 1) * dilation + 1
            for stride in _strides(levels, reach, strict):
                for begin in _amounts(kernel) if pads in ("begin", "both", "mixed") else (0,):
                    for end in _amounts(kernel) if pads in ("end", "both", "mixed") else (0,):
                        if strict and not _shows(pads, begin, end):
                            continue
                        room = extent + begin + end - reach
                        if kernel < 1 or (room < 0 and not same):
                            continue
                        left = (extent if same else room) % stride > 0
                        if left if remainder == "none" else strict and not left:
                            continue
                        yield Placement(kernel, dilation, stride, begin, end)


def _amounts(kernel: int) -> Sequence[int]:
    """How much may be added at one end: every amount of a small kernel, few of one as long as a vector."""
    return range(kernel) if kernel <= _SMALL else (0, 1, kernel // 2, kernel - 1)


def _dilations(levels: Mapping[str, Level], strict: bool) -> tuple[int, ...]:
    if levels.get("dilations", OMITTED) in (OMITTED, "one"):
        return (1,)
    return (2,) if strict else (1, 2)


def _strides(levels: Mapping[str, Level], reach: int, strict: bool) -> tuple[int, ...]:
    level = levels.get("strides", OMITTED)
    if level in (OMITTED, "one"):
        return (1,)
    if level == "beyond":
        return (reach + 1, reach + 2)
    return (2, 3) if strict else (1, 2, 3)


def _shows(pads: Level, begin: int, end: int) -> bool:
    """Whether the padding of one axis shows the level: some before, some behind, or of two lengths."""
    if pads == "mixed":
        return begin != end
    return (begin > 0 or pads not in ("begin", "both")) and (end > 0 or pads not in ("end", "both"))


def _mix(row: list[Placement], lead: int, loose: Sequence[Sequence[Placement]], draw: Draw) -> bool:
    """Make the kernel have two lengths; False where it cannot."""
    other = [
        (axis, each)
        for axis in range(len(row))
        if axis != lead
        for each in loose[axis]
        if each.kernel != row[lead].kernel
    ]
    if not other:
        return False
    axis, chosen = draw.choice(other)
    row[axis] = chosen
    return True
