"""What Pad of com.microsoft was tried on before its calls were declared, and how a call shows it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set

import numpy as np

from conformance.suite.cases import Case
from opcert.vocabulary.tensors import Tensor

OPERATOR = "com.microsoft::Pad-1"
FACTORS: Mapping[str, tuple[object, ...]] = {
    "element_type": ("float", "float16", "double"),
    "rank": (1, 2, 3, 4),
    "mode": ("absent", "constant", "reflect", "edge"),
    "pads": (
        "none", "begin", "end", "both", "remove_begin", "remove_end", "remove_both", "mixed",
        "greatest_reflection", "beyond",
    ),
    "padded_axes": ("first", "last", "every"),
    "pads_rank": (1, 2),
    "value": ("absent", "scalar", "one_element"),
    "value_data": ("ordinary", "negative_zero", "nan", "infinity", "subnormal"),
    "data": ("distinct", "random", "large_offset", "signed_zero", "subnormal", "huge", "nonfinite"),
}  # fmt: skip
EXCLUSIONS = (
    "mode == 'reflect' and pads == 'beyond'",
    "value == 'absent' and value_data != 'ordinary'",
)


def levels_of(case: Case) -> Mapping[str, Set[object]]:
    """The levels of each factor that a case shows."""
    given = dict(case.inputs)
    data, pads, value, mode = given["data"], given["pads"], given.get("value"), case.attributes.get("mode")
    assert data is not None
    assert pads is not None
    rank = len(data.shape)
    pairs = pads.array.reshape(2, rank).T.tolist()
    changed = [axis for axis, pair in enumerate(pairs) if any(pair)]
    reflects = mode is not None and mode.value == "reflect"
    return {
        "element_type": {data.element_type.name},
        "rank": {rank},
        "mode": {"absent" if mode is None else mode.value},
        "pads": _pads([(data.shape[axis], *pairs[axis]) for axis in changed], reflects),
        "padded_axes": _where(changed, rank),
        "pads_rank": {len(pads.shape)},
        "value": {"absent" if value is None else "one_element" if value.shape else "scalar"},
        "value_data": {_class_of(value)},
        "data": {case.levels.get("data")},
    }


def _pads(changed: list[tuple[int, int, int]], reflects: bool) -> Set[object]:
    """`greatest_reflection` is two pads like any others in the modes that do not reflect."""
    if not changed:
        return {"none"}
    forms = {(np.sign(begin), np.sign(end)) for _, begin, end in changed}
    words = {
        (1, 0): "begin", (0, 1): "end", (1, 1): "both",
        (-1, 0): "remove_begin", (0, -1): "remove_end", (-1, -1): "remove_both",
    }  # fmt: skip
    found: set[object] = {words.get(forms.pop(), "mixed") if len(forms) == 1 else "mixed"}
    if "both" in found and (
        not reflects or all(extent - 1 == begin == end for extent, begin, end in changed)
    ):
        found.add("greatest_reflection")
    if any(max(begin, end) >= extent for extent, begin, end in changed):
        found.add("beyond")
    return found


def _where(changed: list[int], rank: int) -> Set[object]:
    if not changed:
        return {"first", "last", "every"}
    every = {"every"} if len(changed) == rank else set()
    return every | ({"first"} if changed == [0] else set()) | ({"last"} if changed == [rank - 1] else set())


def _class_of(value: Tensor | None) -> str:
    if value is None:
        return "ordinary"
    number = float(value.array.reshape(-1)[0])
    if math.isnan(number) or math.isinf(number):
        return "nan" if math.isnan(number) else "infinity"
    if number == 0:
        return "negative_zero" if math.copysign(1, number) < 0 else "ordinary"
    return "subnormal" if abs(number) < np.finfo(value.array.dtype).tiny else "ordinary"
