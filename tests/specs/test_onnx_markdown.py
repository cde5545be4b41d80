"""ONNX's Markdown documents: what an importer of them must tell apart."""

from __future__ import annotations

from opcert.vocabulary.names import OperatorName
from specs.documents.text.documents import decode, read_document
from specs.importers import import_text, onnx_markdown
from tests.documents.gathering import Documents


def test_contrib_operators(documents: Documents) -> None:
    text = read_document(documents.find("onnxruntime/ContribOperators.md"))
    specs = onnx_markdown.read(text, None)
    assert len(specs) == 113
    pad = next(spec for spec in specs if spec.operator == OperatorName("com.microsoft", "Pad", 1))
    assert pad.type_constraints["T"].types == ("float16", "float", "double")
    assert pad.attributes["mode"].kind == "string"
    assert [parameter.name for parameter in pad.inputs] == ["data", "pads", "value"]
    unversioned = [
        spec.operator.name for spec in specs for found in spec.findings if found.code == "version-missing"
    ]
    assert unversioned == ["IsAllFinite", "QEmbedLayerNormalization"]


def test_headings_in_code_are_code() -> None:
    page = """\
### <a name="Blend"></a><a name="blend">**Blend**</a>

  Blends.

#### Version

This version of the operator has been available since version 3 of the default ONNX operator set.

#### Inputs (1 - &#8734;)

<dl>
<dt><tt>X</tt> (variadic, heterogeneous) : seq(tensor(float))</dt>
<dd>Some &lt;data&gt;</dd>
</dl>

#### Outputs

<dl>
<dt><tt>Y</tt> (optional) : T</dt>
<dd>The result</dd>
</dl>

#### Type Constraints

<dl>
<dt><tt>T</tt> : tensor(float), map(int64, tensor(double))</dt>
<dd>Types</dd>
</dl>

#### Examples

<details>
<summary>plain</summary>

```python
# 1d
### heading?
node = onnx.helper.make_node("Blend", inputs=["a"], outputs=["b"])
a = np.arange(6, dtype=np.int32).reshape(2, 3)
# [[1 2 3]
#  [4 5 6]]
b = blend(a).astype(np.int32)
expect(node, inputs=[a], outputs=[b], name="test_blend")
```

</details>
"""
    (spec,) = import_text(decode(page.encode(), "Operators.md"))
    assert str(spec.operator) == "ai.onnx::Blend-3"
    assert spec.input_arity is not None
    assert (spec.input_arity.least, spec.input_arity.most) == (1, None)
    assert (spec.inputs[0].type, spec.inputs[0].homogeneous) == ("seq(tensor(float))", False)
    assert spec.type_constraints["T"].types == ("float", "map(int64, tensor(double))")
    (example,) = spec.examples
    given, wanted = example.inputs[0][1], example.outputs[0][1]
    assert given is not None
    assert wanted is not None
    assert (given.shape, given.data, given.element_type) == ((2, 3), (0, 1, 2, 3, 4, 5), "int32")
    assert (wanted.shape, wanted.data, wanted.element_type) == ((2, 3), (1, 2, 3, 4, 5, 6), "int32")
