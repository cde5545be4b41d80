"""The reference of Resize against loops over Fractions, on random calls.

300 calls by default; OPCERT_EXAMPLES=10000 asks for more.
"""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from reference.answers import OutsideDomain, UnstableLength
from tests.reference.resize_by_loops import Call, Undefined, resize
from tests.reference.resize_calls import ask, calls

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("OPCERT_EXAMPLES", "300"))


def is_nearest(got: np.float32, exact: Fraction) -> bool:
    """Whether no float32 lies nearer to a number, and an even one where two are as near."""
    off = abs(Fraction(float(got)) - exact)
    for neighbour in (np.nextafter(got, np.float32(np.inf)), np.nextafter(got, np.float32(-np.inf))):
        other = abs(Fraction(float(neighbour)) - exact)
        if other < off or (other == off and int(got.view(np.uint32)) & 1):
            return False
    return True


@pytest.mark.nightly
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(calls())
def test_reference_equals_the_loops(call: Call) -> None:
    try:
        shape, exact = resize(call)
    except Undefined:
        with pytest.raises((OutsideDomain, UnstableLength)):
            ask(call)
        return
    try:
        answer = ask(call)
    except (OutsideDomain, UnstableLength):
        assume(False)
    assert answer.expected.shape == shape
    got = answer.expected.array.reshape(-1)
    others = answer.alternatives or {}
    if call.mode == "nearest":
        wanted = [np.float32(float(each)) for each in exact]
        for index, (element, value) in enumerate(zip(got, wanted, strict=True)):
            # Where routes differ about the edge of the tensor, the reference states the inner value first.
            on_edge = call.coordinates == "tf_crop_and_resize" and value in others.get(index, ())
            assert element == value or on_edge, (index, element, value)
        return
    for index, (element, value) in enumerate(zip(got, exact, strict=True)):
        if index in others and call.coordinates == "tf_crop_and_resize":
            continue
        assert is_nearest(element, value), (index, element, float(value))
