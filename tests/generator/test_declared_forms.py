"""Declared operators whose calls are more than single tensors: variadic ones, wanted outputs, sequences.

Each is ONNX's own, declared here in a folder of specs, and ONNX's strict shape inference and checker are what
its calls are held against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.calls.borders.breaches import find_breaches
from generator.calls.borders.edges import find_edges
from generator.calls.data.draws import Draw
from generator.calls.rows.covering_rows import learn_cores, make_rows
from generator.calls.space.space import CallSpace, open_space
from generator.trust.witnesses.truth_runs import WitnessRefusal, ask_checker, ask_inference
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from specs.files.declarations import FILE_NAME
from specs.files.library import load_spec

DECLARATIONS = {
    "Sum-13": """
        versions: 8..
        shapes: {inputs: broadcast(*S)}
        extents: {S: 0..3}
        counts: {data_0: 1..4}
    """,
    "Split-18": """
        shapes: {input: "*S", split: R}
        extents: {S: 1..3}
        let: {along: "S[axis % len(S)]"}
        kinds:
          axis: axis(input)
          num_outputs: integer(1, along)
        counts: {outputs: num_outputs}
        constraints:
          - id: numbered
            require: not present(split) and present(num_outputs)
            else: undefined
            why: made up
    """,
    "TopK-11": """
        shapes: {X: "*S", K: 1}
        extents: {S: 1..3}
        kinds:
          axis: axis(X)
          K: integer(0, S[axis])
    """,
    "SequenceAt-11": """
        shapes: {input_sequence: "*S", position: ()}
        extents: {S: 0..3}
        kinds: {position: "integer(-len(input_sequence), len(input_sequence) - 1) or error"}
    """,
    "SequenceInsert-11": """
        shapes: {input_sequence: "*S", tensor: "*S", position: ()}
        extents: {S: 0..3}
        kinds: {position: "integer(-len(input_sequence), len(input_sequence))"}
    """,
    "SequenceConstruct-11": """
        shapes: {inputs: "*S"}
        extents: {S: 0..3}
    """,
    "MaxPool-12": """
        uses: [pooling]
        constraints:
          - {id: order_scope, attr: storage_order, effective_when: outputs >= 2, why: made up}
    """,
}


def declared(folder: Path, name: str, text: str) -> CallSpace:
    """The space of one of ONNX's operators under a declaration of a folder's own."""
    operator = OperatorName.parse(f"ai.onnx::{name}")
    room = folder / operator.domain / operator.name
    room.mkdir(parents=True)
    (room / FILE_NAME).write_text("\n".join(line[8:] for line in text.splitlines()), encoding="utf-8")
    return open_space(load_spec(operator, (folder,)))


def refusals(space: CallSpace, calls: list[Call]) -> list[str]:
    """What checker and strict inference say of calls, each once."""
    found = {}
    for call in calls:
        answer = ask_inference(space.spec, call)
        told = answer if isinstance(answer, WitnessRefusal) else ask_checker(answer)
        if told is not None:
            found[told.message] = told
    return list(found)


def rows_of(space: CallSpace) -> list[tuple[Mapping[str, object], Call]]:
    return [(row.levels, row.call) for row in make_rows(space, learn_cores(space, 1), strength=1)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [declaration for declaration in DECLARATIONS if not declaration.startswith("MaxPool")]
)
def test_calls_are_valid_onnx(tmp_path: Path, name: str) -> None:
    space = declared(tmp_path, name, DECLARATIONS[name])
    calls = [call for _, call in rows_of(space)]
    calls += [edge.call for edge in find_edges(space, Draw(f"{name}/boundary"))]
    assert len(calls) > 5
    assert refusals(space, calls) == []
    assert all(not find_violations(space.spec, call) for call in calls)


def test_a_variadic_input_has_as_many_tensors_as_the_declaration_counts(tmp_path: Path) -> None:
    space = declared(tmp_path, "Sum-13", DECLARATIONS["Sum-13"])
    assert {len(call.inputs) for _, call in rows_of(space)} == {1, 2, 3, 4}


def test_one_tensor_is_given_twice(tmp_path: Path) -> None:
    space = declared(tmp_path, "Sum-13", DECLARATIONS["Sum-13"])
    (edge,) = [each for each in find_edges(space, Draw("Sum")) if each.word == "one_tensor_twice"]
    assert len(edge.call.inputs) == 1
    assert [slot.parts for slot in edge.call.slots] == [(0,), (0,)]
    assert refusals(space, [edge.call]) == []
    wrong = replace(edge.call, slots=(edge.call.slots[0], replace(edge.call.slots[1], name="other")))
    assert find_violations(space.spec, edge.call) == []
    assert edge.call.digest(space.spec.operator) != wrong.digest(space.spec.operator)


def test_a_variadic_output_has_as_many_tensors_as_the_declaration_counts(tmp_path: Path) -> None:
    space = declared(tmp_path, "Split-18", DECLARATIONS["Split-18"])
    for _, call in rows_of(space):
        assert call.outputs is not None
        assert len(call.outputs) == call.attributes["num_outputs"].numbers[0]
    breaches = find_breaches(space, Draw("Split/invalid"))
    counted = [breach for breach in breaches if breach.constraint.id == "outputs_count"]
    assert counted
    assert all(len(breach.call.outputs or ()) != len(breach.valid.outputs or ()) for breach in counted)


def test_an_optional_output_is_asked_for_or_not(tmp_path: Path) -> None:
    space = declared(tmp_path, "MaxPool-12", DECLARATIONS["MaxPool-12"])
    assert space.factors["output_Indices"] == ("wanted", "omitted")
    found = set()
    for turn in range(12):
        solved = space.search.solve({}, Draw(f"MaxPool/{turn}"))
        found.add(tuple(solved.scope.bindings["output names"]))  # type: ignore[union-attr]
    assert found == {("Y",), ("Y", "Indices")}


def test_sequences_have_one_element_type_and_any_length(tmp_path: Path) -> None:
    space = declared(tmp_path, "SequenceInsert-11", DECLARATIONS["SequenceInsert-11"])
    lengths, types = set(), set()
    for _, call in rows_of(space):
        (slot,) = [each for each in call.slots if each.name == "input_sequence"]
        lengths.add(len(slot.parts))
        kinds = {tensor.element_type.name for tensor in call.tensors("input_sequence") if tensor is not None}
        kinds |= {tensor.element_type.name for tensor in call.tensors("tensor") if tensor is not None}
        assert len(kinds) == 1
        assert str(slot.type) == f"seq(tensor({min(kinds)}))"
        types |= kinds
    assert lengths == {0, 1, 2, 3}
    assert len(types) > 10


def test_a_position_outside_a_sequence_breaks_its_rule(tmp_path: Path) -> None:
    space = declared(tmp_path, "SequenceAt-11", DECLARATIONS["SequenceAt-11"])
    breaches = find_breaches(space, Draw("SequenceAt/invalid"))
    assert "position_range" in {breach.constraint.id for breach in breaches}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("counts: {sum: 1..2}", "neither variadic"),
        ("counts: {data_0: len(}", "counts"),
        ("counts: {data_0: true}", "counts"),
        ("counts: {data_0: ''}", "counts"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(OpcertError) as raised:
        declared(tmp_path, "Sum-13", f"\n        {line}\n")
    told = str(raised.value) + "".join(map(str, getattr(raised.value, "errors", ())))
    assert words in told
    assert "spec.yaml" in told
