"""Trilu, Where, BitCast, EyeLike, Constant and ConstantOfShape, element by element and bit by bit."""

from __future__ import annotations

import struct
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor, tensor
from reference.numbers.numbers import encode
from tests.reference.loops import Index, answer, built, distinct, some_shape


def test_triangles() -> None:
    random = Random(1)
    for _ in range(500):
        X = distinct(random, some_shape(random, 2, 4))
        if X.element_type.name == "string":
            continue
        k, upper = random.choice([None, *range(-4, 5)]), random.choice([None, 0, 1])

        def kept(at: Index, X: Tensor = X, k: Any = k, upper: Any = upper) -> Any:
            diagonal = at[-1] - at[-2]
            above = diagonal >= (k or 0) if upper != 0 else diagonal <= (k or 0)
            return X.array[at] if above else 0

        wanted = built(X.element_type.name, X.shape, kept)
        assert answer("Trilu", 14, {"input": X, "k": k}, upper=upper) == wanted


def test_where() -> None:
    random = Random(2)
    for _ in range(500):
        shape = some_shape(random, most=3)
        shapes = [
            tuple(1 if random.random() < 0.3 else n for n in shape)[random.randint(0, len(shape)) :]
            for _ in range(2)
        ]
        parts = [*shapes, shape]
        random.shuffle(parts)
        condition = tensor(np.array(np.random.default_rng(len(shape)).random(parts[0]) < 0.5), "bool")
        X = distinct(random, parts[1])
        Y = Tensor(X.element_type, np.array(X.array.reshape(-1)[:1].repeat(np.prod(parts[2], dtype=int))))
        if Y.array.size != np.prod(parts[2], dtype=int):
            continue
        Y = Tensor(Y.element_type, Y.array.reshape(parts[2]))

        def at_end(given: Tensor, at: Index) -> Any:
            own = at[len(at) - len(given.shape) :]
            return given.array[tuple(0 if n == 1 else i for i, n in zip(own, given.shape, strict=True))]

        def chosen(
            at: Index, condition: Any = condition, X: Any = X, Y: Any = Y, at_end: Any = at_end
        ) -> Any:
            return at_end(X, at) if at_end(condition, at) else at_end(Y, at)

        wanted = built(X.element_type.name, shape, chosen)
        assert answer("Where", 16, {"condition": condition, "X": X, "Y": Y}) == wanted


FORMATS = {
    "float": "f", "double": "d", "float16": "e", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H",
    "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q", "bfloat16": "H",
}  # fmt: skip


def test_bits_of_whole_bytes() -> None:
    random = Random(3)
    for source, code in FORMATS.items():
        for target, other in FORMATS.items():
            width = struct.calcsize(code)
            if width != struct.calcsize(other):
                continue
            raw = random.randbytes(width * 40)
            storage = np.dtype(ELEMENT_TYPES[source].storage)
            X = Tensor(ELEMENT_TYPES[source], np.frombuffer(raw, storage.newbyteorder("<")).astype(storage))
            got = answer("BitCast", 26, {"input": X}, to=ELEMENT_TYPES[target].code)
            wanted = [int.from_bytes(raw[at : at + width], "little") for at in range(0, len(raw), width)]
            assert got.array.view(f"u{width}").tolist() == wanted, (source, target)


@pytest.mark.parametrize("names", [("int4", "uint4", "float4e2m1"), ("int2", "uint2")])
def test_bits_of_parts_of_bytes(names: tuple[str, ...]) -> None:
    bits = ELEMENT_TYPES[names[0]].bits
    patterns = list(range(1 << bits))
    signed = [pattern - (1 << bits) if pattern >> (bits - 1) else pattern for pattern in patterns]
    held = {name: signed if name.startswith("int") else patterns for name in names}
    for source in names:
        for target in names:
            X = Tensor(ELEMENT_TYPES[source], np.array(held[source], dtype=ELEMENT_TYPES[source].storage))
            got = answer("BitCast", 26, {"input": X}, to=ELEMENT_TYPES[target].code)
            assert (got.element_type.name, got.array.tolist()) == (target, held[target])


def test_two_floats_are_the_bits_of_a_complex_number() -> None:
    X = tensor([1.0, -2.5, 0.0], "double")
    got = answer("BitCast", 26, {"input": X}, to=ELEMENT_TYPES["complex64"].code)
    halves = [struct.unpack("<ff", struct.pack("<d", number)) for number in (1.0, -2.5, 0.0)]
    assert [(each.real, each.imag) for each in got.array.tolist()] == halves


@pytest.mark.parametrize("name", ["float", "bfloat16", "float16", "bool", "uint64", "int8"])
def test_eye_like(name: str) -> None:
    kind = ELEMENT_TYPES[name]
    one = encode(kind, [1])[0] if kind.is_float else 1
    for rows in range(4):
        for columns in range(4):
            X = tensor(np.full((rows, columns), 7), "int32")
            for k in range(-4, 5):
                wanted = built(name, (rows, columns), lambda at, k=k: one if at[1] == at[0] + k else 0)  # type: ignore[misc]
                assert answer("EyeLike", 22, {"input": X}, dtype=kind.code, k=k) == wanted
            assert answer("EyeLike", 9, {"input": X}).array.tolist() == np.eye(rows, columns).tolist()


@pytest.mark.parametrize(
    ("attribute", "value", "element_type", "shape", "elements"),
    [
        ("value_float", 0.5, "float", (), 0.5),
        ("value_floats", (1.5, -0.0), "float", (2,), [1.5, -0.0]),
        ("value_floats", (), "float", (0,), []),
        ("value_int", 2**62, "int64", (), 2**62),
        ("value_ints", (0, -1), "int64", (2,), [0, -1]),
        ("value_ints", (), "int64", (0,), []),
        ("value_string", "é", "string", (), "é".encode()),
        ("value_string", "", "string", (), b""),
        ("value_strings", ("a", ""), "string", (2,), [b"a", b""]),
        ("value_strings", (), "string", (0,), []),
    ],
)
def test_constants(attribute: str, value: Any, element_type: str, shape: Index, elements: Any) -> None:
    got = answer("Constant", 25, {}, **{attribute: value})
    assert (got.element_type.name, got.shape, got.array.tolist()) == (element_type, shape, elements)


def test_constant_tensors() -> None:
    X = tensor([[1.0, 2.0]], "float16")
    assert answer("Constant", 1, {}, value=X) == X
    assert answer("ConstantOfShape", 9, {"input": [2, 0]}) == tensor(np.zeros((2, 0)), "float")
    assert answer("ConstantOfShape", 25, {"input": []}, value=tensor([3], "int8")) == tensor(3, "int8")
    assert answer("ConstantOfShape", 25, {"input": [2, 1]}, value=tensor([True], "bool")) == tensor(
        [[True], [True]], "bool"
    )
