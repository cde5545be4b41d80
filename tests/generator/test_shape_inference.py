"""The suite against ONNX's own shape inference: where the two part, nobody may be blamed.

Strict shape inference of the installed onnx knows nothing of opcert. A case that must be answered and that
it refuses, one whose shape it infers otherwise than every expectation, and one that must be refused and that
it takes, are each a demand that a runtime built on it cannot keep: such a rule is a reading, a behaviour or
survival.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx.shape_inference import InferenceError, infer_shapes

from conformance.models.case_models import build_model
from conformance.suite.cases import Case, Expectation, ExpectedOutput
from conformance.suite.suites import open_suite
from generator.making.operators.named_suites import FIRST
from generator.making.suites.cache import named_suite
from opcert.vocabulary.tensors import tensor
from tests.conformance.conversation import make_case

Extents = tuple[int | None, ...]


def infer(case: Case, valid_case: Case | None = None) -> Extents | InferenceError | None:
    """The extents that shape inference gives the output (None: no shape), or how it refuses the call."""
    model = onnx.ModelProto.FromString(build_model(case, "initializers", valid_case))
    for value_info in model.graph.output:
        value_info.type.tensor_type.ClearField("shape")
    try:
        inferred = infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except InferenceError as error:
        return error
    found = inferred.graph.output[0].type.tensor_type
    if not found.HasField("shape"):
        return None
    return tuple(each.dim_value if each.HasField("dim_value") else None for each in found.shape.dim)


def contradiction(case: Case, valid_case: Case | None = None) -> str | None:
    """What shape inference has against a case's demand, in words; None where they agree."""
    if case.demand == "survive":
        return None
    inferred = infer(case, valid_case)
    if case.demand == "refuse":
        if isinstance(inferred, InferenceError):
            return None
        return f"{case.id} must be refused ({case.constraint}), and shape inference takes it as {inferred}"
    if isinstance(inferred, InferenceError):
        return f"{case.id} must be answered, and shape inference refuses it: {inferred}"
    shapes = {expectation.outputs[0].expected.shape for expectation in case.expectations}
    if inferred is None or any(_fits(shape, inferred) for shape in shapes):
        return None
    return f"{case.id} must be of {sorted(shapes)}, and shape inference has {inferred}"


def _fits(shape: tuple[int, ...], inferred: Extents) -> bool:
    if len(shape) != len(inferred):
        return False
    return all(known is None or known == extent for extent, known in zip(shape, inferred, strict=True))


def cases() -> Iterator[tuple[Case, Case | None]]:
    """Every case of an operator of ONNX in the default suite, with the valid case that it was made from."""
    suite = open_suite(named_suite(FIRST, print))
    for name in suite.case_ids:
        if name.startswith("ai.onnx/"):
            case = suite.case(name)
            yield case, None if case.valid_case is None else suite.case(case.valid_case)


@pytest.mark.slow
def test_no_demand_contradicts_the_shape_inference_of_the_operator() -> None:
    found, demands = [], {"answer": 0, "refuse": 0, "survive": 0}
    for case, valid_case in cases():
        demands[case.demand] += 1
        found.append(contradiction(case, valid_case))
    assert [each for each in found if each is not None] == []
    assert demands["answer"] > 2000
    assert demands["refuse"] > 25
    assert demands["survive"] > 100


def _resize(shape: tuple[int, ...], **attributes: tuple[str, object]) -> Case:
    """A call by scales that must be answered with a shape."""
    scales = ("scales", tensor(np.array([1, 2], np.float32)))
    image = tensor(np.zeros((2, 3), np.float32))
    case = make_case("ai.onnx::Resize-18", [("X", image), ("roi", None), scales], attributes, image)
    return replace(case, expectations=(_expectation(shape),))


def _expectation(shape: tuple[int, ...]) -> Expectation:
    return Expectation((ExpectedOutput("Y", tensor(np.zeros(shape, np.float32))),))


def test_what_shape_inference_says_is_heard() -> None:
    right, policy = _resize((2, 6)), {"keep_aspect_ratio_policy": ("string", "not_larger")}
    assert contradiction(right) is None
    assert "shape inference has (2, 6)" in (contradiction(_resize((2, 3))) or "")
    both = replace(right, expectations=(_expectation((2, 3)), _expectation((2, 6))))
    assert contradiction(both) is None
    beside = _resize((2, 6), **policy)
    assert "incompatible with a `keep_aspect_ratio_policy`" in (contradiction(beside) or "")
    assert contradiction(replace(beside, demand="survive")) is None
    assert contradiction(replace(beside, demand="refuse")) is None


def test_a_refusal_that_shape_inference_does_not_know_is_heard() -> None:
    taken = replace(_resize((2, 6)), demand="refuse", constraint="made_up")
    assert "must be refused (made_up)" in (contradiction(taken) or "")
