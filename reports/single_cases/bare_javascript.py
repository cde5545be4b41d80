"""A short script that shows one failing case on a bare runtime of JavaScript."""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Mapping

import numpy as np
from onnx import ModelProto

from conformance.models.case_models import Form, build_model
from conformance.models.input_names import named_inputs
from conformance.suite.cases import Case
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.tensors import Tensor
from reports.single_cases.bare_script import BareScript, element_texts, expected_error, why_none
from reports.single_cases.standalone import kind_of
from reports.text.value_text import attribute_text

PACKAGES = ("onnxruntime-node", "onnxruntime-web")
"""Runtimes whose packages have one interface."""
_ARRAYS: Mapping[str, tuple[str, str]] = {
    "float": ("float32", "Float32Array"),
    "double": ("float64", "Float64Array"),
    "int8": ("int8", "Int8Array"),
    "uint8": ("uint8", "Uint8Array"),
    "int16": ("int16", "Int16Array"),
    "uint16": ("uint16", "Uint16Array"),
    "int32": ("int32", "Int32Array"),
    "uint32": ("uint32", "Uint32Array"),
    "int64": ("int64", "BigInt64Array"),
    "uint64": ("uint64", "BigUint64Array"),
    "bool": ("bool", "Uint8Array"),
    "float16": ("float16", "Uint16Array"),
}


def javascript_of(case: Case, runtime: str, form: Form, valid_case: Case | None = None) -> BareScript | str:
    """The script of a case in a form, with its model as text; or why there is none, in words."""
    found = why_none(case, runtime, form)
    outputs = [each.expected for expectation in case.expectations for each in expectation.outputs]
    tensors = [*(tensor for _, tensor in named_inputs(case.inputs)), *outputs]
    if found or kind_of(case) != "onnx":
        return found or f"{runtime} takes ONNX models alone"
    if any(each.element_type.name not in _ARRAYS for each in tensors):
        return "JavaScript has no arrays of a type of its tensors"
    return _script(case, runtime, form, valid_case)


def _script(case: Case, runtime: str, form: Form, valid_case: Case | None) -> BareScript:
    model = ModelProto.FromString(build_model(case, form, valid_case))
    taken = {each.name for each in model.graph.input}
    given = {name: each for name, each in named_inputs(case.inputs) if name in taken}
    attributes = "".join(
        f", {name}={attribute_text(each.value)}" for name, each in sorted(case.attributes.items())
    )
    about = f"{case.operator.short}({', '.join(model.graph.node[0].input)}){attributes}"
    encoded = base64.b64encode(model.SerializeToString(deterministic=True)).decode()
    said = [f"  console.log({_text(line)});" for line in _expected_lines(case)]
    lines = [
        f"const ort = require('{runtime}');",
        f"// {one_line(about, 400)}",
        "const model = Buffer.from(",
        *(f"  '{part}'{' +' if more else ','}" for part, more in _parts(encoded)),
        "  'base64');",
        "(async () => {",
        *said,
        "  const session = await ort.InferenceSession.create(model);",
        "  const got = await session.run({",
        *(f"    {_text(name)}: {_tensor_code(each)}," for name, each in given.items()),
        "  });",
        "  for (const [name, each] of Object.entries(got))",
        "    console.log('got', name, each.type, each.dims, each.data);",
    ]
    return BareScript((*lines, "})();"), len(lines), "javascript")


def _expected_lines(case: Case) -> list[str]:
    """What must come: one line for each output."""
    error = expected_error(case)
    outputs = case.expectations[0].outputs if not error else ()
    told = [
        f"expected {each.name} {each.expected.array.dtype} {list(each.expected.shape)} "
        f"[{' '.join(element_texts(each.expected.array))}]"
        for each in outputs
    ]
    return [error, *told] if error else told


def _parts(text: str) -> list[tuple[str, bool]]:
    parts = textwrap.wrap(text, 100)
    return [(part, place < len(parts) - 1) for place, part in enumerate(parts)]


def _text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def _tensor_code(tensor: Tensor) -> str:
    kind, array = _ARRAYS[tensor.element_type.name]
    flat = tensor.array.reshape(-1)
    if tensor.element_type.name == "float16":
        flat = flat.view(np.uint16)
    texts = element_texts(flat.astype(np.uint8) if kind == "bool" else flat)
    if array.startswith("Big"):
        texts = [f"{each}n" for each in texts]
    texts = [{"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(each, each) for each in texts]
    return f"new ort.Tensor('{kind}', {array}.from([{', '.join(texts)}]), {list(tensor.shape)})"
