"""Files that are no models, and models that lie: each has a clear answer, and costs little."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from onnx import ModelProto, NodeProto, TensorProto, helper

from conformance.checked_models import type_inference
from opcert.vocabulary.errors import UserError
from tests.conformance.checked_models.hand_made import given, graph_of, model_of, read, referring

node = helper.make_node
_PLAIN = model_of(graph_of([node("Relu", ["x"], ["y"])], ["y"], [given("x")]))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "has no graph"),
        (b"hello, this is a text\n", "no ONNX model"),
        (b"<html></html>", "a text"),
        (b"\x18\0\0\0ORTM" + bytes(40), "a model in the ORT format"),
        (b"PK\x03\x04" + bytes(40), "a zip file"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (_PLAIN.SerializeToString()[:-3], "cut off"),
        (b"\xff" * 64, "no ONNX model"),
        (ModelProto(ir_version=9).SerializeToString(), "has no graph"),
        (b"\x3a\xff\xff\xff\xff\x0f", "cut off"),
    ],
)
def test_what_is_no_model_is_said_to_be_none(raw: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no ONNX model") as raised:
        read(raw, tmp_path)
    assert said in str(raised.value)


def test_what_is_no_file_is_said_to_be_none(tmp_path: Path) -> None:
    from conformance.checked_models.model_reading import read_model

    for path in (tmp_path, tmp_path / "none.onnx", Path("/dev/zero")):
        with pytest.raises(UserError, match="cannot be read"):
            read_model(path)


@settings(max_examples=80, deadline=None)
@drawn(data=st.data())
def test_no_damage_to_a_file_is_more_than_an_error(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    raw = bytearray(_PLAIN.SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        match data.draw(st.sampled_from(("change", "cut", "repeat"))):
            case "change":
                raw[place] = data.draw(st.integers(0, 255))
            case "cut":
                raw = raw[: max(place, 1)]
            case _:
                raw[place:place] = raw[place : place + 9]
    try:
        facts = read(bytes(raw), tmp_path_factory.getbasetemp())
    except UserError:
        return
    assert sum(len(each.nodes) for each in facts.calls) == len(facts.nodes)


def test_claims_of_size_cost_nothing(tmp_path: Path) -> None:
    claims = [
        TensorProto(name="wide", data_type=1, dims=[1 << 40]),
        TensorProto(name="wider", data_type=1, dims=[1 << 62, 1 << 62]),
        TensorProto(name="negative", data_type=1, dims=[-4, 2], raw_data=b"1234"),
        TensorProto(name="strange", data_type=999, dims=[1], raw_data=b"1"),
        TensorProto(name="short", data_type=1, dims=[3], raw_data=b"1234"),
    ]
    graph = graph_of([node("Neg", [each.name], [f"{each.name}_"]) for each in claims], ["wide_"], [], claims)
    graph.input.append(given("declared", (-1, 1 << 50)))
    graph.node.append(node("Neg", ["declared"], ["other"]))
    facts = read(model_of(graph), tmp_path, seconds=60)
    found = {each.inputs[0].name: each.inputs[0] for each in facts.nodes if each.inputs[0] is not None}
    assert found["wide"].shape == (1 << 40,)
    assert found["negative"].shape is None
    assert found["declared"].shape == (None, 1 << 50)
    assert all(each.constant is None for each in found.values())
    assert all(found[each.name].is_constant for each in claims)


def test_names_that_do_not_fit_are_told(tmp_path: Path) -> None:
    nodes = [
        node("Add", ["x", "nobody"], ["a"]),
        node("Neg", ["a"], ["twice"]),
        node("Abs", ["a"], ["twice"]),
        node("Add", ["second", "a"], ["first"]),
        node("Neg", ["first"], ["second"]),
        node("Neg", ["\x1b[31mred\u202e"], ["end"]),
    ]
    facts = read(model_of(graph_of(nodes, ["end"], [given("x")])), tmp_path)
    assert len(facts.nodes) == len(nodes)
    told = " ".join(facts.notes)
    assert "2 inputs of nodes come from nowhere" in told
    assert "1 names are given to several values" in told
    assert "2 nodes wait for each other in a circle" in told
    assert "\x1b" not in told
    assert "\u202e" not in told


def test_names_of_any_bytes_are_read(tmp_path: Path) -> None:
    raw = _PLAIN.SerializeToString().replace(b"\x01x", b"\x01\xff").replace(b"Relu", b"Re\xfeu")
    facts = read(raw, tmp_path)
    assert facts.nodes[0].operator is None
    assert facts.nodes[0].inputs[0] is not None
    assert facts.nodes[0].inputs[0].name == "\udcff"
    assert len(facts.calls[0].digest) == 12


def test_graphs_as_deep_as_can_be_written_are_read(tmp_path: Path) -> None:
    inner = graph_of([node("Relu", ["x"], ["r"])], ["r"])
    for depth in range(28):
        other = graph_of([node("Neg", ["x"], ["e"])], ["e"])
        inner = graph_of(
            [node("If", ["c"], [f"y{depth}"], then_branch=inner, else_branch=other)], [f"y{depth}"]
        )
    inner.input.extend([given("x"), given("c", (), TensorProto.BOOL)])
    facts = read(model_of(inner), tmp_path)
    assert len(facts.nodes) == 28 * 2 + 1
    wrapped = _PLAIN.graph.SerializeToString()
    for _ in range(60):  # deeper than any library writes
        wrapped = _field(1, _field(5, _field(6, wrapped)))
    with pytest.raises(UserError):
        read(_field(7, wrapped), tmp_path)


def test_attributes_that_cannot_be_carried_are_told(tmp_path: Path) -> None:
    large = helper.make_tensor("v", TensorProto.FLOAT, [20_000], [0.0] * 20_000)
    strange = node("Relu", ["x"], ["y"], twice=1)
    strange.attribute.append(helper.make_attribute("twice", 2))
    strange.attribute.add(name="nothing")
    strange.attribute.append(referring("far", "away"))
    graph = graph_of([node("Constant", [], ["c"], value=large), strange], ["y"], [given("x")])
    constant, other = read(model_of(graph), tmp_path).nodes
    assert "20,000 elements" in constant.unread["value"]
    assert constant.outputs[0] is not None
    assert constant.outputs[0].is_constant
    assert constant.outputs[0].shape == (20_000,)
    assert set(other.unread) == {"twice", "nothing", "far"}
    assert not other.attributes


def test_an_inference_that_dies_or_hangs_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("import os; os.abort()", "import time; time.sleep(60)"):
        script = tmp_path / "script.py"
        script.write_text(text)
        monkeypatch.setattr(type_inference, "_SCRIPT", script)
        facts = read(_PLAIN, tmp_path, seconds=1.5)
        assert facts.nodes[0].outputs[0] is not None
        assert len(facts.notes) == 1
        assert "shape inference did not end well" in facts.notes[0]


@pytest.mark.slow
def test_many_nodes_take_seconds(tmp_path: Path) -> None:
    def reading(count: int) -> float:
        chain = [node("Neg", [f"v{each}"], [f"v{each + 1}"]) for each in range(count)]
        model = model_of(graph_of(chain[::-1], [f"v{count}"], [given("v0")]))
        begun = time.process_time()
        assert len(read(model, tmp_path).nodes) == count
        return time.process_time() - begun

    reading(100)
    few, many = reading(1_000), reading(8_000)
    assert many < 24 * few + 0.2


def test_more_parts_than_are_read_end_early(tmp_path: Path) -> None:
    crowded = NodeProto.FromString(_PLAIN.graph.node[0].SerializeToString() + b"\x2a\x00" * 20_000)
    graph = graph_of([], ["y"], [given("x")])
    graph.node.append(crowded)
    with pytest.raises(UserError, match="more attributes, inputs or outputs of a node than are read"):
        read(model_of(graph), tmp_path)


def test_a_graph_without_nodes_is_an_answer(tmp_path: Path) -> None:
    facts = read(model_of(graph_of([], ["x"], [given("x")])), tmp_path)
    assert (facts.nodes, facts.calls) == ((), ())
    assert facts.notes == ("the graph has no node",)


def _field(number: int, content: bytes) -> bytes:
    size, left = bytearray(), len(content)
    while left > 0x7F:
        size.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes((number << 3 | 2, *size, left)) + content
