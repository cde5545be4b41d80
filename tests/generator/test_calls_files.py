"""Calls as files: every bit comes back, what is damaged is said, and suites are made of folders of calls."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.suite.suites import open_suite
from generator.asking.calls import Call, call_of
from generator.asking.calls_files import (
    FORMAT,
    CallReader,
    KeptCall,
    read_call,
    read_calls,
    tensor_to_json,
    write_call,
)
from generator.calls.data.data import data_classes, fill
from generator.calls.data.draws import Draw
from generator.making.suites.found_calls import write_suite_of_calls
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.structured_cases import FORMS


def read_tensor(entry: dict[str, Any]) -> Tensor:
    return CallReader("file").tensor(entry, "inputs[0]")


CENTER = OperatorName.parse("ai.onnx::CenterCropPad-18")


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_every_element_of_every_type_comes_back(name: str) -> None:
    kind = ELEMENT_TYPES[name]
    for data_class in data_classes(kind):
        for shape in ((), (0, 2), (3, 7)):
            there = fill(kind, shape, data_class, Draw(data_class))
            told = json.loads(json.dumps(tensor_to_json(there), allow_nan=False))
            assert read_tensor(told) == there


@pytest.mark.parametrize(
    "name", [name for name, element_type in ELEMENT_TYPES.items() if element_type.kind == "float"]
)
def test_every_pattern_of_bits_comes_back(name: str) -> None:
    kind = ELEMENT_TYPES[name]
    width = np.dtype(kind.storage).itemsize

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.integers(0, 2**kind.bits - 1), max_size=20))
    def comes_back(bits: list[int]) -> None:
        there = Tensor(kind, np.array(bits, dtype=f"u{width}").view(kind.storage))
        assert read_tensor(json.loads(json.dumps(tensor_to_json(there)))) == there

    comes_back()


@pytest.mark.parametrize("name", FORMS)
def test_a_call_of_every_form_comes_back_from_its_file(tmp_path: Path, name: str) -> None:
    case = FORMS[name]
    call = call_of(case)
    assert call.digest(case.operator) == case.id.digest
    write_call(KeptCall(case.operator, call), tmp_path / "call.json")
    read = read_call(tmp_path / "call.json").call
    assert (read.attributes, read.inputs, read.slots, read.outputs) == (
        call.attributes, call.inputs, call.slots, call.outputs,
    )  # fmt: skip
    assert read.digest(case.operator) == case.id.digest


def test_the_tensors_of_a_variadic_input_come_back_in_order(tmp_path: Path) -> None:
    call = Call(
        {}, (("inputs", tensor([1])), ("inputs", tensor([2])), ("inputs", None), ("inputs", tensor([3])))
    )
    write_call(KeptCall(CENTER, call), tmp_path / "call.json")
    read = read_call(tmp_path / "call.json").call
    assert (read.inputs, read.slots) == (call.inputs, ())
    assert read.digest(CENTER) == call.digest(CENTER)


@pytest.mark.parametrize(
    "change",
    [
        {"slots": 1},
        {"slots": [["S", [0], "seq(tensor(float))"]]},
        {"slots": [["S", [7], "seq(tensor(float))", False]]},
        {"slots": [["S", ["0"], "seq(tensor(float))", False]]},
        {"slots": [["S", [0], "list", False]]},
        {"outputs": "Y"},
        {"outputs": []},
        {"outputs": [""]},
        {"outputs": ["Y", "Y"]},
        {"attributes": {"g": {"kind": "graph", "value": {"graph": "%%"}}}},
        {"attributes": {"g": {"kind": "graph", "value": 7}}},
        {"attributes": {"t": {"kind": "tensor", "value": [1, 2]}}},
        {
            "attributes": {
                "t": {"kind": "tensor", "value": {"element_type": "float", "shape": [2], "data": [1]}}
            }
        },
        {"attributes": {"t": {"kind": "type", "value": "float"}}},
        {"attributes": {"t": {"kind": "sparse_tensor", "value": 1}}},
    ],
)
def test_a_form_that_is_none_is_told_with_its_key(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "call.json"
    write_call(KeptCall(CENTER, Call({}, (("S", tensor([1.0], "float")),))), path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}), encoding="utf-8")
    with pytest.raises(UserError) as raised:
        read_call(path)
    (key,) = change
    assert key in str(raised.value.where)


def test_a_call_comes_back_from_its_file(tmp_path: Path) -> None:
    attributes = {
        "axes": attribute("ints", [2**62, -1]),
        "names": attribute("strings", ["a", "é"]),
        "rate": attribute("float", float("nan")),
        "rates": attribute("floats", [float("-inf"), 0.1, -0.0]),
    }
    strings = np.array([b"\xff\xfe", b"text"], dtype=np.object_)
    inputs = (("X", tensor(strings, "string")), ("nothing", None), ("Y", tensor(np.float32(0.1))))
    valid = Call({}, (("X", tensor([1], "int64")),))
    kept = KeptCall(
        CENTER, Call(attributes, inputs), valid, "word", {"verdict": "crash", "worst": float("inf")}
    )
    write_call(kept, tmp_path / "one.json")
    (back,) = read_calls(tmp_path)
    assert back.call.digest(CENTER) == kept.call.digest(CENTER)
    assert repr(back.call.attributes) == repr(dict(sorted(attributes.items())))
    assert back.made_from is not None
    assert back.made_from.digest(CENTER) == valid.digest(CENTER)
    assert (back.operator, back.word, back.found["verdict"]) == (CENTER, "word", "crash")


def center_crop(**changes: Any) -> dict[str, Any]:
    content = {
        "format": FORMAT,
        "operator": str(CENTER),
        "attributes": {},
        "inputs": [
            {"name": "input_data", "element_type": "float", "shape": [3], "data": [0, 1.5, "NaN"]},
            {"name": "shape", "element_type": "int64", "shape": [1], "data": ["2"]},
        ],
    }
    return {**content, **changes}


WRONG: dict[str, dict[str, Any]] = {
    "another format": {"format": "opcert-call/9"},
    "no operator": {"operator": "Resize"},
    "an attribute of no kind": {"attributes": {"axes": {"kind": "tensor", "value": []}}},
    "an attribute of another kind": {"attributes": {"axes": {"kind": "ints", "value": [0.5]}}},
    "no element type": {"inputs": [{"name": "X", "element_type": "float12", "shape": [], "data": [1]}]},
    "too few elements": {"inputs": [{"name": "X", "element_type": "float", "shape": [2], "data": [1]}]},
    "a negative extent": {"inputs": [{"name": "X", "element_type": "float", "shape": [-1], "data": []}]},
    "an integer out of range": {
        "inputs": [{"name": "X", "element_type": "int8", "shape": [], "data": [128]}]
    },
    "half an integer": {"inputs": [{"name": "X", "element_type": "int8", "shape": [], "data": [0.5]}]},
    "no number": {"inputs": [{"name": "X", "element_type": "float", "shape": [], "data": ["seven"]}]},
    "a boolean for a number": {
        "inputs": [{"name": "X", "element_type": "int8", "shape": [], "data": [True]}]
    },
    "half a complex number": {
        "inputs": [{"name": "X", "element_type": "complex64", "shape": [], "data": [[1]]}]
    },
    "inputs that are no list": {"inputs": 7},
    "one input twice": {"inputs": [{"name": "X"}, {"name": "X"}]},
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_damaged_is_said_with_the_file(what: str, tmp_path: Path) -> None:
    path = tmp_path / "call.json"
    path.write_text(json.dumps(center_crop(**WRONG[what])))
    with pytest.raises(UserError) as error:
        read_call(path)
    assert str(path) in str(error.value)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in JSON."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(each for key, item in inner for each in paths(item, (*path, key)))]


WHOLE = center_crop(
    attributes={"axes": {"kind": "ints", "value": [0, "1"]}, "rate": {"kind": "float", "value": "NaN"}},
    made_from={
        "attributes": {},
        "inputs": [{"name": "X", "element_type": "string", "shape": [1], "data": ["a"]}],
    },
    word="half",
    found={"verdict": "crash"},
)
MAY_BE_NULL = {("made_from",), ("word",), ("found",), ("found", "verdict")}


def put(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    content = json.loads(json.dumps(WHOLE))
    found = content
    for key in path[:-1]:
        found = found[key]
    found[path[-1]] = value
    return content  # type: ignore[no-any-return] # what was put there is read back


@pytest.mark.parametrize("path", [each for each in paths(WHOLE) if each], ids=str)
def test_null_in_any_place_is_told_with_its_key(tmp_path: Path, path: tuple[Any, ...]) -> None:
    file = tmp_path / "call.json"
    file.write_text(json.dumps(put(path, None)))
    if path in MAY_BE_NULL:
        assert read_call(file).operator == CENTER
        return
    with pytest.raises(UserError) as caught:
        read_call(file)
    said = str(caught.value)
    assert str(file) in said
    assert "TypeError" not in said
    assert path == ("format",) or str(path[0]) in said


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.just("bits"), inner, max_size=2)
    ),
)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from([each for each in paths(WHOLE) if each]), ANYTHING)
def test_anything_in_any_place_is_read_or_told(path: tuple[Any, ...], value: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "call.json"
        file.write_text(json.dumps(put(path, value)))
        told: Any
        try:
            told = read_call(file)
        except UserError as error:
            told = error
    if isinstance(told, UserError):
        assert "Error" not in told.problem
        assert told.where is not None


@pytest.mark.parametrize("text", ["", "[]", "{", "7", "[" * 100_000])
def test_what_is_no_json_is_said(text: str, tmp_path: Path) -> None:
    path = tmp_path / "call.json"
    path.write_text(text)
    with pytest.raises(UserError, match=r"call\.json"):
        read_call(path)


def test_a_suite_is_made_of_a_folder_of_calls(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    calls.mkdir()
    valid = center_crop(word="half")
    shape = {"name": "shape", "element_type": "int64", "shape": [1], "data": [-2]}
    broken = center_crop(inputs=[valid["inputs"][0], shape], made_from=center_crop())
    (calls / "a.json").write_text(json.dumps(valid))
    (calls / "b.json").write_text(json.dumps(broken))
    digest = write_suite_of_calls(calls, tmp_path / "suite")
    with open_suite(tmp_path / "suite") as suite:
        assert suite.digest == digest
        survival, half = sorted(suite.cases(), key=lambda each: each.family, reverse=True)
    assert (half.id.family, half.id.word, half.demand) == ("boundary", "half", "answer")
    assert half.expectations[0].outputs[0].expected.array.tolist() == [0.0, 1.5]
    assert (survival.family, survival.constraint) == ("survival", "shape_not_negative")
    assert survival.valid_case == str(half.id)
    assert write_suite_of_calls(calls, tmp_path / "again") == digest


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"operator": "ai.onnx::Nothing-1"}, "Nothing"),
        ({"attributes": {"colour": {"kind": "int", "value": 1}}}, "colour"),
        ({"inputs": center_crop()["inputs"] + [{"name": "more"}]}, None),
        ({"attributes": {"axes": {"kind": "ints", "value": [5]}}}, "valid call"),
    ],
)
def test_a_call_that_says_nothing_is_refused_with_its_file(
    changes: dict[str, Any], said: str | None, tmp_path: Path
) -> None:
    (tmp_path / "call.json").write_text(json.dumps(center_crop(**changes)))
    if said is None:  # an omitted input at the end says nothing at all
        write_suite_of_calls(tmp_path, tmp_path / "suite")
        return
    with pytest.raises(UserError, match=said):
        write_suite_of_calls(tmp_path, tmp_path / "suite")


def test_a_suite_of_calls_has_every_tensor_of_a_variadic_input_and_the_outputs_that_are_wanted(
    tmp_path: Path,
) -> None:
    several = Call({}, tuple(("data_0", tensor([number], "float")) for number in (1.0, 2.0, 4.0)))
    one = Call({}, (("X", tensor([3.0, 1.0, 2.0], "float")), ("K", tensor([2], "int64"))), (), ("Values",))
    for operator, call in (("ai.onnx::Sum-13", several), ("ai.onnx::TopK-24", one)):
        name = OperatorName.parse(operator)
        write_call(KeptCall(name, call), tmp_path / "calls" / f"{name.name}.json")
    write_suite_of_calls(tmp_path / "calls", tmp_path / "suite")
    with open_suite(tmp_path / "suite") as suite:
        found = {each.operator.name: each for each in suite.cases()}
    assert found["Sum"].inputs == several.inputs
    assert found["TopK"].output_names == ("Values",)
    assert [output.name for output in found["TopK"].expectations[0].outputs] == ["Values"]
