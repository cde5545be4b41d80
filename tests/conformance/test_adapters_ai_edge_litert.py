"""The adapter of LiteRT against LiteRT: flatbuffers of one builtin, on its interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.models.case_models import Form
from conformance.runtimes.adapter import load_adapter
from conformance.suite.cases import Case
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.conversation import Conversation, make_case
from tests.conformance.runtime_checks import (
    assert_every_rule_is_met,
    assert_moved_unharmed,
    converse,
    environment_of,
    numbers,
    rule_of,
)

pytestmark = pytest.mark.runtimes("ai-edge-litert")
ADAPTER = load_adapter("ai-edge-litert")
LINE = tensor([1.0, 2.0, 4.0], "float")


def whole(*values: int, element_type: str = "int32") -> Tensor:
    return tensor(values, element_type)


def test_it_says_what_it_is(runtime: Conversation) -> None:
    installed = environment_of(ADAPTER).packages["ai-edge-litert"]
    assert runtime.hello["runtime"] == {"name": "ai-edge-litert", "version": installed}
    assert runtime.hello["x_settings"] == {"delegate": "default", "threads": 1}


def test_every_rule_of_the_table_is_what_it_says() -> None:
    half = numbers((2, 2), "float16")
    blocks = [
        ("input", numbers((2, 1, 1, 1))),
        ("block_shape", whole(2, element_type="int64")),
        ("crops", tensor([[0, 0]], "int64")),
    ]
    cases: list[Case | tuple[Case, Form]] = [
        make_case("org.tensorflow::Squeeze-1", [("input", numbers((1, 2), "bfloat16"))]),
        make_case("org.tensorflow::Exp-1", [("x", half)]),
        make_case("org.tensorflow::RealDiv-1", [("x", half), ("y", half)]),
        make_case("org.tensorflow::BatchMatMulV2-1", [("x", half), ("y", half)]),
        (make_case("org.tensorflow::BatchToSpaceND-1", blocks), "dynamic"),
        make_case("org.tensorflow::ReverseV2-1", [("tensor", numbers((2, 1, 2))), ("axis", whole(0, 2))]),
        make_case(
            "org.tensorflow::Pad-1",
            [("input", numbers((1,) * 6)), ("paddings", tensor([[0, 1]] * 6, "int32"))],
        ),
        make_case("org.tensorflow::Acos-1", [("x", LINE)]),
    ]
    with converse(ADAPTER, delegate="none") as plain:
        assert plain.hello["x_settings"] == {"delegate": "none", "threads": 1}
        assert_every_rule_is_met(ADAPTER, plain, cases)


def test_other_refusals_are_its_own(runtime: Conversation) -> None:
    assert (
        rule_of(ADAPTER, runtime, make_case("org.tensorflow::Add-1", [("x", LINE), ("y", numbers((2,)))]))
        is None
    )


@pytest.mark.parametrize(
    "element_type",
    ["float", "double", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
     "bool", "string", "complex64", "complex128"],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 1, 3, 2)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    sent = (
        tensor("ä\0b", "string") if (element_type, shape) == ("string", ()) else numbers(shape, element_type)
    )
    case = make_case("org.tensorflow::ExpandDims-1", [("input", sent), ("axis", tensor(0, "int32"))])
    (returned,) = runtime.call(case, "initializers")
    assert isinstance(returned, Tensor), returned
    assert (returned.element_type, returned.shape) == (sent.element_type, (1, *shape))
    assert returned.to_bytes() == sent.to_bytes()


@pytest.mark.parametrize("form", ["initializers", "inputs", "dynamic", "again"])
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    assert form in runtime.hello["forms"]
    inputs = [("input", numbers((3, 2))), ("multiples", whole(1, 1, element_type="int64"))]
    assert_moved_unharmed(runtime, make_case("org.tensorflow::Tile-1", inputs), form)


@pytest.mark.parametrize("element_type", ["float", "int16", "int32", "int64", "bool", "string"])
def test_constants_are_what_they_were(runtime: Conversation, element_type: str) -> None:
    sent = numbers((7,), element_type)
    both = make_case("org.tensorflow::Equal-1", [("x", sent), ("y", numbers((7,), element_type))])
    assert runtime.call(both, "initializers") == [tensor([True] * 7)]


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "expected"),
    [
        ("Sum", [LINE, tensor(0, "int64")], {"keep_dims": ("int", 1)}, tensor([7.0], "float")),
        ("Cumsum", [LINE, tensor(-1, "int32")], {"exclusive": ("int", 1)}, tensor([0.0, 1.0, 3.0], "float")),
        ("Cumsum", [LINE, tensor(-1, "int32")], {"reverse": ("int", 1)}, tensor([7.0, 6.0, 4.0], "float")),
        ("LeakyRelu", [tensor([-3.3330746], "float")], {}, tensor([-0.66661495], "float")),
        ("BiasAdd", [tensor([[1.0, 2.0]], "float"), tensor([3.0, 5.0], "float")], {}, tensor([[4.0, 7.0]], "float")),  # noqa: E501
        ("OneHot", [whole(1), tensor(2, "int32"), tensor(True), tensor(False)], {}, tensor([[False, True]])),
        (
            "MirrorPad",
            [LINE, tensor([[1, 1]], "int64")],
            {"mode": ("string", "REFLECT")},
            tensor([2.0, 1.0, 2.0, 4.0, 2.0], "float"),
        ),
        (
            "MirrorPad",
            [LINE, tensor([[1, 1]], "int64")],
            {"mode": ("string", "SYMMETRIC")},
            tensor([1.0, 1.0, 2.0, 4.0, 4.0], "float"),
        ),
        (
            "MatMul",
            [tensor([[1.0, 2.0]], "float"), tensor([[3.0, 4.0], [5.0, 6.0]], "float")],
            {"transpose_b": ("int", 1)},
            tensor([[11.0, 17.0]], "float"),
        ),
        (
            "MatMul",
            [tensor([[1.0], [2.0]], "float"), tensor([[3.0, 4.0], [5.0, 6.0]], "float")],
            {"transpose_a": ("int", 1)},
            tensor([[13.0, 16.0]], "float"),
        ),
        (
            "DepthToSpace",
            [tensor(np.arange(4, dtype=np.float32).reshape(1, 1, 1, 4))],
            {"block_size": ("int", 2)},
            tensor(np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1)),
        ),
        ("Squeeze", [numbers((1, 2, 1))], {"axis": ("ints", [2])}, numbers((1, 2))),
        ("RealDiv", [LINE, tensor([2.0], "float")], {"grad_x": ("int", 0)}, tensor([0.5, 1.0, 2.0], "float")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["initializers", "inputs"])
def test_a_call_becomes_the_builtin_that_means_the_same(
    runtime: Conversation,
    operator: str,
    inputs: list[Tensor],
    attributes: dict[str, tuple[str, object]],
    expected: Tensor,
    form: Form,
) -> None:
    named = [(f"x{place}", each) for place, each in enumerate(inputs)]
    assert runtime.call(make_case(f"org.tensorflow::{operator}-1", named, attributes), form) == [expected]
