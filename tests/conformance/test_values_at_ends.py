"""Values at the ends of a graph: as they are for workers that take them, else made of tensors by nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from onnx import ModelProto

from conformance.models.packing_nodes import SINCE
from conformance.running.requests import Offer, encode_runs, read_offer
from conformance.suite.cases import Case
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import parse_value_type
from tests.conformance.structured_cases import FORMS, make

PACKED = ["sequence_at", "sequence_insert", "empty_sequence", "optional", "empty_optional", "optional_made"]


def offer(protocol: int, *values: str) -> Offer:
    return read_offer(
        {
            "type": "hello", "protocol": protocol, "runtime": {"name": "some", "version": "1"},
            "domains": {"*": "onnx"}, "forms": ["inputs", "initializers", "dynamic", "strided"],
            "values": list(values),
        }
    )  # fmt: skip


def model_of(case: Case, worker: Offer, form: str = "inputs") -> ModelProto:
    request = encode_runs(case, form, "onnx", None, worker)  # type: ignore[arg-type] # one of FORMS
    model: ModelProto = ModelProto.FromString(request.load_blobs[0])
    return model


def packs(model: ModelProto, case: Case) -> bool:
    return any(node.op_type in SINCE and node.op_type != case.operator.name for node in model.graph.node)


@pytest.mark.parametrize("name", PACKED)
def test_nodes_carry_values_for_an_older_worker_alone(name: str) -> None:
    case = FORMS[name]
    every = ("sequence", "optional", "map")
    for worker in (offer(1), offer(1, *every), offer(2), offer(2, "map")):
        assert worker.refusal(case) is None
        assert packs(model_of(case, worker), case)
    worker = offer(2, *every)
    model = model_of(case, worker)
    assert len(model.graph.node) == 1
    kinds = {each.type.WhichOneof("value") for each in (*model.graph.input, *model.graph.output)}
    assert kinds & {"sequence_type", "optional_type"}


@pytest.mark.parametrize("form", ["initializers", "dynamic", "strided"])
def test_values_keep_their_place_in_every_form(form: str) -> None:
    case = FORMS["sequence_at"]
    worker = offer(2, "sequence")
    request = encode_runs(case, form, "onnx", None, worker)  # type: ignore[arg-type] # one of FORMS
    (value,) = request.run["values"]
    assert value["parts"] == ["input_sequence_0", "input_sequence_1"]
    assert [each["name"] for each in request.run["inputs"]][:2] == value["parts"]
    model = ModelProto.FromString(request.load_blobs[0])
    assert {each.name for each in model.graph.input} == {"input_sequence", "position"}


def test_a_type_that_no_node_takes_apart_is_not_sent_to_an_older_worker() -> None:
    x = Tensor(ELEMENT_TYPES["bfloat16"], np.zeros(2, np.uint16))
    case = make(
        "ai.onnx::SplitToSequence-24", (("input", x),), ("output_sequence",),
        types={"output_sequence": "seq(tensor(bfloat16))"},
    )  # fmt: skip
    told = offer(1, "map").refusal(case)
    assert told is not None
    assert told.reason == (
        "some does not offer seq(tensor(bfloat16)) at the ends of a graph, and no node takes it apart; "
        "it speaks version 1 of the worker protocol"
    )
    assert offer(2, "sequence").refusal(case) is None
    other = replace(case, output_types={"output_sequence": parse_value_type("seq(tensor(float))")})
    assert offer(1).refusal(other) is None


def test_an_older_worker_is_told_which_values_it_lacks() -> None:
    told = offer(1, "sequence").refusal(FORMS["maps"])
    assert told is not None
    assert told.reason == (
        "some does not offer values of the kind map; it speaks version 1 of the worker protocol"
    )
