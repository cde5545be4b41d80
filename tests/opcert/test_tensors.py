from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor, tensor

SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    element_type = draw(st.sampled_from(list(ELEMENT_TYPES.values())))
    shape = draw(SHAPES)
    count = int(np.prod(shape))
    if element_type.kind == "string":
        strings = draw(st.lists(st.binary(max_size=4), min_size=count, max_size=count))
        array = np.empty(count, dtype=np.object_)
        array[:] = strings
        return Tensor(element_type, array.reshape(shape))
    if element_type.kind == "bool":
        bits = draw(st.lists(st.booleans(), min_size=count, max_size=count))
        return Tensor(element_type, np.array(bits, dtype=np.bool_).reshape(shape))
    size = np.dtype(element_type.storage).itemsize
    raw = draw(st.binary(min_size=count * size, max_size=count * size))
    return Tensor(element_type, np.frombuffer(raw, dtype=element_type.storage).reshape(shape))


@given(tensors())
def test_bytes_read_back_equal(given_tensor: Tensor) -> None:
    raw = given_tensor.to_bytes()
    assert Tensor.from_bytes(given_tensor.element_type, given_tensor.shape, raw) == given_tensor


@given(tensors(), st.integers(1, 3))
def test_cut_bytes_are_refused(given_tensor: Tensor, cut: int) -> None:
    raw = given_tensor.to_bytes()
    if raw:
        with pytest.raises(UserError):
            Tensor.from_bytes(given_tensor.element_type, given_tensor.shape, raw[:-cut])
    with pytest.raises(UserError):
        Tensor.from_bytes(given_tensor.element_type, given_tensor.shape, raw + b"\0" * cut)


def test_equality_is_of_bits() -> None:
    assert tensor([0.0], "float") != tensor([-0.0], "float")
    assert tensor([np.nan], "float") == tensor([np.nan], "float")
    assert tensor([1], "int32") != tensor([1], "int64")
    assert tensor([[1]], "int32") != tensor([1], "int32")


def test_a_tensor_keeps_its_values_when_its_source_changes() -> None:
    source = np.array([1.0, 2.0], dtype=np.float32)
    kept = tensor(source)
    source[0] = 9
    assert kept.array.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        kept.array[0] = 3


@pytest.mark.parametrize("element_type", ELEMENT_TYPES.values(), ids=str)
def test_rank_zero_stays_rank_zero(element_type: ElementType) -> None:
    value = b"x" if element_type.kind == "string" else 1
    assert tensor(value, element_type).shape == ()


@given(tensors())
def test_a_tensor_that_travels_between_processes_is_the_same(given: Tensor) -> None:
    hash(given)
    came = pickle.loads(pickle.dumps(given))
    assert came == given
    assert came.element_type is given.element_type
    assert not came.array.flags.writeable
    assert "_hash" not in vars(came)
