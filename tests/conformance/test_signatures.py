"""Messages without their particulars: what one check says is one signature, what another says is another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.judging.signatures import crash_signature, signature

READS = (
    "[ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running Resize node. Name:'' Status "
    "Message: /onnxruntime_src/include/onnxruntime/core/framework/tensor.h:230 const T* "
    "onnxruntime::Tensor::Data() const [with T = float] utils::IsPrimitiveDataType<T>(dtype_) was false. "
    "Tensor type mismatch. T !=N11onnxruntime17PrimitiveDataTypeIdEE\n"
)
AXES = (
    "Exception from src/inference/src/cpp/core.cpp:105:\nCheck 'false' failed at src/unconverted.cpp:151:\n"
    "-- Resize-18 with a message:\nWhile validating ONNX node '<Node(Resize): Y>': Check "
    "'std::all_of(axes.cbegin(), axes.cend(), ov::cmp::Less<size_t>(rank))' failed at src/shapes.hpp:34:\n"
    "While validating node 'opset11::Interpolate I_7 (opset1::Parameter X[0]:f32[3,4]) -> (dynamic)'"
    " with friendly_name 'I_7':\nAll axes values should less than input rank: 2\n"
)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (READS, READS.replace("DataTypeIdEE", "DataTypeIaEE").replace("tensor.h:230", "tensor.h:233")),
        (
            READS,
            READS.replace("/onnxruntime_src/include", "/build/v2").replace("running Resize", "running Pad"),
        ),
        (READS, READS.replace("Name:''", "Name:'node_7'")),
        (
            AXES,
            AXES.replace("Resize", "Upsample").replace("f32[3,4]", "bf16[2,2,8]").replace(": 2\n", ": 3\n"),
        ),
        ("no kernel for 'X' of size 17", 'no kernel for "Y_2" of size 3'),
        ("bad pointer 0x7f31a0 in run", "bad pointer 0xdeadbeef in run"),
        ("shapes {2,3} and [4, 5]", "shapes {9} and [1]"),
        ("pads [[1, 2], [3]] refused", "pads [[0]] refused"),
        ("scale -1.5e-07 is too small", "scale 3 is too small"),
        ('node #3 "output" Pad', 'node #12 "other" Pad'),
    ],
)
def test_particulars_do_not_tell_messages_apart(first: str, second: str) -> None:
    assert signature("Fail", first) == signature("Fail", second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (READS, READS.replace("Tensor::Data()", "Tensor::MutableData()")),
        (AXES, AXES.replace("Less<size_t>", "Greater<size_t>")),
        ("Check 'a.size() == b.size()' failed", "Check 'a.size() > b.size()' failed"),
        ("it doesn't have a kernel", "it doesn't have a shape"),
        ("no such input", "no such output"),
    ],
)
def test_what_is_said_tells_messages_apart(first: str, second: str) -> None:
    assert signature("Fail", first) != signature("Fail", second)


def test_the_name_of_the_operator_is_no_part_of_it() -> None:
    assert signature("E", "Resize of rank 3: no", ("Resize",)) == signature(
        "E", "Pad of rank 2: no", ("Pad",)
    )
    assert signature("A", "no") != signature("B", "no")


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_has_a_signature_of_bounded_length(kind: str, message: str) -> None:
    assert len(signature(kind, message)) <= 600
    assert signature(kind, message) == signature(kind, message)


@given(st.integers(), st.integers(), st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_numbers_never_tell(first: int, second: int, low: float, high: float) -> None:
    assert signature("E", f"size {first} at {low}") == signature("E", f"size {second} at {high}") or any(
        each in (float("inf"), float("-inf")) for each in (low, high)
    )


STACK = (
    'Fatal Python error: Aborted\n  File "/a/b/api.py", line {} in infer\n  File "/a/w.py", line 3 in run\n'
)


def test_a_crash_is_told_by_signal_and_innermost_frame() -> None:
    one = crash_signature("SIGABRT", "killed by SIGABRT at run", STACK.format(7))
    assert one == crash_signature("SIGABRT", "killed by SIGABRT at run", STACK.format(90))
    assert one != crash_signature("SIGSEGV", "killed by SIGSEGV at run", STACK.format(7))
    assert one != crash_signature("SIGABRT", "killed by SIGABRT at run", STACK.replace("infer", "load"))
    assert one.endswith("api.py in infer")


def test_what_an_exception_said_before_the_process_died_counts() -> None:
    died = "terminate called after throwing an instance of 'std::out_of_range'\n  what():  index {} of 3\n"
    one = crash_signature("SIGABRT", "killed", died.format(7) + STACK.format(1))
    assert one == crash_signature("SIGABRT", "killed", died.format(9))
    assert "index # of #" in one
