"""Element types in the order in which people use them: the first is what a plain call has."""

from __future__ import annotations

from collections.abc import Sequence

from opcert.vocabulary.element_types import ELEMENT_TYPES

_BY_USE = ("float", "int64", "int32", "double", "float16", "bool", "uint8", "int8", "bfloat16", "string")
"""Those that are used most; the others follow as the document lists them."""


def by_use(types: Sequence[str]) -> list[str]:
    """The types that are known here, those that are used most first."""
    known = [each for each in types if each in ELEMENT_TYPES]
    return [*(each for each in _BY_USE if each in known), *(each for each in known if each not in _BY_USE)]
