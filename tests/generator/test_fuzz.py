"""Fuzzing: planted mistakes are found and shrunk to the smallest call there is, and nothing else is found."""

from __future__ import annotations

import pytest

from generator.asking.named_operators import first_operators
from generator.exploring.fuzzing.search import Find, FuzzResult, fuzz
from generator.making.operators.opsets import newest_versions
from tests.generator import fuzz_fakes as fakes
from tests.generator.fuzz_fakes import Fake, plain, space_of

PAD, PATCHES = "com.microsoft::Pad-1", "org.openvino::ExtractImagePatches-3"
CENTER, BATCH = "ai.onnx::CenterCropPad-18", "org.tensorflow::BatchToSpaceND-1"
LONG = 1000.0
"""Seconds that no search here takes: the number of calls ends it."""


def search(
    operator: str, mistake: fakes.Mistake, calls: int, seed: int = 1, *, accepts: bool = False
) -> FuzzResult:
    space = space_of(operator)
    return fuzz(space, Fake(space, mistake, accepts).ask, seed, LONG, most_calls=calls)


def only_find(found: FuzzResult) -> Find:
    assert [each.failure.reason for each in found.finds] != []
    (find,) = found.finds
    assert find.small.least
    return find


@pytest.mark.parametrize("operator", [PAD, PATCHES, CENTER, BATCH])
def test_nothing_is_found_where_nothing_is_wrong(operator: str) -> None:
    found = search(operator, fakes.nothing, 20)
    assert found.finds == []
    assert found.tried["pass"] > 5
    assert set(found.tried) <= {"pass", "observed", "undefined", "unstable", "too large"}
    assert not found.mistakes


def test_a_crash_becomes_the_smallest_call_with_a_negative_axis() -> None:
    find = only_find(search(CENTER, fakes.dies_of_negative_axes, 60))
    assert (find.failure.verdict, find.failure.how) == ("crash", "SIGSEGV")
    assert plain(find.small.attempt.call) == (
        {"axes": (-1,)},
        {"input_data": ("float", [0.0]), "shape": ("int64", [1])},
    )
    assert [str(matter) for matter in find.matters] == [
        "element type = float: any other value does as well",
        "element type of shape = int64: any other value does as well",
        "axes = [-1]: matters, not with left out",
    ]


def test_a_wrong_value_becomes_the_smallest_reflection_of_two() -> None:
    find = only_find(search(PAD, fakes.reflects_as_edge, 120))
    assert (find.failure.verdict, find.failure.how) == ("mismatch", "value")
    attributes, inputs = plain(find.small.attempt.call)
    assert attributes == {"mode": "reflect"}
    assert inputs["data"][0] == "float"
    # Three elements are needed to reflect two, and one of them must be another one.
    assert sorted(inputs["data"][1]) == [0.0, 0.0, 1.0]
    assert sorted(inputs["pads"][1]) == [0, 2]
    assert any(str(matter) == "mode = reflect: matters, not with constant or edge" for matter in find.matters)


def test_a_hang_is_made_small_in_few_tries() -> None:
    found = search(PATCHES, fakes.hangs_on_large_rates, 40)
    (find,) = found.finds
    assert find.failure.verdict == "timeout"
    # Each try may take as long as a call may take: those drawn, and few beside them.
    assert found.tried["timeout"] <= find.calls + 12
    attributes, _ = plain(find.small.attempt.call)
    assert max(attributes["rates"]) > 2


def test_a_refusal_becomes_the_smallest_tensor_of_four_axes() -> None:
    find = only_find(search(BATCH, fakes.refuses_many_axes, 60))
    assert find.failure.verdict == "rejected_valid"
    _, inputs = plain(find.small.attempt.call)
    assert inputs == {
        "input": ("float", [[[[0.0]]]]),
        "block_shape": ("int64", []),
        "crops": ("int64", []),
    }


def test_accepted_nonsense_is_found_for_each_rule() -> None:
    found = search(BATCH, fakes.nothing, 300, accepts=True)
    accepted = [find for find in found.finds if find.failure.verdict == "accepted_invalid"]
    rules = {find.failure.how for find in accepted}
    assert {"crops_not_negative", "block_sizes_at_least_1", "type_of_T_crops"} <= rules
    assert len(accepted) == len(rules) == len(found.finds)
    for find in accepted:
        assert find.small.attempt.breaks is not None
        valid = find.small.attempt.made_from
        assert valid is not None
        again = space_of(BATCH).attempt(valid)
        assert again is not None
        assert again.breaks is None


def test_a_seed_fixes_what_is_found() -> None:
    first, second = (search(PAD, fakes.reflects_as_edge, 40, seed=5) for _ in range(2))
    other = search(PAD, fakes.reflects_as_edge, 40, seed=6)
    assert first.tried == second.tried
    assert [plain(find.small.attempt.call) for find in first.finds] == [
        plain(find.small.attempt.call) for find in second.finds
    ]
    assert other.tried != first.tried


@pytest.mark.parametrize("operator", ["ai.onnx::Concat-13", "ai.onnx::Constant-25"])
def test_calls_of_any_number_of_inputs_are_drawn(operator: str) -> None:
    found = search(operator, fakes.nothing, 60)
    assert found.finds == []
    assert found.drawn == 60
    assert not found.mistakes


@pytest.mark.slow
def test_every_operator_of_ours_can_be_searched() -> None:
    for operator in newest_versions(first_operators()):
        assert search(str(operator), fakes.nothing, 2).drawn == 2
