"""`opcert lint` on a clean page of each dialect, into which one mistake is planted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.command_line import call

ONNX = """\
### <a name="Twice"></a><a name="twice">**Twice**</a>

  Doubles what `X` holds, where `scale` says so.

  ```
  Y = X * (scale + 1)
  ```

#### Version

This version of the operator has been available since version 3 of the default ONNX operator set.

Other versions of this operator: <a href="Changelog.md#Twice-1">1</a>

#### Attributes

<dl>
<dt><tt>axis</tt> : int (default is 1)</dt>
<dd>The axis, in the range [-r, r-1]. The default is 1.</dd>
<dt><tt>keep</tt> : int (default is 0)</dt>
<dd>Whether the axis is kept: 0 or 1.</dd>
<dt><tt>mode</tt> : string (default is near)</dt>
<dd>How it rounds. It must be one of "near", "far".</dd>
</dl>

#### Inputs

<dl>
<dt><tt>X</tt> : T</dt>
<dd>The data, a 2-D tensor of shape (N, C).</dd>
<dt><tt>scale</tt> : T</dt>
<dd>The factor.</dd>
</dl>

#### Outputs

<dl>
<dt><tt>Y</tt> : T</dt>
<dd>Output, a 2-D tensor of shape (N, C).</dd>
</dl>

#### Type Constraints

<dl>
<dt><tt>T</tt> : tensor(float), tensor(double)</dt>
<dd>Floating-point numbers.</dd>
</dl>

#### Examples

<details>
<summary>twice</summary>

```python
node = onnx.helper.make_node("Twice", inputs=["x", "s"], outputs=["y"], mode="far")
x = np.array([[1.0, 2.0]], dtype=np.float32)
s = np.array(1.0, dtype=np.float32)
y = x * (s + 1)
expect(node, inputs=[x, s], outputs=[y], name="test_twice")
```

</details>
"""
OPENVINO = """\
# Thin {#openvino_docs_ops_movement_Thin_2}

**Versioned name**: *Thin-2*

**Category**: *Data movement*

**Short description**: *Thin* takes every second row of `data`.

**Detailed description**: The *step* attribute says how many rows are left out (none where it is 1).

**Attributes**

* *step*

  * **Description**: *step* is the distance of the rows.
  * **Range of values**: a positive integer
  * **Type**: `int`
  * **Required**: *yes*

* *mode*

  * **Description**: *mode* says which rows are taken.
  * **Range of values**:
    * *first* - the first rows
    * *last* - the last rows
  * **Type**: `string`
  * **Default value**: *first*
  * **Required**: *no*

**Inputs**

* **1**: `data` - A 2D tensor of type *T* and shape `[N, C]`. **Required.**
* **2**: `mask` - A tensor of type *T*. **Required.**

**Outputs**

* **1**: A 2D tensor of type *T* with shape equal to `data` tensor.

**Types**

* *T*: `int32` or `int64`.

**Example**

```xml
<layer id="1" type="Thin">
    <data step="2" mode="first"/>
    <input>
        <port id="0">
            <dim>4</dim>
            <dim>6</dim>
        </port>
        <port id="1">
            <dim>4</dim>
        </port>
    </input>
    <output>
        <port id="2">
            <dim>4</dim>
            <dim>6</dim>
        </port>
    </output>
</layer>
```
"""


def found(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> list[tuple[str, int]]:
    """The codes and lines of a page's findings, without hints."""
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    rows = json.loads(call(capsys, "lint", "--format", "json", str(path)).out)
    return [(row["code"], row["line"]) for row in rows if row["severity"] != "hint" or "type" in row["code"]]


@pytest.mark.parametrize("page", [ONNX, OPENVINO])
def test_a_clean_page_has_no_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str], page: str) -> None:
    assert found(tmp_path, capsys, page) == []


@pytest.mark.parametrize(
    ("page", "right", "wrong", "code"),
    [
        (ONNX, "int (default is 0)", "int (default is 7)", "default-outside-range"),
        (ONNX, "The default is 1.", "The default is 2.", "default-vs-text"),
        (ONNX, '"near", "far"', '"near", "near", "far"', "duplicate-value"),
        (ONNX, "Output, a 2-D", "Output, a 3-D", "rank-vs-shape"),
        (ONNX, "[-r, r-1]", "[r-1, -r]", "range-exchanged"),
        (ONNX, "tensor(float), tensor(double)", "tensor(float), tensor(float)", "duplicate-type"),
        (ONNX, "<tt>X</tt> : T", "<tt>X</tt> (optional) : T", "optional-before-required"),
        (ONNX, "since version 3", "since version 1", "version-disagrees"),
        (ONNX, "The data, a 2-D tensor of shape (N, C)", "The data, of shape (N, C", "unbalanced-brackets"),
        (ONNX, "inputs=[x, s]", "inputs=[xs, s]", "example-wrong-variable"),
        (ONNX, "outputs=[y], name", "outputs=[x], name", "example-wrong-variable"),
        (ONNX, "<tt>Y</tt>", "<tt>Z_out</tt>", "output-name-mismatch"),
        (OPENVINO, "*Thin-2*", "*Thin-3*", "version-disagrees"),
        (OPENVINO, "The *step* attribute", "The *stride_of* attribute", "name-unknown"),
        (OPENVINO, "* *last* - ", "* *first* - ", "duplicate-value"),
        (OPENVINO, '<data step="2"', '<data step="-2"', "example-outside-range"),
        (OPENVINO, '<data step="2" ', "<data ", "attribute-missing-in-example"),
        (OPENVINO, "`int32` or `int64`", "`int32` or `int32`", "duplicate-type"),
        (OPENVINO, "(none where it is 1)", "(none where it is 1", "unbalanced-brackets"),
    ],
)  # fmt: skip
def test_a_planted_mistake_is_found_at_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], page: str, right: str, wrong: str, code: str
) -> None:
    assert page.count(right) == 1
    line = page[: page.index(right)].count("\n") + 1
    assert (code, line) in found(tmp_path, capsys, page.replace(right, wrong))


def test_an_example_of_another_shape_than_the_input_is_told_at_its_extent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head, tail = OPENVINO.split("<output>")
    told = found(tmp_path, capsys, head + "<output>" + tail.replace("<dim>6", "<dim>7"))
    assert ("example-vs-formula", head.count("\n") + 1 + tail[: tail.index("<dim>6")].count("\n")) in told


@pytest.mark.parametrize("tag", ["</input>", "</layer>", "</output>"])
def test_an_element_that_is_never_closed_is_told_at_its_own_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tag: str
) -> None:
    opened = OPENVINO[: OPENVINO.index(tag.replace("/", "").rstrip(">"))].count("\n") + 1
    assert ("xml-malformed", opened) in found(tmp_path, capsys, OPENVINO.replace(tag, ""))
    answer = call(capsys, "lint", str(tmp_path / "page.md"))
    assert f"`{tag.replace('/', '')}` of line {opened} is never closed" in answer.out


def test_a_version_that_the_history_does_not_have_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, history = tmp_path / "page.md", tmp_path / "Changelog.md"
    body = ONNX[: ONNX.index("#### Examples")].replace("Other versions", "Older versions")
    old = body.replace("since version 3", "since version 1").replace("**Twice**", "**Twice-1**")
    new = body.replace("**Twice**", "**Twice-3**")
    history.write_text(
        old.replace('"Twice"', '"Twice-1"') + new.replace('"Twice"', '"Twice-3"'), encoding="utf-8"
    )
    for version, told in ((3, False), (2, True)):
        page.write_text(body.replace("since version 3", f"since version {version}"), encoding="utf-8")
        rows = json.loads(call(capsys, "lint", "--format", "json", str(page), str(history)).out)
        assert ("version-disagrees" in {row["code"] for row in rows}) == told


def test_a_convention_is_one_line_a_run_unless_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (3, 4, 5):
        text = OPENVINO.replace("Thin-2", f"Thin-{number}").replace("Thin_2", f"Thin_{number}")
        elided = text.replace('type="Thin">', 'type="Thin" ...>')
        (tmp_path / f"Thin_{number}.md").write_text(elided, encoding="utf-8")
    rows = json.loads(call(capsys, "lint", "--format", "json", str(tmp_path)).out)
    told = [row["message"] for row in rows if row["code"] == "xml-elision"]
    assert len(told) == 1
    assert told[0].endswith("; 2 more in 3 documents")
    asked = call(capsys, "lint", "--format", "json", "--code", "xml-elision", str(tmp_path))
    assert len(json.loads(asked.out)) == 3


def test_types_by_reference_and_ranges_by_formula_are_stated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An open type, the type of another input and an interval of ranks are told by no finding; silence is."""

    def codes(text: str) -> list[str]:
        path = tmp_path / "page.md"
        path.write_text(text, encoding="utf-8")
        rows = json.loads(call(capsys, "lint", "--format", "json", str(path)).out)
        return [row["code"] for row in rows]

    mask = "`mask` - A tensor of type *T*."
    output = "A 2D tensor of type *T* with shape equal to `data` tensor."
    stated = OPENVINO.replace(mask, "`mask` - A tensor of any supported type.")
    stated = stated.replace(output, "A 2D tensor with the same shape and type as `mask`.")
    assert "parameter-type-missing" not in codes(stated)
    assert codes(stated.replace(" of any supported type", "")).count("parameter-type-missing") == 1
    assert codes(OPENVINO.replace(output, "A 2D tensor.")).count("parameter-type-missing") == 1
    for ranged, told in (
        ("`[-r, r-1]` where `r = rank(data)`.", 0),
        ("`[0; min(data.rank, mask.rank)]`", 0),
        ("an integer within `[1, data.shape[0]]`", 0),
        ("`[few, many]`", 1),
        ("what rows there are", 1),
    ):
        assert codes(OPENVINO.replace("a positive integer", ranged)).count("range-unread") == told, ranged


@pytest.mark.parametrize(
    ("name", "text", "first", "told"),
    [
        ("bias", "The addend.", "The data", False),
        ("B", "Bias tensor.", "The data", False),
        ("key", "The keys.", "The data, or packed QKV", False),
        ("key", "The keys.", "The data", True),
        ("gamma", "The factor.", "The data, or packed QKV", True),
    ],
)
def test_the_absence_of_a_bias_and_of_packed_keys_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, first: str, told: bool
) -> None:
    inputs = f"<dt><tt>{name}</tt> (optional) : T</dt>\n<dd>{text}</dd>\n<dt><tt>scale</tt>"
    page = ONNX.replace("<dt><tt>scale</tt>", inputs).replace("<dd>The data", f"<dd>{first}")
    codes = {code for code, _ in found(tmp_path, capsys, page)}
    assert ("optional-before-required" in codes) == told


@pytest.mark.parametrize(("code", "told"), [('<layer id="1"', []), ("<later", ["section-missing"])])
def test_an_example_below_a_title_of_its_own_is_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], code: str, told: list[str]
) -> None:
    text = OPENVINO.replace("**Example**", "*A thin layer.*").replace('<layer id="1"', code)
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    rows = json.loads(call(capsys, "lint", "--format", "json", str(tmp_path)).out)
    assert [row["code"] for row in rows if row["code"] == "section-missing"] == told


def test_a_type_that_is_left_open_is_one_line_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (3, 4):
        text = OPENVINO.replace("Thin-2", f"Thin-{number}").replace("Thin_2", f"Thin_{number}")
        (tmp_path / f"Thin_{number}.md").write_text(
            text.replace("`int32` or `int64`", "any supported type"), encoding="utf-8"
        )
    rows = json.loads(call(capsys, "lint", "--format", "json", str(tmp_path)).out)
    assert [row["message"].partition("; ")[2] for row in rows if row["code"] == "types-unstated"] == [
        "1 more in 2 documents"
    ]
