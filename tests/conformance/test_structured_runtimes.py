"""Every form of a call on the real ONNX Runtime: sequences, optionals, maps, graphs, outputs, seeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.distributions import Distributed
from conformance.suite.properties import HasShape, InRange, SameAgain
from conformance.suite.suites import open_suite
from tests.conformance.samples import make_suite
from tests.conformance.structured_cases import FORMS, random

pytestmark = pytest.mark.runtimes("onnxruntime")
DRAWN = random(
    HasShape("output", (40, 50)),
    InRange("output", 0, 1, high_open=True),
    Distributed("output", "uniform", (0.0, 1.0), 1e-9),
    SameAgain(),
)


def test_every_form_is_answered_rightly(tmp_path: Path) -> None:
    cases = [*FORMS.values(), DRAWN]
    with open_suite(make_suite(tmp_path, cases)) as suite:
        record = run_suite(suite, find_runtime("onnxruntime"), tmp_path / "run.jsonl", RunOptions())
    told = {result.case: (result.verdict, result.reason) for result in record.results}
    assert told == {str(each.id): ("pass", None) for each in cases}
