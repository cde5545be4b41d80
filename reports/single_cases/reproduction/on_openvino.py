"""OpenVINO, on models of ONNX and by its own operator sets."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import numpy_helper

if TYPE_CHECKING or __package__:
    from reports.single_cases.reproduction import case_values
    from reports.single_cases.reproduction.case_values import Inputs
else:
    import case_values
    from case_values import Inputs

THREADS = 2
SETTINGS = {
    "INFERENCE_PRECISION_HINT": "f32",
    "EXECUTION_MODE_HINT": "ACCURACY",
    "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_NUM_THREADS": THREADS,
    "NUM_STREAMS": 1,
    "ENABLE_CPU_PINNING": False,
}
TYPES = {
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
    "float8_e8m0fnu": "f8e8m0",
    "float4_e2m1fn": "f4e2m1",
    "int4": "i4",
    "uint4": "u4",
}
"""Its names of types that numpy lacks."""


def run_openvino(case: dict[str, Any], model: bytes, calls: list[Inputs], threads: int) -> list[list[Any]]:
    import openvino

    inputs = calls[0]
    core = openvino.Core()
    if case["domain"] == "org.openvino":
        opset = import_module(f"openvino.opset{case['since_version']}")
        parameters = [opset.parameter(list(array.shape), array.dtype) for _, array in inputs]
        for node, (name, _) in zip(parameters, inputs, strict=True):
            node.output(0).get_tensor().set_names({name})
        node = getattr(opset, snake_case(case["name"]))(*parameters, **case["attributes"])
        read = openvino.Model([node], parameters, "case")
    else:
        read = core.read_model(model)
    offered = core.get_property("CPU", "SUPPORTED_PROPERTIES")
    known = {**SETTINGS, "INFERENCE_NUM_THREADS": threads}
    settings = {name: value for name, value in known.items() if name in offered}
    compiled = core.compile_model(read, "CPU", settings)
    used = {name for port in compiled.inputs for name in port.get_names()}  # others have no port
    request, found = compiled.create_infer_request(), []
    for each in calls:
        request.infer({name: to_openvino(openvino, array) for name, array in each if name in used})
        outputs = [request.get_output_tensor(place) for place in range(len(compiled.outputs))]
        found.append([np.array(from_openvino(output)) for output in outputs])
    return found


def to_openvino(openvino: Any, array: Any) -> Any:
    shape = list(array.shape)
    if array.dtype.kind == "O":
        made = openvino.Tensor(openvino.Type.string, shape)
        if array.size:
            texts = [each.encode("utf-8", "surrogateescape") for each in array.reshape(-1)]
            made.bytes_data = np.array(texts, np.bytes_).reshape(shape)
        return made
    if case_values.has_plain_type(array):
        made = openvino.Tensor(openvino.Type(array.dtype), shape)
        if array.size:
            made.data[...] = array
        return made
    made = openvino.Tensor(getattr(openvino.Type, TYPES[array.dtype.name]), shape)
    raw = np.frombuffer(numpy_helper.from_array(array).raw_data, np.uint8)
    made.data.reshape(-1).view(np.uint8)[:] = raw
    return made


def from_openvino(tensor: Any) -> Any:
    kind = tensor.element_type.get_type_name()
    if kind == "string":
        texts = [each.decode("utf-8", "surrogateescape") for each in tensor.bytes_data.reshape(-1).tolist()]
        return np.array(texts, object).reshape(tuple(tensor.shape))
    name = {there: here for here, there in TYPES.items()}.get(kind)
    if name is None:
        return np.array(tensor.data)
    dtype = getattr(import_module("ml_dtypes"), name)
    return case_values.of_bytes(dtype, tensor.shape, lambda _: tensor.data.tobytes())


def snake_case(name: str) -> str:
    return "".join("_" + each.lower() if each.isupper() else each for each in name).lstrip("_")


def lacks(array: Any) -> bool:
    return array.dtype.kind == "c" or not (case_values.has_plain_type(array) or array.dtype.name in TYPES)


RUNTIMES = {
    "openvino": case_values.BareRuntime(
        run_openvino, "openvino", "org.openvino", threads=THREADS, chooses_threads=True, lacks=lacks
    )
}
