"""What CenterCropPad was tried on before its calls were declared, and how a call shows it."""

from __future__ import annotations

from collections.abc import Mapping, Set

from conformance.suite.cases import Case

OPERATOR = "ai.onnx::CenterCropPad-18"
AMOUNTS = ("same", "crop_even", "crop_odd", "pad_even", "pad_odd")
FACTORS: Mapping[str, tuple[object, ...]] = {
    "element_type": (
        "float", "double", "float16", "bfloat16", "int8", "int16", "int32", "int64",
        "uint8", "uint16", "uint32", "uint64", "bool", "string", "complex64", "complex128",
    ),
    "rank": (1, 2, 3, 4, 5),
    "axes": ("absent", "all", "permuted", "partial", "negative", "mixed_signs"),
    "first": AMOUNTS,
    "others": (*AMOUNTS, "varied"),
    "amount": ("least", "more"),
    "shape_type": ("int32", "int64"),
    "data": ("distinct", "random", "extremes", "signed_zero", "subnormal", "huge", "nonfinite"),
}  # fmt: skip
EXCLUSIONS = (
    "rank == 1 and axes in ['permuted', 'partial', 'mixed_signs']",
    "rank == 1 and others != 'same'",
    "rank == 2 and axes == 'partial' and others != 'same'",
    "rank == 2 and others == 'varied'",  # one other axis shows one thing
    "first == 'same' and amount == 'more'",
)


def levels_of(case: Case) -> Mapping[str, Set[object]]:
    """The levels of each factor that a case shows."""
    data, shape = (tensor for _, tensor in case.inputs)
    assert data is not None
    assert shape is not None
    rank, given = len(data.shape), case.attributes.get("axes")
    axes = tuple(range(rank)) if given is None else tuple(int(number) for number in given.numbers)
    surplus = [data.shape[axis] - int(extent) for axis, extent in zip(axes, shape.array, strict=True)]
    changed = {_amount(each) for each in surplus[1:]}
    others = changed - {"same"} if len(changed) == 2 else changed
    return {
        "element_type": {data.element_type.name},
        "rank": {rank},
        "axes": {"absent" if given is None else _form(axes, rank)},
        "first": {_amount(surplus[0]) if surplus else "same"},
        "others": {"same" if not others else others.pop() if len(others) == 1 else "varied"},
        "amount": {"more" if surplus and abs(surplus[0]) > 2 else "least"},
        "shape_type": {shape.element_type.name},
        "data": {case.levels.get("data")},
    }


def _amount(surplus: int) -> str:
    if not surplus:
        return "same"
    return f"{'crop' if surplus > 0 else 'pad'}_{'odd' if surplus % 2 else 'even'}"


def _form(axes: tuple[int, ...], rank: int) -> str:
    if axes == tuple(range(rank)):
        return "all"
    if axes and max(axes) < 0:
        return "negative"
    if axes and min(axes) < 0:
        return "mixed_signs"
    return "partial" if axes == tuple(sorted(axes)) else "permuted"
