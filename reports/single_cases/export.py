"""A suite as folders in the layout of ONNX's backend tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.models.case_models import has_onnx_form
from conformance.suite.suites import Suite
from reports.single_cases.case_folder import write_case


@dataclass(frozen=True)
class Exported:
    """One exported case: `plain` where the layout holds all of it, else what stands in case.json alone."""

    case_id: str
    folder: Path
    beyond: tuple[str, ...]


def export_suite(suite: Suite, folder: Path) -> Iterator[Exported]:
    """Write every case to `<folder>/<case id>/`, one after the other; UserError where that cannot be done."""
    known = frozenset(suite.case_ids)
    for case in suite.cases():
        valid = suite.case(case.valid_case) if case.valid_case in known else None
        place = write_case(case, folder / str(case.id), valid)
        beyond = []
        if not has_onnx_form(case.operator):
            beyond.append("no ONNX model")
        if case.demand != "answer":
            beyond.append("no answer demanded")
        if len(case.expectations) > 1:
            beyond.append("several readings")
        if any(output.allowed is not None for each in case.expectations for output in each.outputs):
            beyond.append("allowed error by element")
        if case.properties or any(each.unordered for each in case.expectations):
            beyond.append("demands that are no values")
        if any(output.alternatives for each in case.expectations for output in each.outputs):
            beyond.append("further values of elements")
        yield Exported(str(case.id), place, tuple(beyond))
