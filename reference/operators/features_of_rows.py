"""Scaler, Normalizer, Imputer, Binarizer, ArrayFeatureExtractor, FeatureVectorizer: rows of features."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, sequence_of
from reference.functions.stable_formulas import Overflow
from reference.numbers.number_arrays import Numbers
from reference.operators.label_tables import listed
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.extremes import greatest
from reference.shared.single_precision import SINGLE, constants, in_single_precision
from reference.shared.standardization import overflowed
from reference.sums.summation import total, total_of_products

MaxOf = Annotated[Choice[Literal["numbers", "magnitudes"]], AsReading]
SumOf = Annotated[Choice[Literal["absolute", "signed"]], AsReading]
OfOneAxis = Annotated[Choice[Literal["row", "flat"]], AsReading]
AxesOfIndices = Annotated[Choice[Literal["one", "own"]], AsReading]
RootSign = Annotated[Choice[Literal["kept", "dropped"]], AsReading]


@reference_operator("ai.onnx.ml::Scaler")
def scaled(X: Numbers, *, offset: tuple[float, ...], scale: tuple[float, ...]) -> Numbers:
    """(X - offset) * scale, in float. Source: Scaler, offset, scale."""
    rows = in_single_precision(X)
    return (rows - constants(offset, rows)) * constants(scale, rows)


@reference_operator("ai.onnx.ml::Normalizer")
def normalized(
    X: Numbers,
    *,
    norm: str = "MAX",
    max_of: MaxOf,
    sum_of: SumOf,
    root_sign: RootSign,
    intermediate_overflow: Overflow,
) -> Numbers:
    """X / max(X), X / sum(X) or sqrt(X^2 / sum(X^2)) of each row; X where that divides by zero.

    Source: Normalizer, Summary.
    """
    rows = in_single_precision(X)
    signed = bool((rows.sign < 0).any())
    if norm == "MAX":
        by_size = signed and max_of.ask() == "magnitudes"
        divisor = greatest(abs(rows) if by_size else rows, -1, Choice("propagates"), keepdims=True)
    elif norm == "L1":
        divisor = total(rows if signed and sum_of.ask() == "signed" else abs(rows), -1, keepdims=True)
    else:
        divisor = total_of_products(rows, rows, -1, keepdims=True).sqrt()
        if signed and root_sign.ask() == "dropped":
            rows = abs(rows)
    nothing = divisor.finite & (divisor.value.signs() == 0) & (divisor.error == 0)
    found = (rows / divisor).where(~np.broadcast_to(nothing, rows.shape), in_single_precision(X))
    return overflowed(found, divisor, intermediate_overflow)


@reference_operator("ai.onnx.ml::Imputer")
def imputed(
    X: Tensor,
    *,
    imputed_value_floats: tuple[float, ...] | None = None,
    imputed_value_int64s: tuple[int, ...] | None = None,
    replaced_value_float: float = 0.0,
    replaced_value_int64: int = 0,
) -> Tensor:
    """The imputed value of the feature where X equals the replaced one, and X elsewhere. Source: Imputer."""
    array, replaced = X.array, np.float32(replaced_value_float)
    if X.element_type.is_float:
        values = np.array(imputed_value_floats, np.float32)
        missing = np.isnan(array) if np.isnan(replaced) else array == replaced
    else:
        values, missing = np.array(imputed_value_int64s, np.int64), array == replaced_value_int64
    return Tensor(X.element_type, np.where(missing, values.astype(array.dtype), array))


@reference_operator("ai.onnx.ml::Binarizer")
def binarized(X: Tensor, *, threshold: Fraction = Fraction(0)) -> Answer:
    """1 where X is greater than the threshold, and 0 elsewhere. Source: Binarizer, threshold."""
    above = [bool(each > threshold) for each in X.array.reshape(-1).tolist()]
    return Answer(Tensor(X.element_type, np.array(above).astype(X.array.dtype).reshape(X.shape)))


@reference_operator("ai.onnx.ml::ArrayFeatureExtractor")
def extracted(X: Tensor, Y: Tensor, *, of_one_axis: OfOneAxis, axes_of_indices: AxesOfIndices) -> Tensor:
    """The elements of the last axis at the indices. Source: ArrayFeatureExtractor, Summary."""
    own = Y.array.ndim != 1 and axes_of_indices.ask() == "own"
    taken = np.take(X.array, Y.array if own else Y.array.reshape(-1), axis=-1)
    found = np.asarray(taken, X.array.dtype)
    is_row = not own and found.ndim == 1 and of_one_axis.ask() == "row"
    return Tensor(X.element_type, found[None] if is_row else found)


@reference_operator("ai.onnx.ml::FeatureVectorizer")
def vectorized(X: tuple[Tensor, ...], *, inputdimensions: tuple[int, ...] = ()) -> Tensor:
    """The rows of the tensors one behind the other, as floats. Source: FeatureVectorizer, Summary."""
    with np.errstate(over="ignore"):
        return Tensor(SINGLE, np.concatenate([each.array.astype(np.float32) for each in X], axis=1))


@reference_operator("ai.onnx.ml::ZipMap")
def named_columns(
    X: Tensor,
    *,
    classlabels_int64s: tuple[int, ...] | None = None,
    classlabels_strings: tuple[str, ...] | None = None,
) -> Answer | Tensor:
    """For each row a map from the names of the columns to its elements. Source: ZipMap, Summary."""
    keys = listed(None, classlabels_int64s, classlabels_strings, None)
    order = np.argsort(keys.array, kind="stable")
    names = Answer(Tensor(keys.element_type, keys.array[order]))
    rows = (Tensor(X.element_type, row[order]) for row in X.array)
    return sequence_of(tuple(Answer(names.expected, parts=(names, row)) for row in rows))
