"""Declared operators whose calls have optionals, maps and graphs: what a form, a kind or a body gives.

ONNX's evaluator and shape inference are what bodies are held against; it runs them by code of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

from conformance.models.case_models import build_model
from conformance.models.input_names import input_names
from generator.asking.bare_cases import bare_case
from generator.asking.calls import Call
from generator.asking.given_inputs import arguments_of
from generator.calls.borders.breaches import find_breaches
from generator.calls.borders.edges import find_edges
from generator.calls.data.draws import Draw
from generator.calls.declared.modelled import kept_cores_of
from generator.calls.rows.covering_rows import make_rows
from generator.calls.solver.form_levels import form_levels, read_form
from generator.calls.space.space import CallSpace, open_space
from generator.trust.witnesses.truth_runs import Inferred, WitnessRefusal, ask_checker, ask_inference
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.value_types import TensorType
from specs.files.declarations import FILE_NAME
from specs.files.library import load_spec
from tests.generator.declared import space_of

OLDER = ("If-1", "If-13", "If-16", "Loop-1", "Loop-11", "Scan-9", "Optional-15", "OptionalGetElement-15",
         "OptionalGetElement-18", "OptionalHasElement-15", "Identity-14", "Identity-16")  # fmt: skip
"""The newest versions are held against ONNX with those of all operators (`tests/truth/`)."""


def named(name: str, domain: str = "ai.onnx") -> OperatorName:
    return OperatorName.parse(f"{domain}::{name}")


def rows_of(operator: OperatorName) -> list[tuple[Mapping[str, object], Call]]:
    space = space_of(operator)
    return [(row.levels, row.call) for row in make_rows(space, kept_cores_of(operator))]


@pytest.mark.parametrize("name", OLDER)
def test_valid_calls_pass_inference_and_checker(name: str) -> None:
    space = space_of(named(name))
    calls = [call for _, call in rows_of(named(name))]
    calls += [edge.call for edge in find_edges(space, Draw(f"{name}/boundary"))]
    assert len(calls) > 20
    refused = set()
    for call in calls:
        answer = ask_inference(space.spec, call)
        told = answer if isinstance(answer, WitnessRefusal) else ask_checker(answer)
        if told is not None:
            refused.add(told.message)
    assert refused == set()


def test_an_input_has_every_form_that_its_types_have() -> None:
    operator = named("OptionalHasElement-28")
    spec = space_of(operator).spec
    seen = set()
    for levels, call in rows_of(operator):
        level = str(levels["input"])
        seen.add(level)
        slots = call.slots or ()
        if level == "omitted":
            assert not call.inputs
            assert not slots
            continue
        held = read_form(level)
        (argument,) = arguments_of(spec, call).values()
        assert (argument is None) == (held.count is None)
        if held.form == "tensor":
            assert not slots
            continue
        (slot,) = slots
        assert slot.empty == (held.count is None)
        assert len(slot.parts) == len(held.part_types("float"))
        assert str(slot.type).startswith(held.form.partition("tensor")[0])
    assert seen == {*form_levels(spec, spec.inputs[0]), "omitted"}
    assert "optional(seq(tensor)) of nothing" in seen


def test_an_optional_that_must_hold_something_does_but_in_breaches() -> None:
    space = space_of(named("OptionalGetElement-18"))
    assert not any(slot.empty for _, call in rows_of(space.spec.operator) for slot in call.slots)
    broken = [breach for breach in find_breaches(space, Draw("x")) if breach.constraint.id == "input_held"]
    assert broken
    assert all(breach.call.slots[0].empty for breach in broken)
    assert {breach.constraint.otherwise for breach in broken} == {"undefined"}


def test_a_type_stands_for_what_is_left_out() -> None:
    for _, call in rows_of(named("Optional-15")):
        assert call.slots or call.inputs or "type" in call.attributes
    rules = {breach.constraint.id for breach in find_breaches(space_of(named("Optional-15")), Draw("x"))}
    assert {"type_or_input", "type_of_input", "type_allowed", "type_of_V"} <= rules


def test_keys_of_maps_are_different_and_in_the_vocabulary() -> None:
    maps = set()
    for _, call in rows_of(named("DictVectorizer-1", "ai.onnx.ml")):
        (slot,) = call.slots
        keys = call.inputs[0][1]
        assert keys is not None
        listed = [each.decode() if isinstance(each, bytes) else each for each in keys.array.tolist()]
        (vocabulary,) = call.attributes.values()
        assert isinstance(vocabulary.value, tuple)
        assert len(set(listed)) == len(listed)
        assert set(listed) <= set(vocabulary.value)
        maps.add(str(slot.type))
    assert maps == {f"map({key},tensor({value}))" for key in ("string", "int64")
                    for value in ("int64", "string", "float", "double") if key != value}  # fmt: skip


def test_a_branch_gives_what_the_node_chooses() -> None:
    """By ONNX's evaluator: the shape of each output is that of the branch which the condition asks for."""
    seen = set()
    for levels, call in rows_of(named("If-13")):
        if levels["then_branch_form"] != "tensor":
            continue
        chosen = "then_branch" if bool(call.inputs[0][1].array.reshape(-1)[0]) else "else_branch"  # type: ignore[union-attr]
        graph = call.attributes[chosen].value
        assert isinstance(graph, Graph)
        assert graph.outputs is not None
        found = evaluate(space_of(named("If-13")), call)
        told = [output.shape for output in graph.outputs if isinstance(output, TensorType)]
        assert [array.shape for array in found] == told
        seen.add((chosen, len(found), str(levels["else_branch_shapes"])))
    assert {chosen for chosen, _, _ in seen} == {"then_branch", "else_branch"}
    assert {count for _, count, _ in seen} == {1, 2, 3}
    assert {shapes for _, _, shapes in seen} == {"same_shapes", "other_extents", "other_ranks"}


def test_a_body_is_run_as_often_as_the_call_says() -> None:
    """By ONNX's evaluator: states are doubled with each run, and the first scan output counts the runs."""
    runs = set()
    for levels, call in rows_of(named("Loop-13")):
        tensors = dict(call.inputs)
        trips, condition = tensors.get("M"), tensors.get("cond")
        states = [tensor.array for name, tensor in call.inputs if name == "v_initial" and tensor is not None]
        if condition is None or not condition.array.item() or levels["body_each_run"] == 0:
            continue
        ends = {"stops": 1, "counts": 2}.get(str(levels["body_condition"]), 3)
        count = ends if trips is None else min(ends, int(trips.array.item()))
        runs.add(count)
        if count == 0:
            continue
        found = evaluate(space_of(named("Loop-13")), call)
        times = {"doubled": 2, "nested": 3}.get(str(levels["body_step"]), 1) ** count
        for state, result in zip(states, found, strict=False):
            if levels["body_step"] == "grown":
                assert result.shape == (state.shape[0] * 2**count, *state.shape[1:])
            elif state.dtype == np.float32 and np.abs(state).max(initial=0) < 1e30:
                assert np.array_equal(result, state * np.float32(times), equal_nan=True)
        assert found[len(states)].reshape(-1).tolist() == list(range(count))
    assert {0, 1, 2} <= runs
    given = [dict(call.inputs).get("M") for _, call in rows_of(named("Loop-13"))]
    assert {0, 3} < {int(tensor.array.item()) for tensor in given if tensor is not None}
    assert None in given


def test_slices_are_taken_along_the_axes_and_gathered() -> None:
    """By shape inference: each scan output has an axis as long as there were slices."""
    space = space_of(named("Scan-11"))
    for levels, call in rows_of(named("Scan-11")):
        answer = ask_inference(space.spec, call)
        assert isinstance(answer, Inferred)
        outputs = [
            [each.dim_value for each in one.type.tensor_type.shape.dim] for one in answer.model.graph.output
        ]
        gathered = outputs[int(levels["states"]) :]  # type: ignore[call-overload]
        assert len(gathered) == levels["gathered"]
        assert all(len(each) == int(levels["rank_of_slice"]) + 1 for each in gathered)  # type: ignore[call-overload]
        assert all(levels["slices"] in each for each in gathered)


def test_rules_of_bodies_are_broken_alone() -> None:
    wanted = {
        "Loop-25": {"body_takes", "body_gives", "body_types", "body_shapes", "two_inputs"}
        | {"something_ends_it"},
        "Scan-25": {"body_takes", "body_gives", "body_types", "body_shapes", "num_scan_inputs_range"},
        "SequenceMap-17": {"body_takes", "body_types"},
        "If-1": {
            "else_branch_outputs",
            "else_branch_types",
            "else_branch_shapes",
            "then_branch_takes_nothing",
        },
    }
    for name, rules in wanted.items():
        found = {breach.constraint.id for breach in find_breaches(space_of(named(name)), Draw("x"))}
        assert rules <= found, name


@pytest.mark.parametrize(
    ("name", "text", "line", "parts"),
    [
        ("Gemm-13", "kinds:\n  alpha: body('branch')\n", 2, ["graphs for what is none", "alpha (float)"]),
        ("If-25", "kinds:\n  then_branch: body('branch', other=M)\n", 2, ["no such argument", "like"]),
        ("Loop-25", "kinds:\n  body: body('loop', M, stops=True)\n", 2, ["variadic input", "v_initial"]),
        ("Loop-25", "kinds:\n  body: body('loop', v_initial)\n", 2, ["lacks an argument", "stops"]),
        ("SequenceMap-17", "kinds:\n  body: body('element', additional_inputs, additional_inputs)\n", 2,
         ["not the name of a sequence", "input_sequence"]),
        ("Gather-13", "kinds:\n  indices: divisor(2)\n", 2, ["unknown kind", "integer"]),
        ("If-25", "kinds:\n  then_branch: body('limb')\n", 2, ["unknown word", "'loop'"]),
        ("Gather-13", "kinds:\n  data: held('value')\n", 2, ["may be of a type optional(...)", "data"]),
        ("Gemm-13", "kinds:\n  alpha: held('keys', A, 'int64')\n", 2, ["of a type map(...)", "got A"]),
        ("Loop-25", "counts: {v_initial: many(}\n", 1, ["counts"]),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_place(
    tmp_path: Path, name: str, text: str, line: int, parts: list[str]
) -> None:
    operator = named(name)
    room = tmp_path / operator.domain / operator.name
    room.mkdir(parents=True)
    (room / FILE_NAME).write_text(text, encoding="utf-8")
    with pytest.raises(OpcertError) as caught:
        open_space(load_spec(operator, (tmp_path,)))
    told = str(caught.value)
    assert f"{room / FILE_NAME}:{line}:" in told
    for part in parts:
        assert part in told


def evaluate(space: CallSpace, call: Call) -> list[NDArray[Any]]:
    """The outputs of a call by ONNX's evaluator."""
    case = bare_case(space.spec, call)
    answer = ask_inference(space.spec, call)
    assert isinstance(answer, Inferred)
    model = ModelProto.FromString(build_model(case, declared=answer.outputs))
    names = input_names(case.inputs)
    fed = {name: each.array for name, (_, each) in zip(names, case.inputs, strict=True) if each is not None}
    found = ReferenceEvaluator(model).run(None, fed)
    return [np.asarray(each) for each in found]
