"""Models that hold sequences: every node has cases, and outputs of the whole are held against references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto
from onnx.parser import parse_model

from conformance.checked_models.model_calls import ModelCall, ModelValue
from conformance.checked_models.model_reading import read_model
from conformance.suite.cases import Case
from generator.models.check.making import cases_of_call
from generator.models.model_chains.model_chains import chains_of_model
from opcert.vocabulary.slots import gather
from tests.generator.checking.faulty_runtime import FaultyRuntime
from tests.generator.checking.made_calls import call, fed, fixed
from tests.generator.checking.test_whole_outputs import run, unseen

LOOP = """
<ir_version: 8, opset_import: ["" : 18]>
main (float[6, 4] x) => (float[6, 4] y, float[3, 2, 4] z, float[N, 4] u, int64 n)
<float[4, 4] w = {0.5, 0, 0, 1, 0, 0.25, 0, 0, 0, 1, 0.125, 0, 2, 0, 0, 0.5},
 int64 three = {3}, int64 two = {2}, int64 one = {1}, bool go = {1}>
{
    a = MatMul (x, w)
    parts = SplitToSequence <axis = 0> (a, two)
    begin = SequenceEmpty <dtype = 1> ()
    s = Loop (three, go, begin) <
        body = b (int64 i, bool c, seq(float[M, 4]) q) => (bool d, seq(float[P, 4]) r) {
            d = Identity (c)
            p = SequenceAt (parts, i)
            t = Tanh (p)
            r = SequenceInsert (q, t)
        }
    >
    y = ConcatFromSequence <axis = 0> (s)
    z = ConcatFromSequence <axis = 0, new_axis = 1> (parts)
    f = SequenceAt (s, one)
    g = SequenceErase (s, one)
    pair = SequenceConstruct (f, a)
    more = SequenceInsert (pair, f, one)
    u = ConcatFromSequence <axis = 0> (more)
    n = SequenceLength (g)
}
"""
FLOATS = ModelValue("s", kind="seq(tensor(float))")
ROWS = ModelValue("s", kind="seq(tensor(float)[?,4])")


def model(text: str = LOOP) -> ModelProto:
    return parse_model(text)


def test_outputs_behind_sequences_have_bounds_of_their_own(tmp_path: Path) -> None:
    outputs = run(model(), FaultyRuntime().ask, tmp_path).outputs
    assert [(output.name, output.verdict, output.bounded) for output in outputs] == [
        ("y", "right", 24), ("z", "right", 24), ("u", "right", 40), ("n", "right", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        ("ConcatFromSequence <axis = 0> (more)", "ConcatFromSequence <axis = 0> (pair)", "u"),
        ("f = SequenceAt (s, one)", "f = SequenceAt (s, two)", "u"),
        ("r = SequenceInsert (q, t)", "r = SequenceInsert (q, p)", "y"),
        ("g = SequenceErase (s, one)", "g = Identity (s)", "n"),
    ],
)  # fmt: skip
def test_a_sequence_that_is_made_otherwise_is_noticed(
    tmp_path: Path, before: str, after: str, wrong: str
) -> None:
    assert before in LOOP
    other = model(LOOP.replace(before, after))

    def ask(case: Case, valid: Case | None = None) -> Any:
        """What the other model gives, where the whole one is asked."""
        whole = ModelProto.FromString(case.model or b"")
        plain = [output.name for output in whole.graph.output] == ["y", "z", "u", "n"]
        return FaultyRuntime().ask(_with_model(case, other) if plain else case)

    outputs = {output.name: output.verdict for output in run(model(), ask, tmp_path).outputs}
    assert outputs[wrong] == "wrong", outputs
    assert outputs["z"] == "right"


def _with_model(case: Case, other: ModelProto) -> Case:
    return replace(case, model=other.SerializeToString())


def test_a_difference_beyond_the_bound_is_noticed(tmp_path: Path) -> None:
    text = LOOP.replace("(float[6, 4] y, float[3, 2, 4] z, float[N, 4] u, int64 n)", "(float[6, 4] y)")
    far = unseen(lambda array: np.asarray(array + np.float32(0.001), np.float32))
    (output,) = run(model(text), far, tmp_path).outputs
    assert output.verdict == "wrong"


def test_nothing_of_a_chain_fails(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model().SerializeToString())
    whys = [chain.why for chain in chains_of_model(read_model(path))]
    assert whys
    assert not [why for why in whys if "failed" in why]


CALLS: dict[str, ModelCall] = {
    "SequenceAt": call("SequenceAt-11", [ROWS, fixed(1)]),
    "SequenceErase": call("SequenceErase-11", [FLOATS, fixed(-2)]),
    "SequenceInsert": call("SequenceInsert-11", [FLOATS, fed("n", 4), fixed(0)]),
    "SequenceLength": call("SequenceLength-11", [FLOATS]),
    "ConcatFromSequence": call("ConcatFromSequence-11", [ROWS], axis=1),
    "stacked": call("ConcatFromSequence-11", [ROWS], axis=-1, new_axis=1),
    "Identity": call("Identity-16", [FLOATS]),
}


def _by_lists(name: str, parts: list[NDArray[Any]], others: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """What comes out, in the order of a case's outputs, by Python's lists and numpy."""
    length = [np.array(len(parts))]
    match name:
        case "SequenceAt":
            return [parts[int(others[0])]]
        case "SequenceErase":
            del parts[int(others[0])]
        case "SequenceInsert":
            parts.insert(int(others[1]), others[0])
        case "SequenceLength":
            return length
        case "ConcatFromSequence":
            return [np.concatenate(parts, 1)]
        case "stacked":
            return [np.stack(parts, -1)]
    return [np.array(len(parts)), *parts]


@pytest.mark.parametrize("name", CALLS)
def test_cases_of_a_node_that_is_given_a_sequence(name: str) -> None:
    made = cases_of_call(CALLS[name])
    assert len(made.cases) > 3, made.not_covered
    counts = set()
    for case in made.cases:
        sequence, *others = case.slots
        parts = [part.array for part in gather(sequence, case.inputs)]
        counts.add(len(parts))
        given = [next(gather(slot, case.inputs)).array for slot in others]
        (expectation, *_) = case.expectations
        wanted = _by_lists(name, parts, given)
        found = [output.expected.array for output in expectation.outputs]
        assert len(found) == len(wanted)
        assert all(map(np.array_equal, found, wanted)), case.id
        assert case.attributes == CALLS[name].first.attributes
    assert len(counts) > 1
    if CALLS[name].first.inputs[0] is ROWS:
        ranks = [len(part.shape) for case in made.cases for part in gather(case.slots[0], case.inputs)]
        assert ranks.count(2) > len(ranks) / 2


def test_a_position_that_the_model_fixes_stands_in_every_case() -> None:
    for case in cases_of_call(CALLS["SequenceErase"]).cases:
        assert [int(tensor.array) for name, tensor in case.inputs if name == "position" and tensor] == [-2]


@pytest.mark.parametrize("inputs", [[], [None]])
def test_an_optional_that_is_left_out_has_no_element(inputs: list[None]) -> None:
    (case,) = cases_of_call(call("OptionalHasElement-18", inputs)).cases
    assert not case.expectations[0].outputs[0].expected.array.any()
