"""LabelEncoder, CategoryMapper and OneHotEncoder: elements looked up in a table."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Annotated, Any, Literal

import numpy as np

from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer
from reference.numbers.numbers import encode
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator

ZerosAsKeys = Annotated[Choice[Literal["equal", "by_bits"]], AsReading]


@reference_operator("ai.onnx.ml::LabelEncoder-1")
def label_by_place(
    X: Tensor,
    *,
    classes_strings: tuple[str, ...] = (),
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> Answer:
    """The place of a string in `classes_strings`, or the string at a place. Source: LabelEncoder-1."""
    if X.element_type.kind == "string":
        places = {name: place for place, name in enumerate(classes_strings)}
        return looked_up(X, places, default_int64, ELEMENT_TYPES["int64"])
    return looked_up(X, dict(enumerate(classes_strings)), default_string, ELEMENT_TYPES["string"])


@reference_operator("ai.onnx.ml::LabelEncoder", segments=(2, 4))
def label_by_key(
    X: Tensor,
    *,
    keys_floats: tuple[float, ...] | None = None,
    keys_int64s: tuple[int, ...] | None = None,
    keys_strings: tuple[str, ...] | None = None,
    keys_tensor: Tensor | None = None,
    values_floats: tuple[float, ...] | None = None,
    values_int64s: tuple[int, ...] | None = None,
    values_strings: tuple[str, ...] | None = None,
    values_tensor: Tensor | None = None,
    default_float: float = -0.0,
    default_int64: int = -1,
    default_string: str = "_Unused",
    default_tensor: Tensor | None = None,
    zeros_as_keys: ZerosAsKeys,
    version: int,
) -> Answer:
    """The value at the place of the key that equals the element, the last of equal ones, or the default.

    Version 2 compares bits; later a NaN equals every other. Source: LabelEncoder, Summary, default_tensor.
    """
    keys = listed(keys_floats, keys_int64s, keys_strings, keys_tensor)
    values = listed(values_floats, values_int64s, values_strings, values_tensor)
    defaults = {"float": default_float, "int64": default_int64, "string": default_string}
    default = defaults.get(values.element_type.name, -0.0 if values.element_type.is_float else -1)
    if default_tensor is not None:
        default = elements(default_tensor)[0]
    signed = X.element_type.is_float and any(each == 0 for each in elements(keys))
    by_bits = version < 4 or (signed and zeros_as_keys.ask() == "by_bits")

    def known(value: Any) -> Hashable:
        if not isinstance(value, float):
            return value  # type: ignore[no-any-return]
        return "NaN" if np.isnan(value) else (value, by_bits and bool(np.signbit(value)))

    table = dict(zip(map(known, elements(keys)), elements(values), strict=True))
    return looked_up(X, table, default, values.element_type, known)


@reference_operator("ai.onnx.ml::CategoryMapper")
def mapped_category(
    X: Tensor,
    *,
    cats_int64s: tuple[int, ...] = (),
    cats_strings: tuple[str, ...] = (),
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> Answer:
    """The number of a string, or the string of a number, at its place. Source: CategoryMapper, Summary."""
    if X.element_type.kind == "string":
        numbers = dict(zip(cats_strings, cats_int64s, strict=True))
        return looked_up(X, numbers, default_int64, ELEMENT_TYPES["int64"])
    strings = dict(zip(cats_int64s, cats_strings, strict=True))
    return looked_up(X, strings, default_string, ELEMENT_TYPES["string"])


@reference_operator("ai.onnx.ml::OneHotEncoder")
def one_hot_encoded(
    X: Tensor,
    *,
    cats_int64s: tuple[int, ...] | None = None,
    cats_strings: tuple[str, ...] | None = None,
    zeros: int = 1,
) -> Answer:
    """A new last axis with a 1 at the place of the category; floats are cast to integers first.

    Source: OneHotEncoder, Summary.
    """
    categories: tuple[Any, ...] = (cats_int64s if cats_strings is None else cats_strings) or ()
    given = [int(each) if X.element_type.is_float else each for each in elements(X)]
    hot = [[float(each == category) for category in categories] for each in given]
    return Answer(tensor(np.array(hot, np.float32).reshape((*X.shape, len(categories)))))


def listed(
    floats: tuple[float, ...] | None,
    whole: tuple[int, ...] | None,
    strings: tuple[str, ...] | None,
    given: Tensor | None,
) -> Tensor:
    """The one of several attributes that is there, as a tensor."""
    if given is not None:
        return given
    if strings is not None:
        return texts(strings, (len(strings),))
    return tensor(list(whole), "int64") if whole is not None else tensor(list(floats or ()), "float")


def elements(given: Tensor) -> list[Any]:
    """The elements as Python has them, strings as text."""
    found = given.array.reshape(-1).tolist()
    return [each.decode() for each in found] if given.element_type.kind == "string" else found


def looked_up(
    X: Tensor,
    table: Mapping[Any, Any],
    default: Any,
    kind: ElementType,
    known: Callable[[Any], Hashable] = lambda element: element,
) -> Answer:
    """What a table has for each element, or the default, in the shape of the input."""
    found = [table.get(known(element), default) for element in elements(X)]
    if kind.kind == "string":
        return Answer(texts(found, X.shape))
    array = encode(kind, found) if kind.is_float else np.array(found, dtype=kind.storage)
    return Answer(Tensor(kind, array.reshape(X.shape)))


def texts(given: Iterable[str], shape: tuple[int, ...]) -> Tensor:
    """A tensor of strings."""
    array = np.empty(shape, dtype=object)
    for place, text in enumerate(given):
        array.reshape(-1)[place] = text
    return tensor(array, "string")
