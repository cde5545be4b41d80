"""The oldest IR version of ONNX that holds a model's operator sets and element types."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from onnx import OperatorSetIdProto
from onnx.helper import find_min_ir_version_for

LEAST_IR = 4
"""Initializers need no graph input since this IR version."""

_IR_OF_TYPES = {
    "float8e4m3fn": 9,
    "float8e4m3fnuz": 9,
    "float8e5m2": 9,
    "float8e5m2fnuz": 9,
    "int4": 10,
    "uint4": 10,
    "float4e2m1": 11,
    "float8e8m0": 12,
    "int2": 13,
    "uint2": 13,
    "float6e2m3": 14,
    "float6e3m2": 14,
}


def least_ir_version(
    opsets: Iterable[OperatorSetIdProto], types: Iterable[str], oldest: int = LEAST_IR
) -> int:
    """The oldest IR version, from `oldest` on, that holds the operator sets and element types named."""
    of_opsets = _ir_of_opsets(tuple((opset.domain, opset.version) for opset in opsets))
    return max(of_opsets, oldest, *(_IR_OF_TYPES.get(each, 0) for each in types))


@lru_cache(maxsize=1 << 10)
def _ir_of_opsets(opsets: tuple[tuple[str, int], ...]) -> int:
    named = [OperatorSetIdProto(domain=domain, version=version) for domain, version in opsets]
    return int(find_min_ir_version_for(named, ignore_unknown=True))
