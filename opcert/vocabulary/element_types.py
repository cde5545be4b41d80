"""Element types of tensors: names, codes, and the exact layout of the floating-point ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike

from opcert.vocabulary.errors import UserError

Kind = Literal["float", "signed", "unsigned", "bool", "string", "complex"]


@dataclass(frozen=True)
class FloatLayout:
    """A binary floating-point layout.

    `precision` counts the significand's bits with the implicit one; `least_exponent` is the exponent of the
    smallest normal number. `infinities` says whether the layout has them; `nan` how it writes NaN: `ieee`
    (exponent all ones), `all_ones` (exponent and significand all ones, either sign), `negative_zero`, or
    `none` where it has none.
    """

    precision: int
    exponent_bits: int
    bias: int
    infinities: bool = True
    nan: Literal["ieee", "all_ones", "negative_zero", "none"] = "ieee"

    @property
    def least_exponent(self) -> int:
        return 1 - self.bias

    @property
    def greatest_exponent(self) -> int:
        top = (1 << self.exponent_bits) - 1 - self.bias
        return top - 1 if self.nan == "ieee" else top


@dataclass(frozen=True)
class ElementType:
    """One element type.

    `name` is ONNX's (`float`, `double`, `bfloat16`); `code` its number in ONNX's TensorProto; `storage` the
    numpy type that holds one element: the type itself where numpy has it, else an unsigned integer with the
    element's bits (bfloat16 in uint16, float8, float6 and float4 in uint8), a small integer's value in int8
    or uint8 (int4, uint4, int2, uint2), or an object holding `bytes` (string). `bits` is the width of one
    element, 0 for strings. `layout` is None where the type is not floating-point, and of float8e8m0, which
    has neither sign nor significand nor zero: pattern p is 2**(p - 127), and 255 is NaN.
    """

    name: str
    code: int
    kind: Kind
    bits: int
    storage: DTypeLike
    layout: FloatLayout | None = None

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Callable[[str], ElementType], tuple[str]]:
        # Each is there once in a process, and compared as such.
        return find_element_type, (self.name,)

    def __str__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_packed(self) -> bool:
        """Whether ONNX's messages hold several elements in a byte; everywhere else each has its own."""
        return 0 < self.bits < 8

    @property
    def is_integer(self) -> bool:
        return self.kind in ("signed", "unsigned")

    @property
    def component(self) -> ElementType:
        """The type of one component of a complex type; every other type is its own component."""
        if self.kind != "complex":
            return self
        return ELEMENT_TYPES["float" if self.name == "complex64" else "double"]

    @property
    def integer_range(self) -> tuple[int, int]:
        """Least and greatest value of an integer type; raises ValueError on any other."""
        if self.kind == "signed":
            return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        if self.kind == "unsigned":
            return 0, (1 << self.bits) - 1
        raise ValueError(f"{self.name} is not an integer type")


BINARY16 = FloatLayout(11, 5, 15)
BFLOAT16 = FloatLayout(8, 8, 127)
BINARY32 = FloatLayout(24, 8, 127)
BINARY64 = FloatLayout(53, 11, 1023)

_ALL = (
    ElementType("float", 1, "float", 32, np.float32, BINARY32),
    ElementType("uint8", 2, "unsigned", 8, np.uint8),
    ElementType("int8", 3, "signed", 8, np.int8),
    ElementType("uint16", 4, "unsigned", 16, np.uint16),
    ElementType("int16", 5, "signed", 16, np.int16),
    ElementType("int32", 6, "signed", 32, np.int32),
    ElementType("int64", 7, "signed", 64, np.int64),
    ElementType("string", 8, "string", 0, np.object_),
    ElementType("bool", 9, "bool", 8, np.bool_),
    ElementType("float16", 10, "float", 16, np.float16, BINARY16),
    ElementType("double", 11, "float", 64, np.float64, BINARY64),
    ElementType("uint32", 12, "unsigned", 32, np.uint32),
    ElementType("uint64", 13, "unsigned", 64, np.uint64),
    ElementType("complex64", 14, "complex", 64, np.complex64),
    ElementType("complex128", 15, "complex", 128, np.complex128),
    ElementType("bfloat16", 16, "float", 16, np.uint16, BFLOAT16),
    ElementType("float8e4m3fn", 17, "float", 8, np.uint8, FloatLayout(4, 4, 7, False, "all_ones")),
    ElementType("float8e4m3fnuz", 18, "float", 8, np.uint8, FloatLayout(4, 4, 8, False, "negative_zero")),
    ElementType("float8e5m2", 19, "float", 8, np.uint8, FloatLayout(3, 5, 15)),
    ElementType("float8e5m2fnuz", 20, "float", 8, np.uint8, FloatLayout(3, 5, 16, False, "negative_zero")),
    ElementType("uint4", 21, "unsigned", 4, np.uint8),
    ElementType("int4", 22, "signed", 4, np.int8),
    ElementType("float4e2m1", 23, "float", 4, np.uint8, FloatLayout(2, 2, 1, False, "none")),
    ElementType("float8e8m0", 24, "float", 8, np.uint8),
    ElementType("uint2", 25, "unsigned", 2, np.uint8),
    ElementType("int2", 26, "signed", 2, np.int8),
    ElementType("float6e2m3", 27, "float", 6, np.uint8, FloatLayout(4, 2, 1, False, "none")),
    ElementType("float6e3m2", 28, "float", 6, np.uint8, FloatLayout(3, 3, 3, False, "none")),
)

ELEMENT_TYPES: dict[str, ElementType] = {dtype.name: dtype for dtype in _ALL}
BY_CODE: dict[int, ElementType] = {dtype.code: dtype for dtype in _ALL}
_SPELLINGS = {"float32": "float", "f32": "float", "f64": "double", "float64": "double", "f16": "float16",
              "bf16": "bfloat16", "half": "float16", "boolean": "bool"}  # fmt: skip


def find_element_type(name: str) -> ElementType:
    """The element type of a name in ONNX's, numpy's or OpenVINO's spelling; UserError if there is none."""
    found = ELEMENT_TYPES.get(name) or ELEMENT_TYPES.get(_SPELLINGS.get(name, ""))
    if found is None:
        raise UserError("unknown element type", got=repr(name), expected=f"one of {', '.join(ELEMENT_TYPES)}")
    return found


def element_type_of(dtype: DTypeLike) -> ElementType:
    """The element type that numpy stores natively as `dtype`; raises UserError if there is none."""
    wanted = np.dtype(dtype)
    if wanted.kind in "OSU":
        return ELEMENT_TYPES["string"]
    for each in _ALL:
        if each.name not in _STORED_AS_BITS and np.dtype(each.storage) == wanted:
            return each
    raise UserError("numpy type without an element type", got=str(wanted))


_STORED_AS_BITS = frozenset(
    dtype.name for dtype in _ALL if dtype.bits < 8 * np.dtype(dtype.storage).itemsize or
    (dtype.is_float and np.dtype(dtype.storage).kind != "f")
) - {"string"}  # fmt: skip
