"""What ExtractImagePatches was tried on before its calls were declared, and how a call shows it."""

from __future__ import annotations

from collections.abc import Mapping, Set

from conformance.suite.cases import Case

OPERATOR = "org.openvino::ExtractImagePatches-3"
FACTORS: Mapping[str, tuple[object, ...]] = {
    "element_type": (
        "float", "double", "float16", "bfloat16", "int8", "int16", "int32", "int64",
        "uint8", "uint16", "uint32", "uint64", "bool",
    ),
    "sizes": ("one", "square", "tall", "wide"),
    "strides": ("one", "rows", "different", "beyond_the_patch"),
    "rates": ("one", "rows", "columns", "both"),
    "auto_pad": ("valid", "same_upper", "same_lower"),
    "image": ("one_patch", "whole", "rest"),
    "depth": (1, 3),
    "batch": (1, 2),
    "data": ("distinct", "random", "extremes", "signed_zero", "subnormal", "huge", "nonfinite"),
}  # fmt: skip
EXCLUSIONS = ("image == 'rest' and strides == 'one'",)


def levels_of(case: Case) -> Mapping[str, Set[object]]:
    """The levels of each factor that a case shows."""
    data = case.inputs[0][1]
    assert data is not None
    sizes, strides, rates = (
        tuple(int(number) for number in case.attributes[name].numbers)
        for name in ("sizes", "strides", "rates")
    )
    auto_pad = case.attributes["auto_pad"].value
    batch, depth, *extents = data.shape
    patches = case.expectations[0].outputs[0].expected.shape[2:]
    reach = [(size - 1) * rate + 1 for size, rate in zip(sizes, rates, strict=True)]
    rooms = [
        extent - (each if auto_pad == "valid" else 0) for extent, each in zip(extents, reach, strict=True)
    ]
    rest = any(room % stride for room, stride in zip(rooms, strides, strict=True))
    return {
        "element_type": {data.element_type.name},
        "sizes": {_sizes(*sizes)},
        "strides": _strides(strides, reach),
        "rates": {_rates(*rates)},
        "auto_pad": {auto_pad},
        "image": {"rest"} if rest else {"one_patch" if set(patches) == {1} else "whole"},
        "depth": {depth},
        "batch": {batch},
        "data": {case.levels.get("data")},
    }


def _sizes(rows: int, columns: int) -> str:
    if rows == columns:
        return "one" if rows == 1 else "square"
    return "tall" if rows > columns else "wide"


def _strides(strides: tuple[int, ...], reach: list[int]) -> Set[object]:
    rows, columns = strides
    found: set[object] = {"one"} if strides == (1, 1) else {"rows"} if columns == 1 else set()
    if rows != columns and min(strides) > 1:
        found.add("different")
    if min(strides) > 1 and all(stride >= each for stride, each in zip(strides, reach, strict=True)):
        found.add("beyond_the_patch")
    return found


def _rates(rows: int, columns: int) -> str:
    return {(False, False): "one", (True, False): "rows", (False, True): "columns", (True, True): "both"}[
        rows > 1, columns > 1
    ]
