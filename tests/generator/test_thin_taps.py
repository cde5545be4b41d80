"""A runtime that drops the thin taps of an antialiasing filter fails in every mode that has one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.judging.output_comparison import compare_output
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from generator.making.operators.workshop import Options
from generator.making.suites.cache import cached_suite
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from tests.reference.resize_by_loops import AxisNumbers, Call
from tests.reference.resize_routes import F32, F64, ROUTES, HonestRoute, axis_taps, compute
from tests.reference.test_routes_on_the_suite import as_call

KINDS = {"float": F32, "double": F64}
THIN = 0.001
"""Of the whole."""


def without_thin_taps(least: float, renormalised: bool) -> Any:
    """The taps of an honest route but for those that weigh less than a part of the whole."""

    def taps(call: Call, n: AxisNumbers, x: int, route: HonestRoute) -> Any:
        found = axis_taps(call, n, x, route)
        if found is None or not call.antialias:
            return found
        kept = [(index, weight) for index, weight in zip(*found, strict=True) if abs(weight) >= least]
        total = sum(weight for _, weight in kept) if renormalised else F32(1)
        return [index for index, _ in kept], [weight / total for _, weight in kept]

    return taps


def antialiased(version: int) -> Iterator[tuple[Case, Call]]:
    resize = OperatorName("ai.onnx", "Resize", version)
    with open_suite(cached_suite([resize], Options(), print)) as suite:
        for case in suite.cases(f"{resize.path}/boundary/antialias_*"):
            call = as_call(case) if case.demand == "answer" else None
            if call is not None and case.expectations[0].outputs[0].expected.element_type.name in KINDS:
                yield case, call


def passes(case: Case, call: Call, taps: Any) -> bool:
    kind = case.expectations[0].outputs[0].expected.element_type
    got = compute(call, ROUTES[0], KINDS[kind.name], taps).astype(kind.storage)
    return any(
        compare_output(expectation.outputs[0], Tensor(kind, got)).difference is None
        for expectation in case.expectations
    )


@pytest.mark.parametrize("version", [pytest.param(18, marks=pytest.mark.nightly), 19])
@pytest.mark.parametrize("renormalised", [False, True])
@pytest.mark.parametrize(("least", "cases"), [(THIN, 8), (THIN / 2, 8), (THIN / 10, 2)])
def test_dropping_thin_taps_is_noticed_in_every_mode(
    least: float, cases: int, renormalised: bool, version: int
) -> None:
    taps = without_thin_taps(least, renormalised)
    noticed: dict[str, int] = defaultdict(int)
    for case, call in antialiased(version):
        assert passes(case, call, axis_taps), f"{case.id}: the honest route fails"
        noticed[call.mode] += not passes(case, call, taps)
    assert set(noticed) == {"linear", "cubic"}
    assert min(noticed.values()) >= cases, dict(noticed)
