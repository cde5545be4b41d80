"""Fake runtimes: the reference with one mistake each, made without the changes that explanations try."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from generator.exploring.diagnosis.change_trials import FailingCase
from generator.making.operators.workshop import Options
from generator.making.suites.cache import cached_suite
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import OutsideDomain, UnstableLength
from reference.registry import find_operator
from specs.files.library import load_spec
from specs.model.domain import check_constraints

_spec = cache(load_spec)
Attributes = dict[str, Any]
Inputs = dict[str, Tensor | None]
Readings = dict[str, str]
Mistake = Callable[[Attributes, Inputs, Readings], Tensor | None]
"""Changes what it is given, or answers itself; it may leave everything as it is."""

RESIZE, PAD = "ai.onnx::Resize-18", "com.microsoft::Pad-1"
CENTER, BATCH = "ai.onnx::CenterCropPad-18", "org.tensorflow::BatchToSpaceND-1"
PATCHES = "org.openvino::ExtractImagePatches-3"
_STEP = {RESIZE: 5}
"""Every fifth case of Resize is enough, and faster; of some kinds there are few, and all are kept."""


@dataclass(frozen=True)
class Fault:
    """A mistake in an operator, and the keys of the changes that are rightly named for it."""

    name: str
    operator: str
    mistake: Mistake
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """What came of a fake runtime."""

    failures: tuple[FailingCase, ...]
    passing: tuple[Case, ...]

    @property
    def failing_ids(self) -> list[str]:
        return [str(failure.case.id) for failure in self.failures]


@cache
def cases_of(operator: str) -> tuple[Case, ...]:
    """The cases that must be answered."""
    with open_suite(cached_suite([OperatorName.parse(operator)], Options(), print)) as suite:
        answered = [case for case in map(suite.case, suite.case_ids) if case.demand == "answer"]
    step = _STEP.get(operator, 1)
    return tuple(each for place, each in enumerate(answered) if place % step == 0 or _is_rare(each))


def _is_rare(case: Case) -> bool:
    excluding = case.attributes.get("exclude_outside")
    return case.element_type.name == "double" or (excluding is not None and excluding.value == 1)


def run_fault(operator: str, mistake: Mistake) -> Run:
    """Let a fake runtime with that mistake answer every case, and judge it."""
    failures, passing = [], []
    for case in cases_of(operator):
        answer = _answer(case, mistake)
        if answer is None:
            continue
        if judge(case, Answered((answer,))).verdict == "pass":
            passing.append(case)
        else:
            failures.append(FailingCase(case, (answer,)))
    return Run(tuple(failures), tuple(passing))


def _answer(case: Case, mistake: Mistake) -> Tensor | None:
    attributes: Attributes = {name: attribute.value for name, attribute in case.attributes.items()}
    inputs: Inputs = dict(case.inputs)
    readings: Readings = {}
    before = (dict(attributes), dict(inputs))
    answered = mistake(attributes, inputs, readings)
    if answered is not None:
        return answered
    if before == (attributes, inputs) and not readings:
        return case.expectations[0].outputs[0].expected
    if check_constraints(_spec(case.operator), attributes, inputs):
        return None
    try:
        return find_operator(case.operator).evaluate(attributes, inputs, readings)[0].expected
    except (OutsideDomain, UnstableLength):
        return None  # this runtime refuses the case


def right_answer(operator: str, attributes: Attributes, inputs: Inputs) -> NDArray[Any]:
    """The elements that the reference expects, to be spoilt."""
    found = find_operator(OperatorName.parse(operator)).evaluate(attributes, inputs)
    return found[0].expected.array.copy()


def replaced(name: str, old: object, new: object) -> Mistake:
    """One value of an attribute is taken for another; `old` None stands for every value."""

    def mistake(attributes: Attributes, _inputs: Inputs, _readings: Readings) -> None:
        if old is None:
            if name in attributes:
                attributes[name] = new
        elif attributes.get(name, _DEFAULTS.get(name)) == old:
            attributes[name] = new

    return mistake


_DEFAULTS: Mapping[str, object] = {
    "coordinate_transformation_mode": "half_pixel",
    "nearest_mode": "round_prefer_floor",
    "mode": "nearest",
}


def changed_input(name: str, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Mistake:
    """An input is taken for another; an omitted one stays so."""

    def mistake(_attributes: Attributes, inputs: Inputs, _readings: Readings) -> None:
        given = inputs.get(name)
        if given is not None:
            inputs[name] = Tensor(given.element_type, np.array(change(given.array), given.array.dtype))

    return mistake


def other_reading(name: str, option: str) -> Mistake:
    def mistake(_attributes: Attributes, _inputs: Inputs, readings: Readings) -> None:
        readings[name] = option

    return mistake


def without_input(name: str) -> Mistake:
    def mistake(_attributes: Attributes, inputs: Inputs, _readings: Readings) -> None:
        inputs[name] = None

    return mistake


def _sorted_axes(attributes: Attributes, inputs: Inputs, _readings: Readings) -> None:
    if "axes" in attributes:
        first = next(iter(inputs.values()))
        assert first is not None
        attributes["axes"] = tuple(sorted(axis % len(first.shape) for axis in attributes["axes"]))


def _roi_ignored(_attributes: Attributes, inputs: Inputs, _readings: Readings) -> None:
    roi = inputs.get("roi")
    if roi is not None and roi.array.size:
        half = roi.array.size // 2
        inputs["roi"] = Tensor(roi.element_type, np.array([0] * half + [1] * half, roi.array.dtype))


def _length_rounded_up(attributes: Attributes, inputs: Inputs, _readings: Readings) -> None:
    X, scales = inputs["X"], inputs.get("scales")
    if (
        X is None
        or scales is None
        or attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize"
    ):
        return
    axes = attributes.get("axes", range(len(X.shape)))
    exact = [X.shape[axis] * Fraction(float(each)) for axis, each in zip(axes, scales.array, strict=True)]
    inputs["scales"] = None
    inputs["sizes"] = tensor([math.ceil(each) for each in exact], "int64")


def _one_rule_of_version_10(attributes: Attributes, inputs: Inputs, readings: Readings) -> Tensor | None:
    """The nearest elements by a rule that version 10 leaves open, and that this one does not list."""
    if attributes.get("mode", "nearest") != "nearest":
        return None
    given = {**attributes, "nearest_mode": "ceil_downsampling"}
    return find_operator(OperatorName.parse(RESIZE)).evaluate(given, inputs, readings)[0].expected


def _in_single_precision(attributes: Attributes, inputs: Inputs, readings: Readings) -> Tensor | None:
    given = inputs["X"]
    if given is None or given.element_type.name != "double":
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = Tensor(ELEMENT_TYPES["float"], given.array.astype(np.float32))
        inputs["X"] = narrow
        found = find_operator(OperatorName.parse(RESIZE)).evaluate(attributes, inputs, readings)
        return Tensor(given.element_type, found[0].expected.array.astype(np.float64))


def _symmetric(attributes: Attributes, inputs: Inputs, _readings: Readings) -> Tensor | None:
    data, pads = inputs["data"], inputs["pads"]
    if data is None or pads is None or attributes.get("mode") != "reflect":
        return None
    amounts = pads.array.reshape(2, -1)
    kept = tuple(
        slice(max(0, -begin), extent - max(0, -end))
        for extent, begin, end in zip(data.shape, *amounts.tolist(), strict=True)
    )
    if 0 in data.array[kept].shape:
        return None
    width = np.maximum(amounts, 0).T.tolist()
    moved = np.pad(data.array[kept], width, mode="symmetric") if width else data.array
    return Tensor(data.element_type, moved)


def _low_bits(_attributes: Attributes, inputs: Inputs, _readings: Readings) -> None:
    given = inputs["input_data"]
    if given is not None and given.element_type.name == "int64":
        inputs["input_data"] = Tensor(given.element_type, given.array.astype(np.int32).astype(np.int64))


def _blocks_innermost(_attributes: Attributes, inputs: Inputs, _readings: Readings) -> None:
    given, blocks = inputs["input"], inputs["block_shape"]
    assert given is not None
    assert blocks is not None
    count = int(np.prod(blocks.array))
    rows = [batch * count + block for block in range(count) for batch in range(given.shape[0] // count)]
    inputs["input"] = Tensor(given.element_type, given.array[rows])


def _swap_halves(pads: NDArray[Any]) -> NDArray[Any]:
    half = pads.size // 2
    flat = pads.reshape(-1)
    return np.concatenate([flat[half:], flat[:half]]).reshape(pads.shape)


def _attribute(name: str, value: object) -> tuple[str, ...]:
    return (f"attribute {name}={value}",)


_COORDINATES = "coordinate_transformation_mode"
_PIXELS = (*_attribute(_COORDINATES, "half_pixel"), *_attribute(_COORDINATES, "pytorch_half_pixel"))

FAULTS = (
    Fault(
        "wrong coordinate mode",
        RESIZE,
        replaced(_COORDINATES, "half_pixel", "asymmetric"),
        _attribute(_COORDINATES, "asymmetric"),
    ),
    Fault(
        "align_corners unknown", RESIZE, replaced(_COORDINATES, "align_corners", "half_pixel"), _PIXELS[:1]
    ),
    Fault(
        "floor for round",
        RESIZE,
        replaced("nearest_mode", "round_prefer_floor", "floor"),
        _attribute("nearest_mode", "floor"),
    ),
    Fault(
        "one rule of nearest",
        RESIZE,
        _one_rule_of_version_10,
        _attribute("nearest_mode", "ceil_downsampling"),
    ),
    Fault("antialias ignored", RESIZE, replaced("antialias", 1, 0), _attribute("antialias", 0)),
    Fault("axes sorted", RESIZE, _sorted_axes, ("axes sorted from the front", "axes sorted")),
    Fault("roi ignored", RESIZE, _roi_ignored, ("roi whole",)),
    Fault(
        "exclude_outside ignored", RESIZE, replaced("exclude_outside", 1, 0), _attribute("exclude_outside", 0)
    ),
    Fault(
        "cubic_coeff_a ignored",
        RESIZE,
        replaced("cubic_coeff_a", None, -0.75),
        _attribute("cubic_coeff_a", -0.75),
    ),
    Fault(
        "extrapolation ignored",
        RESIZE,
        replaced("extrapolation_value", None, 0.0),
        _attribute("extrapolation_value", 0),
    ),
    Fault(
        "policy ignored",
        RESIZE,
        replaced("keep_aspect_ratio_policy", None, "stretch"),
        _attribute("keep_aspect_ratio_policy", "stretch"),
    ),
    Fault("cubic as linear", RESIZE, replaced("mode", "cubic", "linear"), _attribute("mode", "linear")),
    Fault("length rounded up", RESIZE, _length_rounded_up, ("length ceil",)),
    Fault("doubles truncated", RESIZE, _in_single_precision, ("elements double as float",)),
    Fault("pads swapped", PAD, changed_input("pads", _swap_halves), ("pads exchanged",)),
    Fault("reflect as edge", PAD, replaced("mode", "reflect", "edge"), _attribute("mode", "edge")),
    Fault("reflect as symmetric", PAD, _symmetric, ("mode symmetric",)),
    Fault("value ignored", PAD, without_input("value"), ("input value ignored",)),
    Fault(
        "removal ignored", PAD, changed_input("pads", lambda pads: np.maximum(pads, 0)), ("pads no removal",)
    ),
    Fault(
        "odd crop on the other side",
        CENTER,
        other_reading("odd_crop", "start_rounded_up"),
        ("reading odd_crop=start_rounded_up",),
    ),
    Fault(
        "odd pad on the other side",
        CENTER,
        other_reading("odd_pad", "extra_at_begin"),
        ("reading odd_pad=extra_at_begin",),
    ),
    Fault("crop axes sorted", CENTER, _sorted_axes, ("axes sorted from the front", "axes sorted")),
    Fault("low bits alone", CENTER, _low_bits, ("elements int64 as int32 wrapped",)),
    Fault("crops ignored", BATCH, changed_input("crops", np.zeros_like), ("crops ignored",)),
    Fault("crops swapped", BATCH, changed_input("crops", lambda crops: crops[:, ::-1]), ("crops exchanged",)),
    Fault("block order", BATCH, _blocks_innermost, ("batch blocks innermost",)),
    Fault(
        "depth outermost",
        PATCHES,
        other_reading("depth_order", "depth_outermost"),
        ("reading depth_order=depth_outermost",),
    ),
    Fault("rates ignored", PATCHES, replaced("rates", None, (1, 1)), ("rates ignored",)),
    Fault(
        "same_lower as same_upper",
        PATCHES,
        replaced("auto_pad", "same_lower", "same_upper"),
        _attribute("auto_pad", "same_upper"),
    ),
)
