"""Every honest route passes the cases of the default suite that it can compute."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.judging.output_comparison import compare_output
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from generator.making.operators.named_suites import FIRST
from generator.making.suites.cache import named_suite
from opcert.vocabulary.tensors import Tensor
from tests.reference.resize_by_loops import Call
from tests.reference.resize_routes import F32, F64, ROUTES, compute
from tests.reference.test_resize_bounds import move_by

pytestmark = pytest.mark.slow

KINDS = {"float": F32, "double": F64, "float16": F32, "bfloat16": F32}
STORED = {"bfloat16": ml_dtypes.bfloat16}
"""Types that the storage holds as bits."""
EVERY = 1 if os.environ.get("CI") == "true" else 3
"""Of so many cases one is tried: all in CI, a third where somebody waits."""


def fractions(tensor: Tensor | None) -> tuple[Fraction, ...] | None:
    if tensor is None or tensor.array.size == 0:
        return None
    return tuple(Fraction(float(each)) for each in tensor.array.reshape(-1))


def as_call(case: Case) -> Call | None:
    """The case as a call of the loops; None where its numbers are not finite or its type has no route."""
    inputs = dict(case.inputs)
    data = inputs["X"]
    assert data is not None
    if data.element_type.name not in KINDS:
        return None
    elements = data.array.view(STORED.get(data.element_type.name, data.array.dtype)).astype(F64)
    if not np.isfinite(elements).all():
        return None
    given: dict[str, Any] = {name: attribute.value for name, attribute in case.attributes.items()}
    oldest = case.operator.since_version == 10
    sizes = fractions(inputs.get("sizes"))
    return Call(
        shape=data.shape,
        # Floats, for Fractions have no negative zero.
        data=tuple(elements.reshape(-1).tolist()),
        scales=fractions(inputs.get("scales")),
        sizes=None if sizes is None else tuple(map(int, sizes)),
        roi=fractions(inputs.get("roi")),
        axes=given.get("axes"),
        mode=given.get("mode", "nearest"),
        coordinates=given.get("coordinate_transformation_mode", "asymmetric" if oldest else "half_pixel"),
        nearest_mode=given.get("nearest_mode", "floor" if oldest else "round_prefer_floor"),
        cubic_coeff_a=Fraction(float(F32(given.get("cubic_coeff_a", -0.75)))),
        exclude_outside=bool(given.get("exclude_outside", 0)),
        antialias=bool(given.get("antialias", 0)),
        extrapolation_value=Fraction(float(F32(given.get("extrapolation_value", 0.0)))),
        policy=given.get("keep_aspect_ratio_policy", "stretch"),
    )


def resize_cases() -> Iterator[tuple[Case, Call]]:
    suite = open_suite(named_suite(FIRST, print))
    wanted = [case_id for case_id in suite.case_ids if case_id.startswith("ai.onnx/Resize-")]
    for case in map(suite.case, wanted[::EVERY]):
        if case.demand == "answer":
            call = as_call(case)
            if call is not None:
                yield case, call


def moved(call: Call, how: str) -> NDArray[Any]:
    """The elements taken by nearest, found by moving their positions; -1 is where nothing is."""
    numbered = replace(call, data=tuple(range(len(call.data))), extrapolation_value=Fraction(-1))
    elements = np.array([*call.data, float(call.extrapolation_value)], F64)
    return elements[move_by(numbered, how).astype(np.int64)]


def answers(call: Call, kind: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    if call.mode == "nearest":
        for how in ("division", "reciprocal", "fused", "step", "double"):
            yield f"nearest by {how}", moved(call, how)
        return
    for route in ROUTES:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            yield route.name, compute(call, route, kind)


@pytest.mark.nightly
def test_every_route_passes() -> None:
    passed = 0
    wrong = []
    for case, call in resize_cases():
        element_type = case.expectations[0].outputs[0].expected.element_type
        for name, got in answers(call, KINDS[element_type.name]):
            with np.errstate(over="ignore", invalid="ignore"):
                stored = got.astype(KINDS[element_type.name]).astype(
                    STORED.get(element_type.name, element_type.storage)
                )
            output = Tensor(element_type, stored.view(element_type.storage))
            found = [compare_output(expectation.outputs[0], output) for expectation in case.expectations]
            if any(each.difference is None for each in found):
                passed += 1
            else:
                wrong.append(f"{case.id} by {name}: {found[0].worst or found[0].difference}")
    assert not wrong, "\n".join([f"{len(wrong)} of {len(wrong) + passed}:", *wrong[:20]])
    assert passed * EVERY > 5000
