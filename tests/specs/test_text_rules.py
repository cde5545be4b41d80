"""Rules on the text of pages: each finds its slip in a small page, and nothing where the slip is mended."""

from __future__ import annotations

import pytest

from opcert.vocabulary.names import OperatorName
from specs.documents.text.documents import decode
from specs.files.layers import merge_layers
from specs.importers import import_text
from specs.lint.linting import with_key
from specs.model.spec import Finding, Spec
from specs.rules import examine_spec

RST = """
.. _l-onnx-doc-Pull:

====
Pull
====

.. contents::
    :local:

.. _l-onnx-op-pull-7:

Pull - 7
========

**Version**

* **name**: `Pull (GitHub) <https://example.org/Pull>`_
* **domain**: **main**
* **since_version**: **7**
* **function**: False
* **support_level**: SupportType.COMMON
* **shape inference**: True

This version of the operator has been available
**since version 7**.

**Summary**

SUMMARY

**Attributes**

* **far**:
  If set to 1, it pulls farther. The default is 0.
* **mode**:
  MODE

**Inputs**

Between 1 and 3 inputs.

* **X** (heterogeneous) - **T**:
  N-D tensor
* **pull** (optional, heterogeneous) - **tensor(float)**:
  PULL
* **push** (optional, heterogeneous) - **tensor(float)**:
  How far to push.

**Outputs**

* **Y** (heterogeneous) - **T**:
  N-D tensor

**Type Constraints**

* **T** in (
  tensor(float),
  tensor(string)
  ):
  Constrain input and output types.

**Examples**

**_pull**

::

    import numpy as np
    import onnx

    node = onnx.helper.make_node(
        "Pull",
        inputs=["X"],
        outputs=["Y"],
        far=FAR,
    )
    x = np.array([1.0, 2.0], dtype=np.float32)
    y = OUTPUT
    expect(node, inputs=[x], outputs=[y], name="test_pull")
"""
PARTS = {
    "SUMMARY": "Pulls the input.",
    "MODE": "How it pulls.",
    "PULL": "How far to pull, 1 where it is left out.",
    "FAR": "1",
    "OUTPUT": "np.array([2.0, 3.0], dtype=np.float32)",
}
SLIPS: list[tuple[str, dict[str, str], dict[str, str]]] = [
    ("example-undefined-name", {"OUTPUT": "pull_it(x)"}, {"OUTPUT": "np.add(x, 1)"}),
    (
        "missing-space",
        {"MODE": "It pulls near.The default is far."},
        {"MODE": "It pulls near, e.g. The End."},
    ),
    ("attribute-type-vs-example", {"FAR": "True"}, {"FAR": "1"}),
    (
        "example-vs-text",
        {"SUMMARY": "Insert 0 pads to the end.\npads = [0, 2]"},
        {"SUMMARY": "Insert 2 pads to the end.\npads = [0, 2]"},
    ),
    (
        "unstated-rule",
        {"MODE": "Two interpolation modes: nearest and cubic, not for strings."},
        {"MODE": "Two interpolation modes: nearest, which rounds down, and cubic, not for strings."},
    ),
    (
        "unstated-rule",
        {"SUMMARY": "It is a weighted average of neighbours."},
        {"SUMMARY": "It is a weighted average of neighbours, or the nearest for strings."},
    ),
]


def page(**parts: str) -> str:
    text = RST
    for name, value in {**PARTS, **parts}.items():
        text = text.replace(name, value)
    return text


def read(text: str, file: str = "page.rst", operator: str | None = None) -> list[Spec]:
    return import_text(decode(text.encode(), file), OperatorName.parse(operator) if operator else None)


def findings(code: str, text: str, operator: str | None = None) -> list[Finding]:
    return [
        finding for spec in read(text, operator=operator)
        for finding in (*spec.findings, *examine_spec(spec)) if finding.code == code
    ]  # fmt: skip


@pytest.mark.parametrize(("code", "wrong", "right"), SLIPS)
def test_a_slip_is_found_and_its_mended_form_is_not(
    code: str, wrong: dict[str, str], right: dict[str, str]
) -> None:
    assert not findings(code, page())
    found = findings(code, page(**wrong))
    assert len(found) == 1
    assert found[0].message
    assert found[0].evidence
    assert not findings(code, page(**right))


FRAGMENT = """take
|
A Tensor . Must be one of the following types: int32 , int64 . 2-D
with shape [M, 2] , all values must be >= 0. take[i] = [take_start,
take_end] says how much to take of dimension i . It is required that
take_start[i] + take_end[i] <= block[i] . This operation is equivalent to the following steps:
- Reshape
input to reshaped of shape: [batch / prod(block), input_shape[1]]
Some examples: (1) For the following input of shape [1, 1, 1, 2] , take = [[0, 0], [0, 0]] : x = [[[[1, 2]]]]
The output tensor has shape [1, 1, 1, 2] and value: x = [[[[1, 2]]]]
|
"""


@pytest.mark.parametrize(
    ("code", "wrong", "right"),
    [
        ("duplicate-name", "value: x =", "value: y ="),
    ],
)
def test_slips_of_fragments_are_found(code: str, wrong: str, right: str) -> None:
    operator = "org.tensorflow::Take-1"
    assert len(findings(code, FRAGMENT, operator)) == 1
    mended = FRAGMENT.replace(wrong, right)
    assert not findings(code, mended, operator)


OPENVINO = """Pull
====

**Versioned name**: *Pull-3*

**Category**: *Data movement*

**Short description**: *Pull* pulls.

**Attributes**

* *far*

  * **Description**: *far* is how far it pulls.
  * **Range of values**: positive integer number
  * **Type**: ``int``
  * **Required**: *yes*

**Inputs**

* **1**: ``data`` the 2-D tensor of type *T* with shape ``[batch, rows]``. **Required.**

**Outputs**

* **1**: 2-D tensor with shape ``[batch, far_rows]``.

**Types**

* *T*: any numeric type.

**Example**

.. code-block:: xml

   <layer type="Pull" ...>
       <data far="3"/>
   </layer>

.. code-block:: cpp

   [[1 2]]

output shape: ``[1, 2]``

output shape: ``[1, 2]``

output_shape: ``[1, 2]``
"""


@pytest.mark.parametrize(
    ("code", "line", "wrong", "right"),
    [
        ("xml-elision", 35, 'type="Pull" ...', 'type="Pull"'),
    ],
)
def test_slips_of_openvino_pages_are_found(code: str, line: int, wrong: str, right: str) -> None:
    assert [finding.source.line for finding in findings(code, OPENVINO)] == [line]
    assert not findings(code, OPENVINO.replace(wrong, right))


def both(first: str, second: str) -> list[Finding]:
    (one,), (other,) = read(first, "first.rst"), read(second, "second.rst")
    return list(merge_layers([with_key(one, "d1"), with_key(other, "d2")]).findings)


def test_documents_of_one_version_are_compared_formula_by_formula_and_word_by_word() -> None:
    first = page(SUMMARY="`length = size[i] * 2`", MODE="How it pulls.")
    second = page(SUMMARY="`length = size[d] * 2`", MODE="How it pushes.")
    said = {finding.code: finding for finding in both(first, second)}
    assert said["formulas-disagree"].source.document == "d1"
    assert "size[d] * 2 in line" in said["formulas-disagree"].evidence
    assert said["texts-differ"].message == "the text about attributes.mode is not the one of second.rst"
    again = {finding.code for finding in both(first, first)}
    assert not again & {"formulas-disagree", "texts-differ", "documents-disagree"}


def test_an_example_of_a_type_that_no_document_allows_is_found() -> None:
    text = page(OUTPUT="x").replace("dtype=np.float32)\n    y", "dtype=np.int32)\n    y")
    (found,) = findings("example-vs-types", text)
    assert "gives X as int32" in found.message
    assert not findings("example-vs-types", page(OUTPUT="x"))
