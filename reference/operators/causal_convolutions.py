"""CausalConvWithState: a kernel for each channel over what came before, and what the next step needs."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.functions.stable_formulas import in_the_limit, logistic
from reference.numbers.number_arrays import Numbers
from reference.operators.convolutions import convolved
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.windows import slide


@reference_operator("ai.onnx::CausalConvWithState")
def convolve_causally(
    input: Tensor,
    weight: Numbers,
    bias: Numbers | None = None,
    past_state: Tensor | None = None,
    *,
    activation: str = "none",
    infinity_in_formula: Annotated[Choice[Literal["nan", "limit"]], AsReading],
) -> tuple[Numbers, Tensor]:
    """Windows of the past and the input, x sigmoid(x) of them where asked; and the last places of both.

    Source: CausalConvWithState, Summary, past_state, present_state.
    """
    batch, channels, length = input.shape
    reach = weight.shape[2] - 1
    empty = np.zeros((batch, channels, reach), dtype=input.array.dtype)
    past = empty if past_state is None else past_state.array
    every = Tensor(input.element_type, np.concatenate([past, input.array], axis=2))
    data, pads = (input, (reach, 0)) if past_state is None else (every, (0, 0))
    windows = slide(data.shape[2:], weight.shape[2:], pads=pads)
    output = convolved(Numbers.of(data, weight.working), weight, channels, windows, bias)
    if activation != "none":
        output = in_the_limit(
            output * logistic(output), output.sign == -np.inf, output.lift(0), infinity_in_formula
        )
    return output, Tensor(input.element_type, every.array[:, :, length:])
