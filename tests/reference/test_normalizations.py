"""Normalizations of rows against mpmath, honest programs, and faulty ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath  # type: ignore[import-untyped] # ships no types
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.honest_programs import KINDS, Asked

Array = NDArray[Any]
EPSILON = float(np.float32(1e-3))
Core = Callable[[Array, Any], tuple[Array, Array, Array]]
"""Of rows and what is added to the variance: means, variances, and what is divided by deviations."""
NAMES = ("Layer", "Group", "Instance", "Batch", "MeanVariance")
STASHED = ("Layer", "Group", "RMS")
"""Whose first stage is in float, whatever the type of the elements is."""


def added(rows: Array) -> Array:
    """The sums of rows from their first element on, each rounded to their type."""
    found = rows[..., :1]
    for at in range(1, rows.shape[-1]):
        found = (found + rows[..., at : at + 1]).astype(rows.dtype)
    return np.asarray(found)


def mean(rows: Array) -> Array:
    return np.asarray(added(rows) / rows.dtype.type(rows.shape[-1]))


def by_reciprocal(rows: Array) -> Array:
    return np.asarray(added(rows) * (rows.dtype.type(1) / rows.dtype.type(rows.shape[-1])))


def two_passes(x: Array) -> tuple[Array, Array]:
    return mean(x), mean((x - mean(x)) * (x - mean(x)))


def two_passes_by_reciprocals(x: Array) -> tuple[Array, Array]:
    apart = x - by_reciprocal(x)
    return by_reciprocal(x), by_reciprocal(apart * apart)


def pairwise(x: Array) -> tuple[Array, Array]:
    middle = x.mean(axis=-1, keepdims=True, dtype=x.dtype)
    return middle, ((x - middle) ** 2).mean(axis=-1, keepdims=True, dtype=x.dtype)


def by_steps(x: Array) -> tuple[Array, Array]:
    """Welford's: each element corrects the mean by its share."""
    middle, spread = np.zeros_like(x[..., :1]), np.zeros_like(x[..., :1])
    for at in range(x.shape[-1]):
        apart = x[..., at : at + 1] - middle
        middle = middle + apart / x.dtype.type(at + 1)
        spread = spread + apart * (x[..., at : at + 1] - middle)
    return middle, spread / x.dtype.type(x.shape[-1])


def one_pass(x: Array) -> tuple[Array, Array]:
    return mean(x), mean(x * x) - mean(x) * mean(x)


STATISTICS: dict[str, Callable[[Array], tuple[Array, Array]]] = {
    "two passes": two_passes,
    "by reciprocals": two_passes_by_reciprocals,
    "pairwise": pairwise,
    "by steps": by_steps,
}


def rows_of(kind: str, *, mild: bool = False) -> Array:
    """Rows around zero, then far from it for their spread, of one number, and of several magnitudes."""
    draw = np.random.default_rng(31)
    far = {"float": 512, "double": 2**23, "float16": 8, "bfloat16": 4}[kind]
    spread = draw.normal(0, 1, (12, 7))
    more = [
        np.round(draw.normal(far, 1, (12, 7)) * 4) / 4,
        np.full((2, 7), 1.5),
        spread * 10.0 ** draw.uniform(-3, 2, (12, 1)),
    ]
    return np.concatenate([spread] if mild else [spread, *more]).astype(KINDS[kind])


def scales_of(kind: str) -> tuple[Array, Array]:
    draw = np.random.default_rng(5)
    return draw.uniform(0.5, 2, 7).astype(KINDS[kind]), draw.normal(0, 1, 7).astype(KINDS[kind])


@cache
def asked(name: str, kind: str, mild: bool = False) -> Asked:
    """The rows normalized: along the last axis, as one group of channels, as channels, as axes."""
    x, (scale, bias) = rows_of(kind, mild=mild), scales_of(kind)
    epsilon = {"epsilon": EPSILON}
    if name == "Layer":
        return Asked.of("LayerNormalization", kind, [("X", x), ("Scale", scale), ("B", bias)], epsilon)
    if name == "RMS":
        return Asked.of("RMSNormalization", kind, [("X", x), ("scale", scale)], epsilon)
    if name == "Group":
        given = [("X", x[..., None]), ("scale", scale), ("bias", bias)]
        return Asked.of("GroupNormalization", kind, given, {**epsilon, "num_groups": 1})
    if name == "MeanVariance":
        return Asked.of("MeanVarianceNormalization", kind, [("X", x)], {"axes": [1]})
    of_rows = [np.resize(each, len(x)) for each in (scale, bias)]
    if name == "Instance":
        given = [("input", x[None]), ("scale", of_rows[0]), ("B", of_rows[1])]
        return Asked.of("InstanceNormalization", kind, given, epsilon)
    given = [("X", np.ascontiguousarray(x.T)), ("scale", of_rows[0]), ("B", of_rows[1])]
    given += [("input_mean", of_rows[1]), ("input_var", of_rows[0])]
    return Asked.of("BatchNormalization", kind, given, {**epsilon, "training_mode": 1})


def computed(
    name: str,
    kind: str,
    statistics: Callable[[Array], tuple[Array, Array]],
    *,
    wide: bool = False,
    mild: bool = False,
) -> Array:
    """What a program gives: rounded after each operation, or in double precision and rounded at the end."""
    x, (scale, bias) = rows_of(kind, mild=mild), scales_of(kind)
    narrow = KINDS[kind]
    stage = np.float64 if wide else np.float32 if name in STASHED else narrow
    second = np.float64 if wide else narrow
    x = x.astype(np.float32).astype(stage) if name in STASHED and kind == "double" else x.astype(stage)
    middle, spread = statistics(x)
    deviation = np.sqrt(spread + stage(0 if name == "MeanVariance" else EPSILON))
    found = ((x - middle) / deviation).astype(second)
    if name in ("Instance", "Batch"):
        scale, bias = (np.resize(array, len(x))[:, None] for array in (scale, bias))
    if name != "MeanVariance":
        found = (found * scale.astype(second)).astype(second) + bias.astype(second)
    return placed(name, found.astype(narrow))


def placed(name: str, rows: Array) -> Array:
    """Rows in the shape that the operator has them in."""
    return {"Group": rows[..., None], "Instance": rows[None], "Batch": np.ascontiguousarray(rows.T)}.get(
        name, rows
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", STATISTICS)
@pytest.mark.parametrize("name", NAMES)
def test_an_honest_program_is_accepted(name: str, way: str, kind: str) -> None:
    with np.errstate(all="ignore"):
        got = computed(name, kind, STATISTICS[way])
        wide = computed(name, kind, STATISTICS[way], wide=True)
    for each in (got, wide):
        wrong = asked(name, kind).wrong(each)
        assert not wrong.any(), np.argwhere(wrong)[:4].tolist()


@pytest.mark.parametrize("kind", ["float", "float16"])
@pytest.mark.parametrize("name", NAMES)
def test_one_pass_is_honest_where_the_mean_is_small(name: str, kind: str) -> None:
    first = Asked(kind, asked(name, kind, mild=True).accepted[:1])
    with np.errstate(all="ignore"):
        wide = computed(name, kind, one_pass, wide=True, mild=True)
        got = computed(name, kind, one_pass, mild=True)
    assert not first.wrong(wide).any()
    if kind == "float":
        assert not first.wrong(got).any()


@pytest.mark.parametrize("name", NAMES)
def test_one_pass_far_from_zero_is_a_reading(name: str) -> None:
    """Outside what the text's formula gives, and inside what a function body that has it gives."""
    with np.errstate(all="ignore"):
        got = computed(name, "float", one_pass)
    text = Asked("float", asked(name, "float").accepted[:1])
    assert np.count_nonzero(text.wrong(got)) >= 10
    assert np.count_nonzero(asked(name, "float").wrong(got)) <= 14  # equal elements that overflow no root


FAULTS: dict[str, Callable[[Array, Array, Array], Array]] = {
    "epsilon outside the root": lambda x, scale, bias: (
        (x - mean(x)) / (np.sqrt(two_passes(x)[1]) + x.dtype.type(EPSILON)) * scale + bias
    ),
    "the wrong axis": lambda x, scale, bias: (
        (x - x.mean(0)) / np.sqrt(x.var(0) + x.dtype.type(EPSILON)) * scale + bias
    ),
    "one less than their count": lambda x, scale, bias: (
        (x - mean(x)) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + x.dtype.type(EPSILON)) * scale + bias
    ),
    "the bias forgotten": lambda x, scale, bias: standard(x) * scale,
    "the scale forgotten": lambda x, scale, bias: standard(x) + bias,
    "the mean forgotten": lambda x, scale, bias: (
        x / np.sqrt(two_passes(x)[1] + x.dtype.type(EPSILON)) * scale + bias
    ),
    "the default of epsilon": lambda x, scale, bias: (
        (x - mean(x)) / np.sqrt(two_passes(x)[1] + x.dtype.type(1e-5)) * scale + bias
    ),
    "deviations by 12 bits": lambda x, scale, bias: standard(x) * x.dtype.type(1 + 2**-13) * scale + bias,
}


def standard(x: Array) -> Array:
    return np.asarray((x - mean(x)) / np.sqrt(two_passes(x)[1] + x.dtype.type(EPSILON)))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ["Layer", "Group"])
def test_a_faulty_program_is_not(name: str, fault: str) -> None:
    x, (scale, bias) = rows_of("float"), scales_of("float")
    with np.errstate(all="ignore"):
        got = placed(name, FAULTS[fault](x, scale, bias).astype(np.float32))
    assert np.count_nonzero(asked(name, "float").wrong(got)) >= 10


@pytest.mark.parametrize(("kind", "offset", "stage"), [("double", 2.0**24, 1), ("float", 1024.0, 16)])
@pytest.mark.parametrize("name", ["LayerNormalization", "GroupNormalization"])
def test_a_stage_in_the_wrong_type_is_noticed(name: str, kind: str, offset: float, stage: int) -> None:
    """Neighbours that the type of the first stage does not tell apart are both in their middle."""
    x = np.array([[offset, offset + 1]] * 6, KINDS[kind])
    scale, bias = np.array([2, 3], x.dtype), np.array([1, -1], x.dtype)
    attributes: dict[str, Any] = {"stash_type": stage, "epsilon": EPSILON}
    given = [("X", x), ("Scale", scale), ("B", bias)]
    if name == "GroupNormalization":
        given = [("X", x), ("scale", scale), ("bias", bias)]
        attributes["num_groups"] = 1
        given[0] = ("X", x[..., None])
    found = Asked.of(name, kind, given, attributes)
    right, wrong = np.resize(bias, x.shape), standard(x) * scale + bias
    assert not found.wrong(right.reshape(given[0][1].shape)).any()
    assert found.wrong(wrong.reshape(given[0][1].shape)).all()


@pytest.mark.parametrize("name", ["Layer", "Group", "Instance", "Batch"])
def test_values_are_those_of_mpmath_rounded_once(name: str) -> None:
    x, (scale, bias) = rows_of("float"), scales_of("float")
    expected = asked(name, "float").accepted[0][0].expected.array
    rows = {
        "Group": expected[..., 0] if name == "Group" else expected,
        "Instance": expected[0],
        "Batch": expected.T,
    }.get(name, expected)
    compared = 0
    for at, (row, found) in enumerate(zip(x.tolist(), np.asarray(rows).tolist(), strict=True)):
        with mpmath.workprec(300):
            given = [mpmath.mpf(each) for each in row]
            middle = mpmath.fsum(given) / len(given)
            spread = mpmath.fsum((each - middle) ** 2 for each in given) / len(given)
            root = mpmath.sqrt(spread + mpmath.mpf(EPSILON))
        for place, (each, got) in enumerate(zip(given, found, strict=True)):
            factor = place if name in ("Layer", "Group") else at % 7
            with mpmath.workprec(300):
                exact = (each - middle) / root * mpmath.mpf(float(scale[factor])) + mpmath.mpf(
                    float(bias[factor])
                )
            with mpmath.workprec(24):
                assert got == float(+exact), (row, place)
            compared += 1
    assert compared > 200


@pytest.mark.parametrize("kind", KINDS)
def test_root_mean_squares(kind: str) -> None:
    x, (scale, _) = rows_of(kind), scales_of(kind)
    narrow = KINDS[kind]
    rows = x.astype(np.float32)

    def found(rows: Array, epsilon: float = EPSILON) -> Array:
        root = np.sqrt(mean(rows * rows) + rows.dtype.type(epsilon))
        return np.asarray(((rows / root).astype(narrow) * scale).astype(narrow))

    for got in (found(rows), found(rows.astype(np.float64))):
        assert not asked("RMS", kind).wrong(got).any()
    for wrong in (found(rows, 1e-5), found(rows + np.float32(0.01)), found(rows - mean(rows))):
        assert np.count_nonzero(asked("RMS", kind).wrong(wrong)) >= 10


def test_means_and_deviations_come_in_the_type_of_the_stage() -> None:
    x, (scale, bias) = rows_of("float16"), scales_of("float16")
    found = Asked.of(
        "LayerNormalization", "float16", [("X", x), ("Scale", scale), ("B", bias)], {"epsilon": EPSILON}
    )
    assert found.accepted[0][0].expected.array.dtype == np.float16


def overflowing(kind: str) -> Array:
    """Rows some of whose squares are beyond all numbers, or near there, beside one of ordinary ones."""
    draw = np.random.default_rng(8)
    rows = draw.normal(0, 1, (6, 7))
    return np.asarray(rows * np.array([[1], [1e18], [1e19], [1e25], [1e36], [1e15]]), KINDS[kind])


def asked_of_overflow(name: str, x: Array) -> Asked:
    scale, bias = scales_of("float")
    match name:
        case "LayerNormalization":
            return Asked.of(name, "float", [("X", x), ("Scale", scale), ("B", bias)])
        case "RMSNormalization":
            return Asked.of(name, "float", [("X", x), ("scale", scale)])
        case "MeanVarianceNormalization":
            return Asked.of(name, "float", [("X", x)], {"axes": [1]})
        case "InstanceNormalization":
            of_rows = [("scale", scale[:6]), ("B", bias[:6])]
            return Asked.of(name, "float", [("input", x[None]), *of_rows])
    return Asked.of(name, "float", [("input", x)])


def by_its_formula(name: str, x: Array) -> Array:
    """What steps in the type of the rows come to."""
    scale, bias = (array.astype(x.dtype) for array in scales_of("float"))
    if name == "LpNormalization":
        return np.asarray(x / np.sqrt(added(x * x)))
    if name == "RMSNormalization":
        return np.asarray(x / np.sqrt(mean(x * x) + x.dtype.type(1e-5)) * scale)
    middle, spread = two_passes(x)
    added_up = 0 if name == "MeanVarianceNormalization" else 1e-5
    found = (x - middle) / np.sqrt(spread + x.dtype.type(added_up))
    if name == "MeanVarianceNormalization":
        return np.asarray(found)
    if name == "InstanceNormalization":
        return np.asarray(found * scale[:6, None] + bias[:6, None])[None]
    return np.asarray(found * scale + bias)


@pytest.mark.parametrize(
    "name",
    [
        "InstanceNormalization",
        "LayerNormalization",
        "LpNormalization",
        "MeanVarianceNormalization",
        "RMSNormalization",
    ],
)
def test_what_overflows_on_the_way_is_told_element_by_element(name: str) -> None:
    """It may be the result, or what division by infinity leaves, or no number; anything else is wrong."""
    x = overflowing("float")
    found = asked_of_overflow(name, x)
    with np.errstate(all="ignore"):
        steps = by_its_formula(name, x)
        wide = by_its_formula(name, x.astype(np.float64)).astype(np.float32)
    assert not np.isfinite(steps).all() or (steps == 0).any() or (steps != wide).any()
    # A row by its steps and the next by a wider precision.
    mixed = np.where((np.arange(6) % 2 == 0).reshape((6, 1)), steps, wide)
    for honest in (steps, wide, mixed):
        assert not found.wrong(honest).any()
    for fault in (wide * np.float32(1.01), -wide, wide * np.float32(2), np.full_like(wide, 1e30)):
        assert found.wrong(fault).all()
