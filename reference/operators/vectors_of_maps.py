"""DictVectorizer and CastMap: the values of a map in a tensor, each at its key's place."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer
from reference.operators.casts import Rules, converted
from reference.operators.label_tables import elements
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.movement import Subnormals, blank

OfShape = Annotated[Choice[Literal["flat", "row"]], AsReading]
ZeroText = Annotated[Choice[Literal["empty", "digit"]], AsReading]
_TYPES = {"TO_FLOAT": "float", "TO_INT64": "int64", "TO_STRING": "string"}


def placed(values: Tensor, places: list[int], count: int, zero: bytes = b"") -> Tensor:
    """A vector with the values at their places, and zeros, or texts that stand for them, elsewhere."""
    found = blank(values.element_type, (count,), zero)
    found[places] = values.array
    return Tensor(values.element_type, found)


@reference_operator("ai.onnx.ml::DictVectorizer")
def vector_of_dictionary(
    X: tuple[Tensor, ...],
    *,
    int64_vocabulary: tuple[int, ...] | None = None,
    string_vocabulary: tuple[str, ...] | None = None,
    of_shape: OfShape,
    zero_text: ZeroText,
) -> Tensor:
    """The value of each key at its place in the vocabulary. Source: DictVectorizer, Summary, Y, T2."""
    keys, values = X
    vocabulary = [*(int64_vocabulary or string_vocabulary or ())]
    places = [vocabulary.index(key) for key in elements(keys)]
    has_zeros = values.element_type.kind == "string" and len(places) < len(vocabulary)
    zero = b"0" if has_zeros and zero_text.ask() == "digit" else b""
    found = placed(values, places, len(vocabulary), zero)
    return Tensor(found.element_type, found.array[None]) if of_shape.ask() == "row" else found


@reference_operator("ai.onnx.ml::CastMap")
def vector_of_map(
    X: tuple[Tensor, ...],
    *,
    cast_to: str = "TO_FLOAT",
    map_form: str = "DENSE",
    max_map: int = 1,
    subnormals: Subnormals,
) -> Answer:
    """The values in the order of their keys, or each at the place that its key says. Source: CastMap."""
    keys, values = X
    order = np.argsort(keys.array, kind="stable")
    ascending = Tensor(values.element_type, values.array[order])
    rules = Rules(True, "up", Choice("once"), subnormals, None)
    cast = converted(ascending, ELEMENT_TYPES[_TYPES[cast_to]], rules)
    return cast if map_form == "DENSE" else spread(cast, keys.array[order].tolist(), max_map)


def spread(cast: Answer, places: list[int], count: int) -> Answer:
    """An answer whose elements lie at these places of a longer one, with zeros or empty texts elsewhere."""
    others = {places[at]: alternatives for at, alternatives in (cast.alternatives or {}).items()}
    allowed = None if cast.allowed is None else np.zeros(count)
    if allowed is not None:
        allowed[places] = cast.allowed
    return Answer(placed(cast.expected, places, count), allowed, others or None)
