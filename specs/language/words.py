"""Words that every expression knows: classes of element types, and the ends of integer types."""

from __future__ import annotations

from opcert.vocabulary.element_types import ELEMENT_TYPES

FLOATS = tuple(
    name for name, element_type in ELEMENT_TYPES.items() if element_type.is_float and element_type.bits >= 16
)
INTEGERS = tuple(name for name, element_type in ELEMENT_TYPES.items() if element_type.is_integer)
FLOAT8 = tuple(name for name in ELEMENT_TYPES if name.startswith("float8"))
COMPLEX = tuple(name for name, element_type in ELEMENT_TYPES.items() if element_type.kind == "complex")

CONSTANTS: dict[str, object] = {
    "FLOATS": list(FLOATS),
    "INTEGERS": list(INTEGERS),
    "FLOAT8": list(FLOAT8),
    "COMPLEX": list(COMPLEX),
    "BITS": {
        key: element_type.bits
        for name, element_type in ELEMENT_TYPES.items()
        for key in (name, element_type.code)
    },
    "LOW": {name: ELEMENT_TYPES[name].integer_range[0] for name in INTEGERS},
    "HIGH": {name: ELEMENT_TYPES[name].integer_range[1] for name in INTEGERS},
}
"""FLOATS are those of at least 16 bits; BITS are by the name or number of any type, LOW and HIGH by the name
of an integer type."""
PLACE = "place"
"""In the shape of a variadic output: which of its tensors it is, from 0."""
