"""Sequences and optionals that are not what their model declares are left out with the reason."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, OptionalProto, SequenceProto, TensorProto, TypeProto
from onnx.helper import make_map_type_proto, make_node, make_optional_type_proto, make_sequence_type_proto

from conformance.adopting import foreign_values
from conformance.adopting.foreign_values import DeclaredValue, parse_value
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from tests.conformance.packed_models import (
    FLOATS,
    OPTIONAL,
    OPTIONAL_SEQUENCE,
    SEQUENCE,
    optional_of,
    sequence_of,
    tensor_of,
    write_packed,
)
from tests.conformance.test_adopting import adopt, reason_of
from tests.conformance.test_packed_values import A, model_of, write_identity


def _nested(depth: int) -> SequenceProto:
    found = SequenceProto()
    for _ in range(depth):
        found = SequenceProto(elem_type=SequenceProto.SEQUENCE, sequence_values=[found])
    return found


def _outside() -> TensorProto:
    found = TensorProto(data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    found.external_data.add(key="location", value="../../secret")
    return found


def _deep_bytes() -> bytes:
    """More messages within each other than protobuf reads."""
    raw = b""
    for _ in range(200):
        length, size = len(raw), b""
        while length > 127:
            size, length = size + bytes([length & 127 | 128]), length >> 7
        raw = b"\x2a" + size + bytes([length]) + raw  # field 5, sequence_values
    return raw


MIXED = SequenceProto(tensor_values=[tensor_of(A)], sequence_values=[SequenceProto()], elem_type=1)
VALUES = [
    (SEQUENCE, tensor_of(A), "no SequenceProto; got a message with other fields"),
    (SEQUENCE, TensorProto(data_type=1, dims=[1], float_data=[1]), "no SequenceProto"),
    (SEQUENCE, b"\xff\xff", "no SequenceProto"),
    (SEQUENCE, _deep_bytes(), "no SequenceProto"),
    (SEQUENCE, _nested(3), "a sequence of something else than tensors; got elem_type 3, sequence_values"),
    (SEQUENCE, SequenceProto(elem_type=4), "a sequence of something else than tensors; got elem_type 4"),
    (SEQUENCE, SequenceProto(tensor_values=[tensor_of(A)]), "got elem_type 0, tensor_values"),
    (SEQUENCE, MIXED, "got elem_type 1, tensor_values, sequence_values"),
    (SEQUENCE, optional_of(sequence_of(A)), "a sequence of something else than tensors"),
    (SEQUENCE, sequence_of(A, A.astype(np.float64)), "another element type than is declared; got double"),
    (SEQUENCE, sequence_of(TensorProto(data_type=1, dims=[3])), "of the wrong length"),
    (SEQUENCE, sequence_of(TensorProto(data_type=1, dims=[-1])), "of no possible shape"),
    (SEQUENCE, sequence_of(TensorProto(data_type=99)), "element type 99"),
    (SEQUENCE, sequence_of(_outside()), "data are in another file"),
    (SEQUENCE, sequence_of(*[A] * 9), "a sequence of too many elements; got 9; expected at most 8"),
    (OPTIONAL, tensor_of(A), "no OptionalProto"),
    (OPTIONAL, OptionalProto(elem_type=1), "does not hold what is declared; got elem_type 1, no value"),
    (OPTIONAL, OptionalProto(elem_type=0, tensor_value=tensor_of(A)), "got elem_type 0, tensor_value"),
    (OPTIONAL, OptionalProto(elem_type=5, optional_value=optional_of(A)), "elem_type 5, optional_value"),
    (OPTIONAL, optional_of(sequence_of(A)), "got elem_type 3, sequence_value; expected elem_type 1"),
    (OPTIONAL, optional_of(A.astype(np.int32)), "another element type than is declared; got int32"),
    (OPTIONAL_SEQUENCE, optional_of(A), "got elem_type 1, tensor_value; expected elem_type 3"),
    (OPTIONAL_SEQUENCE, optional_of(_nested(1)), "a sequence of something else than tensors"),
    (OPTIONAL_SEQUENCE, optional_of(sequence_of(A, _outside())), "data are in another file"),
]


@pytest.mark.parametrize(("kind", "value", "said"), VALUES)
@pytest.mark.parametrize("side", ["input", "output"])
def test_a_value_of_another_kind_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: TypeProto, value: Any, said: str, side: str
) -> None:
    monkeypatch.setattr(foreign_values, "MOST_ELEMENTS", 8)
    good = _good(kind)
    write_identity(tmp_path / "tests", kind, *((value, good) if side == "input" else (good, value)))
    reason = reason_of(tmp_path)
    assert f"test_identity: test_data_set_0/{side}_0.pb: " in reason
    assert said in reason


def test_many_sequences_have_too_many_elements_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign_values, "MOST_ELEMENTS", 3)
    nodes = [make_node("Identity", ["x"], ["z"])]
    inputs = {name: (SEQUENCE, sequence_of(A, A)) for name in "xy"}
    write_packed(tmp_path / "tests" / "test", nodes, inputs, {"z": (SEQUENCE, sequence_of(A, A))})
    assert "sequences of too many elements; got 4; expected at most 3" in reason_of(tmp_path)


def _good(kind: TypeProto) -> Any:
    if kind.HasField("sequence_type"):
        return sequence_of(A)
    return optional_of(sequence_of(A) if kind.optional_type.elem_type.HasField("sequence_type") else A)


def _deep_type() -> TypeProto:
    found = FLOATS
    for _ in range(40):
        found = make_sequence_type_proto(found)
    return found


MAP = make_map_type_proto(TensorProto.INT64, FLOATS)
UNKNOWN = TypeProto()
UNKNOWN.tensor_type.elem_type = 99
SPARSE = TypeProto()
SPARSE.sparse_tensor_type.elem_type = TensorProto.FLOAT
TYPES = [
    (make_sequence_type_proto(SEQUENCE), "an input is declared as sequence of sequence of tensor, and"),
    (make_sequence_type_proto(OPTIONAL), "declared as sequence of optional of tensor"),
    (make_sequence_type_proto(MAP), "declared as sequence of map"),
    (make_optional_type_proto(OPTIONAL), "declared as optional of optional of tensor"),
    (
        make_optional_type_proto(make_sequence_type_proto(SEQUENCE)),
        "declared as optional of sequence of sequence",
    ),
    (make_sequence_type_proto(TypeProto()), "declared as sequence of nothing"),
    (_deep_type(), "declared as sequence of sequence of sequence, and"),
    (MAP, "declared as map"),
    (SPARSE, "declared as sparse tensor"),
    (TypeProto(), "declared as nothing"),
    (make_sequence_type_proto(UNKNOWN), "element type 99 is not one that opcert has"),
]


@pytest.mark.parametrize(("kind", "said"), TYPES)
def test_a_declared_type_that_is_not_carried_is_a_reason(tmp_path: Path, kind: TypeProto, said: str) -> None:
    write_identity(tmp_path / "tests", kind, sequence_of(A))
    assert said in reason_of(tmp_path)


def _twice(model: ModelProto) -> None:
    model.graph.input.append(model.graph.input[0])


def _constant(model: ModelProto) -> None:
    model.graph.initializer.append(TensorProto(name="x", data_type=1, dims=[2], raw_data=A.tobytes()))


def _old(model: ModelProto) -> None:
    model.opset_import[0].version = 10


def _bare(model: ModelProto) -> None:
    del model.graph.input[:]
    del model.graph.output[:]


MODELS = [
    (_twice, "two inputs of the model have one name; got 'x'"),
    (_constant, "an input that is no tensor has a tensor as its value in the model"),
    (_old, "no operators for its sequences and optionals; got 10; expected at least 11"),
    (_bare, "the model takes nothing and gives nothing"),
]


@pytest.mark.parametrize(("damage", "said"), MODELS)
def test_a_model_that_cannot_be_packed_is_a_reason(
    tmp_path: Path, damage: Callable[[ModelProto], None], said: str
) -> None:
    place = write_identity(tmp_path / "tests", SEQUENCE, sequence_of(A))
    model = onnx.load_model_from_string((place / "model.onnx").read_bytes())
    damage(model)
    (place / "model.onnx").write_bytes(model.SerializeToString())
    for number, _ in enumerate(model.graph.input):
        (place / "test_data_set_0" / f"input_{number}.pb").write_bytes(sequence_of(A).SerializeToString())
    assert said in reason_of(tmp_path)


def test_a_model_that_claims_to_be_packed_is_read_as_it_is(tmp_path: Path) -> None:
    place = write_identity(tmp_path / "first", SEQUENCE, sequence_of(A))
    (packing, *_) = model_of(adopt(tmp_path / "first", tmp_path / "suite")[1][0]).graph.node
    for number, operator in enumerate(["SequenceLength", "SequenceAt", "Optional", "Identity"]):
        model = onnx.load_model_from_string((place / "model.onnx").read_bytes())
        # Without outputs, or of an operator that packs nothing.
        model.graph.node.add(op_type=operator, doc_string=packing.doc_string)
        shutil.copytree(place, tmp_path / "tests" / str(number))
        (tmp_path / "tests" / str(number) / "model.onnx").write_bytes(model.SerializeToString())
    adoption, _ = adopt(tmp_path / "tests", tmp_path / "again")
    assert adoption.counts == {"node": 3, "graph": 1, "unpacked": 4, "observed": 0}


@settings(max_examples=300)
@given(st.binary(max_size=80), st.booleans(), st.booleans())
def test_any_bytes_are_a_value_or_a_reason(raw: bytes, is_sequence: bool, is_optional: bool) -> None:
    declared = DeclaredValue("x", ELEMENT_TYPES["float"], is_sequence, is_optional)
    try:
        parse_value(declared, raw)
    except UserError:
        return


@given(st.binary(max_size=6), st.integers(0, 60), st.integers(0, 60))
def test_damaged_messages_are_a_value_or_a_reason(noise: bytes, start: int, end: int) -> None:
    raw = optional_of(sequence_of(A, A)).SerializeToString()
    damaged = raw[:start] + noise + raw[end:]
    declared = DeclaredValue("x", ELEMENT_TYPES["float"], True, True)
    try:
        parse_value(declared, damaged)
    except UserError:
        return
