"""The JSON Schema of the worker protocol: what is sent either way fits it, and what is wrong does not."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator, ValidationError

from conformance.processes import worker_process, worker_streams
from conformance.processes.frames import Frame, FrameReader, encode_frame, encode_numbered
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime, list_runtimes
from conformance.suite.suites import open_suite
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import tensor
from tests.conformance.protocol_schema import SCHEMA, check_answer, check_request
from tests.conformance.samples import FAKES, IDENTITY, echo_runtime, make_case, make_suite
from tests.conformance.structured_cases import FORMS
from tests.conformance.test_demands import values_cases
from tests.conftest import doc_section

Seen = Counter[str]
HELLO = {"type": "hello", "id": 0, "protocol": 1, "runtime": {"name": "x", "version": "1"},
         "domains": {"*": "onnx"}, "forms": ["inputs"]}  # fmt: skip
OUTPUT = {"element_type": "float", "shape": [2], "blob": 0}
INPUT = {"name": "X", "element_type": "float", "shape": [2]}
LOAD = {"type": "load", "id": 1, "model": 1, "form": "inputs", "attributes": {}, "inputs": [INPUT, None],
        "operator": {"domain": "ai.onnx", "name": "Abs", "since_version": 6}, "outputs": ["Y"]}  # fmt: skip


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Counts the headers that the harness sends and gets, all of which are held against the schema."""
    found: Seen = Counter()

    def encode(header: dict[str, Any], blobs: Any = ()) -> list[bytes]:
        pieces = encode_frame(header, blobs)
        check_request({**header, "blobs": [len(blob) for blob in blobs]})
        found[f"{header['type']} asked"] += 1
        return pieces

    def number(head: bytes, *numbers: Any) -> list[bytes]:
        pieces = encode_numbered(head, *numbers)
        header = json.loads(pieces[0][4:])
        check_request(header)
        found[f"{header['type']} asked"] += 1
        return pieces

    class Reader(FrameReader):
        def take(self) -> Frame | None:
            frame = super().take()
            if frame is not None:
                check_answer(frame.header)
                found[frame.header["type"]] += 1
            return frame

    monkeypatch.setattr(worker_process, "encode_frame", encode)
    monkeypatch.setattr(worker_process, "encode_numbered", number)
    monkeypatch.setattr(worker_streams, "FrameReader", Reader)
    return found


def run(folder: Path, runtime: str, cases: Any, **options: Any) -> None:
    with open_suite(make_suite(folder, cases)) as suite:
        run_suite(suite, find_runtime(runtime), folder / "run.jsonl", RunOptions(**options))


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["$defs"]["element_type"]["enum"]) == set(ELEMENT_TYPES)


def test_what_harness_and_worker_say_to_each_other(seen: Seen, tmp_path: Path) -> None:
    deeds = ("echo", "raise", "unsupported", "text", "nothing", "raise_unreadable")
    cases = [make_case(do, seed=each) for each, do in enumerate(deeds)]
    run(tmp_path, echo_runtime("threads"), cases, forms="all", repeat=2)
    kinds = ("hello", "load", "run", "unload", "shutdown")
    assert all(seen[f"{kind} asked"] for kind in kinds)
    assert all(seen[each] for each in ("hello", "loaded", "outputs", "unloaded", "bye", "error"))


def test_attributes_and_element_types_of_every_kind(seen: Seen, tmp_path: Path) -> None:
    given = [
        tensor(np.zeros(3, kind.storage), kind) for kind in ELEMENT_TYPES.values() if kind.kind != "string"
    ]
    cases = [make_case(seed=each, given=array) for each, array in enumerate(given)]
    run(tmp_path, echo_runtime(), cases, forms="all")
    assert seen["outputs"] >= len(ELEMENT_TYPES) - 1


def test_values_of_every_kind(seen: Seen, tmp_path: Path) -> None:
    run(tmp_path, f"exec:{sys.executable} {FAKES / 'values_worker.py'}", values_cases())
    assert seen["outputs"] == len(values_cases())


@pytest.mark.runtimes("onnxruntime")
def test_every_form_of_a_call(seen: Seen, tmp_path: Path) -> None:
    run(tmp_path, "onnxruntime", list(FORMS.values()), forms="all")
    assert seen["outputs"] >= len(FORMS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "runtime", [pytest.param(each, marks=pytest.mark.runtimes(each)) for each in list_runtimes()]
)
def test_what_real_runtimes_say(seen: Seen, tmp_path: Path, runtime: str) -> None:
    run(tmp_path, runtime, [make_case(operator=IDENTITY)], forms="all", repeat=2)
    assert seen["hello"] == seen["bye"] == 1


@pytest.mark.parametrize(
    ("base", "change"),
    [
        (HELLO, {"protocol": 3}),
        (HELLO, {"forms": []}),
        (HELLO, {"forms": ["upside_down"]}),
        (HELLO, {"domains": {"ai.onnx": "xml"}}),
        (HELLO, {"runtime": {"name": "x"}}),
        (HELLO, {"devices": "CPU"}),
        (HELLO, {"threads": [0]}),
        (HELLO, {"values": ["tree"]}),
        ({"type": "outputs", "id": 1}, {"outputs": [{"map": {"keys": OUTPUT}}]}),
        ({"type": "outputs", "id": 1}, {"outputs": [{"sequence": OUTPUT}]}),
        (HELLO, {"element_types": ["float7"]}),
        (HELLO, {"id": "0"}),
        ({"type": "outputs", "id": 1}, {"outputs": None}),
        ({"type": "outputs", "id": 1}, {"outputs": [{**OUTPUT, "shape": [-1]}]}),
        ({"type": "outputs", "id": 1}, {"outputs": [{**OUTPUT, "blob": None}]}),
        ({"type": "outputs", "id": 1, "outputs": []}, {"seconds": -1}),
        ({"type": "error", "id": 1, "class": "rejected", "kind": "", "message": ""}, {"class": "odd"}),
        ({"type": "error", "id": 1, "class": "rejected", "kind": "", "message": ""}, {"message": "x" * 5000}),
        ({"type": "loaded", "id": 1}, {"blobs": [-1]}),
        ({"type": "loaded"}, {}),
        ({"type": "dance", "id": 1}, {}),
    ],
)
def test_an_answer_that_does_not_fit(base: Mapping[str, Any], change: Mapping[str, Any]) -> None:
    with pytest.raises(ValidationError):
        check_answer({**base, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"form": "odd"},
        {"operator": {"domain": "ai.onnx", "name": "Abs"}},
        {"attributes": {"axis": {"kind": "int", "value": 1.5}}},
        {"attributes": {"axis": {"kind": "graph", "value": 1}}},
        {"attributes": {"body": {"kind": "graph", "value": {"blob": "0"}}}},
        {"attributes": {"value": {"kind": "tensor", "value": {"shape": [1], "blob": 0}}}},
        {"attributes": {"type": {"kind": "type", "value": "float"}}},
        {"inputs": [{"name": "S", "type": "seq(tensor(float))"}]},
        {"output_types": {"Y": "list"}},
        {"inputs": [{**INPUT, "constant": True}]},
        {"inputs": [{**INPUT, "blob": 0}]},
        {"threads": 0},
        {"onnx": "model"},
        {"model": None},
    ],
)
def test_a_request_that_does_not_fit(change: Mapping[str, Any]) -> None:
    check_request(LOAD)
    with pytest.raises(ValidationError):
        check_request({**LOAD, **change})


def test_what_a_side_adds_of_its_own_fits() -> None:
    added = {"x_anything": {"a": [1, None]}, "not_named_anywhere": True}
    check_answer({**HELLO, **added})
    check_answer({"type": "outputs", "id": 1, "outputs": [{**OUTPUT, **added}], **added})
    check_request({**LOAD, **added})


def test_the_examples_of_the_page_fit(repository: Path) -> None:
    page = (repository / "docs" / "reference.md").read_text("utf-8")
    blocks = doc_section(page, "Requests and answers").split("\n\n")
    texts = [block for block in blocks if block.startswith("    {")]
    headers = []
    for text in texts:
        rest = text.strip()
        while rest:
            header, end = json.JSONDecoder().raw_decode(rest)
            headers.append(header)
            rest = rest[end:].strip()
    assert len(headers) == 14
    for header in headers:
        asked = header["type"] in ("load", "run", "unload", "shutdown") or "options" in header
        (check_request if asked else check_answer)(header)
