"""What is read of example code: loops, conditions, changes, comments; what is left, and for what reason."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from specs.documents.text.documents import Line, decode
from specs.documents.worked.arrays import Typed, UnknownValue
from specs.documents.worked.example_calls import Code
from specs.documents.worked.example_statements import read_code
from specs.importers import import_text
from specs.model.spec import Spec
from tests.growth import LINEAR, growth

pytestmark = pytest.mark.slow

NODE = 'node = onnx.helper.make_node("A", ["x"], ["y"])\n'


def _code(text: str) -> Code:
    return read_code([Line(word, number) for number, word in enumerate(text.split("\n"), 1)])


def _last(text: str, name: str = "y") -> Any:
    """The value of a variable at the last call of `expect`."""
    return _code(text).calls[-1].variables[name].value


@pytest.mark.parametrize(
    "head",
    [
        'for way, x in (("up", [1.0]), ("down", [2.0])):',
        'for way, x in {"up": [1.0], "down": [2.0]}.items():',
        'for way, x in zip(["up", "down"], [[1.0], [2.0]]):',
        'for way, x in [["up", [1.0]], *itertools.product(["down"], [[2.0]])]:',
        'for position, (way, x) in enumerate([("up", [1.0]), ("down", [2.0])]):',
    ],
)
def test_loops_over_pairs(head: str) -> None:
    code = _code(
        f"""\
{head}
    if way == "none":
        continue
    node = onnx.helper.make_node("A", ["x"], ["y"], way=way, gone=None)
    x = np.array(x, dtype=np.float32)
    expect(node, inputs=[x], outputs=[x], name="test_" + way)"""
    )
    assert [call.name for call in code.calls] == ["test_up", "test_down"]
    assert [call.node.attributes for call in code.calls] == [{"way": "up"}, {"way": "down"}]
    assert [call.variables["x"].value.tolist() for call in code.calls] == [[1.0], [2.0]]


def test_functions_of_the_example_are_followed() -> None:
    code = _code(
        f"""\
def case(axis, name="none"):
    if axis < 0:
        name = f"negative_{{-axis}}"
    else:
        name = f"axis_{{axis}}"
    {NODE.strip().replace('["y"])', '["y"], axis=axis)')}
    expect(node, inputs=[x], outputs=[y], name=name)

for i in range(2):
    case(i)
    case(i - 2)"""
    )
    assert [call.name for call in code.calls] == ["axis_0", "negative_2", "axis_1", "negative_1"]
    assert [call.node.attributes["axis"] for call in code.calls] == [0, -2, 1, -1]


@pytest.mark.parametrize(
    "change",
    [
        "x += 1",
        "x.sort()",
        "np.put(x, [0], 7)",
        "z = x\nz[0] = 7",
        "if unknown:\n    x = np.array([7])",
        "while True:\n    x = np.array([7])",
        "with a() as x:\n    pass",
        "try:\n    x = 7\nfinally:\n    pass",
        "for x in unknown:\n    pass",
        "x, z = unknown()",
        "del x",
    ],
)
def test_what_may_have_changed_is_not_known_any_more(change: str) -> None:
    found = _last(f"{NODE}x = np.array([3, 1])\n{change}\nexpect(node, inputs=[x], outputs=[x])", "x")
    assert isinstance(found, UnknownValue)


def test_elements_that_are_set_are_read() -> None:
    found = _last(f"{NODE}y = np.zeros((2, 2))\ny[0, 1] = 5\ny[1:] = [7, 8]\nexpect(node, outputs=[y])")
    assert found.tolist() == [[0, 5], [7, 8]]


def test_a_node_is_not_that_of_an_earlier_name() -> None:
    code = _code(f"{NODE}node = helper.make_node_noweights()\nexpect(node, inputs=[x], outputs=[y])")
    assert code.calls == []
    assert (
        code.unread[0].reason
        == "its node is made by helper.make_node_noweights(), not by a readable make_node"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "if unknown:\n    expect(node, outputs=[y])",
            "it stands under a condition that is not read: unknown",
        ),
        (
            "for i in unknown:\n    expect(node, outputs=[y])",
            "it stands in a loop that is not read: over unknown",
        ),
        ("helper_of_the_test(node)", "it calls helper_of_the_test, which the page does not define"),
        (
            "expect(make_model(graph), outputs=[y])",
            "its node is made by make_model(...), not by a readable make_node",
        ),
    ],
)
def test_calls_that_are_not_read_have_a_reason(text: str, reason: str) -> None:
    code = _code(NODE + text)
    assert code.calls == []
    assert [each.reason for each in code.unread] == [reason]
    assert code.unread[0].source.line >= 3 - text.startswith(("helper", "expect"))


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("y = f(x)  # expected output [1., 2.]", (1.0, 2.0)),
        ("y = f(\n    x\n)  # expected output [1., 2.]", (1.0, 2.0)),
        ("# expect result:\n# [1. 2.]\ny = f(x)", (1.0, 2.0)),
        ("# Expecting output as np.array(\n# [1., 2.], dtype=np.float32)\ny = f(x)", (1.0, 2.0)),
        ("# The content of y is : [1, 2]\ny = f(x)", (1, 2)),
        ("y = f(x)\n# print(y)\n# [1., 2.]", (1.0, 2.0)),
        ("y = f(x)\n#  array([1,\n\n#  2])", (1, 2)),
        ("# print(y)\n# [1., 2.]\nk = 3\ny = f(x)\ny = y * 2", (1.0, 2.0)),
        ("# [1. 2.]\ny = f(x)", (1.0, 2.0)),
        ("# X:\n# [7, 8]\n# expect result:\n# [1, 2]\ny = f(x)", (1, 2)),
        # what is no value of y
        ("# print(x)\n# [1., 2.]\ny = f(x)", None),
        ("# y's shape: [1, 2]\ny = f(x)", None),
        ("# the shape\n# [1, 2]\ny = f(x)", None),
        ("y = f(x)  # offsets [1, 2]", None),
        ("# [1., 2.s]\n# [3., 4.]\ny = f(x)", None),
        ("# expect result:\n# []\ny = f(x)", None),
        ("# [1., 2.]\ny = np.random.randn(2)", None),
        ("y = f(x)\n# print(y)\n# [1., 2.]\ny = g(y)", None),
        ("y = f(x)\n# print(y)\n# [1., 2.]\nexpect(node, outputs=[y])\ny = g(x)", None),
    ],
)
def test_arrays_in_comments(text: str, printed: tuple[float, ...] | None) -> None:
    code = _code(f"{NODE}x = np.array([1])\n{text}\nexpect(node, inputs=[x], outputs=[y])")
    comment = code.calls[-1].variables["y"].comment
    assert (None if comment is None else comment.printed.data) == printed


def test_random_data_takes_what_a_comment_prints_of_it() -> None:
    code = _code(
        f"{NODE}x = np.random.randn(2)\n# X:\n# [7, 8]\ny = f(x)\nexpect(node, inputs=[x], outputs=[y])"
    )
    comment = code.calls[0].variables["x"].comment
    assert comment is not None
    assert comment.printed.data == (7, 8)
    assert code.calls[0].variables["y"].comment is None


def test_tensors_of_types_that_numpy_lacks() -> None:
    found = _last(f'{NODE}y = make_tensor("y", TensorProto.INT4, [2], [-8, 7])\nexpect(node, outputs=[y])')
    assert found == Typed((2,), (-8, 7), "int4")
    text = 'make_tensor("y", TensorProto.INT4, [3], [-8, 7])'
    assert isinstance(_last(f"{NODE}y = {text}\nexpect(node, outputs=[y])"), UnknownValue)


PAGE = """\
### <a name="A"></a><a name="a">**A**</a>

  What it does.

#### Version

This version of the operator has been available since version 18 of the default ONNX operator set.

#### Attributes

<dl>
<dt><tt>way</tt> : int</dt>
<dd>The way.</dd>
</dl>

#### Inputs

<dl>
<dt><tt>X</tt> : T</dt>
<dd>Input.</dd>
</dl>

#### Outputs (1 - &#8734;)

<dl>
<dt><tt>Y</tt> (variadic) : T</dt>
<dd>Output.</dd>
</dl>

#### Examples

<details>
<summary>first</summary>

```python
{code}
```

</details>
"""


def _page(code: str) -> Spec:
    return import_text(decode(PAGE.format(code=code).encode(), "Operators.md"))[0]


def test_lists_of_outputs_and_sequences() -> None:
    spec = _page(
        """\
node = make_node("A", ["x"], ["a", "b"])
x = [np.array([1, 2]), np.array([3])]
want = [np.array([1.0]), np.array([2.0])]
expect(node, inputs=[x], outputs=want)"""
    )
    example = spec.examples[0]
    assert [(name, output.data) for name, output in example.outputs if output] == [
        ("Y", (1.0,)),
        ("Y", (2.0,)),
    ]
    items = example.inputs[0][1]
    assert items is not None
    assert items.items is not None
    assert [None if item is None else item.data for item in items.items] == [(1, 2), (3,)]
    assert items.printed


@pytest.mark.parametrize(
    ("call", "code", "evidence"),
    [
        ("expect(node, inputs=[x], outputs=[x, x])", "arity-vs-example", "the node's outputs are y"),
        (
            'expect(node, inputs=[x], outputs=[x], opset_imports=[onnx.helper.make_opsetid("", 13)])',
            "example-of-other-version",
            "the page describes version 18; lines 38",
        ),
        (
            'node = make_node("A", ["x"], ["y"], way=f(x))\nexpect(node, inputs=[x], outputs=[x])',
            "example-not-read",
            "line 39: the node's way is no number, text or list of them",
        ),
    ],
)
def test_examples_that_are_not_of_this_operator_version(call: str, code: str, evidence: str) -> None:
    spec = _page(f'node = make_node("A", ["x"], ["y"])\nx = np.array([1])\n{call}')
    assert spec.examples == ()
    found = [finding for finding in spec.findings if finding.code == code]
    assert [(each.evidence, each.action) for each in found] == [(evidence, "rejected")]


HOSTILE: list[Callable[[int], str]] = [
    lambda n: f"x = np.arange({n}0000)\ny = x.reshape({n}0000, 1) + x",
    lambda n: f"r = range({n})\ny = [[[[0 for a in r] for b in r] for c in r] for d in r]",
    lambda n: f"r = range({n})\nfor a in r:\n for b in r:\n  for c in r:\n   for d in r:\n    y = a",
    lambda n: "y = [0]\n" + "y = y + y\n" * n,
    lambda n: "y = 3\n" + "y = y * y\n" * n,
    lambda n: "def f(a):\n" + "    f(a)\n" * n + "f(1)",
    lambda n: "y = " + "[" * n + "]" * n,
]
"""Programs of so many steps that they are not taken to their end, by a number that makes them larger."""


@pytest.mark.nightly
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_code_takes_bounded_work_and_memory(text: Callable[[int], str]) -> None:
    """Twice the count is the fourth power of two times the steps of some programs, but not of the reader."""

    def read(count: int) -> Code:
        return _code(f"{NODE}x = [1, 2, 3]\n{text(count)}\nexpect(node, inputs=[x], outputs=[y])")

    assert growth(lambda count: partial(read, count), 32) <= LINEAR
    calls = read(64).calls
    value = calls[0].variables["y"].value if calls and "y" in calls[0].variables else 0
    assert not isinstance(value, np.ndarray) or value.size <= 1_000_000
