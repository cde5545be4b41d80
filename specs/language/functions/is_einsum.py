"""Whether a text is an equation of einsum."""

from __future__ import annotations

from specs.language.functions.einsum_terms import einsum_terms


def is_einsum(equation: str, operands: int) -> bool:
    """Whether an equation is about this number of operands, and its terms are well formed."""
    try:
        einsum_terms(equation, operands)
    except ValueError:
        return False
    return True
