"""Answers of any kind: the harness makes sense of them, or calls them broken, and nothing else."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.doctor.examination import WorkerExamination
from conformance.doctor.patient import Abilities
from conformance.judging.responses import Refused, ReturnedOther, WorkerFailed
from conformance.processes.frames import BrokenProtocol, Frame
from conformance.processes.worker_limits import Limits, describe_confinement
from conformance.running.requests import read_error, read_offer, seconds_of
from conformance.running.returned_values import read_outputs
from conformance.runtimes.adapter import load_adapter
from conformance.suite.canonical import canonical_json
from opcert.commands.doctor_command import describe_diagnosis
from opcert.vocabulary.element_types import ELEMENT_TYPES

HELLO = {"type": "hello", "protocol": 1, "runtime": {"name": "x", "version": "1"}, "domains": {"*": "onnx"},
         "forms": ["inputs"], "devices": ["CPU"], "threads": [1], "element_types": ["float"], "opsets": {},
         "platform": {"python": "3.9"}}  # fmt: skip
ERROR = {"type": "error", "class": "rejected", "kind": "E", "message": "no"}
OUTPUT = {"element_type": "float", "shape": [2], "blob": 0}
TRIVIAL = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    TRIVIAL | st.sampled_from(["inputs", "onnx", "float", *ELEMENT_TYPES]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(HELLO)), JSON, min_size=1, max_size=2))
def test_any_hello(changes: dict[str, Any]) -> None:
    try:
        offer = read_offer({**HELLO, **changes})
    except BrokenProtocol:
        return
    assert offer.forms
    canonical_json(offer.facts)
    confinement = describe_confinement(Limits(), {})
    assert describe_diagnosis(WorkerExamination(offer, {}, confinement, 0.0, (), Abilities()))


@pytest.mark.parametrize("protocol", [0, 3, "1", None, 1.5, True])
def test_another_version_of_the_protocol(protocol: object) -> None:
    with pytest.raises(BrokenProtocol, match=f"protocol {protocol!r}"):
        read_offer({**HELLO, "protocol": protocol})


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(sorted(OUTPUT)) | st.just("not_a_tensor"), JSON),
    st.binary(max_size=9),
    JSON,
)
def test_any_output(changes: dict[str, Any], blob: bytes, seconds: Any) -> None:
    frame = Frame({"type": "outputs", "outputs": [{**OUTPUT, **changes}], "seconds": seconds}, (blob,))
    assert seconds_of(frame) >= 0
    with suppress(BrokenProtocol):
        (found,) = read_outputs(frame, 0.0).outputs
        if not isinstance(found, ReturnedOther):
            assert found.to_bytes() == blob


@settings(deadline=None)
@given(JSON)
def test_any_list_of_outputs(outputs: Any) -> None:
    with suppress(BrokenProtocol):
        read_outputs(Frame({"type": "outputs", "outputs": outputs}), 0.0)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(ERROR)), JSON))
def test_any_error(changes: dict[str, Any]) -> None:
    found = read_error({**ERROR, **changes}, "run", load_adapter("onnxruntime"), 0.0)
    assert isinstance(found, Refused | WorkerFailed)
