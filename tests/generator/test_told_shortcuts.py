"""A runtime that hands its input on where little seems to be asked for is wrong in some case of each kind."""

from __future__ import annotations

import pytest

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.judging.verdicts import FAILING
from conformance.suite.cases import Case
from generator.making.cases.mechanisms import add_told_shortcuts, tells_what_is_handed_on
from generator.making.operators.workshop import Options, open_workshop
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor

KEPT = {
    "Resize-19": {
        "length_kept_linear",
        "length_kept_cubic",
        "length_kept_nearest",
        "length_kept_half_pixel_symmetric",
        "length_kept_antialias_along_one_axis_linear",
    },
    "Transpose-25": {"ones_stay_and_others_move", "ones_and_others_move", "pairs_move"},
    "Pad-25": {f"no_longer_than_before_{each}" for each in ("constant", "edge", "reflect", "wrap")},
    "Slice-13": {"everything_backwards_along_one_axis"},
    "Gather-13": {"nearly_a_range"},
    "GatherElements-13": {"nearly_a_range"},
    "ReduceL1-18": {"along_one_element"},
    "ReduceSumSquare-18": {"along_one_element"},
    "Softmax-13": {"along_one_element"},
    "Clip-13": {"min_is_the_least", "max_is_the_greatest"},
    "LpPool-22": {"windows_of_one"},
    "TopK-24": {"K_means_everything"},
    "Cast-25": {"as_wide_float_to_int32", "as_wide_float16_to_bfloat16", "as_wide_int64_to_double"},
}
RIGHT = {
    "ReduceSum-13": "along_one_element",
    "MaxPool-22": "windows_of_one",
    "Cast-25": "as_wide_int32_to_uint32",
}
"""Where handing the input on is right: such a case tells nothing."""


def cases_of(name: str) -> dict[str, Case]:
    workshop = open_workshop(OperatorName.parse(f"ai.onnx::{name}"), Options())
    add_told_shortcuts(workshop)
    return {str(each.id.word): each for each in workshop.cases.values()}


@pytest.mark.parametrize("name", KEPT)
def test_a_shortcut_has_a_case_that_tells_it(name: str) -> None:
    found = cases_of(name)
    assert found.keys() >= KEPT[name]
    assert all(map(tells_what_is_handed_on, found.values()))


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_to_hand_on_has_none(name: str) -> None:
    assert RIGHT[name] not in cases_of(name)


def test_handing_a_transposed_tensor_on_fails() -> None:
    for case in cases_of("Transpose-25").values():
        ((_, given),) = case.inputs
        expected = case.expectations[0].outputs[0].expected
        assert given is not None
        copied = Tensor(given.element_type, given.array.reshape(expected.shape))
        assert judge(case, Answered((copied,))).verdict in FAILING
        assert judge(case, Answered((expected,))).verdict not in FAILING


def test_a_length_that_a_scale_keeps_tells_which_scale_stands_in_the_formula() -> None:
    """The text has two; symmetric half pixels take the scale as it is given by either."""
    found = cases_of("Resize-19")
    assert set(found["length_kept_linear"].expectations[0].readings) == {"scale"}
    strict = found["length_kept_half_pixel_symmetric"]
    given = dict(strict.inputs)["X"]
    assert given is not None
    assert judge(strict, Answered((given,))).verdict in FAILING
