"""Honest floating-point implementations of Resize: the routes that docs/why-believe.md lists, in numpy.

They are written against the document, not against the reference, and share nothing with it. Each computes in
float32 (float64 for double data), as runtimes do, and differs from the others in how.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.reference.resize_by_loops import AxisNumbers, Call, axis_numbers

Array = NDArray[Any]
F32, F64 = np.float32, np.float64


@dataclass(frozen=True)
class HonestRoute:
    """One way to compute a resize; see `ROUTES` for what the words stand for."""

    name: str
    coordinates: str = "division"
    weights: Any = F32
    polynomial: str = "nested"
    sums: str = "forward"
    order: str = "direct"
    borders: str = "whole"
    window: str = "support"


ROUTES = (
    HonestRoute("direct"),
    HonestRoute("reciprocal", coordinates="reciprocal", sums="backward"),
    HonestRoute("double coordinates", coordinates="double", sums="pairwise"),
    HonestRoute("step computed once", coordinates="step", order="first axis first"),
    HonestRoute("separable", order="first axis first"),
    HonestRoute("separable, last axis first", coordinates="reciprocal", order="last axis first"),
    HonestRoute("double weights", weights=F64, order="last axis first"),
    HonestRoute("double throughout", coordinates="double", weights=F64, sums="double"),
    HonestRoute("fused", coordinates="fused", sums="fused", order="last axis first"),
    HonestRoute("blocked", sums="blocked", polynomial="factored"),
    HonestRoute("weights by distance", polynomial="by distance", order="first axis first", sums="backward"),
    HonestRoute("fused, direct", coordinates="fused", polynomial="factored", sums="fused"),
    HonestRoute("halved borders", coordinates="double", borders="halved"),
    HonestRoute("whole window", order="last axis first", window="whole"),
    HonestRoute("steps", order="last axis first", sums="steps"),
    HonestRoute("steps, first axis first", coordinates="reciprocal", order="first axis first", sums="steps"),
    HonestRoute("fused steps", coordinates="step", order="last axis first", sums="fused steps"),
    HonestRoute(
        "steps fused twice", coordinates="double", order="first axis first", sums="steps fused twice"
    ),
)


def coordinate(call: Call, n: AxisNumbers, x: int, how: str) -> float:
    """x_original by one of the ways: division, reciprocal, fused, step (float32), or double."""
    kind: Any = F64 if how == "double" else F32
    half, one = kind(0.5), kind(1)
    at, old, start, end = kind(x), kind(n.old), kind(float(n.start)), kind(float(n.end))
    if call.scales is None and not call.common_policy_scale:
        scale = kind(n.new) / kind(n.old)
    elif n.scale.denominator & (n.scale.denominator - 1):
        scale = kind(n.scale.numerator) / kind(n.scale.denominator)
    else:
        scale = kind(float(n.scale))
    length, target = kind(float(n.length)), kind(float(n.target))
    mode = call.coordinates
    if mode == "pytorch_half_pixel":
        if n.length <= 1:
            return 0.0
        mode = "half_pixel"
    if mode in ("half_pixel", "asymmetric", "tf_half_pixel_for_nn", "half_pixel_symmetric"):
        moved = at if mode == "asymmetric" else at + half
        less = half if mode.startswith("half_pixel") else kind(0)
        if how == "fused" and mode == "half_pixel":
            return float(F32(F64(moved) * F64(one / scale) - F64(less)))
        if how == "step" and call.scales is None and not call.common_policy_scale:
            where = moved * (kind(n.old) / kind(n.new))
        else:
            where = moved / scale if how in ("division", "double", "step") else moved * (one / scale)
        if mode == "half_pixel_symmetric":
            offset = old / kind(2) * (one - kind(n.new) / target)
            return float(offset + where - less)
        return float(where - less)
    if mode == "align_corners":
        if n.length == 1:
            return (n.old - 1) / 2 if call.corners_of_one_at_center else 0.0
        if how == "step":
            return float(at * ((old - one) / (length - one)))
        if how in ("reciprocal", "fused"):
            return float(at * (old - one) * (one / (length - one)))
        return float(at * (old - one) / (length - one))
    assert mode == "tf_crop_and_resize"
    if n.length <= 1:
        return float(half * (start + end) * (old - one))
    if how in ("step", "fused"):
        step = (end - start) * (old - one) / (length - one)
        if how == "fused":
            return float(F32(F64(start) * F64(old - one) + F64(at * step)))
        return float(start * (old - one) + at * step)
    if how == "reciprocal":
        return float(start * (old - one) + at * (end - start) * (old - one) * (one / (length - one)))
    return float(start * (old - one) + at * (end - start) * (old - one) / (length - one))


def cubic_weight(t: Any, a: Any, polynomial: str, kind: Any) -> Any:
    """The kernel at a distance of 0 to 2, by nested polynomials or with the outer one factored."""
    one = kind(1)
    if t <= 1:
        return ((a + kind(2)) * t - (a + kind(3))) * t * t + one
    if t >= 2:
        return kind(0)
    if polynomial == "factored":
        return a * (t - one) * (t - kind(2)) * (t - kind(2))
    return ((a * t - kind(5) * a) * t + kind(8) * a) * t - kind(4) * a


def axis_taps(call: Call, n: AxisNumbers, x: int, route: HonestRoute) -> tuple[list[int], list[Any]] | None:
    """Indices inside the tensor and weights in the route's precision; None where extrapolated."""
    where = coordinate(call, n, x, route.coordinates)
    if call.coordinates == "tf_crop_and_resize" and not 0 <= where <= n.old - 1:
        return None
    kind = route.weights
    stretch = kind(1)
    if call.antialias and n.scale < 1:
        stretch = kind(1) / kind(float(n.scale))
    support = (1 if call.mode == "linear" else 2) * float(stretch)
    first, last = int(np.floor(where - support)) + 1, int(np.ceil(where + support)) - 1
    below = np.floor(where)
    if route.window == "whole":
        # As many taps everywhere, of which those at the ends may have weight 0.
        first, last = int(below) - int(np.ceil(support)) + 1, int(below) + int(np.ceil(support))
    indices, weights = [], []
    for i in range(first, last + 1):
        if route.polynomial == "by distance":
            distance = kind(abs(kind(where) - kind(i)))
        else:
            fraction = kind(where) - kind(below)
            ahead = kind(i - below)
            distance = abs(ahead - fraction)
        distance = distance / stretch if route.coordinates != "reciprocal" else distance * (kind(1) / stretch)
        if call.mode == "linear":
            weight = max(kind(0), kind(1) - distance)
        else:
            weight = cubic_weight(distance, kind(float(call.cubic_coeff_a)), route.polynomial, kind)
        if call.exclude_outside and not 0 <= i < n.old:
            if route.window != "whole":
                continue
            weight = kind(0)
        indices.append(min(max(i, 0), n.old - 1))
        weights.append(weight)
    if call.antialias or call.exclude_outside:
        total = kind(0)
        for weight in weights:
            total = total + weight
        weights = [weight / total for weight in weights]
    return indices, weights


def add(products: list[tuple[Any, Any]], how: str, kind: Any) -> Any:
    """The sum of products in one precision, in one of the orders."""
    pairs = list(reversed(products)) if how == "backward" else products
    if how == "double":
        return kind(sum(F64(w) * F64(x) for w, x in pairs))
    if how == "fused":
        total = kind(0)
        for w, x in pairs:
            # The product of two float32 is exact in float64.
            total = kind(F64(kind(w)) * F64(x) + F64(total)) if kind is F32 else kind(w) * x + total
        return total
    terms = [kind(w) * kind(x) for w, x in pairs]
    if how == "blocked":
        blocks = [add_in_order(terms[start::4], kind) for start in range(min(4, len(terms)))]
        return add_in_order(blocks, kind)
    if how == "pairwise":
        while len(terms) > 1:
            terms = [add_in_order(terms[start : start + 2], kind) for start in range(0, len(terms), 2)]
        return terms[0] if terms else kind(0)
    return add_in_order(terms, kind)


def add_in_order(terms: list[Any], kind: Any) -> Any:
    total = kind(0)
    for term in terms:
        total = total + term
    return total


def compute(call: Call, route: HonestRoute, kind: Any = F32, taps: Callable[..., Any] = axis_taps) -> Array:
    """The call's output by a route, in float32 or float64; `taps` may be replaced to plant a fault."""
    axes = axis_numbers(call)
    shape = [axes[d].new if d in axes else extent for d, extent in enumerate(call.shape)]
    data = np.array([float(each) for each in call.data], kind).reshape(call.shape)
    weighed: dict[int, list[Any]] = {
        d: [(neighbours if takes_steps(call, n, route) else taps)(call, n, x, route) for x in range(n.new)]
        for d, n in axes.items()
    }
    value = kind(float(call.extrapolation_value))
    if route.order != "direct":
        for d in sorted(weighed, reverse=route.order == "last axis first"):
            if takes_steps(call, axes[d], route):
                data = steps_along_axis(data, d, weighed[d], route.sums, kind)
            else:
                data = along_axis(data, d, weighed[d], route, kind)
        outside = np.zeros(shape, bool)
        for d, rows in weighed.items():
            mask = np.array([row is None for row in rows], dtype=bool)
            outside |= mask.reshape([-1 if each == d else 1 for each in range(len(shape))])
        return np.where(outside, value, data)
    result = np.zeros(shape, kind)
    for index in itertools.product(*(range(extent) for extent in shape)):
        rows = [weighed[d][x] if d in weighed else ([x], [kind(1)]) for d, x in enumerate(index)]
        if route.borders == "halved" and len(rows) <= 3 and not call.antialias:
            rows = [row and halve(row, extent) for row, extent in zip(rows, call.shape, strict=True)]
        if any(row is None for row in rows):
            result[index] = value
            continue
        products = []
        for combination in itertools.product(*(zip(*row, strict=True) for row in rows)):
            weight = route.weights(1)
            for _, each in combination:
                weight = weight * each
            products.append((weight, data[tuple(i for i, _ in combination)]))
        result[index] = add(products, route.sums, kind)
    return result


def halve(row: tuple[list[int], list[Any]], extent: int) -> tuple[list[int], list[Any]]:
    """A row all on the first or the last element as two taps there, each of half the weight."""
    indices, _ = row
    if set(indices) not in ({0}, {extent - 1}):
        return row
    return [indices[0]] * 2, [0.5, 0.5]


def steps_along_axis(
    data: Array, d: int, rows: list[tuple[int, int, Any] | None], how: str, kind: Any
) -> Array:
    """Along one axis `a + t (b - a)`, with no, one or two fused multiply-adds."""
    moved = np.moveaxis(data, d, 0)
    out = np.zeros((len(rows), *moved.shape[1:]), kind)
    for x, row in enumerate(rows):
        if row is None:
            continue
        low, high, t = row
        a, b, t = moved[low], moved[high], kind(t)
        if how == "steps":
            out[x] = a + t * (b - a)
        elif how == "fused steps":
            out[x] = fuse(t, b - a, a, kind)
        else:
            out[x] = fuse(t, b, fuse(-t, a, a, kind), kind)
    return np.moveaxis(out, 0, d)


def fuse(a: Any, b: Any, c: Any, kind: Any) -> Any:
    """a b + c rounded once in float32; in float64, twice."""
    # The product of two float32 is exact in float64.
    return kind(F64(a) * F64(b) + F64(c)) if np.ndim(b) == 0 else (F64(a) * b.astype(F64) + c).astype(kind)


def neighbours(call: Call, n: AxisNumbers, x: int, route: HonestRoute) -> tuple[int, int, Any] | None:
    """The elements around a coordinate and how far it lies between them; None where extrapolated."""
    where = coordinate(call, n, x, route.coordinates)
    if call.coordinates == "tf_crop_and_resize" and not 0 <= where <= n.old - 1:
        return None
    low = int(np.floor(where))
    share = route.weights(where) - route.weights(low)
    return min(max(low, 0), n.old - 1), min(max(low + 1, 0), n.old - 1), share


def takes_steps(call: Call, n: AxisNumbers, route: HonestRoute) -> bool:
    """Whether the route takes a linear mean of two neighbours by their difference along an axis."""
    return "steps" in route.sums and call.mode == "linear" and not (call.antialias and n.scale < 1)


def along_axis(data: Array, d: int, rows: list[Any], route: HonestRoute, kind: Any) -> Array:
    moved = np.moveaxis(data, d, 0)
    out = np.zeros((len(rows), *moved.shape[1:]), kind)
    for x, row in enumerate(rows):
        if row is None:
            continue
        for index in np.ndindex(*moved.shape[1:]):
            products = [(weight, moved[(i, *index)]) for i, weight in zip(*row, strict=True)]
            out[(x, *index)] = add(products, route.sums, kind)
    return np.moveaxis(out, 0, d)
