"""LinearRegressor and LinearClassifier: products of features with rows of coefficients."""

from __future__ import annotations

from reference.answers import Answer
from reference.numbers.number_arrays import Numbers
from reference.operators.score_transforms import LabelOf, Probit, SoftmaxZero, Ties, top_labels, transformed
from reference.registry import reference_operator
from reference.shared.single_precision import constants, in_single_precision
from reference.sums.summation import sum_of_products


def linear_scores(
    X: Numbers, coefficients: tuple[float, ...], intercepts: tuple[float, ...] | None
) -> Numbers:
    """For each row of features and each row of coefficients the sum of products, and the intercept."""
    rows = in_single_precision(X)
    width = rows.shape[-1]
    count = len(coefficients) // width
    weights = constants(coefficients, rows).reshape((1, count, width))
    added = None if intercepts is None else constants(intercepts, rows).reshape((1, count))
    return sum_of_products(rows.reshape((rows.error.size // width, 1, width)), weights, plus=added)


@reference_operator("ai.onnx.ml::LinearRegressor")
def linear_regression(
    X: Numbers,
    *,
    coefficients: tuple[float, ...] = (),
    intercepts: tuple[float, ...] | None = None,
    post_transform: str = "NONE",
    targets: int = 1,
    softmax_zero: SoftmaxZero,
    probit: Probit,
) -> Numbers:
    """A sum for each example and target, whose coefficients are side by side. Source: LinearRegressor."""
    return transformed(linear_scores(X, coefficients, intercepts), post_transform, softmax_zero, probit)


@reference_operator("ai.onnx.ml::LinearClassifier")
def linear_classification(
    X: Numbers,
    *,
    classlabels_ints: tuple[int, ...] | None = None,
    classlabels_strings: tuple[str, ...] | None = None,
    coefficients: tuple[float, ...] = (),
    intercepts: tuple[float, ...] | None = None,
    multi_class: int = 0,
    post_transform: str = "NONE",
    softmax_zero: SoftmaxZero,
    probit: Probit,
    label_of: LabelOf,
    ties: Ties,
) -> tuple[Answer, Numbers]:
    """The label of the greatest score, and a score for each class. Source: LinearClassifier, Outputs."""
    scores = linear_scores(X, coefficients, intercepts)
    final = transformed(scores, post_transform, softmax_zero, probit)
    return top_labels(scores, final, classlabels_strings or classlabels_ints or (), label_of, ties), final
