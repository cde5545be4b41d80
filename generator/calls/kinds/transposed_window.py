"""Windows that spread elements over an output: those of a convolution, and pools with places in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import (
    CallValues,
    InputName,
    Kind,
    KindChange,
    Level,
    ValueChange,
    misread_as,
)
from generator.calls.variables.misreadings import window_changes
from generator.calls.variables.placements import padded_as_much_as_lost, unpooled_places
from specs.language.expressions import Expression
from specs.language.functions.sliding_windows import unpooled
from specs.model.spec import Constraint

_NAMES = ("kernel_shape", "strides", "pads", "dilations", "auto_pad", "output_padding", "output_shape")
_AUTO = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
_KERNELS: Mapping[Level, tuple[int, ...]] = {"small": (2, 3), "one": (1,), "mixed": (1, 2, 3)}
_ATTEMPTS = 6


@dataclass(frozen=True)
class TransposedWindow(Kind):
    """A window over the extents `over`, whose kernel has the name `kernel` for other expressions.

    It covers those of kernel_shape, strides, pads, dilations, auto_pad, output_padding and output_shape that
    the version has. Where `output_shape` is given, pads are what makes it so; auto_pad says on which side.
    """

    over: Expression
    kernel: Expression

    covered: ClassVar[tuple[str, ...]] = _NAMES

    @property
    def binds(self) -> tuple[str, ...]:
        return (self.kernel.text,)

    @property
    def most_elements(self) -> int:
        return 30

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        found: dict[str, tuple[Level, ...]] = {
            "kernel": ("small", "one", "mixed"),
            "kernel_shape": ("given", OMITTED),
            "strides": (OMITTED, "one", "some", "beyond"),
            "pads": (OMITTED, "begin", "end", "both", "zero"),
            "dilations": (OMITTED, "one", "some"),
            "auto_pad": (OMITTED, *_AUTO),
            "output_padding": (OMITTED, "zero", "some"),
            "output_shape": (OMITTED, "exact", "cropped", "odd"),
        }
        return {name: levels for name, levels in found.items() if name == "kernel" or name in self.covers}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        if _are_never_together(levels):
            return
        extents = list(scope.value(self.over))
        if not extents or (len(extents) < 2 and levels["kernel"] == "mixed"):
            return
        for attempt in range(_ATTEMPTS):
            found = self._drawn(levels, extents, draw.child(str(attempt)))
            if found is not None:
                yield found

    def _drawn(self, levels: Mapping[str, Level], extents: Sequence[int], draw: Draw) -> Bindings | None:
        rank = len(extents)
        kernel = [draw.choice(_KERNELS[levels["kernel"]]) for _ in range(rank)]
        if levels["kernel"] == "mixed":
            kernel[0], kernel[-1] = 1, 3
        dilations = [2 if levels["dilations"] == "some" else 1] * rank
        strides = [_stride(levels["strides"], length, draw) for length in kernel]
        if rank > 2:  # the output grows with all of them
            strides[:-1] = [1] * (rank - 1)
        added = [0] * rank
        if levels["output_padding"] == "some":
            room = [max(min(pair) - 1, 0) for pair in zip(strides, _or(dilations, strides), strict=True)]
            if not any(room):
                return None
            added = room
        full = [
            strides[at] * (extents[at] - 1) + added[at] + (kernel[at] - 1) * dilations[at] + 1
            for at in range(rank)
        ]
        pads = _pads(levels["pads"], full)
        shape = _output(levels["output_shape"], full)
        if pads is None or shape is None or _is_same(levels, strides, extents, full):
            return None
        values: dict[str, Any] = {
            "kernel_shape": kernel,
            "strides": strides,
            "pads": pads,
            "dilations": dilations,
            "auto_pad": levels["auto_pad"],
            "output_padding": added,
            "output_shape": shape,
        }
        left_out = {name for name in values if levels[name] == OMITTED}
        found = {name: None if name in left_out else values[name] for name in self.covers}
        return {self.kernel.text: kernel, **found}

    def rules(self) -> Iterable[Constraint]:
        over, kernel = self.over.text, self.kernel.text
        for name, times, low in (
            ("strides", "", 1),
            ("dilations", "", 1),
            ("pads", "2 * ", 0),
            ("output_padding", "", 0),
            ("output_shape", "", 1),
        ):
            given, word = f"present({name})", "positive" if low else "not_negative"
            yield self.rule(f"{name}_length", f"len({name}) == {times}len({over})", given, about=name)
            yield self.rule(f"{name}_{word}", f"all(each >= {low} for each in {name})", given, about=name)
        same, given = f"kernel_shape == {kernel}", "present(kernel_shape)"
        yield self.rule("kernel_shape_agrees", same, given, about="kernel_shape")
        yield self.rule("auto_pad_value", f"auto_pad in {list(_AUTO)!r}", about="auto_pad")
        yield self.rule("pads_or_auto_pad", "auto_pad == 'NOTSET'", "present(pads)", about="auto_pad")
        told = "strides, dilations"
        small = f"output_padding_fits(output_padding, {told})"
        yield self.rule("output_padding_small", small, "present(output_padding)", about="output_padding")
        lengths = f"spread_lengths({over}, {kernel}, {told}, output_padding, pads, auto_pad)"
        yield self.rule("output_is_there", f"all(each > 0 for each in {lengths})", about="pads")
        whole = f"spread_lengths({over}, {kernel}, {told}, output_padding, None, 'NOTSET')"
        # An example of ConvTranspose has one more than there is, a 0; no text says how many may be.
        fits = f"all(each <= most + (auto_pad == 'NOTSET') for each, most in zip(output_shape, {whole}))"
        yield self.rule("output_shape_fits", fits, "present(output_shape)", about="output_shape")
        same = f"spread_lengths({over}, {kernel}, {told}, output_padding, None, auto_pad)"
        covers = f"all(each <= most for each, most in zip({same}, {whole}))"
        given = "not present(output_shape)"
        yield self.rule("same_padding_fits", covers, given, about="auto_pad", otherwise="undefined")

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for word, values in padded_as_much_as_lost(list(scope.value(self.kernel))):
            yield word, {**values, "output_padding": None, "output_shape": None}
        extents, kernel = list(scope.value(self.over)), list(scope.value(self.kernel))
        others = [0] * (len(extents) - 1)
        if not others:
            return
        # Axes that differ in what is added, and in how much of an odd padding each has.
        plain = {"strides": [3] * len(extents), "dilations": None, "pads": None, "auto_pad": None}
        added = {**plain, "output_padding": [2, *others], "output_shape": None}
        yield "output_padding_of_the_first_axis", added
        full = [3 * (extent - 1) + length for extent, length in zip(extents, kernel, strict=True)]
        cut = [full[0] - 3, *(each - 1 for each in full[1:])]
        if min(cut) > 0:
            yield "output_shape_cut_unequally", {**plain, "output_padding": None, "output_shape": cut}
        longer = [each + 1 for each in full]
        yield "output_shape_one_longer", {**plain, "output_padding": None, "output_shape": longer}

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        extents, kernel = list(scope.value(self.over)), list(scope.value(self.kernel))
        rank = len(extents)
        ones, free = [1] * rank, {"auto_pad": None, "output_shape": None}
        for name, plain in (("strides", ones), ("dilations", ones), ("pads", [0] * 2 * rank),
                            ("output_padding", [0] * rank), ("output_shape", extents)):  # fmt: skip
            beside = free if name == "pads" else {}
            yield f"{name}_length", {**beside, name: [*plain, plain[-1]]}
            yield f"{name}_length", {**beside, name: plain[1:]}
            word = "not_negative" if name in ("pads", "output_padding") else "positive"
            yield f"{name}_{word}", {**beside, name: [-1, *plain[1:]]}
        for word in ("SAME", "same_upper", ""):
            yield "auto_pad_value", {"auto_pad": word, "pads": None}
        yield "pads_or_auto_pad", {"pads": [0] * 2 * rank, "auto_pad": "VALID", "output_shape": None}
        yield "kernel_shape_agrees", {"kernel_shape": [length + 1 for length in kernel]}
        yield "kernel_shape_agrees", {"kernel_shape": [*kernel, 1]}
        yield "output_padding_small", {**free, "output_padding": [9] * rank, "pads": None}
        yield "output_is_there", {**free, "pads": [99] * 2 * rank}
        far = [length + 2 for length in kernel]
        wide = {**free, "pads": None, "dilations": None, "output_padding": None, "strides": far}
        yield "same_padding_fits", {**wide, "auto_pad": "SAME_UPPER"}
        large = [9 * (extent + 9) for extent in extents]
        yield "output_shape_fits", {"output_shape": large, "pads": None, "output_padding": None}

    def changes(self) -> Iterable[KindChange]:
        return window_changes(self.covers)


def _are_never_together(levels: Mapping[str, Level]) -> bool:
    """Whether levels contradict each other whatever the extents are."""
    is_automatic = levels["auto_pad"] not in (OMITTED, "NOTSET")
    if levels["pads"] != OMITTED and (is_automatic or levels["output_shape"] != OMITTED):
        return True
    return levels["kernel"] == "one" and levels["pads"] in ("begin", "end", "both")


def _or(dilations: Sequence[int], strides: Sequence[int]) -> Sequence[int]:
    """What bounds the padding of the output beside the strides: dilations, where they are more than one."""
    return [one if one > 1 else other for one, other in zip(dilations, strides, strict=True)]


def _stride(level: Level, kernel: int, draw: Draw) -> int:
    if level in (OMITTED, "one"):
        return 1
    return kernel + 1 if level == "beyond" else draw.integer(2, 3)


def _pads(level: Level, full: Sequence[int]) -> list[int] | None:
    """The padding that a level asks for; None where nothing would be left of the output."""
    begin = int(level in ("begin", "both"))
    end = int(level in ("end", "both"))
    if any(each - begin - end < 1 for each in full):
        return None
    return [begin] * len(full) + [end] * len(full)


def _output(level: Level, full: Sequence[int]) -> list[int] | None:
    """The output's extents that a level asks for: all that there is, an even or an odd number fewer."""
    less = {"cropped": 2, "odd": 1}.get(str(level), 0)
    found = [max(each - less, 1) for each in full]
    return None if less and found == list(full) else found


def _is_same(
    levels: Mapping[str, Level], strides: Sequence[int], extents: Sequence[int], full: Sequence[int]
) -> bool:
    """Whether SAME would need padding below nothing: an output longer than what the window covers."""
    if not str(levels["auto_pad"]).startswith("SAME") or levels["output_shape"] != OMITTED:
        return False
    return any(strides[at] * extents[at] > full[at] for at in range(len(full)))


_OF_POOLS = ("kernel_shape", "strides", "pads", "output_shape")


@dataclass(frozen=True)
class _Unpooled(Kind):
    """The inverse of a pool: indices into the output for each element of an input with first axes N, C.

    It covers kernel_shape, strides, pads and output_shape as well, as far as the version has them.
    """

    of: InputName

    @property
    def covers(self) -> tuple[str, ...]:
        return (*(name for name in _OF_POOLS if self.subject.has(name)), self.name)

    @property
    def most_elements(self) -> int:
        return 60

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            self.name: ("in_windows", "anywhere", "reversed"),
            "kernel_shape": ("different", "equal", "one"),
            "strides": ("kernel", OMITTED, "beyond"),
            "pads": (OMITTED, "zero", "begin", "end", "mixed"),
            "output_shape": (OMITTED, "exact"),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        if levels["pads"] in ("begin", "end", "mixed") and levels["kernel_shape"] == "one":
            return
        if OMITTED not in (levels["output_shape"], levels["pads"]):
            return  # the text ignores one of them
        shape = scope.shape(self.of)
        rank = len(shape) - 2
        if levels["kernel_shape"] == "different" and rank < 2:
            return
        kernel = {"different": [2 + at for at in range(rank)], "equal": [2] * rank}.get(
            str(levels["kernel_shape"]), [1] * rank
        )
        more = {"kernel": 0, "beyond": 1}.get(str(levels["strides"]))
        strides = [1] * rank if more is None else [length + more for length in kernel]
        begin, end = int(levels["pads"] == "begin"), int(levels["pads"] == "end")
        pads = [begin] * rank + [end] * rank
        if levels["pads"] == "mixed":  # before the first axis and behind the last one
            pads[0], pads[-1] = 1, 2
        full = unpooled(shape, kernel, strides, pads)
        if min(full[2:], default=1) < 1:
            return
        indices = unpooled_places(levels[self.name], shape, full, strides, kernel, draw)
        if indices is None:
            return
        found: dict[str, Any] = {"kernel_shape": kernel, self.name: indices}
        for name, numbers in (("strides", strides), ("pads", pads), ("output_shape", full)):
            found[name] = None if levels[name] == OMITTED else numbers
        yield {name: found[name] for name in self.covers}

    def rules(self) -> Iterable[Constraint]:
        count, name = f"(rank({self.of}) - 2)", self.name
        yield self.rule("kernel_shape_length", f"len(kernel_shape) == {count}", about="kernel_shape")
        yield self.rule("kernel_positive", "all(each > 0 for each in kernel_shape)", about="kernel_shape")
        for word, times, low in (("strides", "", 1), ("pads", "2 * ", 0)):
            given = f"present({word})"
            yield self.rule(f"{word}_length", f"len({word}) == {times}{count}", given, about=word)
            sign = "positive" if low else "not_negative"
            yield self.rule(f"{word}_{sign}", f"all(each >= {low} for each in {word})", given, about=word)
        lengths = f"unpooled(shape({self.of}), kernel_shape, strides, pads)"
        yield self.rule("output_is_there", f"all(each > 0 for each in {lengths}[2:])", about="pads")
        same = f"len(output_shape) == rank({self.of})"
        yield self.rule("output_shape_length", same, "present(output_shape)", about="output_shape")
        # No text says in which of two shapes the indices count.
        plain = f"unpooled(shape({self.of}), kernel_shape, strides, None)"
        agrees = f"len(output_shape) != rank({self.of}) or [each for each in output_shape] == {plain}"
        yield self.rule("output_shape_agrees", agrees, "present(output_shape)", otherwise="undefined")
        total = f"prod(output_shape if present(output_shape) else {lengths})"
        ends = f"min(values({name})) >= 0 and max(values({name})) < {total}"
        yield self.rule(f"{name}_range", f"len(values({name})) == 0 or {ends}")
        apart = f"len(set(values({name}))) == len({name})"
        yield self.rule(f"{name}_distinct", apart, otherwise="undefined")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        kernel = list(scope.find("kernel_shape"))
        rank = len(kernel)
        yield "kernel_shape_length", {"kernel_shape": [*kernel, 1]}
        # Strides that leave room for the indices all the same.
        wide = {"strides": [9] * rank, "pads": None, "output_shape": None}
        yield "kernel_positive", {**wide, "kernel_shape": [0, *kernel[1:]]}
        yield "strides_length", {"strides": [2] * (rank + 1)}
        yield "strides_positive", {"strides": [0] * rank}
        yield "pads_length", {"pads": [0] * (2 * rank + 1)}
        yield "pads_not_negative", {"pads": [-1] + [0] * (2 * rank - 1)}
        yield "output_is_there", {"pads": [99] * 2 * rank}
        yield "output_shape_length", {"output_shape": [99] * (rank + 1)}
        larger = [each + 1 for each in unpooled(scope.shape(self.of), kernel, None, None)]
        yield "output_shape_agrees", {"output_shape": larger, "strides": None, "pads": None}
        given = np.array(scope.find(self.name))
        for value in (-1, 2**31 - 1):
            wrong = given.copy()
            wrong.reshape(-1)[-1:] = value
            yield f"{self.name}_range", {self.name: wrong}
        if given.size > 1:
            yield f"{self.name}_distinct", {self.name: np.zeros_like(given)}

    def changes(self) -> Iterable[KindChange]:
        name = self.name
        text = f"{name} counted within a plane whose first axis runs fastest"
        yield ValueChange(f"{name} first axis fastest", text, self._first_axis_fastest)
        yield from misread_as(
            name,
            ("from one", "{} counted from 1", lambda places: places - 1),
            ("in order", "the elements in the order of {}", _in_order),
        )

    def _first_axis_fastest(self, given: CallValues) -> Bindings:
        places, spatial = given.numbers(self.name), self._room(given)[2:]
        plane = max(prod(spatial), 1)
        found = np.unravel_index(places % plane, spatial, order="F")
        return {self.name: places // plane * plane + np.ravel_multi_index(found, spatial)}

    def _room(self, given: CallValues) -> tuple[int, ...]:
        """The shape of the output."""
        if given.has("output_shape"):
            return tuple(int(number) for number in given.numbers("output_shape"))
        kernel, strides, pads = (
            given.numbers(each).tolist() if given.has(each) else None
            for each in ("kernel_shape", "strides", "pads")
        )
        return tuple(unpooled(given.shape(self.of), kernel or [], strides, pads))


def _in_order(places: NDArray[Any]) -> NDArray[Any]:
    return np.sort(places, axis=None, kind="stable").reshape(places.shape)


TransposedWindow.variants = {"": TransposedWindow, "unpooled": _Unpooled}
