"""What a wrong output looks like, where it looks like something simple.

Each pattern is checked on every element. One is named only where it would be a strange coincidence in an
answer that is wrong in no particular way: each module says what that asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from conformance.judging.patterns.arithmetic import find_conversion, find_offset, find_scale
from conformance.judging.patterns.bounded import (
    find_clipping,
    find_constant,
    find_direction,
    find_special_values,
)
from conformance.judging.patterns.elements import Mask
from conformance.judging.patterns.moved import find_input, find_move, find_place
from conformance.judging.patterns.wrong_output import WrongOutput
from conformance.suite.cases import ExpectedOutput
from opcert.vocabulary.tensors import Tensor

_MOST_TELLING_FIRST: tuple[Callable[[WrongOutput], str | None], ...] = (
    find_special_values,
    find_constant,
    find_input,
    find_move,
    find_conversion,
    find_offset,
    find_scale,
    find_clipping,
    find_direction,
    find_place,
)


def find_pattern(
    expected: ExpectedOutput, got: Tensor, wrong: Mask | None, inputs: Sequence[tuple[str, Tensor]]
) -> str | None:
    """One phrase on how `got` relates to `expected` or to the inputs, or None.

    `wrong` marks the wrong elements; None says that the shape is wrong.
    """
    if got.element_type is not expected.expected.element_type or got.array.size == 0:
        return None
    output = WrongOutput(
        got.element_type, expected.expected.array, got.array, expected.allowed, wrong, tuple(inputs)
    )
    with np.errstate(all="ignore"):  # infinities and NaN are ordinary here
        return next((phrase for each in _MOST_TELLING_FIRST if (phrase := each(output)) is not None), None)
