"""Cast and CastLike: elements of one type as those of another."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, OutsideDomain
from reference.answers.cast_elements import Rules, as_float, as_integer, as_text, of_text
from reference.answers.quantised import InfinityToFnuz
from reference.numbers.numbers import Number, numbers
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.movement import Subnormals, moved

Rounding = Annotated[Choice[Literal["once", "via_float32", "via_double"]], AsReading]


@reference_operator("ai.onnx::Cast", segments=(24,))
def cast(
    input: Tensor,
    *,
    to: int,
    saturate: int = 1,
    round_mode: str = "up",
    version: int,
    narrowing: Rounding,
    subnormals: Subnormals,
    infinity_to_fnuz: InfinityToFnuz,
) -> Answer:
    """The same values in the type `to`, as the tables of the page have them. Source: Cast, Summary."""
    if to not in BY_CODE:
        raise OutsideDomain("a number of no element type", got=str(to))
    table = infinity_to_fnuz if version < 24 else None
    rules = Rules(bool(saturate), round_mode, narrowing, subnormals, table)
    return converted(input, BY_CODE[to], rules)


@reference_operator("ai.onnx::CastLike", segments=(24,))
def cast_like(
    input: Tensor,
    target_type: Tensor,
    *,
    saturate: int = 1,
    round_mode: str = "up",
    version: int,
    narrowing: Rounding,
    subnormals: Subnormals,
    infinity_to_fnuz: InfinityToFnuz,
) -> Answer:
    """The same values in the type of another tensor, as Cast has them. Source: CastLike, Summary."""
    return cast(
        input,
        to=target_type.element_type.code,
        saturate=saturate,
        round_mode=round_mode,
        version=version,
        narrowing=narrowing,
        subnormals=subnormals,
        infinity_to_fnuz=infinity_to_fnuz,
    )


def converted(given: Tensor, to: ElementType, rules: Rules) -> Answer:
    """Each element in another type; what is accepted beside it are elements by other honest ways."""
    if given.element_type == to:
        return moved(given, rules.subnormals, Choice("kept"))
    values = _values(given)
    if to.kind == "bool":
        truth = Tensor(to, np.array([_truth(each) for each in values], bool).reshape(given.shape))
        # No sentence says which texts are true.
        either = (
            dict.fromkeys(range(len(values)), (True, False)) if given.element_type.kind == "string" else None
        )
        return Answer(truth, None, either or None)
    if to.kind == "string":
        listed = [as_text(each, given.element_type) for each in values]
    elif to.is_integer:
        listed = [as_integer(each, given.element_type, to) for each in values]
    else:
        listed = [as_float(each, given.element_type, to, rules) for each in values]
    first = np.empty(len(values), dtype=to.storage)
    first[:] = [each[0] if each else _NOTHING.get(to.kind, 0) for each in listed]
    allowed = np.array([0.0 if each else np.inf for each in listed]).reshape(given.shape)
    others = {at: each[1:] for at, each in enumerate(listed) if len(each) > 1}
    return Answer(Tensor(to, first.reshape(given.shape)), allowed, others or None)


_NOTHING = {"string": b""}


def _values(given: Tensor) -> list[Number]:
    if given.element_type.kind == "string":
        return [of_text(each) for each in given.array.reshape(-1).tolist()]
    if given.element_type.kind == "bool":
        return numbers(ELEMENT_TYPES["uint8"], given.array.astype(np.uint8))
    return numbers(given.element_type, given.array)


def _truth(value: Number) -> bool:
    """False is zero of either sign; everything else is True, NaN too."""
    return bool(value != 0)
