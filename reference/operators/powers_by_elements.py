"""Pow: each element to the power of another."""

from __future__ import annotations

from typing import Annotated

from opcert.vocabulary.tensors import Tensor
from reference.functions.powers import SpecialPowers, power_of, whole_powers
from reference.numbers.number_arrays import Numbers
from reference.readings.choices import AsReading
from reference.registry import reference_operator


@reference_operator("ai.onnx::Pow")
def power(X: Numbers, Y: Tensor, *, special_powers: Annotated[SpecialPowers, AsReading]) -> Numbers:
    """f(x) = x^exponent; exponents may be rounded to the type of x first. Source: Pow, Summary."""
    if X.is_integer:
        return whole_powers(X, Numbers.of(Y), by_float=Y.element_type.is_float)
    return power_of(X, Numbers.of(Y, X.working).rounded(1, exact=True), special_powers)
