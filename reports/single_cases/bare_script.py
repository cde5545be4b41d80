"""A short script that shows one failing case on a bare runtime, for people to read: of an issue.

It makes the call and prints what was expected and what comes. It judges nothing: whoever writes it has run
it.
"""

from __future__ import annotations

import base64
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto

from conformance.models.case_models import Form, build_model
from conformance.models.input_names import named_inputs
from conformance.models.node_descriptions import describe_node
from conformance.suite.cases import Case
from conformance.workers import wire_arrays, worker_protocol
from conformance.workers.tflite_flatbuffers import type_name
from conformance.workers.tflite_models import Model, Operand, plan
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.harmless import for_python, one_line
from opcert.vocabulary.tensors import Tensor
from reports.single_cases.bare_calls import BareCall, call_of
from reports.single_cases.standalone import (
    call_lines,
    element_texts,
    inputs_code,
    kind_of,
    why_none,
)
from reports.text.rule_words import absent_inputs, broken_rule
from reports.text.value_text import attribute_text


@dataclass(frozen=True)
class BareScript:
    """A script in lines, and where in them its answer is there, in `got`; `language` names its files."""

    lines: tuple[str, ...]
    answered: int
    language: str

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def with_epilogue(self, lines: str) -> str:
        """The script with further lines where its answer is there."""
        first, rest = self.lines[: self.answered], self.lines[self.answered :]
        return "\n".join([*first, *lines.splitlines(), *rest]) + "\n"


def bare_script(
    case: Case,
    runtime: str,
    form: Form,
    valid_case: Case | None = None,
    options: Mapping[str, str] | None = None,
) -> BareScript | str:
    """The script of a case in a form on a runtime with options, or why there is none, in words."""
    found = why_none(case, runtime, form)
    kind = kind_of(case)
    if not found and kind == "org.tensorflow" and runtime in _TFLITE_IMPORTS:
        return _of_tflite(case, runtime, options or {})
    made = None if kind is None else call_of(runtime, kind, options, form)
    if found or kind is None or made is None:
        return found or f"nothing is known of how {runtime} is called by itself"
    return _in_python(case, runtime, made, form, valid_case)


def _in_python(case: Case, runtime: str, made: BareCall, form: Form, valid_case: Case | None) -> BareScript:
    kind, modules, call = kind_of(case), made.modules, made.lines
    assert kind is not None
    body = call_lines(case, kind, "inputs" if runtime == "tract" else form, valid_case)
    said = [*_expected(case), *call.strip().splitlines()]
    printed = ["for each in got:", '    print("got", each.dtype, each.shape, each.ravel())']
    whole = "\n".join([*body, *said])
    named = [module for module in sorted(modules) if module != "onnx" or not _has_parts(modules)]
    imports = [f"import {each}" for each in (*named, "numpy as np")]
    numbers = [each for each in ("inf", "nan") if re.search(rf"\b{each}\b", whole)]
    imports += [f"from numpy import {', '.join(numbers)}"] if numbers else []
    imports += ["from onnx import helper"] if kind == "onnx" else []
    lines = [*imports, "", 'np.set_printoptions(floatmode="unique", threshold=999)', *body, *said]
    return BareScript((*lines, *printed), len(lines), "python")


def _of_tflite(case: Case, runtime: str, options: Mapping[str, str]) -> BareScript | str:
    made = _tflite_lines(case, runtime, options)
    if isinstance(made, str):
        return made
    imports, body, call = made
    said = [*body, *_expected(case), *call.strip().splitlines()]
    numbers = [each for each in ("inf", "nan") if re.search(rf"\b{each}\b", "\n".join(said))]
    lines = ["import numpy as np", *imports.splitlines()]
    lines += [f"from numpy import {', '.join(numbers)}"] if numbers else []
    lines += ["", 'np.set_printoptions(floatmode="unique", threshold=999)', *said]
    printed = ["for each in got:", '    print("got", each.dtype, each.shape, each.ravel())']
    return BareScript((*lines, *printed), len(lines), "python")


def _has_parts(modules: Sequence[str]) -> bool:
    """Whether a part of onnx is imported, which brings onnx itself."""
    return any(module.startswith("onnx.") for module in modules)


def expected_error(case: Case) -> str:
    """What must happen where nothing is to come; empty where something is."""
    if case.demand == "refuse":
        return f"expected an error: it is {broken_rule(case.constraint or 'rule', absent_inputs(case))}"
    return "expected an answer or an error" if case.demand == "survive" else ""


def _expected(case: Case) -> Iterator[str]:
    """Lines that print what must come, before the call: it may end the process."""
    error = expected_error(case)
    if error:
        yield f"print({for_python(error)}, flush=True)"
        return
    yield from inputs_code(
        "expected", {output.name: output.expected for output in case.expectations[0].outputs}
    )
    yield "for name, each in expected.items():"
    yield '    print("expected", name, each.dtype, each.shape, each.ravel(), flush=True)'


def outputs_from(dumped: list[dict[str, Any]]) -> tuple[Tensor, ...]:
    """The tensors that a script's epilogue wrote; raises ValueError where one is of no type of ours."""
    found = []
    for each in dumped:
        kind = next((kind for kind in ELEMENT_TYPES.values() if _numpy_name(kind.name) == each["type"]), None)
        if kind is None:
            raise ValueError(f"an output of {each['type']}")
        if kind.kind == "string":
            array = np.empty(len(each["texts"]), object)
            array[:] = [text.encode("utf-8", "surrogateescape") for text in each["texts"]]
        else:
            raw = base64.b64decode(each["bytes"])
            array = np.frombuffer(raw, kind.storage).copy()
        found.append(Tensor(kind, array.reshape(tuple(each["shape"]))))
    return tuple(found)


def _numpy_name(name: str) -> str:
    return {"float": "float32", "double": "float64", "string": "object"}.get(name, name)


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
    outputs = [output.expected for expectation in case.expectations for output in expectation.outputs]
    tensors = [*(tensor for _, tensor in named_inputs(case.inputs)), *outputs]
    if found or kind_of(case) != "onnx":
        return found or f"{runtime} takes ONNX models alone"
    if any(tensor.element_type.name not in _ARRAYS for tensor in tensors):
        return "JavaScript has no arrays of a type of its tensors"
    return _script(case, runtime, form, valid_case)


def _script(case: Case, runtime: str, form: Form, valid_case: Case | None) -> BareScript:
    model = ModelProto.FromString(build_model(case, form, valid_case))
    taken = {value_info.name for value_info in model.graph.input}
    given = {name: named_input for name, named_input in named_inputs(case.inputs) if name in taken}
    attributes = "".join(
        f", {name}={attribute_text(attribute.value)}" for name, attribute in sorted(case.attributes.items())
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
        *(f"    {_text(name)}: {_tensor_code(tensor)}," for name, tensor in given.items()),
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
        f"expected {output.name} {output.expected.array.dtype} {list(output.expected.shape)} "
        f"[{' '.join(element_texts(output.expected.array))}]"
        for output in outputs
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


_TFLITE_IMPORTS: Mapping[str, str] = {
    "ai-edge-litert": "from ai_edge_litert import interpreter, schema_py_generated as schema",
    "tflite-micro": "from tflite_micro import runtime\n"
    "from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema",
}
_WIDEST = {"ai-edge-litert": "int64", "tflite-micro": "int32"}
"""How wide axes and lengths are."""
_TENSOR = """
buffers = [schema.BufferT()]

def tensor(name, kind, shape, array=None):
    made = schema.TensorT()
    made.name, made.type, made.shape = name, getattr(schema.TensorType, kind), shape
    if array is not None and array.size:
        made.buffer = len(buffers)
        buffers.append(schema.BufferT())
        buffers[-1].data = np.frombuffer(array.tobytes(), np.uint8)
    return made
"""
_WHOLE = """
whole = schema.ModelT()
whole.version, whole.operatorCodes, whole.subgraphs, whole.buffers = 3, [code], [graph], buffers
builder = flatbuffers.Builder(1024)
builder.Finish(whole.Pack(builder), b"TFL3")
content = bytes(builder.Output())
"""
_LITERT = """
running = interpreter.Interpreter(model_content=content{further})
running.allocate_tensors()
for each, array in zip(running.get_input_details(), inputs.values()):
    running.set_tensor(each["index"], array)
running.invoke()
got = [running.get_tensor(each["index"]) for each in running.get_output_details()]
"""
_PLAIN = "experimental_op_resolver_type=interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES"
_MICRO = """
running = runtime.Interpreter.from_bytes(content, arena_size=1 << 24)
for place, array in enumerate(inputs.values()):
    running.set_input(array, place)
running.invoke()
got = [np.array(running.get_output(0))]
"""


def _tflite_lines(case: Case, runtime: str, options: Mapping[str, str]) -> tuple[str, list[str], str] | str:
    """Imports, the lines of a case, and those of the call; or in words why there are none.

    They write the model of one builtin with the classes that the runtime's own package has of the schema, as
    `conformance.workers.tflite_models` plans it.
    """
    described, blobs = describe_node(case, "initializers")
    shapes = [each.expected.shape for told in case.expectations[:1] for each in told.outputs[:1]]
    request = worker_protocol.LoadRequest({**described, "form": "initializers"}, blobs)
    try:
        model = plan(request, _WIDEST[runtime])
    except worker_protocol.Unsupported as error:
        return str(error)
    if not shapes:
        return "of a call that has no result nobody knows its shape"
    given = dict(case.inputs)
    inputs = {each.name: given[each.name] for each in model.operands if each.data is None}
    constants = {each.name: _constant(each) for each in model.operands if each.data is not None}
    lines = [*inputs_code("inputs", {name: each for name, each in inputs.items() if each is not None})]
    lines += [*inputs_code("constants", constants), *_model(model, shapes[0])]
    call = _MICRO
    if runtime == "ai-edge-litert":
        call = _LITERT.format(further=f", {_PLAIN}" if options.get("delegate") == "none" else "")
    return f"import flatbuffers\n{_TFLITE_IMPORTS[runtime]}", lines, call


def _constant(operand: Operand) -> Tensor:
    shape = tuple(extent or 0 for extent in operand.shape)
    array = wire_arrays.to_numpy(worker_protocol.WireTensor(operand.element_type, shape, operand.data or b""))
    return Tensor(ELEMENT_TYPES[operand.element_type], array)


def _model(model: Model, shape: tuple[int, ...]) -> Iterator[str]:
    builtin, last = model.builtin, len(model.operands)
    yield from _TENSOR.strip().splitlines()
    yield ""
    yield "graph = schema.SubGraphT()"
    yield "graph.tensors = ["
    for each in model.operands:
        name, kind = for_python(each.name), for_python(type_name(each.element_type))
        held = "" if each.data is None else f", constants[{name}]"
        yield f"    tensor({name}, {kind}, {[extent or 0 for extent in each.shape]}{held}),"
    yield f"    tensor('output', {for_python(type_name(model.output_type))}, {list(shape)}),"
    yield "]"
    yield "operator = schema.OperatorT()"
    yield f"operator.inputs, operator.outputs = {list(model.order)}, [{last}]"
    if builtin.options:
        yield f"operator.builtinOptionsType = schema.BuiltinOptions.{builtin.options}"
        yield f"operator.builtinOptions = schema.{builtin.options}T()"
        for field, value in model.options.items():
            yield f"operator.builtinOptions.{field} = {for_python(value)}"
    yield f"graph.operators, graph.inputs, graph.outputs = [operator], {list(model.given)}, [{last}]"
    yield "code = schema.OperatorCodeT()"
    yield f"code.builtinCode, code.version = schema.BuiltinOperator.{builtin.name}, {model.version}"
    yield "code.deprecatedBuiltinCode = min(code.builtinCode, 127)"
    yield from _WHOLE.strip().splitlines()
