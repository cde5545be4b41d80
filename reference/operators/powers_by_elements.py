"""Pow: each element to the power of another."""

from __future__ import annotations

from typing import Annotated

from opcert.vocabulary.tensors import Tensor
from reference.answers import OutsideDomain
from reference.functions.powers import SpecialPowers, power_of, whole_powers
from reference.numbers.number_arrays import Numbers
from reference.readings.choices import AsReading
from reference.registry import reference_operator


@reference_operator("ai.onnx::Pow")
def power(X: Numbers, Y: Tensor, *, special_powers: Annotated[SpecialPowers, AsReading]) -> Numbers:
    """f(x) = x^exponent; exponents may be rounded to the type of x first. Source: Pow, Summary."""
    if X.is_integer:
        exponent = Numbers.of(Y)
        if not (
            exponent.finite.all() and all(y >= 0 and y.denominator == 1 for y in exponent.value.fractions())
        ):
            raise OutsideDomain("powers of integers are integers where exponents are whole and not negative")
        return whole_powers(X, exponent, by_float=Y.element_type.is_float)
    return power_of(X, Numbers.of(Y, X.working).rounded(1, exact=True), special_powers)
