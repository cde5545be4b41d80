"""Attributes of an operator call: values that remember their kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from opcert.errors import UserError

AttributeKind = Literal["int", "float", "string", "ints", "floats", "strings"]
AttributeValue = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]
KINDS: tuple[AttributeKind, ...] = ("int", "float", "string", "ints", "floats", "strings")


@dataclass(frozen=True)
class Attribute:
    """One attribute's value and kind; an empty list would not tell its kind by itself."""

    kind: AttributeKind
    value: AttributeValue


Attributes = Mapping[str, Attribute]


def attribute(kind: str, value: object) -> Attribute:
    """An attribute of a value as YAML or JSON holds it; raises UserError where the value is not of the kind.

    Floating-point attributes are float32, as in ONNX: other values are rounded here, once.
    """
    single = {"int": int, "float": float, "string": str}
    if kind in single and _fits(value, single[kind]):
        return Attribute(kind, _float32(value) if kind == "float" else value)  # type: ignore[arg-type]
    item = single.get(kind[:-1]) if kind in KINDS else None
    if item is not None and isinstance(value, list | tuple) and all(_fits(each, item) for each in value):
        items = tuple(_float32(each) for each in value) if item is float else tuple(value)
        return Attribute(kind, items)  # type: ignore[arg-type]
    raise UserError("value does not fit its attribute's kind", got=repr(value), expected=kind)


def _float32(value: float) -> float:
    return float(np.float32(value))


def _fits(value: object, wanted: type) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) if wanted is float else isinstance(value, wanted)
