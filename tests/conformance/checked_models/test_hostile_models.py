"""Files that are no models, and models that lie: each has a clear answer, and costs little."""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto, helper

from conformance.checked_models import type_inference
from conformance.checked_models.folding import MOST_FOLDED
from opcert.vocabulary.errors import UserError
from tests.conformance.checked_models.hand_made import (
    given,
    graph_of,
    model_of,
    outside_tensor,
    read,
    referring,
)

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
    assert sum(len(call.nodes) for call in facts.calls) == len(facts.nodes)


def test_claims_of_size_cost_nothing(tmp_path: Path) -> None:
    claims = [
        TensorProto(name="wide", data_type=1, dims=[1 << 40]),
        TensorProto(name="wider", data_type=1, dims=[1 << 62, 1 << 62]),
        TensorProto(name="negative", data_type=1, dims=[-4, 2], raw_data=b"1234"),
        TensorProto(name="strange", data_type=999, dims=[1], raw_data=b"1"),
        TensorProto(name="short", data_type=1, dims=[3], raw_data=b"1234"),
    ]
    graph = graph_of(
        [node("Neg", [claim.name], [f"{claim.name}_"]) for claim in claims], ["wide_"], [], claims
    )
    graph.input.append(given("declared", (-1, 1 << 50)))
    graph.node.append(node("Neg", ["declared"], ["other"]))
    facts = read(model_of(graph), tmp_path, seconds=60)
    found = {each.inputs[0].name: each.inputs[0] for each in facts.nodes if each.inputs[0] is not None}
    assert found["wide"].shape == (1 << 40,)
    assert found["negative"].shape is None
    assert found["declared"].shape == (None, 1 << 50)
    assert all(value.constant is None for value in found.values())
    assert all(found[claim.name].is_constant for claim in claims)


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
    assert "Inputs of nodes that come from nowhere (2)" in told
    assert "Names that are given to several values, of which the first is taken (1)" in told
    assert "Nodes that wait for each other in a circle, or for one that does (2)" in told
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


def _nested(domain: str, levels: int, calls: int = 4) -> ModelProto:
    """Functions that call each other, each several times."""
    functions = []
    for level in range(levels):
        body = [
            node(f"F{level - 1}", [f"v{at}"], [f"v{at + 1}"], domain=domain) if level
            else node("Relu", [f"v{at}"], [f"v{at + 1}"])
            for at in range(calls)
        ]  # fmt: skip
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
        functions.append(helper.make_function(domain, f"F{level}", ["v0"], [f"v{calls}"], body, opsets))
    graph = graph_of([node(functions[-1].name, ["x"], ["y"], domain=domain)], ["y"], [given("x")])
    return model_of(graph, {"": 17, domain: 1}, functions)


def test_what_names_of_functions_become_is_counted(tmp_path: Path) -> None:
    """A hundred thousand bytes of names, within each other and again and again, would become gigabytes."""
    begun = peak()
    facts = read(_nested("d" * 9_000, 6), tmp_path)
    assert peak() - begun < 800
    assert any("nodes and names become more than" in note for note in facts.notes)
    assert all(len(note) < 1_000 for note in facts.notes)
    assert {each.op_type for each in facts.nodes} > {"Relu"}
    short = read(_nested("d", 6), tmp_path)
    assert [each.op_type for each in short.nodes] == ["Relu"] * 4**6
    assert short.notes == ()


def test_what_arguments_of_functions_become_is_counted(tmp_path: Path) -> None:
    for long, text in (("x" * 400_000, "s"), ("x", "s" * 400_000)):
        body = [node("Neg", ["x"], [f"v{at}"]) for at in range(2_000)]
        for each in body:
            each.attribute.append(AttributeProto(name="a", ref_attr_name="a", type=AttributeProto.STRING))
        opsets = [helper.make_opsetid("", 17)]
        function = helper.make_function("d", "F", ["x"], ["v0"], body, opsets, attributes=["a"])
        call = node("F", [long], ["y"], domain="d", a=text)
        facts = read(model_of(graph_of([call], ["y"], [given(long)]), {"": 17, "d": 1}, [function]), tmp_path)
        assert [each.op_type for each in facts.nodes] == ["F"]
        assert any("nodes and names become more than" in note for note in facts.notes)


def test_graphs_within_functions_within_graphs_end_somewhere(tmp_path: Path) -> None:
    """No message of the file is deep, and what they become would be deeper than protobuf reads."""
    functions = []
    for level in range(20):
        inner = graph_of(
            [node(f"F{level - 1}", ["x", "c"], ["r"], domain="d") if level else node("Relu", ["x"], ["r"])],
            ["r"],
        )
        for depth in range(12):
            other = graph_of([node("Neg", ["x"], ["e"])], ["e"])
            branches = {"then_branch": inner, "else_branch": other}
            inner = graph_of([node("If", ["c"], [f"y{depth}"], **branches)], [f"y{depth}"])
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("d", 1)]
        functions.append(
            helper.make_function("d", f"F{level}", ["x", "c"], ["y11"], list(inner.node), opsets)
        )
    graph = graph_of([node("F19", ["x", "c"], ["y"], domain="d")], ["y"], [given("x")])
    facts = read(model_of(graph, {"": 17, "d": 1}, functions), tmp_path)
    assert any("graphs within each other more than" in note for note in facts.notes)
    assert {each.op_type for each in facts.nodes} == {"If", "Neg", "F17"}


def test_places_of_nodes_are_counted(tmp_path: Path) -> None:
    body = graph_of([node("Neg", ["x"], [f"v{at}"]) for at in range(4_000)], ["v0"])
    holding = node("Odd", ["x"], ["y"], domain="d")
    holding.attribute.append(helper.make_attribute("g" * 100_000, body))
    with pytest.raises(UserError, match="places of the model's nodes are more text than is read"):
        read(model_of(graph_of([holding], ["y"], [given("x")]), {"": 17, "d": 1}), tmp_path)


def test_sizes_of_fixed_numbers_are_told_before_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    column = helper.make_tensor("a", TensorProto.INT64, [4096, 1], [1] * 4096)
    row = helper.make_tensor("b", TensorProto.INT64, [1, 4096], [1] * 4096)
    many = helper.make_tensor("i", TensorProto.INT64, [4096], [0] * 4096)
    nodes = [node(each, ["a", "b"], [each]) for each in ("Add", "Sub", "Mul", "Div")]
    nodes += [node("Gather", ["b", "i"], ["taken"], axis=0), node("Concat", ["a", "a"], ["joined"], axis=1)]
    nodes += [node("Add", ["a", "a"], ["small"]), node("Gather", ["a", "i"], ["few"], axis=1)]
    for name in ("take", "concatenate"):
        monkeypatch.setattr(np, name, _never)
    facts = read(model_of(graph_of(nodes, ["Add"], [], [column, row, many])), tmp_path)
    fixed = [
        each.op_type for each in facts.nodes if each.outputs[0] is not None and each.outputs[0].is_constant
    ]
    assert fixed == ["Add"]
    assert facts.nodes[-2].outputs[0].constant is not None  # type: ignore[union-attr]


def _never(*_: Any, **named: Any) -> Any:
    raise AssertionError("it was computed")


def test_fixed_numbers_of_all_nodes_are_counted(tmp_path: Path) -> None:
    start = helper.make_tensor("v0", TensorProto.INT64, [4096], [1] * 4096)
    nodes = [node("Add", [f"v{at}", "v0"], [f"v{at + 1}"]) for at in range(2_000)]
    facts = read(model_of(graph_of(nodes, ["v2000"], [], [start])), tmp_path)
    kept = [
        each for each in facts.nodes if each.outputs[0] is not None and each.outputs[0].constant is not None
    ]
    assert MOST_FOLDED // 4096 <= len(kept) <= MOST_FOLDED // 4096 + 1
    assert any("is not worked out" in note for note in facts.notes)


@pytest.mark.parametrize("said", [{"offset": str(2**63)}, {"offset": "-1"}, {"length": str(2**64)},
                                  {"offset": "9" * 5_000}, {"offset": "1e3"}])  # fmt: skip
def test_impossible_places_of_data_are_told(said: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(64))
    held = outside_tensor("w", [4], location="w.bin", **said)
    facts = read(model_of(graph_of([node("Add", ["x", "w"], ["y"])], ["y"], [given("x")], [held])), tmp_path)
    (name,) = said
    assert any(f"an impossible {name} in their file" in note for note in facts.notes)


@pytest.mark.parametrize("version", [-(2**63), 2**63 - 1, 2**31, 0, -1])
def test_impossible_versions_are_told(version: int, tmp_path: Path) -> None:
    made = model_of(graph_of([node("Relu", ["x"], ["y"])], ["y"], [given("x")]), {"": version})
    made.ir_version = version
    (found,) = read(made, tmp_path, seconds=60).nodes
    assert found.operator is None
    assert f"opset {version} of ai.onnx" in (found.unknown or "")


def test_a_graph_without_nodes_is_an_answer(tmp_path: Path) -> None:
    facts = read(model_of(graph_of([], ["x"], [given("x")])), tmp_path)
    assert (facts.nodes, facts.calls) == ((), ())
    assert facts.notes == ("the graph has no node",)


def peak() -> int:
    """The most memory that this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _field(number: int, content: bytes) -> bytes:
    size, left = bytearray(), len(content)
    while left > 0x7F:
        size.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes((number << 3 | 2, *size, left)) + content
