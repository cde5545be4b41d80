"""ONNX's Markdown documents against the schemas of the installed onnx package, field by field."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import onnx.defs
import pytest

from opcert.names import OperatorName
from specs.documents import decode, read_document
from specs.importers import import_text
from specs.model import AttributeSpec, Spec

_OPTIONS = {
    onnx.defs.OpSchema.FormalParameterOption.Single: "single",
    onnx.defs.OpSchema.FormalParameterOption.Optional: "optional",
    onnx.defs.OpSchema.FormalParameterOption.Variadic: "variadic",
}
_KINDS = {1: "float", 2: "int", 3: "string", 6: "floats", 7: "ints", 8: "strings"}
_NO_LIMIT = 2147483647
KNOWN = {
    # Printed as 0.0, for the documents keep a few digits only.
    ("ai.onnx.preview.training::Adagrad-1", "default of epsilon"),
    ("ai.onnx.preview.training::Adam-1", "default of epsilon"),
    # Stated in words, where the schema has none.
    ("ai.onnx::Concat-1", "default of axis"),
    ("ai.onnx.preview::FlexAttention-1", "default of scale"),
}


def _our_type(text: str) -> str:
    return text.removeprefix("tensor(").removesuffix(")") if text.startswith("tensor(") else text


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _same_default(spec: AttributeSpec, schema: Any) -> bool:
    if schema.default_value.type == 0:
        return not spec.has_default
    if not spec.has_default:
        return False
    value = _plain(onnx.helper.get_attribute_value(schema.default_value))
    if isinstance(value, float):
        return math.isclose(spec.default, value, rel_tol=1e-5)
    return bool(spec.default == value)


def _differences(spec: Spec, schema: Any) -> Iterator[str]:
    if set(spec.attributes) != set(schema.attributes):
        yield "attributes"
    for name, attribute in spec.attributes.items():
        theirs = schema.attributes.get(name)
        if theirs is None:
            continue
        if attribute.kind != _KINDS.get(theirs.type.value) or attribute.required != theirs.required:
            yield f"type of {name}"
        if not _same_default(attribute, theirs):
            yield f"default of {name}"
    for group, ours, parameters in (
        ("inputs", spec.inputs, schema.inputs),
        ("outputs", spec.outputs, schema.outputs),
    ):
        found = [(each.name, each.option, each.type, each.homogeneous) for each in ours]
        wanted = [
            (each.name, _OPTIONS[each.option], _our_type(each.type_str), each.is_homogeneous)
            for each in parameters
        ]
        if found != wanted:
            yield group
    bounds = [(schema.min_input, schema.max_input), (schema.min_output, schema.max_output)]
    for arity, (least, most) in zip((spec.input_arity, spec.output_arity), bounds, strict=True):
        assert arity is not None
        if (arity.least, arity.most) != (least, None if most == _NO_LIMIT else most):
            yield "arity"
    if {each.name: set(each.types) for each in spec.type_constraints.values()} != {
        each.type_param_str: {_our_type(text) for text in each.allowed_type_strs}
        for each in schema.type_constraints
    }:
        yield "type constraints"


@pytest.mark.parametrize(("file", "count"), [("Operators.md", 205), ("Changelog.md", 614)])
def test_structure_is_the_schema_s(shared: Path, file: str, count: int) -> None:
    text = read_document(shared / "documents" / "onnx" / file)
    started = time.monotonic()
    specs = import_text(text)
    assert time.monotonic() - started < 10
    checked = 0
    differences = set()
    for spec in specs:
        name = spec.operator
        domain = "" if name.domain == "ai.onnx" else name.domain
        try:
            schema = onnx.defs.get_schema(name.name, name.since_version, domain)
        except onnx.defs.SchemaError:
            continue
        if spec.deprecated or schema.since_version != name.since_version:
            continue
        checked += 1
        differences |= {(str(name), each) for each in _differences(spec, schema)}
    assert differences <= KNOWN
    assert checked >= count - 5


def test_contrib_operators(shared: Path) -> None:
    specs = import_text(read_document(shared / "documents" / "onnxruntime" / "ContribOperators.md"))
    assert len(specs) == 113
    pad = next(each for each in specs if each.operator == OperatorName("com.microsoft", "Pad", 1))
    assert pad.type_constraints["T"].types == ("float16", "float", "double")
    assert pad.attributes["mode"].kind == "string"
    assert [each.name for each in pad.inputs] == ["data", "pads", "value"]
    unversioned = [
        each.operator.name for each in specs for found in each.findings if found.code == "version-missing"
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
