"""A scalar oracle of the judge that knows nothing of arrays, and answers that are nearly right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from conformance.suite.cases import Alternative, ExpectedOutput
from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.tensors import Tensor


def value_of(element_type: ElementType, element: Any) -> Any:
    """One element as Python has it, without numpy: a float, an int, a pair, bytes."""
    if element_type.is_float:
        return float(decode_floats(element_type, np.array([element], dtype=element_type.storage))[0])
    if element_type.kind == "complex":
        return float(element.real), float(element.imag)
    return element if element_type.kind == "string" else int(element)


def oracle_same(kind: str, got: Any, expected: Any) -> bool:
    if kind == "complex":
        return all(oracle_same("float", left, right) for left, right in zip(got, expected, strict=True))
    if kind == "float":
        if math.isnan(got) or math.isnan(expected):
            return math.isnan(got) and math.isnan(expected)
        return bool(got == expected and math.copysign(1, got) == math.copysign(1, expected))
    return bool(got == expected)


def oracle_near(kind: str, got: Any, expected: Any, allowed: float) -> bool:
    if math.isinf(allowed) or oracle_same(kind, got, expected):
        return True
    if kind == "complex":
        return all(
            oracle_near("float", left, right, allowed) for left, right in zip(got, expected, strict=True)
        )
    if kind in ("string", "bool"):
        return False
    if kind == "float" and not (math.isfinite(got) and math.isfinite(expected)):
        return False
    return abs(Fraction(got) - Fraction(expected)) <= Fraction(allowed)


def oracle_wrong(expected: ExpectedOutput, got: Tensor) -> list[int]:
    """The flat positions of the wrong elements."""
    kind = expected.expected.element_type.kind
    wrong = []
    for position in range(int(got.array.size)):
        left, right = (
            value_of(got.element_type, tensor.array.reshape(-1)[position])
            for tensor in (got, expected.expected)
        )
        allowed = None if expected.allowed is None else float(expected.allowed.reshape(-1)[position])
        same = oracle_same(kind, left, right)
        fine = same if allowed is None else oracle_near(kind, left, right, allowed)
        for alternative in expected.alternatives:
            if alternative.index == position:
                others = [value_of(got.element_type, value) for value in alternative.values]
                fine = fine or any(oracle_accepts(kind, left, other, right, allowed) for other in others)
        if not fine:
            wrong.append(position)
    return wrong


def oracle_accepts(kind: str, got: Any, other: Any, expected: Any, allowed: float | None) -> bool:
    """Whether a value is a further one; a complex part that equals the expected part may be near it."""
    if kind != "complex":
        return oracle_same(kind, got, other)
    return all(
        oracle_same("float", mine, each)
        or (
            allowed is not None
            and oracle_same("float", each, wanted)
            and oracle_near("float", mine, wanted, allowed)
        )
        for mine, each, wanted in zip(got, other, expected, strict=True)
    )


def oracle_ratio(kind: str, got: Any, expected: Any, allowed: float) -> float:
    """Distance / allowed of elements that have numbers; infinity where either has none."""
    if kind == "complex":
        return max(
            oracle_ratio("float", left, right, allowed) for left, right in zip(got, expected, strict=True)
        )
    if oracle_same(kind, got, expected) or math.isinf(allowed):
        return 0.0
    if kind in ("string", "bool") or (
        kind == "float" and not (math.isfinite(got) and math.isfinite(expected))
    ):
        return math.inf
    apart = abs(Fraction(got) - Fraction(expected))
    if apart == 0:
        return 0.0
    return float(apart / Fraction(allowed)) if allowed else math.inf


@st.composite
def near_copies(draw: st.DrawFn, original: Tensor) -> Tensor:
    """The tensor with a few elements changed a little or altogether."""
    element_type = original.element_type
    flat = original.array.reshape(-1).copy()
    for _ in range(draw(st.integers(0, 3))):
        position = draw(st.integers(0, flat.size - 1))
        if element_type.kind == "string":
            flat[position] = flat[position] + b"!"
        elif element_type.kind == "bool":
            flat[position] = not flat[position]
        elif element_type.kind == "complex":
            parts = flat.view(element_type.component.storage)
            chosen = 2 * position + draw(st.integers(0, 1))
            with np.errstate(invalid="ignore", over="ignore"):
                parts[chosen] = np.nextafter(parts[chosen], draw(st.sampled_from([7.0, -math.inf, math.nan])))
        elif element_type.is_integer:
            low, high = element_type.integer_range
            flat[position] = min(max(int(flat[position]) + draw(st.integers(-3, 3)), low), high)
        else:
            unsigned = flat.view(f"u{flat.dtype.itemsize}")
            unsigned[position] ^= draw(st.sampled_from([1, 2, 1 << (element_type.bits - 1), 3]))
    return Tensor(element_type, flat.reshape(original.shape))


def allowances(
    element_type: ElementType, got: Tensor, expected: Tensor, position: int
) -> st.SearchStrategy[float]:
    """Bounds around the very distance of an element, where decisions are made."""
    left, right = (value_of(element_type, tensor.array.reshape(-1)[position]) for tensor in (got, expected))
    base = 1.0
    if element_type.kind == "complex":
        apart = [abs(one - other) for one, other in zip(left, right, strict=True)]
        base = max((each for each in apart if math.isfinite(each)), default=1.0)
    elif element_type.is_float and math.isfinite(left) and math.isfinite(right):
        base = abs(left - right)
    elif element_type.is_integer:
        base = float(abs(left - right))
    near = [base, math.nextafter(base, math.inf), math.nextafter(base, 0.0), 0.0, math.inf]
    return st.sampled_from([number for number in near if number >= 0 and not math.isnan(number)])


@st.composite
def expectations_near(draw: st.DrawFn, wanted: Tensor, got: Tensor) -> ExpectedOutput:
    """An expectation of one tensor with bounds or without, and alternatives that another one may hold."""
    size = int(wanted.array.size)
    bounds: NDArray[np.float64] | None = None
    if draw(st.booleans()):
        drawn = [draw(allowances(wanted.element_type, got, wanted, each)) for each in range(size)]
        bounds = np.array(drawn, dtype=np.float64).reshape(wanted.shape)
    return ExpectedOutput("Y", wanted, bounds, tuple(draw(alternatives_from(wanted, got, size))))


def alternatives_from(wanted: Tensor, got: Tensor, size: int) -> st.SearchStrategy[Sequence[Alternative]]:
    elements = [*got.array.reshape(-1), *wanted.array.reshape(-1)]
    if wanted.element_type.kind == "complex":
        mixed = wanted.array.reshape(-1)[: got.array.size].copy()
        mixed.real[:] = got.array.reshape(-1)[: mixed.size].real
        elements += [*mixed]
    one = st.builds(
        Alternative,
        st.integers(0, size - 1),
        st.lists(st.sampled_from(elements), min_size=1, max_size=3).map(tuple),
    )
    return st.lists(one, max_size=2, unique_by=lambda alternative: alternative.index)
