"""The order in which element types stand beside each other: the common floating-point ones first."""

from __future__ import annotations

from collections.abc import Iterable

from opcert.vocabulary.element_types import ELEMENT_TYPES

_KINDS = ("float", "signed", "unsigned", "bool", "string", "complex")
_FIRST = ("float", "float16", "bfloat16", "double")


def type_rank(name: str) -> tuple[int, int, int]:
    """The place of an element type among others; one that is not known comes last."""
    found = ELEMENT_TYPES.get(name)
    if found is None:
        return len(_KINDS), 0, 0
    first = _FIRST.index(name) if name in _FIRST else len(_FIRST)
    return _KINDS.index(found.kind), first, found.code


def in_type_order(names: Iterable[str]) -> list[str]:
    """Each name once, in order."""
    return sorted(set(names), key=lambda each: (type_rank(each), each))
