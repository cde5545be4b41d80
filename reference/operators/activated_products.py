"""FusedGemm and FusedConv: a product or a convolution, and the activation behind it."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from reference.numbers.number_arrays import Numbers
from reference.operators.convolutions import convolve
from reference.operators.matrix_products import general_matrix_product
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.cell_activations import CellFunction, Unsaid
from reference.shared.windows import Ints

_FINITE = Unsaid(Choice("propagates"), Choice("fails"), Choice("nan"), Choice("exact"), Choice("kept"))
"""What is unsaid of infinities and NaN, which no call has."""


def activated(numbers: Numbers, activation: str | None, alpha: Fraction | None = None) -> Numbers:
    """An activation by the name of its operator, or none."""
    return numbers if activation is None else CellFunction(activation, alpha, None, _FINITE)(numbers)


@reference_operator("com.microsoft::FusedGemm")
def activated_matrix_product(
    A: Numbers,
    B: Numbers,
    C: Numbers | None = None,
    *,
    activation: str | None = None,
    activation_alpha: Fraction | None = None,
    activation_beta: Fraction | None = None,
    activation_gamma: Fraction | None = None,
    alpha: Fraction = Fraction(1),
    beta: Fraction = Fraction(1),
    transA: int = 0,
    transB: int = 0,
) -> Numbers:
    """The activation of Gemm; none that is modelled has a beta or gamma. Source: FusedGemm, Summary."""
    sums = general_matrix_product(A, B, C, alpha=alpha, beta=beta, transA=transA, transB=transB)
    return activated(sums, activation, activation_alpha)


@reference_operator("com.microsoft::FusedConv")
def activated_convolution(
    X: Numbers,
    W: Numbers,
    B: Numbers | None = None,
    Z: Numbers | None = None,
    *,
    activation: str | None = None,
    activation_params: tuple[Fraction, ...] | None = None,
    auto_pad: str = "NOTSET",
    dilations: Ints = None,
    group: int = 1,
    kernel_shape: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
    place_of_sum: Annotated[Choice[Literal["before", "behind"]], AsReading],
) -> Numbers:
    """The activation of Conv, to which Z is added before or behind it. Source: FusedConv, Summary."""
    sums = convolve(
        X, W, B, auto_pad=auto_pad, dilations=dilations, group=group, kernel_shape=kernel_shape, pads=pads,
        strides=strides,
    )  # fmt: skip
    if Z is None:
        return activated(sums, activation)
    if activation is None or place_of_sum.ask() == "before":
        return activated(sums + Z, activation)
    return activated(sums, activation) + Z
