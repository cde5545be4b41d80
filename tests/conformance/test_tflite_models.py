"""Which builtin a call of TensorFlow's is: its options and types, and what has no counterpart."""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.models.case_models import Form
from conformance.models.node_descriptions import describe_node
from conformance.runtimes.adapter import WORKERS
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.conversation import make_case
from tests.conformance.runtime_checks import numbers

if TYPE_CHECKING:
    from conformance.workers import tflite_micro_worker, tflite_models
    from conformance.workers.worker_protocol import LoadRequest, Unsupported
else:
    sys.path.insert(0, str(WORKERS))
    import tflite_micro_worker
    import tflite_models
    from worker_protocol import LoadRequest, Unsupported

    sys.path.remove(str(WORKERS))

Attributes = Mapping[str, tuple[str, object]]
TURNED: Attributes = {"transpose_b": ("int", 1)}
IMAGE = numbers((1, 4, 6, 8))


def load_request(
    operator: str, inputs: Sequence[Tensor], attributes: Attributes | None = None, form: Form = "initializers"
) -> LoadRequest:
    named = [(f"x{place}", each) for place, each in enumerate(inputs)]
    case = make_case(f"org.tensorflow::{operator}-1", named, attributes)
    described, blobs = describe_node(case, form, "node")
    return LoadRequest({**described, "form": form}, blobs)


def shape_of(
    operator: str, inputs: Sequence[Tensor], attributes: Attributes | None = None
) -> tuple[int, ...]:
    found: tuple[int, ...] = tflite_micro_worker.output_shape(
        tflite_models.plan(load_request(operator, inputs, attributes))
    )
    return found


def whole(*values: Any, element_type: str = "int32") -> Tensor:
    return tensor(values, element_type)


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "shape"),
    [
        ("Add", [numbers((2, 1, 3)), numbers((4, 1))], {}, (2, 4, 3)),
        ("Sum", [IMAGE, whole(-1, 1)], {}, (1, 6)),
        ("Min", [IMAGE, tensor(2, "int64")], {"keep_dims": ("int", 1)}, (1, 4, 1, 8)),
        ("MatMul", [numbers((2, 3)), numbers((4, 2))], {**TURNED, "transpose_a": ("int", 1)}, (3, 4)),
        ("BatchMatMulV2", [numbers((5, 1, 2, 3)), numbers((4, 3, 7))], {}, (5, 4, 2, 7)),
        ("BatchToSpaceND", [numbers((6, 2, 5)), whole(3), tensor([[1, 2]], "int32")], {}, (2, 3, 5)),
        ("DepthToSpace", [IMAGE], {"block_size": ("int", 2)}, (1, 8, 12, 2)),
        ("SpaceToDepth", [IMAGE], {"block_size": ("int", 2)}, (1, 2, 3, 32)),
        ("Pad", [numbers((2, 3)), tensor([[1, 0], [2, 4]], "int64")], {}, (3, 9)),
        ("OneHot", [whole(0, 1), tensor(5, "int32"), tensor(1.0, "float"), tensor(0.0, "float")], {}, (2, 5)),
        (
            "OneHot",
            [whole(0, 1), tensor(5, "int32"), tensor(1.0, "float"), tensor(0.0, "float")],
            {"axis": ("int", 0)},
            (5, 2),
        ),
        ("GatherNd", [IMAGE, tensor([[0, 1], [0, 3], [0, 0]], "int64")], {}, (3, 6, 8)),
        ("Transpose", [numbers((2, 3, 4)), whole(2, 0, 1)], {}, (4, 2, 3)),
        ("Tile", [numbers((2, 3)), whole(2, 0)], {}, (4, 0)),
        ("BroadcastTo", [numbers((3, 1)), whole(2, 3, 4)], {}, (2, 3, 4)),
        ("ExpandDims", [numbers((2, 3)), tensor([-2], "int64")], {}, (2, 1, 3)),
        ("Squeeze", [numbers((1, 2, 1, 3))], {"axis": ("ints", [-2])}, (1, 2, 3)),
        ("Squeeze", [numbers((1, 2, 1, 3))], {}, (2, 3)),
    ],
)  # fmt: skip
def test_the_shape_of_the_output_is_that_of_the_call(
    operator: str, inputs: list[Tensor], attributes: Attributes, shape: tuple[int, ...]
) -> None:
    assert shape_of(operator, inputs, attributes) == shape


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "words"),
    [
        ("Identity", [IMAGE], {}, "no builtin operator that is Identity"),
        ("Add", [numbers((2,), "int8")] * 2, {}, "plain numbers: x0 is int8"),
        ("Sum", [numbers((2,), "uint8"), whole(0)], {}, "plain numbers: x0 is uint8"),
        ("Sum", [numbers((2,)), tensor([1 << 32], "int64")], {}, "32 bits"),
        ("DepthToSpace", [IMAGE], {"data_format": ("string", "NCHW")}, "no counterpart of data_format=NCHW"),
        ("Equal", [numbers((2,))] * 2, {"incompatible_shape_error": ("int", 0)}, "no counterpart"),
        ("MirrorPad", [numbers((2,)), tensor([[0, 1]], "int32")], {"mode": ("string", "EDGE")}, "mode EDGE"),
        ("BiasAdd", [IMAGE, numbers((1,))], {}, "as long as the last dimension"),
        ("MatMul", [numbers((2, 2, 2))] * 2, {}, "which MatMul has not"),
        ("BatchMatMulV2", [numbers((1, 1, 1, 1, 2, 2))] * 2, {}, "ranks 2 to 5"),
        ("Greater", [numbers((2, 1, 1, 1, 1)), numbers((2,))], {}, "up to rank 4, not 5"),
        ("BatchToSpaceND", [IMAGE, whole(1), tensor([[0, 0]], "int32")], {}, "all axes but two"),
        ("Maximum", [IMAGE], {}, "has 2 inputs, not 1"),
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_not_offered(
    operator: str, inputs: list[Tensor], attributes: Attributes, words: str
) -> None:
    with pytest.raises(Unsupported, match=words):
        tflite_models.plan(load_request(operator, inputs, attributes))


@pytest.mark.parametrize(
    ("operator", "inputs"),
    [
        ("Add", [numbers((2,)), numbers((3,))]),
        ("BroadcastTo", [numbers((3,)), whole(2)]),
        ("Sum", [numbers((3,)), whole(1)]),
        ("MatMul", [numbers((2, 3)), numbers((2, 3))]),
        ("Range", [tensor(each, "int32") for each in (0, 4, 2)]),
    ],
)
def test_a_call_without_a_shape_that_is_known_is_not_offered(operator: str, inputs: list[Tensor]) -> None:
    with pytest.raises(Unsupported, match=r"shape|how long"):
        shape_of(operator, inputs)


def test_a_shape_that_comes_with_the_run_is_not_known_before() -> None:
    model = tflite_models.plan(load_request("Pad", [numbers((2,)), tensor([[0, 1]], "int32")], form="inputs"))
    with pytest.raises(Unsupported, match="depends on what comes with the run"):
        tflite_micro_worker.output_shape(model)


@pytest.mark.parametrize(
    ("operator", "inputs", "version"),
    [
        ("Abs", [numbers((2,))], 1),
        ("Abs", [numbers((2,), "int32")], 5),
        ("Mul", [numbers((2,), "complex64")] * 2, 6),
        ("BroadcastTo", [numbers((1,)), whole(2)], 2),
        ("BroadcastTo", [numbers((1,), "int8"), whole(2)], 3),
        ("GatherNd", [IMAGE, tensor([[0]], "int16")], 4),
        ("GatherNd", [numbers((2,), "bool"), tensor([[0]], "int16")], 5),
        ("BatchToSpaceND", [numbers((6, 2, 5)), whole(3), tensor([[1, 2]], "int32")], 3),
        ("Transpose", [numbers((1, 2, 1, 1, 1, 1), "bool"), whole(1, 0, 2, 3, 4, 5)], 6),
        ("Maximum", [numbers((1, 1, 1, 1, 2))] * 2, 1),
        ("Maximum", [numbers((1, 1, 1, 1, 2)), numbers((2,))], 3),
        ("Sum", [numbers((2, 1, 1, 1, 1, 1)), whole(0)], 1),
    ],
)
def test_the_version_is_the_first_that_has_the_types_and_ranks_of_the_call(
    operator: str, inputs: list[Tensor], version: int
) -> None:
    assert tflite_models.plan(load_request(operator, inputs)).version == version


def test_equal_shapes_of_any_rank_do_not_broadcast() -> None:
    assert shape_of("Greater", [numbers((2, 1, 1, 1, 3))] * 2) == (2, 1, 1, 1, 3)


@given(st.lists(st.integers(-(1 << 31), (1 << 31) - 1), min_size=1, max_size=4))
def test_axes_of_64_bits_keep_their_values_in_32(axes: list[int]) -> None:
    model = tflite_models.plan(load_request("Sum", [IMAGE, tensor(axes, "int64")]))
    _, axis = model.operands
    assert axis.element_type == "int32"
    assert axis.data is not None
    assert np.frombuffer(axis.data, "<i4").tolist() == axes


@pytest.mark.parametrize(("widest", "kept"), [("int64", "int64"), ("int32", "int32")])
def test_lengths_are_as_wide_as_the_runtime_reads_them(widest: str, kept: str) -> None:
    asked = load_request("Pad", [numbers((2,)), tensor([[0, 1]], "int64")])
    assert tflite_models.plan(asked, widest).operands[1].element_type == kept


def test_data_are_never_narrowed() -> None:
    model = tflite_models.plan(load_request("Equal", [numbers((2,), "int64")] * 2), "int32")
    assert [each.element_type for each in model.operands] == ["int64", "int64"]
    assert model.output_type == "bool"


def test_options_are_the_attributes_and_their_defaults() -> None:
    normalised = tflite_models.plan(load_request("LRN", [IMAGE], {"depth_radius": ("int", 3)}))
    assert normalised.options == {"radius": 3, "bias": 1.0, "alpha": 1.0, "beta": 0.5}
    mirrored = load_request(
        "MirrorPad", [numbers((2,)), tensor([[0, 1]], "int32")], {"mode": ("string", "SYMMETRIC")}
    )
    assert tflite_models.plan(mirrored).options == {"mode": 1}


@given(st.lists(st.text(max_size=5), min_size=1, max_size=5))
def test_strings_lie_behind_a_table_of_where_each_begins(texts: list[str]) -> None:
    words = tensor(np.array(texts, dtype=np.object_), "string")
    (_, constant) = tflite_models.plan(
        load_request("Equal", [numbers((len(texts),), "string"), words])
    ).operands
    assert constant.data is not None
    count, *ends = struct.unpack_from(f"<{len(texts) + 2}i", constant.data)
    assert count == len(texts)
    found = [constant.data[begin:end].decode() for begin, end in pairwise(ends)]
    assert found == texts
    assert ends[-1] == len(constant.data)
