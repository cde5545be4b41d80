"""A whole model held against the reference node by node: faults are found where they were planted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from conformance.checked_models.model_reading import read_model
from conformance.checked_models.whole_model import WholeModelFacts
from conformance.judging.responses import Crashed, Response
from conformance.suite.cases import Case
from generator.exploring.shrinking.judged_calls import Ask
from generator.models.check.whole_model import InputSource, NumberLimits, check_numbers_with
from opcert.vocabulary.errors import UserError
from tests.conformance.checked_models.hand_made import given, graph_of, model_of
from tests.generator.checking.faulty_runtime import FaultyRuntime

node = helper.make_node
_CHAIN = (
    node("MatMul", ["x", "w"], ["a"]),
    node("Relu", ["a"], ["b"]),
    node("Add", ["b", "c"], ["d"]),
    node("Abs", ["d"], ["y"]),
)


def _check(
    ask: Ask,
    folder: Path,
    nodes: tuple[NodeProto, ...] = _CHAIN,
    source: InputSource | None = None,
    limits: NumberLimits | None = None,
    opsets: dict[str, int] | None = None,
) -> WholeModelFacts:
    weights = numpy_helper.from_array(
        np.random.default_rng(1).standard_normal((4, 5)).astype(np.float32), "w"
    )
    constant = numpy_helper.from_array(np.linspace(-1, 1, 5, dtype=np.float32), "c")
    model = model_of(graph_of(nodes, ["y"], [given("x", ("N", 4))], [weights, constant]), opsets)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    facts = read_model(path, seconds=0)
    told: list[str] = []
    found = check_numbers_with(
        ask, "fake", facts, path, source or InputSource(), limits or NumberLimits(), told.append
    )
    assert told
    return found


def test_a_runtime_that_is_right_has_no_wrong_node(tmp_path: Path) -> None:
    found = _check(FaultyRuntime().ask, tmp_path)
    assert [(node.place, node.verdict) for node in found.nodes] == [(str(each), "right") for each in range(4)]
    assert (found.how, found.first_wrong, found.effects, found.passed_over) == ("whole", None, (), {})
    assert found.notes == ()
    assert all(node.elements == node.of_elements == 5 for node in found.nodes)
    (taken,) = found.inputs
    assert (taken.name, taken.shape) == ("x", (1, 4))


def test_the_node_with_the_fault_is_the_one_that_is_named(tmp_path: Path) -> None:
    found = _check(FaultyRuntime({"Relu": lambda array, _: array + np.float32(0.5)}).ask, tmp_path)
    assert Counter(node.verdict for node in found.nodes) == {"right": 3, "wrong": 1}
    wrong = found.first_wrong
    assert wrong is not None
    assert (wrong.place, wrong.output, str(wrong.operator)) == ("1", "Y", "ai.onnx::Relu-14")
    assert wrong.over_bound == float("inf")
    assert "by itself" not in wrong.reason
    (effect,) = found.effects
    assert (effect.place, effect.output, effect.reason) == ("1", "y", None)
    assert effect.distance is not None
    assert 0 < effect.distance <= 0.5
    assert effect.ulps


def test_a_fault_that_the_model_swallows_has_no_effect_at_the_end(tmp_path: Path) -> None:
    nodes = (node("Relu", ["x"], ["a"]), node("Neg", ["a"], ["n"]), node("Relu", ["n"], ["y"]))
    found = _check(FaultyRuntime({"Neg": lambda array, _: array - np.float32(1)}).ask, tmp_path, nodes)
    assert [node_numbers.place for node_numbers in found.wrong] == ["1"]
    assert [(effect.output, effect.distance, effect.ulps) for effect in found.effects] == [("y", 0.0, 0)]


def test_an_error_within_the_bound_is_none(tmp_path: Path) -> None:
    def hardly(array: NDArray[Any], _: int) -> NDArray[Any]:
        return np.asarray(np.nextafter(array, np.float32(np.inf)))

    found = _check(FaultyRuntime({"MatMul": hardly}).ask, tmp_path)
    assert found.first_wrong is None
    assert found.nodes[0].over_bound is not None
    assert 0 < found.nodes[0].over_bound <= 1


def test_what_is_right_by_itself_is_not_blamed_for_what_several_come_to(tmp_path: Path) -> None:
    def fused(array: NDArray[Any], nodes: int) -> NDArray[Any]:
        return array * np.float32(1.5) if nodes > 1 else array

    found = _check(FaultyRuntime({"Add": fused}).ask, tmp_path)
    assert found.first_wrong is None
    assert found.passed_over == {"together": 1}
    assert "by itself, given the same, it is right" in found.nodes[2].reason
    assert found.nodes[2].over_bound is not None
    assert found.nodes[2].over_bound > 1
    assert [(effect.place, effect.output) for effect in found.effects] == [("2", "y")]


def test_where_many_outputs_are_refused_nodes_are_asked_one_by_one(tmp_path: Path) -> None:
    runtime = FaultyRuntime({"Add": lambda array, _: -array}, most_outputs=1)
    found = _check(runtime.ask, tmp_path)
    assert found.how == "nodes"
    assert [node.verdict for node in found.nodes] == ["right", "right", "wrong", "right"]
    assert any("does not run: rejected: TooMany" in note for note in found.notes)


def test_behind_a_node_that_is_refused_nothing_is_said(tmp_path: Path) -> None:
    found = _check(FaultyRuntime(refused=frozenset({"Add"})).ask, tmp_path)
    assert [node.verdict for node in found.nodes] == [
        "right",
        "right",
        "passed_over",
        "passed_over",
    ]
    assert found.passed_over == {"not_run": 2}
    assert "NotKnown" in found.nodes[2].reason


def test_a_runtime_that_dies_is_told(tmp_path: Path) -> None:
    def die(case: Case, valid: Case | None) -> Response:
        return Crashed("killed by SIGSEGV", "SIGSEGV")

    found = _check(die, tmp_path)
    assert (found.how, found.passed_over) == ("not_run", {"not_run": 4})
    assert "SIGSEGV" in found.notes[0]


def test_nodes_of_which_nothing_can_be_said_are_counted_by_reason(tmp_path: Path) -> None:
    nodes = (
        node("Det", ["x"], ["a"]),
        *_CHAIN[:2],
        node("If", ["t"], ["y"], then_branch=_branch(), else_branch=_branch()),
    )

    def refuse(case: Case, valid: Case | None) -> Response:
        return Crashed("died")

    found = _check(refuse, tmp_path, nodes)
    assert found.passed_over == {"inside": 2, "not_run": 4}
    costly = _check(FaultyRuntime().ask, tmp_path, limits=NumberLimits(seconds=0.0))
    assert costly.passed_over == {"too_costly": 4}
    unknown = _check(FaultyRuntime().ask, tmp_path, opsets={"": 17}, nodes=_CHAIN[:1] + _rest("Identity"))
    assert unknown.first_wrong is None


def test_inputs_come_from_files_by_name_or_place(tmp_path: Path) -> None:
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    folder = tmp_path / "inputs"
    for name, write in (
        ("x.npy", lambda path: np.save(path, values)),
        ("any.npz", lambda path: np.savez(path, x=values)),
        ("input_0.pb", lambda path: path.write_bytes(numpy_helper.from_array(values).SerializeToString())),
        (
            "test_data_set_0/input_0.pb",
            lambda path: path.write_bytes(numpy_helper.from_array(values).SerializeToString()),
        ),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
        found = _check(FaultyRuntime().ask, tmp_path, source=InputSource(folder))
        assert [(given_input.shape, given_input.source) for given_input in found.inputs] == [
            ((3, 4), path.name)
        ]
        path.unlink()


def test_inputs_that_do_not_fit_are_mistakes_of_the_user(tmp_path: Path) -> None:
    folder = tmp_path / "inputs"
    folder.mkdir()
    source = InputSource(folder)
    with pytest.raises(UserError, match="no file gives the model's input x"):
        _check(FaultyRuntime().ask, tmp_path, source=source)
    for array in (np.zeros((3, 5), np.float32), np.zeros((3, 4), np.float64), np.zeros(4, np.float32)):
        np.save(folder / "x.npy", array)
        with pytest.raises(UserError, match="do not fit the model"):
            _check(FaultyRuntime().ask, tmp_path, source=source)
    np.save(folder / "x.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(UserError, match="holds no arrays"):
        _check(FaultyRuntime().ask, tmp_path, source=source)
    with pytest.raises(UserError, match="cannot be read"):
        _check(FaultyRuntime().ask, tmp_path, source=InputSource(tmp_path / "none"))


def test_outputs_that_are_no_tensors_are_left_out(tmp_path: Path) -> None:
    graph = graph_of([*_CHAIN[1:], node("SequenceConstruct", ["y", "y"], ["s"])], ["y"], [given("a", (1, 5))])
    graph.initializer.append(numpy_helper.from_array(np.ones(5, np.float32), "c"))
    graph.output.insert(0, helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None))
    path = tmp_path / "model.onnx"
    path.write_bytes(model_of(graph).SerializeToString())
    facts = read_model(path, seconds=60)
    found = check_numbers_with(
        FaultyRuntime().ask, "fake", facts, path, InputSource(), NumberLimits(), lambda _: None
    )
    assert [node_numbers.verdict for node_numbers in found.nodes] == [
        "right",
        "right",
        "right",
        "passed_over",
    ]
    assert found.passed_over == {"no_tensors": 1}


def test_a_model_that_has_changed_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model_of(graph_of(_rest("Relu"), ["y"], [given("b")])).SerializeToString())
    facts = read_model(path, seconds=0)
    path.write_bytes(path.read_bytes() + b"\x12\x01a")
    with pytest.raises(UserError, match="has changed"):
        check_numbers_with(
            FaultyRuntime().ask, "fake", facts, path, InputSource(), NumberLimits(), lambda _: None
        )


def _rest(name: str) -> tuple[NodeProto, ...]:
    return (node(name, ["a" if name == "Identity" else "b"], ["y"]),)


def _branch() -> Any:
    return graph_of([node("Neg", ["b"], ["r"])], ["r"], [], [TensorProto(name="z", data_type=1, dims=[0])])
