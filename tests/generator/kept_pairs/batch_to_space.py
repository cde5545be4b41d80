"""What BatchToSpaceND was tried on before its calls were declared, and how a call shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from math import prod

from conformance.suite.cases import Case

OPERATOR = "org.tensorflow::BatchToSpaceND-1"
FACTORS: Mapping[str, tuple[object, ...]] = {
    "element_type": (
        "float", "double", "float16", "bfloat16", "int8", "int16", "int32", "int64",
        "uint8", "uint16", "uint32", "uint64", "bool", "string", "complex64", "complex128",
    ),
    "spatial": (1, 2, 3),
    "remaining": (0, 1, 2),
    "blocks": ("ones", "equal", "different", "one_first", "one_last"),
    "extents": ("different", "ones"),
    "batch": ("one_block", "several"),
    "crops": ("none", "begin", "end", "both", "all_but_one"),
    "block_type": ("int32", "int64"),
    "crops_type": ("int32", "int64"),
    "data": ("distinct", "random", "extremes", "signed_zero", "subnormal", "huge", "nonfinite"),
}  # fmt: skip
EXCLUSIONS = (
    "spatial == 1 and blocks in ['one_first', 'one_last']",
    "blocks == 'ones' and extents == 'ones' and crops != 'none'",
)


def levels_of(case: Case) -> Mapping[str, Set[object]]:
    """The levels of each factor that a case shows."""
    images, block_shape, crops = (tensor for _, tensor in case.inputs)
    assert images is not None
    assert block_shape is not None
    assert crops is not None
    blocks = block_shape.array.tolist()
    spatial = images.shape[1 : 1 + len(blocks)]
    grown = [extent * block for extent, block in zip(spatial, blocks, strict=True)]
    return {
        "element_type": {images.element_type.name},
        "spatial": {len(blocks)},
        "remaining": {len(images.shape) - 1 - len(blocks)},
        "blocks": _blocks(blocks),
        "extents": {"ones" if set(spatial) == {1} else "different"},
        "batch": {"one_block" if images.shape[0] == prod(blocks) else "several"},
        "crops": _crops(crops.array.tolist(), grown),
        "block_type": {block_shape.element_type.name},
        "crops_type": {crops.element_type.name},
        "data": {case.levels.get("data")},
    }


def _blocks(blocks: Sequence[int]) -> Set[object]:
    if set(blocks) <= {1}:
        return {"ones"}
    words = {
        "equal": len(set(blocks)) == 1,
        "different": len(set(blocks)) == len(blocks),
        "one_first": len(blocks) > 1 and blocks[0] == 1,
        "one_last": len(blocks) > 1 and blocks[-1] == 1,
    }
    return {word for word, holds in words.items() if holds}


def _crops(crops: Sequence[Sequence[int]], grown: Sequence[int]) -> Set[object]:
    begins, ends = any(begin for begin, _ in crops), any(end for _, end in crops)
    found: set[object] = {("both" if ends else "begin") if begins else "end" if ends else "none"}
    if (begins or ends) and all(extent - sum(pair) == 1 for pair, extent in zip(crops, grown, strict=True)):
        found.add("all_but_one")
    return found
