"""Forms of OpenVINO's pages that few of them have, on pages written for these tests."""

from __future__ import annotations

from typing import Any

import pytest

from specs.documents.openvino_pages.attribute_words import (
    Stated,
    StatedRange,
    read_bounds,
    read_default,
    read_kind,
)
from specs.documents.openvino_pages.xml_layers import read_comment
from specs.documents.text.documents import Text
from specs.importers.openvino_specifications import DOXYREST, MARKDOWN, SPHINX
from specs.model.spec import Spec

_HEAD = "Sort\n====\n\n**Versioned name**: *Sort-17*\n\n"


def _read(body: str) -> Spec:
    return SPHINX.read(Text("sort.rst", f"{_HEAD}{body}", "00"), None)[0]


def test_numbered_attributes_that_say_in_their_description_whether_they_are_required() -> None:
    spec = _read(
        "**Attributes**:\n\n"
        "* **1**: *order*\n\n"
        "  * **Description**: Which end comes first. **Required.**\n"
        "  * **Range of values**: The order as a string:\n\n"
        "    * ``UP`` - the least first.\n    * ``DOWN`` - the greatest first.\n"
        "  * **Type**: ``string``\n\n"
        "* *stable*\n\n"
        "  * **Description**: equal ones keep their order.\n"
        "  * **Range of values**: boolean value (true/false)\n"
        "  * **Type**: ``bool``\n"
        "  * **Default value**: ``false``\n"
        "  * **Required**: *no*\n\n"
        "* *count*\n\n"
        "  * **Description**: how many.\n"
        "  * **Range of values**: a non-negative integer.\n"
        "  * **Type**: ``int64``\n"
        "  * **Default value**: 0\n"
        "  * **Required**: *no*\n\n"
        "* *way*\n\n"
        "  * **Description**: how it is done.\n"
        "  * **Range of values**: ``merge`` (in two halves, say), ``heap`` (by a tree)\n"
        "  * **Type**: ``string``\n"
        "  * **Required**: *yes*\n"
    )
    order, stable, count, way = spec.attributes.values()
    assert (order.kind, order.required, order.values and order.values.values) == (
        "string",
        True,
        ("UP", "DOWN"),
    )
    assert (stable.kind, stable.other_type, stable.default) == ("int", "boolean", 0)
    assert stable.values is not None
    assert stable.values.values == (0, 1)
    assert (count.kind, count.other_type, count.at_least, count.default) == ("int", "int64", 0, 0)
    assert way.values is not None
    assert way.values.values == ("merge", "heap")


def test_sections_of_other_titles_end_the_one_above() -> None:
    spec = _read(
        "**Inputs**\n\n* **1**: ``data`` - 4-dimensional tensor of type *T* and shape\n  ``[B, H, L, E]``.\n"
        "  *Required*.\n\n* **2**: ``k`` - A scalar of type *T_K*. *Optional*.\n\n"
        "**Outputs**\n\n* **1**: - what comes out, a tensor of type *T*.\n\n"
        "**Types**\n\n* *T*: any supported numerical data type.\n* *T_K*: ``i32``, ``i64``, or ``u8``.\n\n"
        "**Dimensions**\n\n* ``B`` - batch size.\n\n* ``L`` - length.\n\n"
        "**Example 1: alone**\n\n.. code-block:: xml\n   :force:\n\n"
        '   <layer ... type="Sort" version="opset17">\n'
        '       <output><port id="0"><dim>-1</dim></port></output>\n'
        "   </layer>\n"
    )
    data, k = spec.inputs
    assert (data.name, data.option, data.type, data.rank) == ("data", "single", "T", "4")
    assert data.shape == ("B", "H", "L", "E")
    assert (k.name, k.option, k.type) == ("k", "optional", "T_K")
    assert set(spec.type_constraints) == {"T", "T_K"}
    assert spec.type_constraints["T_K"].types == ("int32", "int64", "uint8")
    assert [example.outputs for example in spec.examples] == [(("output", None),)]
    codes = [finding.code for finding in spec.findings]
    assert "item-unread" not in codes
    assert "duplicate-section" not in codes


def test_a_literal_in_a_directive_is_no_bullet() -> None:
    spec = _read(
        "**Attributes**\n\n.. note::\n\n   *old*, an attribute of before, is gone.\n\n* *new*\n\n"
        "  * **Description**: what is new.\n  * **Range of values**: an integer\n  * **Type**: ``int``\n"
        "  * **Required**: *yes*\n\n.. code-block:: py\n\n   * *none*\n     * **Type**: int\n"
    )
    assert list(spec.attributes) == ["new"]


@pytest.mark.parametrize("label", ["", ":target:`doxid-ops_sort_1md_ops_sort` "])
def test_doxyrest_s_own_forms(label: str) -> None:
    content = (
        ".. index:: pair: page; Sort\n.. _doxid-ops_sort:\n\nSort\n====\n\n"
        f"{label}**Versioned name** : *Sort-17*\n\n**Category** : *Sorting*\n\n"
        "**Attributes**\n\n* *axis*\n  \n  * **Description** : the dimension\\*.\n  \n"
        "  * **Range of values** : an integer\n  \n  * **Type** : ``int``\n  \n  * **Required** : *yes*\n\n"
        "**Inputs**\n\n* **1** : ``data`` tensor of type *T*. **Required.**\n\n"
        '.. ref-code-block:: cpp\n\n\t<layer type="Sort">\n\t\t<data axis="1"/>\n\t</layer>\n'
    )
    text = Text("sort.rst", content, "00")
    assert DOXYREST.recognise(text) > SPHINX.recognise(text) > MARKDOWN.recognise(text)
    (spec,) = DOXYREST.read(text, None)
    assert (spec.category, spec.attributes["axis"].required) == ("Sorting", True)
    assert [parameter.name for parameter in spec.inputs] == ["data"]
    assert [dict(example.attributes) for example in spec.examples] == [{"axis": 1}]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("`int`", ("int", None)),
        ("int", ("int", None)),
        ("``float[]``", ("floats", None)),
        ("a list of strings", ("strings", None)),
        ("string[]", ("strings", None)),
        ("`boolean`", ("int", "boolean")),
        ("boolean[]", ("ints", "boolean[]")),
        ("double", ("float", "double")),
        ("size_t", ("int", "size_t")),
        ("`unsigned int 64-bit`", ("int", "unsigned int 64-bit")),
        ("any of supported floating-point type", ("float", None)),
        ("*T_AXIS*", None),
        ("any numeric type", None),
        ("", None),
    ],
)
def test_kinds(text: str, kind: Any) -> None:
    assert read_kind(text) == kind


@pytest.mark.parametrize(
    ("text", "kind", "other", "stated"),
    [
        ("None", "int", None, Stated(none=True)),
        ("`none`", "string", None, Stated("none")),
        ("none", "int", None, Stated(none=True)),
        ('"numpy"', "string", None, Stated("numpy")),
        ('"" (empty string)', "string", None, Stated("")),
        ("asymmetric  ", "string", None, Stated("asymmetric")),
        ('"caffe.PriorBoxParameter.CORNER"', "string", None, Stated("caffe.PriorBoxParameter.CORNER")),
        ("`-1` meaning to keep all boxes", "int", None, Stated(-1)),
        ("*infinity* that means that the clipping is not applied", "float", None, Stated(float("inf"))),
        ("0", "float", None, Stated(0.0)),
        ("True", "int", "boolean", Stated(1)),
        ("maybe", "int", "boolean", None),
        ("[]", "floats", None, Stated([])),
        ("`[0, 1]`", "ints", None, Stated([0, 1])),
        ("1.0", "floats", None, None),
        ("all zeros", "ints", None, Stated(none=True)),
        ("list of 1 (no dilation)", "ints", None, Stated(none=True)),
        ("[1, 1, ...]", "ints", None, Stated(none=True)),
        ("1s along each spatial axis", "ints", None, Stated(none=True)),
        ("all of them", "ints", None, None),
        ("[0, 1, ...]", "ints", None, None),
        ("empty list", "ints", None, Stated([])),
        ("*sigmoid* for f, *tanh* for g", "strings", None, Stated(["sigmoid", "tanh"])),
        ("*sigmoid,tanh,tanh*", "strings", None, Stated(["sigmoid", "tanh", "tanh"])),
        ("2 or 3", "int", None, None),
        ("the size of the image", "int", None, None),
        ("the mode of the page", "string", None, None),
    ],
)
def test_defaults(text: str, kind: Any, other: str | None, stated: Stated | None) -> None:
    assert read_default(text, kind, other) == stated


@pytest.mark.parametrize(
    ("text", "kind", "bounds"),
    [
        ("a positive integer", "int", StatedRange(at_least=1)),
        ("positive integer bigger than zero", "int", StatedRange(at_least=1)),
        ("integer values starting from `0`", "ints", StatedRange(at_least=0)),
        ("an integer greater than or equal to 2", "int", StatedRange(at_least=2)),
        ("list of non-negative integer numbers", "ints", StatedRange(at_least=0)),
        ("a positive floating-point number", "float", StatedRange(more_than=0.0)),
        ("floating-point non-negative number", "float", StatedRange(at_least=0.0)),
        (
            "a floating-point number in close range `[0, 1.0]`.",
            "float",
            StatedRange(at_least=0.0, at_most=1.0),
        ),
        ("a list of `0`s and `1`s", "ints", StatedRange(at_least=0, at_most=1)),
        ("an integer. Negative value means counting dimension from the end.", "int", StatedRange()),
        ("arbitrary floating-point number", "float", StatedRange()),
        ("`[-rank, rank - 1]`", "int", None),
        ("a positive integer or -1", "int", None),
        ("an integer within the range `[1, data.shape[axis]]`", "int", None),
        ("not a positive integer", "int", None),
        ("any", "string", None),
        ("", "int", None),
    ],
)
def test_bounds(text: str, kind: Any, bounds: StatedRange | None) -> None:
    assert read_bounds(text, kind) == bounds


@pytest.mark.parametrize(
    ("text", "label", "shape", "data"),
    [
        ("start: [1]", "start", (1,), (1,)),
        ("output value is: [0., 1.5]", "output", (2,), (0.0, 1.5)),
        ("cond value is: [[false, true]]", "cond", (1, 2), (False, True)),
        ("axis = 1", "axis", None, (1,)),
        ("axes input contains [1, 2]", "axes", (2,), (1, 2)),
        ("beta value: 2.0", "beta", None, (2.0,)),
        ("[1, 2]", "", (2,), (1, 2)),
    ],
)
def test_comments(text: str, label: str, shape: Any, data: Any) -> None:
    found = read_comment(text)
    assert found is not None
    assert (found.label, found.shape, found.data) == (label, shape, data)


@pytest.mark.parametrize(
    "text", ["data", "batch", "B=1, H=2", "[1, 2] and more", "see [1]: it says 5 or so", "[[1], [2, 3]]"]
)
def test_comments_without_a_value(text: str) -> None:
    assert read_comment(text) is None


def test_three_points_in_a_value_are_no_elision() -> None:
    body = (
        "**Example**\n\n.. code-block:: xml\n\n"
        '   <layer ... type="Sort" ...>\n       <data way="a...->...b" .../>\n   </layer>\n'
    )
    (example,) = _read(body).examples
    assert example.attributes == {"way": "a...->...b"}


@pytest.mark.parametrize(
    ("layer", "attributes", "inputs"),
    [
        ('<data way="a">\n   <input><port id="0"/></input>', {"way": "a"}, 1),
        ('<data count="3", way="a"/>\n   <input><port id="0"/></input>', {"count": "3", "way": "a"}, 1),
        ('<data count=3 way="a"/>\n   <input><port id="0"/></input>', {"count": "3", "way": "a"}, 1),
        ('<input><port id="0"/><port id="1"/>\n   <output><port id="2"/></output>', {}, 2),
    ],
)
def test_usual_slips_of_xml_are_mended_and_reported(layer: str, attributes: Any, inputs: int) -> None:
    spec = _read(
        "**Inputs**\n\n* **1**: ``a`` - tensor. **Required.**\n* **2**: ``b`` - tensor. **Optional.**\n\n"
        f'**Example**\n\n.. code-block:: xml\n\n   <layer type="Sort">\n   {layer}\n   </layer>\n'
    )
    (example,) = spec.examples
    assert example.repaired
    assert (dict(example.attributes), len(example.inputs)) == (attributes, inputs)
    assert [finding.action for finding in spec.findings if finding.code == "xml-malformed"] == ["repaired"]


@pytest.mark.parametrize(
    ("remark", "data"),
    [("[2, 5]", (2, 5)), ("b: [2, 5]", None), ("a: [2, 5]", (2, 5)), ("[2, 5, 8]", None), ("batch", None)],
)
def test_remarks_beside_the_one_extent(remark: str, data: Any) -> None:
    spec = _read(
        "**Inputs**\n\n* **1**: ``a`` - tensor. **Required.**\n* **2**: ``b`` - tensor. **Optional.**\n\n"
        '**Example**\n\n.. code-block:: xml\n\n   <layer type="Sort"><input>\n'
        f'   <port id="0"><dim>2</dim> <!-- {remark} --></port>\n   </input></layer>\n'
    )
    value = spec.examples[0].inputs[0][1]
    assert value is not None
    assert value.data == data


def test_lists_that_begin_anew_are_alternatives() -> None:
    """A second list of inputs from the same name on: the longest holds, what it adds may be left out."""
    spec = _read(
        "**Inputs**:\n\nThe first format:\n\n"
        "* **1**: ``boxes`` - tensor of type *T* and shape ``[B, N, 4]``. **Required.**\n\n"
        "* **2**: ``scores`` - tensor of type *T* and shape ``[B, C, N]``. **Required.**\n\n"
        "The second format:\n\n"
        "* **1**: ``boxes`` - tensor of type *T* and shape ``[C, N, 4]``. **Required.**\n\n"
        "* **2**: ``scores`` - tensor of type *T* and shape ``[C, N]``. **Required.**\n\n"
        "* **3**: ``numbers`` - tensor of type *T*. **Required.**\n"
    )
    assert [(each.name, each.option, each.shape) for each in spec.inputs] == [
        ("boxes", "single", None),
        ("scores", "single", None),
        ("numbers", "optional", None),
    ]
    codes = {finding.code for finding in spec.findings}
    assert "alternative-signatures" in codes
    assert not codes & {"sequence-break", "duplicate-name"}


def test_an_input_that_one_mode_alone_needs_may_be_left_out_and_notes_behind_a_field_are_none_of_it() -> None:
    spec = _read(
        "**Attributes**:\n\n* *mode*\n\n  * **Description**: how.\n  * **Range of values**: any string\n"
        "  * **Type**: ``string``\n  * **Required**: *yes* **Note**: only 2D is supported.\n\n"
        "**Inputs**:\n\n* **1**: ``data`` - tensor of type *T*. **Required.**\n\n"
        "* **2**: ``axes`` - tensor of type *T*. ``axes`` input is needed for ``mode`` equal to *own* only.\n"
    )
    assert [each.option for each in spec.inputs] == ["single", "optional"]
    assert spec.attributes["mode"].required
    assert not {"required-missing", "optionality-unstated"} & {finding.code for finding in spec.findings}


def test_headings_title_sections_and_an_item_below_an_input_has_its_type() -> None:
    page = (
        "## Attributes\n\n* *axes*\n\n  * **Description**: which.\n"
        "  * **Range of values**: non-negative s64 values.\n"
        "  * **Type**: s64[]\n  * **Default value**: empty list\n  * **Required**: *yes*\n\n"
        "## Inputs\n\n* **1**: ``data`` - the tensor. **Required.**\n\n  * **Type**: T\n\n"
        "## Outputs\n\n* **1**: ``result`` - the tensor.\n\n  * **Type**: s32\n\n"
        "## Broadcasting rules\n\n* **1**: there are none.\n\n"
        "**Types**:\n\n* **T**: any integer numeric type.\n"
    )
    (spec,) = MARKDOWN.read(Text("sort.md", f"{_HEAD}{page}", "00"), None)
    assert [(each.name, each.type) for each in (*spec.inputs, *spec.outputs)] == [
        ("data", "T"),
        ("result", "int32"),
    ]
    axes = spec.attributes["axes"]
    assert (axes.kind, axes.at_least, axes.default, axes.required) == ("ints", 0, [], True)
    assert "uint8" in spec.type_constraints["T"].types
    assert "float" not in spec.type_constraints["T"].types
    found = [finding.message for finding in spec.findings if finding.code == "required-with-default"]
    assert found == ["axes is required, and has a default all the same"]
