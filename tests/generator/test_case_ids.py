"""Ids of cases are kept for ever: the calls of today's operators have those that the lock holds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from generator.asking.calls import Call
from generator.making.operators.workshop import Options, Workshop, open_workshop
from generator.making.suites.lock import read_lock
from generator.making.suites.part_making import make_part_once
from opcert.vocabulary.names import CaseId, OperatorName

LOCK = read_lock()
KEPT = (
    "ai.onnx::CenterCropPad-18",
    "ai.onnx::Resize-10",
    "ai.onnx::Resize-11",
    "ai.onnx::Resize-13",
    "ai.onnx::Resize-18",
    "ai.onnx::Resize-19",
    "com.microsoft::Pad-1",
    "org.openvino::ExtractImagePatches-3",
    "org.tensorflow::BatchToSpaceND-1",
)
KNOWN = 12
"""So many calls at the borders, and broken ones, each of these has at least."""


def _calls(workshop: Workshop) -> Iterator[tuple[str, Call]]:
    """Calls at the borders and calls that break a rule, with the families that they may be kept under."""
    spec, levels = workshop.spec, workshop.levels
    for _, _, call in levels.boundary_calls(spec, workshop.draw("boundary")):
        yield "boundary example", call
    for constraint, _, broken in levels.invalid_calls(spec, workshop.draw("invalid")):
        rule = next(each for each in spec.constraints if each.id == constraint)
        yield "invalid" if rule.otherwise == "error" else "survival", broken


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("name", KEPT)
def test_calls_have_the_ids_that_the_lock_holds(name: str) -> None:
    operator = OperatorName.parse(name)
    workshop = open_workshop(operator, Options())
    kept: dict[str, set[str]] = {}
    part = make_part_once(operator, Options()).part
    assert part.digest == LOCK.versions[name].digest
    for entry in part.entries:
        kept.setdefault(entry["family"], set()).add(CaseId.parse(entry["id"]).digest)
    missing = [
        (families, call.digest(operator))
        for families, call in _calls(workshop)
        if not any(call.digest(operator) in kept.get(word, ()) for word in families.split())
    ]
    assert missing == []
    assert len(list(_calls(workshop))) >= KNOWN
