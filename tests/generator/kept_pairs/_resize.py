"""What five versions of Resize were tried on before their calls were declared, and how a call shows it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import cache

from conformance.suite.cases import Case
from specs.files.library import load_spec
from specs.language.expressions import parse

_spec = cache(load_spec)

INTEGERS = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")
BROKEN_RATIOS = "['down_fraction', 'up_fraction', 'mixed']"
CROP = "coordinate_transformation_mode == 'tf_crop_and_resize'"
SINCE: Mapping[int, Mapping[str, tuple[object, ...]]] = {
    10: {
        "element_type": (
            "float", "double", "float16", *INTEGERS, "bool", "string", "complex64", "complex128",
        ),
        "mode": ("nearest", "linear"),
        "X_rank": (1, 2, 3, 4, 5),
        "resized": ("inner", "outer", "every"),
        "ratio": ("same", "down2", "down_fraction", "up2", "up_fraction", "mixed", "to_one"),
        "defaults": ("written", "omitted"),
        "data": (
            "distinct", "random", "constant", "large_offset", "ties",
            "signed_zero", "subnormal", "huge", "nonfinite", "extremes",
        ),
    },
    11: {
        "mode": ("nearest", "linear", "cubic"),
        "coordinate_transformation_mode": (
            "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
            "tf_half_pixel_for_nn", "tf_crop_and_resize",
        ),
        "nearest_mode": ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
        "exclude_outside": (0, 1),
        "cubic_coeff_a": (-0.75, -0.5),
        "extrapolation_value": (0.0, 7.5),
        "target": ("scales", "sizes"),
        "roi": ("omitted", "inside", "across", "outside", "flipped"),
        "roi_type": ("float", "double"),
    },
    13: {
        "element_type": (
            "float", "double", "float16", "bfloat16", *INTEGERS, "bool", "string", "complex64", "complex128",
        ),
        "coordinate_transformation_mode": (
            "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize",
        ),
    },
    18: {
        "antialias": (0, 1),
        "keep_aspect_ratio_policy": ("stretch", "not_larger", "not_smaller"),
        "axes": ("omitted", "all", "permuted", "partial", "negative"),
    },
    19: {
        "coordinate_transformation_mode": (
            "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
            "tf_crop_and_resize",
        ),
    },
}  # fmt: skip
EXCLUSIONS = (
    "element_type in ['string', 'bool'] and mode != 'nearest'",
    f"data == 'constant' and mode != 'nearest' and element_type in {list(INTEGERS)}",
    f"data == 'ties' and mode != 'nearest' and ratio in {BROKEN_RATIOS} and element_type in {list(INTEGERS)}",
    "data == 'nonfinite' and mode != 'nearest' and X_rank > 2",
    "data == 'huge' and mode == 'cubic'",
    "data == 'extremes' and mode != 'nearest' and element_type in ['int32', 'uint32', 'int64', 'uint64']",
    "nearest_mode != 'round_prefer_floor' and mode != 'nearest'",
    "cubic_coeff_a != -0.75 and mode != 'cubic'",
    "exclude_outside == 1 and mode == 'nearest'",
    f"extrapolation_value != 0.0 and not {CROP}",
    f"(roi == 'omitted') == ({CROP})",
    "roi == 'omitted' and roi_type != 'float'",
    "roi == 'flipped' and target == 'scales'",
    "roi in ['across', 'outside'] and element_type in ['string', 'bool']",
    "roi in ['across', 'outside'] and exclude_outside == 1",
    "antialias == 1 and mode == 'nearest'",
    "keep_aspect_ratio_policy != 'stretch' and target == 'scales'",
    "axes == 'permuted' and X_rank == 1",
    "axes == 'partial' and resized == 'every'",
    "X_rank == 1 and resized != 'every'",
    "ratio == 'mixed' and (X_rank == 1 or X_rank == 2 and resized != 'every')",
    "ratio == 'mixed' and X_rank == 3 and resized == 'outer'",
)
ONLY_10 = (
    f"data == 'extremes' and mode == 'linear' and ratio in {BROKEN_RATIOS}",
    f"ratio == 'mixed' and mode == 'linear' and X_rank > 3 and element_type in {list(INTEGERS)}",
)


def factors_of(version: int) -> Mapping[str, tuple[object, ...]]:
    """The factors of a version, with their levels."""
    found: dict[str, tuple[object, ...]] = {}
    for since, factors in SINCE.items():
        if since <= version:
            found.update(factors)
    return found


def exclusions_of(version: int) -> tuple[str, ...]:
    """What was excluded in a version: of its factors."""
    known = factors_of(version).keys()
    rules = (*EXCLUSIONS, *ONLY_10) if version == 10 else EXCLUSIONS
    return tuple(rule for rule in rules if parse(rule).names <= known)


def levels_of(case: Case) -> Mapping[str, Set[object]]:
    """The levels of each factor that a case shows; what no call tells, as it was made to have."""
    given = {name: tensor for name, tensor in case.inputs if tensor is not None}
    defaults: set[object] = set()
    found: dict[str, Set[object]] = {}
    for name, spec in _spec(case.operator).attributes.items():
        written = case.attributes.get(name)
        if spec.has_default:
            value = spec.default if written is None else written.value
            found[name] = {round(value, 6) if isinstance(value, float) else value}
            if value == spec.default:
                defaults.add("omitted" if written is None else "written")
    region = given.get("roi")
    has_region = region is not None and region.array.size > 0
    return {
        **found,
        # A call without an attribute at its default neither writes one nor leaves one out.
        "defaults": defaults or {"written", "omitted"},
        "element_type": {given["X"].element_type.name},
        "X_rank": {len(given["X"].shape)},
        "target": {"sizes" if "sizes" in given else "scales"},
        "roi": {case.levels.get("roi") if has_region else "omitted"},
        "roi_type": {region.element_type.name if region is not None and has_region else "float"},
        "axes": {case.levels.get("axes") if "axes" in case.attributes else "omitted"},
        "ratio": {case.levels.get("ratio")},
        "resized": {case.levels.get("resized")},
        "data": {case.levels.get("data")},
    }
