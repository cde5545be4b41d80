"""Patches of an image: their sizes, strides and rates, and how the image is padded for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import CallValues, Kind, Level, ValueChange
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_PAIRS = ("sizes", "strides", "rates")
_MODES: tuple[Level, ...] = ("valid", "same_upper", "same_lower")
Pair = tuple[int, int]
_SIZES: Mapping[Level, Pair] = {"square": (2, 2), "one": (1, 1), "tall": (3, 2), "wide": (1, 3)}
_STRIDES: Mapping[Level, Pair] = {"different": (2, 3), "one": (1, 1), "rows": (2, 1), "beyond": (7, 8)}
_RATES: Mapping[Level, Pair] = {"one": (1, 1), "rows": (2, 1), "columns": (1, 3), "both": (3, 2)}
_PATCHES = (3, 2)
"""Patches down and across, where there are several."""
_LONG = (15, 16, 17, 1031)
"""Lengths of a row: one shorter than a vector of four bytes each, as long, one longer, and many."""


@dataclass(frozen=True)
class Patches(Kind):
    """It covers sizes, strides, rates and auto_pad, and binds the extents of the image."""

    batch: Expression
    depth: Expression
    rows: Expression
    columns: Expression

    @property
    def covers(self) -> tuple[str, ...]:
        return (*_PAIRS, "auto_pad")

    @property
    def binds(self) -> tuple[str, ...]:
        return tuple(each.text for each in (self.batch, self.depth, self.rows, self.columns))

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            "sizes": tuple(_SIZES),
            "strides": tuple(_STRIDES),
            "rates": tuple(_RATES),
            "auto_pad": _MODES,
            "image": ("whole", "one_patch", "rest"),
            "depth": (3, 1),
            "batch": (2, 1),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        if levels["image"] == "rest" and levels["strides"] == "one":
            return
        sizes, strides, rates = (
            _SIZES[levels["sizes"]],
            _STRIDES[levels["strides"]],
            _RATES[levels["rates"]],
        )
        extents = []
        for size, stride, rate, patches in zip(sizes, strides, rates, _PATCHES, strict=True):
            reach = 1 + (size - 1) * rate
            count = 1 if levels["image"] == "one_patch" else patches
            extent = reach + (count - 1) * stride if levels["auto_pad"] == "valid" else count * stride
            extents.append(extent + (min(1, stride - 1) if levels["image"] == "rest" else 0))
        image = (int(levels["batch"]), int(levels["depth"]), *extents)
        yield self._bound(image, sizes, strides, rates, levels["auto_pad"])

    def rules(self) -> Iterable[Constraint]:
        for name in _PAIRS:
            given = f"present({name})"
            yield self.rule(f"{name}_are_two", f"len({name}) == 2", given, about=name)
            yield self.rule(f"{name}_positive", f"all(each >= 1 for each in {name})", given, about=name)
        yield self.rule(
            "auto_pad_value", f"auto_pad in {list(_MODES)!r}", "present(auto_pad)", about="auto_pad"
        )
        whole = " and ".join(
            f"present({name}) and min({name}, default=0) >= 1" for name in ("sizes", "rates")
        )
        extents = f"[{self.rows.text}, {self.columns.text}]"
        inside = f"all((size - 1) * rate < extent for size, rate, extent in zip(sizes, rates, {extents}))"
        yield self.rule("a_patch_fits", inside, f"auto_pad == 'valid' and {whole}", about="auto_pad")

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        one = (1, 1)
        calls: tuple[tuple[str, tuple[int, ...], Pair, Pair, Pair, str], ...] = (
            ("no_images", (0, 2, 4, 5), (2, 2), one, one, "valid"),
            ("no_depth", (2, 0, 4, 5), (2, 2), one, one, "valid"),
            ("no_rows", (1, 2, 0, 5), (2, 2), one, one, "same_upper"),
            ("no_columns", (1, 2, 4, 0), (1, 3), (2, 1), one, "same_lower"),
            ("one_element", (1, 1, 1, 1), one, one, one, "valid"),
            ("one_element_in_padding", (1, 1, 1, 1), (2, 3), one, one, "same_upper"),
            ("one_element_in_padding_before", (1, 1, 1, 1), (2, 3), one, one, "same_lower"),
            ("patch_is_image", (2, 3, 4, 5), (4, 5), (3, 2), one, "valid"),
            ("dilated_patch_is_image", (2, 3, 5, 7), (3, 3), one, (2, 3), "valid"),
            ("patch_larger_than_image", (1, 2, 2, 3), (4, 5), (2, 2), one, "same_lower"),
            ("dilated_patch_larger_than_image", (1, 2, 3, 2), (2, 3), one, (4, 3), "same_upper"),
            ("samples_only_in_padding", (1, 1, 3, 3), (2, 2), one, (9, 9), "same_upper"),
            ("long_strides", (1, 2, 5, 4), (2, 2), (100, 100), one, "valid"),
            ("long_strides_in_padding", (1, 2, 5, 4), (2, 2), (100, 100), one, "same_upper"),
            ("stride_is_the_image", (1, 2, 5, 4), (3, 2), (5, 4), one, "same_lower"),
            ("rate_of_single_samples", (1, 2, 4, 5), one, (2, 2), (50, 50), "valid"),
            ("row", (1, 3, 1, 9), (1, 3), (1, 2), (1, 2), "same_upper"),
            ("column", (1, 3, 9, 1), (3, 1), (2, 1), (2, 1), "same_lower"),
            *((f"columns_{each}", (1, 2, 2, each), (1, 2), one, one, "same_upper") for each in _LONG),
        )
        for word, image, sizes, strides, rates, auto_pad in calls:
            bound = self._bound(image, sizes, strides, rates, auto_pad)
            yield word, {**bound, "shape:data": image}

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        rows, columns = (int(scope.find(each.text)) for each in (self.rows, self.columns))
        for name in _PAIRS:
            first, second = (int(each) for each in scope.find(name))
            for numbers in ([first], [first, second, 1], []):
                yield f"{name}_are_two", {name: numbers}
            for pair in ([0, second], [first, 0], [-1, second], [first, -(2**31)]):
                yield f"{name}_positive", {name: pair}
        for word in ("explicit", "notset", "", "VALID"):
            yield "auto_pad_value", {"auto_pad": word}
        plain = {"auto_pad": "valid", "rates": [1, 1], "strides": [1, 1]}
        for sizes in ([rows + 1, 1], [1, columns + 1], [100, 100]):
            yield "a_patch_fits", {**plain, "sizes": sizes}
        yield "a_patch_fits", {**plain, "sizes": [2, 1], "rates": [rows, 1]}

    def changes(self) -> Iterable[ValueChange]:
        for name in ("rates", "strides"):
            yield ValueChange(f"{name} ignored", f"{name} ignored", _set(name, lambda _: [1, 1]))
        as_sizes = _set("strides", lambda given: given.numbers("sizes"))
        yield ValueChange("strides as sizes", "strides replaced by sizes", as_sizes)
        for first, second in combinations(_PAIRS, 2):
            text = f"{first} and {second} exchanged"
            yield ValueChange(f"attributes {text}", text, _exchanged(first, second))
        for name in _PAIRS:
            text = f"the first number of {name} for both axes"
            yield ValueChange(f"attribute {name} first", text, _set(name, _first_for_both(name)))

    def _bound(
        self, image: Sequence[int], sizes: Pair, strides: Pair, rates: Pair, auto_pad: Level
    ) -> Bindings:
        given = {"sizes": list(sizes), "strides": list(strides), "rates": list(rates), "auto_pad": auto_pad}
        return {**dict(zip(self.binds, image, strict=True)), **given}


def _set(name: str, value: Callable[[CallValues], Any]) -> Callable[[CallValues], Bindings]:
    return lambda given: {name: value(given)}


def _first_for_both(name: str) -> Callable[[CallValues], Any]:
    return lambda given: given.numbers(name)[[0, 0]]


def _exchanged(first: str, second: str) -> Callable[[CallValues], Bindings]:
    return lambda given: {first: given.numbers(second), second: given.numbers(first)}
