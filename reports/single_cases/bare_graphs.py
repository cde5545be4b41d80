"""Short scripts that show one failing case on runtimes for which opcert writes graphs: TensorFlow.js, jaxlib.

A graph of TensorFlow's is written as `conformance/workers/tfjs_graphs.mjs` makes it, a module of StableHLO as
`conformance.workers.stablehlo_operators` does.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from conformance.models.case_models import Form
from conformance.models.input_names import named_inputs
from conformance.models.node_descriptions import describe_node
from conformance.suite.cases import Case
from conformance.workers import worker_protocol
from conformance.workers.stablehlo_modules import WrittenCall
from conformance.workers.stablehlo_operators import OPERATORS
from opcert.vocabulary.harmless import for_python
from opcert.vocabulary.tensors import Tensor
from reports.single_cases.standalone import element_texts, inputs_code, kind_of

TYPES: Mapping[str, tuple[str, str]] = {
    "float": ("float32", "DT_FLOAT"),
    "int32": ("int32", "DT_INT32"),
    "bool": ("bool", "DT_BOOL"),
    "string": ("string", "DT_STRING"),
}
"""Element types as TensorFlow.js calls them, and as TensorFlow does."""
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "Conv2D": {"dilations": {"kind": "ints", "value": [1, 1, 1, 1]}},
    "Conv3D": {"dilations": {"kind": "ints", "value": [1, 1, 1, 1, 1]}},
    "CropAndResize": {"method": {"kind": "string", "value": "bilinear"}},
    "DepthToSpace": {"data_format": {"kind": "string", "value": "NHWC"}},
    "DepthwiseConv2dNative": {"dilations": {"kind": "ints", "value": [1, 1, 1, 1]}},
    "LeakyRelu": {"alpha": {"kind": "float", "value": 0.20000000298023224}},
    "TopKV2": {"sorted": {"kind": "int", "value": 1}},
}
_TYPED = {"Fill": ("T", 1), "OneHot": ("T", 2), "Range": ("Tidx", 0), "ZerosLike": ("T", 0)}
_JAXLIB = """
device = jax.local_devices()[0]
devices, options = xla_client.DeviceList((device,)), xla_client.CompileOptions()
compiled = device.client.compile_and_load(module, devices, options)
got = [np.asarray(each) for each in compiled.execute([jax.device_put(each, device) for each in given])]
"""


def jaxlib_lines(case: Case, form: Form) -> tuple[str, list[str], str] | str:
    """Imports, the lines of a case, and those of the call; or in words why there are none."""
    if kind_of(case) != "onnx":
        return "jaxlib's modules are made of ONNX's operators alone"
    described, blobs = describe_node(case, form)
    request = worker_protocol.LoadRequest({**described, "form": form}, blobs)
    if request.name not in OPERATORS:
        return f"StableHLO has no operation that is {request.name}"
    try:
        call = WrittenCall(request)
        module = call.module.text(OPERATORS[request.name](call))
        call.done()
    except worker_protocol.Unsupported as error:
        return str(error)
    tensors = dict(named_inputs(case.inputs))
    lines = list(inputs_code("inputs", {name: tensors[name] for name in call.names}))
    further = [f"np.array({each.tolist()}, {for_python(each.dtype.name)})" for each in call.module.further]
    lines += [
        f"given = [{', '.join(['*inputs.values()', *further])}]",
        'module = """',
        *module.splitlines(),
        '"""',
    ]
    imports = "import jax\nfrom jaxlib import xla_client\n\njax.config.update('jax_enable_x64', True)"
    return imports, lines, _JAXLIB


def tfjs_lines(case: Case, form: Form, about: str, said: Iterable[str]) -> tuple[list[str], int] | str:
    """The lines of a script, and in how many of them the answer is in `got`; or why there is none."""
    described, _ = describe_node(case, form)
    try:
        graph, placed = graph_of(described)
    except worker_protocol.Unsupported as error:
        return str(error)
    tensors = dict(named_inputs(case.inputs))
    wanted = [f"operator:{place}" if place else "operator" for place in range(len(described["outputs"]))]
    lines = [
        "const tf = require('@tensorflow/tfjs');",
        f"// {about}",
        "const modelTopology = {versions: {producer: 1, minConsumer: 0}, node: [",
        *(f"  {json.dumps(node)}," for node in graph),
        "]};",
        "(async () => {",
        *said,
        "  await tf.setBackend('cpu');",
        "  const artifacts = { modelTopology, weightSpecs: [], weightData: new ArrayBuffer(0) };",
        "  const model = await tf.loadGraphModel(tf.io.fromMemory(artifacts));",
        "  const inputs = {",
        *(f"    {name}: {_tensor(tensors[given])}," for given, name in placed.items()),
        "  };",
        f"  const got = {{}}, wanted = {json.dumps(wanted)};",
        "  let answer;",
        "  try { answer = model.execute(inputs, wanted); }",
        "  catch { answer = await model.executeAsync(inputs, wanted); }  // of outputs of any shape",
        "  for (const [place, each] of [answer].flat().entries())",
        "    got[place] = { type: each.dtype, dims: each.shape, data: await each.data() };",
        "  for (const [name, each] of Object.entries(got))",
        "    console.log('got', name, each.type, each.dims, each.data);",
    ]
    return [*lines, "})();"], len(lines)


def graph_of(described: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The nodes of a graph of one operator, and by the name of each input that of its placeholder.

    Raises protocol.Unsupported where TensorFlow.js has no such type or attribute.
    """
    name = described["operator"]["name"]
    inputs = [each for each in described["inputs"] if each is not None]
    placed: dict[str, str] = {}
    nodes = []
    for each in inputs:
        if each["name"] not in placed:
            placed[each["name"]] = f"x{len(placed)}"
            sizes = [{"size": str(-1 if extent is None else extent)} for extent in each["shape"]]
            told = {"dtype": {"type": _type(each["element_type"])}, "shape": {"shape": {"dim": sizes}}}
            nodes.append({"name": placed[each["name"]], "op": "Placeholder", "attr": told})
    typed: dict[str, Any] = {}
    if name in _TYPED and described["inputs"][_TYPED[name][1]] is not None:
        which, place = _TYPED[name]
        typed[which] = {"kind": "type", "value": described["inputs"][place]["element_type"]}
    full = {**_DEFAULTS.get(name, {}), **typed, **described["attributes"]}
    attr = {key: _attribute(each["kind"], each["value"]) for key, each in full.items()}
    given = [placed[each["name"]] for each in inputs]
    return [*nodes, {"name": "operator", "op": name, "input": given, "attr": attr}], placed


def _attribute(kind: str, value: Any) -> dict[str, Any]:
    """As GraphDef has it in JSON: an integer stands in the field of booleans, too, which come as integers."""
    several = kind.endswith("s") and isinstance(value, list)
    values = value if several else [value]
    match kind.removesuffix("s") if several else kind:
        case "int":
            fields: dict[str, list[Any]] = {"i": values, "b": [each != 0 for each in values]}
        case "float":
            fields = {"f": [float(each) for each in values]}
        case "string":
            fields = {"s": [base64.b64encode(each.encode()).decode() for each in values]}
        case "type":
            fields = {"type": [_type(each.removeprefix("tensor(").removesuffix(")")) for each in values]}
        case other:
            raise worker_protocol.Unsupported(f"no attribute of TensorFlow.js is a {other}")
    return {"list": fields} if several else {name: found[0] for name, found in fields.items()}


def _type(name: str) -> str:
    if name not in TYPES:
        raise worker_protocol.Unsupported(f"TensorFlow.js has no {name}")
    return TYPES[name][1]


def _tensor(tensor: Tensor) -> str:
    theirs = TYPES[tensor.element_type.name][0]
    return f"tf.tensor([{', '.join(javascript_elements(tensor))}], {list(tensor.shape)}, '{theirs}')"


def javascript_elements(tensor: Tensor) -> list[str]:
    """The elements of a tensor as JavaScript has them, those of booleans and of half floats as integers."""
    kind, flat = tensor.element_type, tensor.array.reshape(-1)
    if kind.kind == "string":
        return [json.dumps(each.decode("utf-8", "surrogateescape")) for each in flat]
    flat = flat.view(np.uint16) if kind.name == "float16" else flat
    texts = element_texts(flat.astype(np.uint8) if kind.name == "bool" else flat)
    if kind.name in ("int64", "uint64"):
        return [f"{each}n" for each in texts]
    return [{"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(each, each) for each in texts]
