"""QGemm, MatMulIntegerToFloat and DynamicQuantizeMatMul against integers and NumPy in double."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.answers import Answer
from reference.registry import find_operator

Array = NDArray[Any]
Program = Callable[..., Array]
draw = np.random.default_rng(246)


@dataclass(frozen=True)
class Product:
    """A call, a program for it, and programs with a mistake."""

    name: str
    inputs: Mapping[str, Array]
    program: Program
    faults: Mapping[str, Program]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def answer(self) -> Answer:
        operator = find_operator(OperatorName("com.microsoft", self.name, 1))
        given = {name: tensor(array) for name, array in self.inputs.items()}
        return operator.evaluate(self.attributes, given)[0]

    def worked_out(self, program: Program) -> Array:
        wide = {
            name: array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
            for name, array in self.inputs.items()
        }
        return program(**wide, **self.attributes)


def bytes_of(kind: str, *shape: int) -> Array:
    info = np.iinfo(kind)
    return draw.integers(info.min, info.max + 1, shape, dtype=kind)


def floats(*shape: int, low: float = 0.01, high: float = 0.5) -> Array:
    return np.asarray(draw.uniform(low, high, shape), dtype=np.float32)


def general(
    A: Array,
    a_scale: Array,
    a_zero_point: Array,
    B: Array,
    b_scale: Array,
    b_zero_point: Array,
    C: Array | int = 0,
    y_scale: Array | None = None,
    y_zero_point: Array | None = None,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    **least_and_greatest: int,
) -> Array:
    """In integers up to the last step; of elements half-way between two integers the draw has none."""
    rows, columns = A.T if transA else A, B.T if transB else B
    summed = (rows - a_zero_point) @ (columns - b_zero_point) + C
    real = summed * (np.float32(alpha).astype(np.float64) * a_scale * b_scale)
    if y_scale is None or y_zero_point is None:
        return np.asarray(real)
    low = least_and_greatest.get("low", 0)
    return np.asarray(np.clip(np.rint(real / y_scale) + y_zero_point, low, low + 255))


def with_floats(
    A: Array,
    B: Array,
    a_scale: Array,
    b_scale: Array,
    a_zero_point: Array | int = 0,
    b_zero_point: Array | int = 0,
    bias: Array | float = 0.0,
) -> Array:
    return np.asarray(np.matmul(A - a_zero_point, B - b_zero_point) * (a_scale * b_scale) + bias)


def on_the_way(
    A: Array,
    B: Array,
    b_scale: Array,
    b_zero_point: Array | int = 0,
    bias: Array | float = 0.0,
    *,
    by_rows: bool = False,
    symmetric: bool = False,
) -> Array:
    """A in bytes, each an integer of Python's."""
    if by_rows:
        rows = [on_the_way(row[None], B, b_scale, b_zero_point, bias) for row in A]
        return np.concatenate(rows)
    low, high = min(0.0, float(A.min())), max(0.0, float(A.max()))
    step = max(high, -low) / 127 if symmetric else (high - low) / 255
    zero = 128 if symmetric else min(max(round(-low / step), 0), 255)
    steps = [min(max(round(float(each) / step) + zero, 0), 255) - zero for each in A.reshape(-1)]
    return np.asarray(np.matmul(np.array(steps).reshape(A.shape), B - b_zero_point) * (step * b_scale) + bias)


def instead(of: Program, **other: Any) -> Program:
    return lambda **given: of(**given | other)


def without(*names: str, of: Program) -> Program:
    return lambda **given: of(**{name: value for name, value in given.items() if name not in names})


def gemm(
    kinds: tuple[str, str], vector: bool, bias: tuple[int, ...] | None, output: str | None, **attributes: Any
) -> Product:
    rows, depth, columns = 3, 7, 4
    per_column = (columns,) if vector else ()
    inputs: dict[str, Array] = {
        "A": bytes_of(kinds[0], *((depth, rows) if attributes.get("transA") else (rows, depth))),
        "a_scale": floats(),
        "a_zero_point": bytes_of(kinds[0]),
        "B": bytes_of(kinds[1], *((columns, depth) if attributes.get("transB") else (depth, columns))),
        "b_scale": floats(*per_column),
        "b_zero_point": bytes_of(kinds[1], *per_column),
    }
    faults: dict[str, Program] = {"no zero point": instead(general, a_zero_point=0)}
    if bias is not None:
        inputs["C"] = draw.integers(-9000, 9000, bias).astype(np.int32)
        faults["C left out"] = without("C", of=general)
    if attributes.get("alpha"):
        faults["alpha left out"] = without("alpha", of=general)
    program: Program = general
    if output is not None:
        inputs["y_scale"] = np.array(40.7, dtype=np.float32)
        inputs["y_zero_point"] = np.array(20, dtype=output)
        program = instead(general, low=int(np.iinfo(output).min))
        faults = {what: instead(wrong, low=int(np.iinfo(output).min)) for what, wrong in faults.items()}
        faults["no zero point of the output"] = instead(program, y_zero_point=0)
    return Product("QGemm", inputs, program, faults, attributes)


def integers(kinds: tuple[str, str], vector: bool, zeros: bool, bias: bool) -> Product:
    columns = 5
    per_column = (columns,) if vector else ()
    inputs = {
        "A": bytes_of(kinds[0], 2, 3, 9),
        "B": bytes_of(kinds[1], 9, columns),
        "a_scale": floats(),
        "b_scale": floats(*per_column),
    }
    faults: dict[str, Program] = {}
    if zeros:
        inputs |= {"a_zero_point": bytes_of(kinds[0]), "b_zero_point": bytes_of(kinds[1], *per_column)}
        faults["no zero point of A"] = without("a_zero_point", of=with_floats)
        faults["no zero point of B"] = without("b_zero_point", of=with_floats)
    if bias:
        inputs["bias"] = floats(columns, low=-9, high=9)
        faults["no bias"] = without("bias", of=with_floats)
    if vector:
        faults["one scale"] = lambda **given: with_floats(**given | {"b_scale": given["b_scale"][0]})
    return Product("MatMulIntegerToFloat", inputs, with_floats, faults)


def dynamic(kind: str, vector: bool, bias: bool) -> Product:
    columns = 5
    per_column = (columns,) if vector else ()
    inputs = {
        "A": np.asarray(draw.normal(1, 3, (3, 9)), dtype=np.float32),
        "B": bytes_of(kind, 9, columns),
        "b_scale": floats(*per_column),
        "b_zero_point": bytes_of(kind, *per_column),
    }
    faults: dict[str, Program] = {
        "row by row": instead(on_the_way, by_rows=True),
        "symmetric": instead(on_the_way, symmetric=True),
        "no zero point": without("b_zero_point", of=on_the_way),
        "as it is": lambda **given: with_floats(**given, a_scale=np.array(1.0)),
    }
    if bias:
        inputs["bias"] = floats(columns, low=-9, high=9)
        faults["no bias"] = without("bias", of=on_the_way)
    return Product("DynamicQuantizeMatMul", inputs, on_the_way, faults)


EACH = (
    gemm(("uint8", "int8"), True, None, "uint8"),
    gemm(("uint8", "uint8"), False, (4,), "uint8", transB=1),
    gemm(("int8", "int8"), True, (3, 1), "int8", alpha=0.625, transA=1),
    gemm(("int8", "uint8"), True, (3, 4), None, alpha=0.3, transA=1, transB=1),
    gemm(("uint8", "int8"), False, None, None),
    integers(("uint8", "int8"), True, True, True),
    integers(("int8", "uint8"), False, True, False),
    integers(("uint8", "uint8"), True, False, True),
    dynamic("int8", True, True),
    dynamic("uint8", False, False),
)


def outside(answer: Answer, found: Array) -> int:
    """How many elements no honest program has, with half a unit more for what double rounds."""
    wide = answer.expected.array.astype(np.float64)
    if wide.shape != found.shape:
        return max(wide.size, 1)
    allowed = np.zeros(wide.shape) if answer.allowed is None else answer.allowed
    if answer.expected.array.dtype == np.float32:
        allowed = allowed + np.abs(wide) * 2.0**-24
    return int(np.count_nonzero(~(np.abs(wide - found) <= allowed)))


@pytest.mark.parametrize("asked", EACH, ids=lambda asked: f"{asked.name}-{dict(asked.attributes)}")
def test_products_are_those_of_integers_and_faults_are_noticed(asked: Product) -> None:
    answer, found = asked.answer(), asked.worked_out(asked.program)
    assert outside(answer, found) == 0
    np.testing.assert_allclose(answer.expected.array.astype(np.float64), found, rtol=2.0**-21, atol=1e-6)
    for what, program in asked.faults.items():
        assert outside(answer, asked.worked_out(program)), what
    if asked.name == "QGemm" and answer.expected.element_type.is_integer:
        assert answer.allowed is not None
        assert not answer.allowed.any()


def test_an_element_beside_a_tie_of_its_step_may_go_either_way() -> None:
    """-0.1 and 25.4 make a step of about 0.1: 0.25 is two or three of them, by what float32 makes of that."""
    asked = Product(
        "DynamicQuantizeMatMul",
        {
            "A": np.array([[-0.1, 25.4, 0.25]], dtype=np.float32),
            "B": np.eye(3, dtype=np.uint8),
            "b_scale": np.array(1, dtype=np.float32),
        },
        on_the_way,
        {},
    )
    answer = asked.answer()
    for steps, wrong in (((-1, 254, 2), 0), ((-1, 254, 3), 0), ((-1, 254, 5), 1), ((-1, 253, 2), 1)):
        assert outside(answer, np.array([steps]) * 0.1) == wrong
