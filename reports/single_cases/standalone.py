"""A script that makes one call and holds the answer against what it must be, without opcert: to copy.

The lines of a case stand between those of a runtime: what they need of each other are the names `inputs`,
`attributes` and, of an ONNX model, `model`; the runtime's lines leave its outputs in `got`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, ValueInfoProto

from conformance.models.case_models import build_model, has_onnx_form
from conformance.models.input_names import named_inputs
from conformance.suite.cases import Case
from opcert.vocabulary.attributes import PLAIN_KINDS
from opcert.vocabulary.harmless import for_python, for_python_comment
from opcert.vocabulary.tensors import Tensor
from reports.single_cases.case_folder import must_text

MOST_ELEMENTS = 256
"""A case with more elements in its inputs and expected outputs together has no script."""
PLAIN = frozenset(
    [
        *("float", "double", "float16", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "bool", "string"),
    ]
)
"""Element types that numpy itself has and prints exactly."""
Kind = Literal["onnx", "org.openvino", "org.tensorflow"]

_CHECK = """
def is_right(got, expected, allowed):
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return False
    if got.dtype.kind in "OSUb":
        return bool(np.all(got == expected))
    same = (got == expected) | ((got != got) & (expected != expected))
    if got.dtype.kind == "f":
        same &= (np.signbit(got) == np.signbit(expected)) | np.isnan(got)
    if allowed is not None:
        wide = object if got.dtype.kind in "iu" else np.float64
        with np.errstate(all="ignore"):
            same |= np.abs(got.astype(wide) - expected.astype(wide)) <= allowed
    return bool(np.all(same))

for array in got:
    print("got", array.dtype, list(array.shape), array.reshape(-1), sep="  ")
if not expectations:
    raise SystemExit("answered" + (", and must be refused" if must_be_refused else ""))
right = any(
    len(got) == len(wanted) and all(is_right(one, *other) for one, other in zip(got, wanted))
    for wanted in expectations
)
for wanted in expectations:
    for array, _ in wanted:
        print("expected", array.dtype, list(array.shape), array.reshape(-1), sep="  ")
print("as the documents say" if right else "NOT as the documents say")
""".strip()
_ONNXRUNTIME = """
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
got = session.run(None, inputs)
"""
_OPENVINO_SETTINGS = """
settings = {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"}
"""
_OPENVINO_MODEL = """
onnx.save(model, "case.onnx")
compiled = openvino.Core().compile_model("case.onnx", "CPU", settings)
used = {name for port in compiled.inputs for name in port.get_names()}  # one that is not used has no port
answer = compiled({name: array for name, array in inputs.items() if name in used})
got = [answer[place] for place in range(len(answer))]
"""
_OPENVINO_NODE = """
opset = importlib.import_module(f"openvino.opset{version}")
parameters = [opset.parameter(list(array.shape), array.dtype) for array in inputs.values()]
snake = "".join("_" + letter.lower() if letter.isupper() else letter for letter in operator).lstrip("_")
node = getattr(opset, snake)(*parameters, **attributes)
compiled = openvino.Core().compile_model(openvino.Model([node], parameters, "case"), "CPU", settings)
answer = compiled(list(inputs.values()))
got = [answer[place] for place in range(len(answer))]
"""
_TENSORFLOW = """
tensors = {name: tensorflow.constant(array) for name, array in inputs.items()}
answer = getattr(tensorflow.raw_ops, operator)(**tensors, **attributes)
got = [each.numpy() for each in (answer if isinstance(answer, (list, tuple)) else [answer])]
"""
_TRACT = """
constants = list(inputs)[1:]  # it takes no parameter but as a constant
model.graph.initializer.extend(onnx.numpy_helper.from_array(inputs[name], name) for name in constants)
del model.graph.input[1:]
onnx.save(model, "case.onnx")
runnable = tract.onnx().load("case.onnx").into_model().into_runnable()
got = [each.to_numpy() for each in runnable.run(list(inputs.values())[:1])]
"""
_OPENCV = """
onnx.save(model, "case.onnx")
network = cv2.dnn.readNetFromONNX("case.onnx")
for name, array in inputs.items():
    network.setInput(array, name)
got = network.forward([each.name for each in model.graph.output])
"""
_REFERENCE = "\ngot = onnx.reference.ReferenceEvaluator(model).run(None, inputs)\n"
CALLS: Mapping[tuple[str, Kind], tuple[tuple[str, ...], str]] = {
    ("onnxruntime", "onnx"): (("onnx", "onnxruntime"), _ONNXRUNTIME),
    ("onnx", "onnx"): (("onnx", "onnx.reference"), _REFERENCE),
    ("openvino", "onnx"): (("onnx", "openvino"), _OPENVINO_SETTINGS + _OPENVINO_MODEL.lstrip()),
    ("openvino", "org.openvino"): (("importlib", "openvino"), _OPENVINO_SETTINGS + _OPENVINO_NODE.lstrip()),
    ("tract", "onnx"): (("onnx", "onnx.numpy_helper", "tract"), _TRACT),
    ("opencv", "onnx"): (("cv2", "onnx"), _OPENCV),
    ("tensorflow", "org.tensorflow"): (("tensorflow",), _TENSORFLOW),
}


@dataclass(frozen=True)
class CaseLines:
    """The lines of a case, and for which kind of call they are."""

    kind: Kind
    lines: tuple[str, ...]


def surroundings(runtime: str) -> dict[Kind, tuple[list[str], list[str]]]:
    """The lines before and after those of a case, for each kind of call that is known of a runtime."""
    found: dict[Kind, tuple[list[str], list[str]]] = {}
    for (name, kind), (modules, call) in CALLS.items():
        if name == runtime:
            imports = [f"import {each}" for each in (*sorted(modules), "numpy as np")]
            if kind == "onnx":
                imports.append("from onnx import helper")
            found[kind] = ([*imports, "from numpy import inf, nan", ""], f"{call}\n{_CHECK}\n".splitlines())
    return found


def case_lines(case: Case, valid_case: Case | None = None) -> CaseLines | None:
    """The lines of a case.

    None where they would be too many, where a tensor has a type that numpy lacks, where the case brings a
    model of its own, and where it gives or demands more than tensors of values.
    """
    outputs = [each for expectation in case.expectations for each in expectation.outputs]
    tensors = [tensor for _, tensor in named_inputs(case.inputs)] + [each.expected for each in outputs]
    kind = kind_of(case)
    if (
        kind is None
        or case.model is not None
        or case.slots
        or case.output_types
        or case.properties
        or any(each.unordered for each in case.expectations)
        or any(each.kind not in PLAIN_KINDS for each in case.attributes.values())
        or sum(each.array.size for each in tensors) > MOST_ELEMENTS
        or any(each.element_type.name not in PLAIN for each in tensors)
        or any(each.alternatives for each in outputs)
        or any(value.value == () for value in case.attributes.values())
    ):
        return None
    attributes = {name: plain_attribute(each.value) for name, each in sorted(case.attributes.items())}
    said = [
        for_python_comment(f"{case.id}: {must_text(case)}"),
        f"operator, version = {for_python(case.operator.name)}, {case.operator.since_version}",
        f"attributes = {for_python(attributes)}",
        "inputs = {",
        *(f"    {for_python(name)}: {array_text(tensor)}," for name, tensor in named_inputs(case.inputs)),
        "}",
        *(_model(case, valid_case) if kind == "onnx" else ()),
        f"must_be_refused = {case.demand == 'refuse'}",
        "expectations = [",
    ]
    for expectation in case.expectations:
        pairs = [f"({array_text(each.expected)}, {_allowed(each.allowed)})" for each in expectation.outputs]
        said.append(f"    [{', '.join(pairs)}],")
    return CaseLines(kind, tuple("\n".join([*said, "]"]).splitlines()))


def whole_script(runtime: str, lines: CaseLines) -> str | None:
    """The script of a case for a runtime; None where it is not known how that runtime is called."""
    around = surroundings(runtime).get(lines.kind)
    return None if around is None else "\n".join([*around[0], *lines.lines, *around[1]]) + "\n"


def kind_of(case: Case) -> Kind | None:
    """For which kind of call a case is; None where nobody knows."""
    if has_onnx_form(case.operator):
        return "onnx"
    match case.operator.domain:
        case "org.openvino":
            return "org.openvino"
        case "org.tensorflow":
            return "org.tensorflow"
    return None


def plain_attribute(value: Any) -> Any:
    """An attribute as keyword arguments take it."""
    return list(value) if isinstance(value, tuple) else value


def array_text(tensor: Tensor) -> str:
    """A tensor of a type that numpy has, as numpy writes it."""
    array = tensor.array
    if tensor.element_type.kind == "string":
        texts = [each.decode("utf-8", "surrogateescape") for each in array.reshape(-1)]
        return f"np.array({for_python(texts)}, object).reshape({list(array.shape)})"
    return f"np.array({_numbers(array)}, {for_python(array.dtype.name)}).reshape({list(array.shape)})"


def element_texts(array: NDArray[Any], *, bare: bool = True) -> list[str]:
    """The elements in the fewest digits that, read into their type, are the same again.

    A `bare` whole number has no point behind it.
    """
    flat = array.reshape(-1)
    texts = [str(each) for each in flat.tolist()]
    if array.dtype.kind != "f":
        return texts
    short = [str(each).removesuffix(".0") if bare and each else str(each) for each in flat]
    again = np.array([float(each) for each in short]).astype(array.dtype)
    return short if np.array_equal(again, flat, equal_nan=True) else texts


def _numbers(array: NDArray[Any]) -> str:
    text = f"[{', '.join(element_texts(array, bare=False))}]"
    return "\n".join(textwrap.wrap(text, 100, subsequent_indent="        ")) if len(text) > 60 else text


def _allowed(allowed: NDArray[np.float64] | None) -> str:
    if allowed is None:
        return "None"
    if allowed.size and allowed.min() == allowed.max():
        return repr(float(allowed.flat[0]))
    return f"np.array({_numbers(allowed)}).reshape({list(allowed.shape)})"


def _model(case: Case, valid_case: Case | None) -> list[str]:
    model = ModelProto.FromString(build_model(case, "inputs", valid_case))
    graph, node = model.graph, model.graph.node[0]
    opsets = ", ".join(
        f"helper.make_opsetid({for_python(each.domain)}, {each.version})" for each in model.opset_import
    )
    return [
        f"node = helper.make_node(operator, {for_python(list(node.input))}, {for_python(list(node.output))}, "
        f"domain={for_python(node.domain)}, **attributes)",
        "graph = helper.make_graph([node], 'case', [",
        *(f"    {declared_text(each)}," for each in graph.input),
        "], [",
        *(f"    {declared_text(each)}," for each in graph.output),
        "])",
        f"model = helper.make_model(graph, opset_imports=[{opsets}], ir_version={model.ir_version})",
    ]


def declared_text(value: ValueInfoProto, function: str = "helper.make_tensor_value_info") -> str:
    """The declaration of an input or output of a model, by the function of ONNX as a script calls it."""
    found = value.type.tensor_type
    extents = [each.dim_value if each.HasField("dim_value") else None for each in found.shape.dim]
    name = TensorProto.DataType.Name(found.elem_type)
    return f"{function}({for_python(value.name)}, onnx.TensorProto.{name}, {extents})"
