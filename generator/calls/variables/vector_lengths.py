"""Lengths at which vectorised loops begin, end and have a rest, and one that is worth several threads."""

from __future__ import annotations

VECTOR_BYTES = 64
"""Of the widest vector register, and of a cache line."""
MANY = 4_099
"""Elements that make a runtime use several threads, and no multiple of a vector."""
LONG = 515
"""What many come to where these are too dear or say nothing: several blocks of any vector, and a rest."""
_FLOAT_BITS = 32


def lengths_around(bits: int | None = _FLOAT_BITS) -> list[int]:
    """One shorter than, as long as, and one longer than a vector of elements of so many bits, and a long one.

    Elements without a width (None) are taken for as wide as float.
    """
    per = VECTOR_BYTES * 8 // (bits or _FLOAT_BITS)
    return [per - 1, per, per + 1, MANY]
