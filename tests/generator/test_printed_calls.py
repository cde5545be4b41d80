"""What a document prints is asked as it stands, and what was drawn for it is never the document's mistake."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.judging.judge import judge
from conformance.judging.responses import Answered, Refused
from conformance.judging.verdicts import FAILING
from conformance.suite.cases import Case
from conformance.suite.values import decode_floats
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import OperatorCases, generate_operator
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor

pytestmark = pytest.mark.slow


@cache
def made(name: str) -> OperatorCases:
    return generate_operator(OperatorName.parse(f"ai.onnx::{name}"), Options())


def example(name: str, word: str) -> Case:
    return next(case for case in made(name).cases if case.family == "example" and case.id.word == word)


def given_to(case: Case, name: str) -> Tensor:
    found = dict(case.inputs)[name]
    assert found is not None
    return found


def test_a_reflection_goes_on_at_the_other_end_as_the_example_of_pad_prints() -> None:
    case = example("Pad-25", "summary_2")
    printed = np.array([[1.0, 1.2, 1.0, 1.2], [2.3, 3.4, 2.3, 3.4], [4.5, 5.7, 4.5, 5.7]], np.float32)
    assert judge(case, Answered((tensor(printed),))).verdict == "pass"
    # What ONNX Runtime computed before it rejected such calls.
    blank = printed.copy()
    blank[:, 0] = 0
    assert judge(case, Answered((tensor(blank),))).verdict in FAILING


def test_longer_reflections_are_those_of_numpy() -> None:
    found = [case for case in made("Pad-25").cases if "reflected_again" in str(case.id)]
    assert len(found) == 2
    for case in found:
        data, pads = given_to(case, "data").array, given_to(case, "pads").array.reshape(2, -1).T
        (output,) = case.expectations[0].outputs
        assert np.array_equal(output.expected.array, np.pad(data, pads.tolist(), mode="reflect"))


@pytest.mark.parametrize(("word", "parts"), [("1d_opset18_1", 3), ("2d_uneven_split_opset18", 3)])
def test_an_example_has_as_many_outputs_as_its_node(word: str, parts: int) -> None:
    assert len(example("Split-18", word).output_names) == parts


def test_limits_of_one_element_are_asked_as_they_are_printed() -> None:
    case = example("NonMaxSuppression-11", "nonmaxsuppression_suppress_by_IOU")
    limit = given_to(case, "max_output_boxes_per_class")
    assert limit.shape == (1,)
    assert judge(case, Refused("RuntimeError", "takes scalars alone")).verdict == "rejected_valid"


def test_an_output_one_longer_than_there_is_has_zeros_behind_it_as_the_example_prints() -> None:
    case = example("ConvTranspose-22", "convtranspose_attributes_1")
    (output,) = case.expectations[0].outputs
    assert len(case.expectations) == 1
    assert output.expected.shape == (1, 2, 10, 8)
    right = output.expected.array
    assert not right[..., -1, :].any()
    assert judge(case, Answered((output.expected,))).verdict == "pass"
    moved = tensor(np.roll(right, 1, axis=-2))
    assert judge(case, Answered((moved,))).verdict in FAILING


def test_floats_of_eight_bits_are_read_as_they_are_written() -> None:
    given = given_to(example("DequantizeLinear-28", "e4m3fn"), "x")
    assert decode_floats(given.element_type, given.array).tolist() == [0.0, 0.5, 1.0, 448.0, -104.0]


def test_a_depth_of_an_example_may_be_greater_than_those_that_are_drawn() -> None:
    assert given_to(example("OneHot-28", "without_axis"), "depth").array.reshape(-1).tolist() == [12]


def test_what_was_drawn_for_an_example_is_no_mistake_of_the_document() -> None:
    """Its labels are random numbers of a range that the page's code says, and no draw knows."""
    findings = made("NegativeLogLikelihoodLoss-22").facts["findings"]
    assert not [found for found in findings if "breaks the rule" in str(found)]


def reflected(places: NDArray[Any], extent: int) -> NDArray[Any]:
    """Places mirrored at the outer edges of the first and the last of so many elements."""
    far = np.mod(places + 0.5, 2 * extent)
    return np.where(far < extent, far, 2 * extent - far) - 0.5


def cubic(image: NDArray[Any], grid: NDArray[Any], *, clamps: bool) -> NDArray[Any]:
    """Cubic samples of an image, with reflections outside; neighbours are clamped, or reflected."""
    sizes = image.shape[:0:-1]
    places = [reflected((grid[..., at] + 1) * size / 2 - 0.5, size) for at, size in enumerate(sizes)]
    result = np.zeros(())
    for step_y in range(-1, 3):
        for step_x in range(-1, 3):
            weight, found = np.ones(()), []
            for place, size, step in zip(places, sizes, (step_x, step_y), strict=True):
                near = np.floor(place) + step
                far, a = np.abs(place - near), -0.75
                inner = (a + 2) * far**3 - (a + 3) * far**2 + 1
                outer = a * far**3 - 5 * a * far**2 + 8 * a * far - 4 * a
                weight = weight * np.where(far <= 1, inner, np.where(far < 2, outer, 0))
                kept = np.clip(near, 0, size - 1) if clamps else reflected(near, size)
                found.append(np.round(kept).astype(int))
            result = result + weight * image[:, found[1], found[0]]
    return result


def test_two_modes_meet_in_plain_floats() -> None:
    word = "together_mode_cubic_padding_mode_reflection"
    (case,) = [case for case in made("GridSample-22").cases if case.id.word == word]
    images, grids = given_to(case, "X"), given_to(case, "grid")
    assert (images.element_type.name, images.array.ndim) == ("float", 4)
    for clamps, fails in ((False, False), (True, True)):
        pairs = zip(images.array.astype(float), grids.array.astype(float), strict=True)
        sampled = np.stack([cubic(image, grid, clamps=clamps) for image, grid in pairs])
        answer = Answered((tensor(sampled.astype(np.float32)),))
        assert (judge(case, answer).verdict in FAILING) == fails


def test_numbers_beside_the_greatest_half_are_cast() -> None:
    """From half a step beyond the greatest number on float16 has infinities; some runtimes keep 65504."""
    (case,) = [case for case in made("Cast-28").cases if case.id.word == "numbers_to_float16"]
    given = given_to(case, "input").array
    with np.errstate(over="ignore"):
        halves = given.astype(np.float16)
    assert np.isinf(halves[np.abs(given) == 65520]).all()
    assert judge(case, Answered((tensor(halves),))).verdict == "pass"
    beyond = np.isinf(halves) & np.isfinite(given)
    clamped = np.where(beyond, np.sign(given) * 65504, halves).astype(np.float16)
    assert judge(case, Answered((tensor(clamped),))).verdict in FAILING
