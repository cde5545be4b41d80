"""The worker's side of the protocol: answers to sense and to nonsense."""

from __future__ import annotations

import ast
import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.processes.frames import BrokenProtocol, FrameReader, encode_frame
from conformance.runtimes.adapter import WORKERS
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from tests.conformance.samples import FAKES
from tests.conformance.test_suites import tensors

if TYPE_CHECKING:
    from conformance.workers.wire_arrays import (
        EXTENDED,
        NATIVE,
        from_numpy,
        from_storage,
        to_numpy,
        to_storage,
    )
    from conformance.workers.worker_protocol import NotTensor, WireTensor
else:
    sys.path.insert(0, str(WORKERS))
    from wire_arrays import EXTENDED, NATIVE, from_numpy, from_storage, to_numpy, to_storage
    from worker_protocol import NotTensor, WireTensor

    sys.path.remove(str(WORKERS))

HELLO = {"type": "hello", "id": 0, "protocol": 1, "options": {}}


def talk(raw: bytes) -> tuple[list[dict[str, Any]], int]:
    """Send bytes to the fake worker and end its input; its answers and its exit status."""
    command = [sys.executable, str(FAKES / "echo_worker.py")]
    finished = subprocess.run(command, input=raw, capture_output=True, timeout=20, check=False)
    reader = FrameReader(1 << 20)
    reader.feed(finished.stdout)
    answers = []
    while (frame := reader.take()) is not None:
        answers.append(frame.header)
    return answers, finished.returncode


def frames(*headers: dict[str, Any]) -> bytes:
    return b"".join(piece for header in headers for piece in encode_frame(header))


def test_nonsense_is_answered_and_the_worker_goes_on() -> None:
    answers, status = talk(
        frames(
            {"type": "run", "id": 1},
            {"type": "hello", "id": 2, "protocol": 99},
            HELLO,
            {"type": "dance", "id": 3},
            {"id": 4},
            {"type": "load", "id": 5},
            {"type": "run", "id": 6, "model": 7, "inputs": []},
            {"type": "run", "id": 7, "model": 7, "inputs": [{"name": "X"}]},
            {"type": "unload", "id": 8, "model": 99},
            {"type": "unload", "id": 9, "model": ["x"]},
            {"type": "shutdown", "id": 10},
            {"type": "hello", "id": 11},
        )
    )
    assert [answer["id"] for answer in answers] == [1, 2, 0, 3, 4, 5, 6, 7, 8, 9, 10]
    kinds = {answer["id"]: answer.get("class", answer["type"]) for answer in answers}
    assert kinds == {
        0: "hello", 1: "internal", 2: "internal", 3: "internal", 4: "internal", 5: "internal",
        6: "internal", 7: "internal", 8: "unloaded", 9: "internal", 10: "bye",
    }  # fmt: skip
    assert status == 0


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff\xff\xff\xff",
        b"\x05\x00",
        b"\x05\x00\x00\x00{}",
        b"\x02\x00\x00\x00[]",
        b"\x02\x00\x00\x00{x",
        b"\x03\x00\x00\x00\xff\xfe\xfd",
        frames({"type": "x", "id": 1, "blobs": [-1]}),
        frames({"type": "x", "id": 1, "blobs": [100]}) + b"short",
    ],
)
def test_what_is_no_frame_is_answered_and_the_worker_goes(raw: bytes) -> None:
    answers, status = talk(frames(HELLO) + raw)
    assert [answer["type"] for answer in answers] == ["hello", "error"]
    assert answers[1]["id"] is None
    assert status == 3


def test_the_end_of_the_input_ends_the_worker() -> None:
    assert talk(b"") == ([], 0)


@given(
    st.lists(st.tuples(st.integers(0, 99), st.lists(st.binary(max_size=20), max_size=3)), max_size=4),
    st.data(),
)
def test_frames_are_read_however_they_are_cut(
    sent: list[tuple[int, list[bytes]]], data: st.DataObject
) -> None:
    raw = b"".join(piece for number, blobs in sent for piece in encode_frame({"id": number}, blobs))
    reader, found = FrameReader(1 << 20), []
    while raw:
        size = data.draw(st.integers(1, len(raw)))
        reader.feed(raw[:size])
        raw = raw[size:]
        while (frame := reader.take()) is not None:
            found.append((frame.header["id"], list(frame.blobs)))
    assert found == sent
    assert not reader.complete


def test_an_answer_over_the_limit_is_refused_before_it_comes() -> None:
    reader = FrameReader(100)
    header = json.dumps({"id": 1, "blobs": [101]}).encode()
    reader.feed(struct.pack("<I", len(header)) + header)
    with pytest.raises(BrokenProtocol, match="101 bytes"):
        reader.take()


@given(tensors())
def test_tensors_reach_a_python_runtime_and_come_back(original: Tensor) -> None:
    sent = WireTensor(original.element_type.name, original.shape, original.to_bytes())
    back = from_numpy(to_numpy(sent))
    if original.element_type.kind == "string" and not _is_text(original):
        return
    assert isinstance(back, WireTensor)
    assert (back.element_type, back.shape, back.data) == (sent.element_type, sent.shape, sent.data)
    stored = from_storage(sent.element_type, to_storage(sent))
    assert stored.data == sent.data


def _is_text(original: Tensor) -> bool:
    return all(
        number.decode("utf-8", "surrogateescape").encode("utf-8", "surrogateescape") == number
        for number in original.array.flat
    )


def test_every_element_type_is_known_on_both_sides() -> None:
    assert set(NATIVE) | set(EXTENDED) | {"string"} == set(ELEMENT_TYPES)
    for ours, theirs in EXTENDED.items():
        assert np.dtype(getattr(ml_dtypes, theirs)).name == theirs, ours


@pytest.mark.parametrize(
    "value", [None, 5, [1.0], {"Y": 1}, np.array([None]), np.array(["2020-01-01"], dtype="M8[D]")]
)
def test_what_is_no_tensor_is_sent_as_such(value: object) -> None:
    assert isinstance(from_numpy(value), NotTensor)


def test_big_endian_and_strided_arrays_are_sent_in_order() -> None:
    array = np.arange(12, dtype=">i4").reshape(3, 4)[:, ::2]
    sent = from_numpy(array)
    assert isinstance(sent, WireTensor)
    assert np.frombuffer(sent.data, "<i4").tolist() == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize("path", sorted(WORKERS.glob("*.py")), ids=lambda path: path.name)
def test_workers_are_written_for_python_3_9(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 9))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Match)]
