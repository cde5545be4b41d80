"""Printed arrays, literal values and code: what is read, what is left, and that nothing is executed."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from specs.documents.onnx_pages.page_lines import split_statements
from specs.documents.text.documents import Line
from specs.documents.worked.arrays import Built, SliceOfUnknown, UnknownValue
from specs.documents.worked.example_statements import read_code
from specs.documents.worked.literals import LiteralReader
from specs.documents.worked.printed import read_printed


def _lines(text: str) -> list[Line]:
    return [Line(word, number) for number, word in enumerate(text.split("\n"), 1)]


@pytest.mark.parametrize(
    ("text", "shape", "data", "decimals"),
    [
        ("[1, 2, 3]", (3,), (1, 2, 3), None),
        ("[[1. 2.]\n [3. 4.5]]", (2, 2), (1.0, 2.0, 3.0, 4.5), 1),
        ("[[[ 1]]\n\n [[ 2]]]", (2, 1, 1), (1, 2), None),
        ("[[1, 2], [3]]", None, (1, 2, 3), None),
        ("[[1.0, 1.2], [2.3, 3.4],]", (2, 2), (1.0, 1.2, 2.3, 3.4), 1),
        ("[1.5e-3, -2.]", (2,), (0.0015, -2.0), 4),
        ("[inf, -inf, True]", (3,), (math.inf, -math.inf, True), 0),
        ("[]", (0,), (), None),
        ("[[], []]", (2, 0), (), None),
    ],
)
def test_printed_arrays(text: str, shape: Any, data: Any, decimals: int | None) -> None:
    printed = read_printed(text + " and more")
    assert printed is not None
    assert (printed.shape, printed.data, printed.decimals) == (shape, data, decimals)
    assert printed.end == len(text)


@pytest.mark.parametrize("text", ["", "x", "1, 2", "[1, 2", "[x]", "[1, [2, 3]" + "[" * 100, "]"])
def test_what_is_no_array(text: str) -> None:
    assert read_printed(text) is None


@given(
    arrays.arrays(
        np.float32,
        arrays.array_shapes(max_dims=4, max_side=4),
        elements=st.floats(-1000, 1000, width=32, allow_subnormal=False),
    )
)
def test_what_numpy_prints_is_read_back(array: np.ndarray[Any, Any]) -> None:
    printed = read_printed(np.array2string(array, threshold=10_000, suppress_small=True))
    assert printed is not None
    assert printed.shape == array.shape
    np.testing.assert_allclose(np.array(printed.data).reshape(array.shape), array, atol=1e-8)


def _read(text: str, **variables: Any) -> Any:
    return LiteralReader(variables).read(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("np.array([[1, 2], [3, 4]], dtype=np.float32)", np.array([[1, 2], [3, 4]], np.float32)),
        ("np.array([1, 2]).astype(np.int64)", np.array([1, 2], np.int64)),
        ("np.arange(6).reshape(2, 3)", np.arange(6).reshape(2, 3)),
        ("np.arange(1, 7, 2, dtype=np.int32)", np.array([1, 3, 5], np.int32)),
        ("np.arange(0.0, 1.0, 0.1)", np.arange(0.0, 1.0, 0.1)),
        ("np.arange(-0.3, 2.0, 0.7, dtype=np.float32)", np.arange(-0.3, 2.0, 0.7, dtype=np.float32)),
        ("np.arange(2.5)", np.arange(2.5)),
        ("np.arange(1.0, 0.0)", np.arange(1.0, 0.0)),
        ("np.zeros((2, 2), dtype=np.uint8)", np.zeros((2, 2), np.uint8)),
        ("np.full([3], 2.5, dtype=np.float32)", np.full(3, 2.5, np.float32)),
        ("np.float32(1.5)", np.array(1.5, np.float32)),
        ("np.array([np.nan, -np.inf])", np.array([np.nan, -np.inf])),
        ("np.array([1, 2, 3])[1:]", np.array([2, 3])),
        ("np.ones((2,), np.int64) * -1", np.array([-1, -1])),
    ],
)
def test_literal_arrays(text: str, value: np.ndarray[Any, Any]) -> None:
    found = _read(text)
    assert isinstance(found, np.ndarray)
    assert found.dtype == value.dtype
    np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("np.random.randn(2, 3).astype(np.float32)", (2, 3)),
        ("np.random.randint(0, 10, (4,))", (4,)),
        ("np.random.uniform(-1, 1, size=[2, 2])", (2, 2)),
        ("np.random.rand(6).reshape(2, -1)", (2, 3)),
    ],
)
def test_random_data_has_a_shape_only(text: str, shape: tuple[int, ...]) -> None:
    found = _read(text)
    assert isinstance(found, UnknownValue)
    assert found.shape == shape


@pytest.mark.parametrize(
    "text",
    [
        "open('/etc/passwd').read()",
        "__import__('os').system('x')",
        "np.load('file')",
        "np.fromfile('file')",
        "np.zeros(10 ** 12)",
        "np.zeros((100000, 100000))",
        "np.arange(10 ** 15)",
        "'a' * 10 ** 10",
        "[0] * 10 ** 10",
        "(lambda: 1)()",
        "np.array([1, [2]])",
        "np.arange(0, 1, 0)",
        "unknown",
        "x.tofile('f')",
    ],
)
def test_everything_else_is_not_read(text: str) -> None:
    assert isinstance(_read(text, x=np.zeros(2)), UnknownValue)


def test_code_is_never_executed(tmp_path: Path) -> None:
    victim = tmp_path / "written"
    code = f"""\
import os
open({str(victim)!r}, 'w').write('x')
x = open({str(victim)!r}, 'w').write('y')
class A(metaclass=print): pass
node = onnx.helper.make_node('A', inputs=['x'], outputs=['y'], n=open({str(victim)!r}, 'w').write('z'))
expect(node, inputs=[x], outputs=[y], name=open({str(victim)!r}, 'w'))
"""
    read_code(_lines(code))
    assert not victim.exists()


def test_slices_and_loops() -> None:
    code = read_code(
        _lines(
            """\
for mode in ["edge", "wrap"]:
    node = onnx.helper.make_node("Crop", ["x"], ["y"], mode=mode)
    x = np.random.randn(4, 6)
    y = np.zeros([4, 4])
    y[:, 1:3] = x[:, 2:4]
    expect(node, inputs=[x], outputs=[y], name=f"test_{mode}")"""
        )
    )
    assert [call.name for call in code.calls] == ["test_edge", "test_wrap"]
    assert [call.node.attributes for call in code.calls] == [{"mode": "edge"}, {"mode": "wrap"}]
    built = code.calls[0].variables["y"].value
    assert isinstance(built, Built)
    assert built.steps[0].index == ((None, None, None), (2, 4, None))


def test_a_slice_of_unknown_data_is_a_part() -> None:
    found = _read("x[5:15, ::2]", x=UnknownValue((20, 10, 3), np.dtype("float32")))
    assert isinstance(found, SliceOfUnknown)
    assert found.shape == (10, 5, 3)


def test_statements_that_lost_their_line_ends() -> None:
    line = Line(
        'import numpy as np node = make_node( "A", inputs=["x"], a=1 ) # first here x = np.array([1, 2]) '
        'for m in ["p", "q"]: y = f(x) # [[1. 2.] # [3. 4.]] z = g( x, k="a # b = c", ) '
        "expect(node, inputs=[x])",
        1,
        101,
    )
    pieces = split_statements(line)
    assert [piece.text for piece in pieces] == [
        "import numpy as np",
        'node = make_node( "A", inputs=["x"], a=1 )',
        "# first here",
        "x = np.array([1, 2])",
        'for m in ["p", "q"]:',
        "    y = f(x)",
        "    # [[1. 2.]",
        "    # [3. 4.]]",
        '    z = g( x, k="a # b = c", )',
        "    expect(node, inputs=[x])",
    ]
    for piece in pieces:
        assert piece.column is not None
        if not piece.text.strip().startswith("# [3"):
            assert line.text[piece.column - 101 :].startswith(piece.text.strip().split(" ")[0])
