"""Arithmetics that hardware has in the place of float32's: what a number of type float is computed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.element_types import BFLOAT16, BINARY16, BINARY32, FloatLayout
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.near_names import near_names
from opcert.vocabulary.tensors import Tensor

Floats = NDArray[np.float32]
Accumulation = Literal["float32", "same"]
Subnormals = Literal["keep", "flushed"]
Functions = Literal["full", "relaxed"]
Requantise = Literal["float32", "exact", "fixed-point", "one-step"]

FORMATS: Mapping[str, FloatLayout] = {
    "float32": BINARY32,
    "bf16x3": FloatLayout(16, 8, 127),
    "tf32": FloatLayout(11, 8, 127),
    "float16": BINARY16,
    "bfloat16": BFLOAT16,
}
"""By name, from the most exact on. The numbers of bf16x3 are sums of two bfloat16, which come at least as
near as 16 bits do; its products leave out that of the lesser parts, half a unit in the last place at most."""
_OWN_FUNCTIONS = ("float16", "bfloat16")
"""Formats that programs compute functions in; in the others only factors of products are held."""


@dataclass(frozen=True)
class Arithmetic:
    """What stands for float32: operands and results may be rounded to the format, products among them.

    Sums of several terms are added up in float32, or in the format itself as well (`same`). With subnormals
    that are `flushed` whatever is below the smallest normal number of the format may be zero. Functions
    err by the column of OpenCL that is `full`, or by that of unsafe math (`relaxed`). `requantise` is how
    integers in steps of a scale come of exact sums: by a factor in float32, `exact`, by a multiplier of 31
    bits and a shift (`fixed-point`), or off by `one-step`. As text: `float16`,
    `bfloat16,accumulation=same,subnormals=flushed`.
    """

    format: str = "float32"
    accumulation: Accumulation = "float32"
    subnormals: Subnormals = "keep"
    functions: Functions = "full"
    requantise: Requantise = "float32"

    @classmethod
    def parse(cls, text: str) -> Arithmetic:
        """The arithmetic of a text; raises UserError where it is none."""
        name, *rest = (part.strip() for part in text.split(","))
        if name not in FORMATS:
            near = near_names(name, FORMATS)
            raise UserError(
                "no such arithmetic",
                got=repr(text),
                expected=f"one of {', '.join(FORMATS)}",
                remedy=f"Perhaps {near[0]} is meant." if near else None,
            )
        said = dict(part.partition("=")[::2] for part in rest)
        for key, option in said.items():
            options = _OPTIONS.get(key, ())
            if option not in options or len(said) < len(rest):
                raise UserError(
                    "no such option of an arithmetic",
                    got=repr(text),
                    expected="; ".join(f"{each}={'|'.join(these)}, once" for each, these in _OPTIONS.items()),
                )
        return cls(name, **said)  # type: ignore[arg-type] # the options were looked at

    def __str__(self) -> str:
        plain = Arithmetic(self.format)
        said = [
            f"{key}={getattr(self, key)}" for key in _OPTIONS if getattr(self, key) != getattr(plain, key)
        ]
        return ",".join([self.format, *said])

    @property
    def is_own(self) -> bool:
        """Whether it is float32 itself, of which suites speak where nothing else is said."""
        return self == Arithmetic()

    @property
    def keeps_floats(self) -> bool:
        """Whether floats are computed as in float32 itself, so that integers alone may come out otherwise."""
        return replace(self, requantise="float32").is_own

    @property
    def words(self) -> str:
        """As it is said in a sentence."""
        sums = "sums in float32" if self.accumulation == "float32" else f"sums in {self.format}"
        more = ", subnormals flushed" if self.subnormals == "flushed" else ""
        more += ", relaxed functions" if self.functions == "relaxed" else ""
        more += _REQUANTISED[self.requantise]
        if self.format == "float32":
            return f"float computed as float32{more}"
        return f"float computed as {self.format} ({sums}{more})"

    @property
    def layout(self) -> FloatLayout:
        """The numbers of the format."""
        return FORMATS[self.format]

    @cached_property
    def sums(self) -> FloatLayout:
        """In what sums are added up."""
        return BINARY32 if self.accumulation == "float32" else self.layout

    @property
    def least(self) -> float:
        """The smallest positive number that an operand may be held as: that of bfloat16 of its parts."""
        layout = FORMATS["bfloat16"] if self.format == "bf16x3" else self.layout
        return float(np.ldexp(1.0, layout.least_exponent - layout.precision + 1))

    @property
    def greatest(self) -> float:
        """The greatest finite number of the format."""
        layout = self.layout
        return float(np.ldexp(2.0 - np.ldexp(1.0, 1 - layout.precision), layout.greatest_exponent))

    @property
    def has_functions(self) -> bool:
        """Whether functions are computed in the format; elsewhere in float32, and rounded."""
        return self.format in _OWN_FUNCTIONS

    def rounded(self, given: Tensor | None) -> Tensor | None:
        """A tensor of type float, each element rounded to nearest in the format, halves to even.

        What lies beyond the format becomes an infinity, and what is flushed zero. Any other tensor stays.
        """
        if given is None or given.element_type.name != "float" or self.is_own:
            return given
        found = self._nearest(given.array)
        if self.subnormals == "flushed":
            small = np.abs(found) < np.ldexp(1.0, self.layout.least_exponent)
            found = np.where(small, np.copysign(np.float32(0), found), found)
        return Tensor(given.element_type, found)

    def _nearest(self, given: Floats) -> Floats:
        if self.format == "bf16x3":
            high = _cut(given, FORMATS["bfloat16"].precision)
            with np.errstate(invalid="ignore"):
                low = _cut(given - high, FORMATS["bfloat16"].precision)
                return np.where(np.isfinite(high) & (low != 0), high + low, high).astype(np.float32)
        if self.format == "float16":
            with np.errstate(over="ignore"):
                return np.asarray(given.astype(np.float16).astype(np.float32))
        return _cut(given, self.layout.precision)


_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "accumulation": get_args(Accumulation),
    "subnormals": get_args(Subnormals),
    "functions": get_args(Functions),
    "requantise": get_args(Requantise),
}
_REQUANTISED: Mapping[Requantise, str] = {
    "float32": "",
    "exact": ", integers requantised exactly",
    "fixed-point": ", integers requantised in fixed point",
    "one-step": ", integers requantised to one step",
}


def _cut(given: Floats, precision: int) -> Floats:
    """Floats rounded to so many bits, halves to even, in the range of float32."""
    spare = BINARY32.precision - precision
    if not spare:
        return given
    bits = given.view(np.uint32).astype(np.uint64)
    half = np.uint64((1 << (spare - 1)) - 1)
    raised = bits + half + ((bits >> np.uint64(spare)) & np.uint64(1))
    cut = (raised >> np.uint64(spare) << np.uint64(spare)).astype(np.uint32).view(np.float32)
    return np.where(np.isfinite(given), cut, given)
