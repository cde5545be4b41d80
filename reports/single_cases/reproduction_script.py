#!/usr/bin/env python3
"""Run the case in this folder on a runtime and say whether its answer is what the documents say.

Usage: python reproduce.py [--runtime onnxruntime|onnx|openvino|tensorflow|tract|opencv]
                           [--runtime ai-edge-litert|tflite-micro|tfjs]
                           [--runtime onnxoptimizer|onnxsim|onnxslim|onnxscript]
                           [--provider OpenVINO|PACKAGE|/PATH/OF/LIBRARY] [--provider-options KEY=VALUE;...]
                           [--form inputs|initializers|dynamic|strided|again|untouched|threads]

Needs numpy, onnx and that runtime, nothing else; an optimiser of models needs onnxruntime, too, which runs
the model before and after. LiteRT and TensorFlow Lite Micro get a model of one builtin, made by their own
schema (with flatbuffers), TensorFlow.js a graph of one operator (by node; `npm install @tensorflow/tfjs`
where this is started). A provider is one of onnxruntime's: its name, or the package or library of a plug-in;
`--provider-options delegate=none` is LiteRT without XNNPACK.
Exit code: 1 if the failure reproduces, 0 if the runtime does what must happen, 2 if it cannot be
tried here, or the runtime says that it does not offer it. The call runs in a process of its own, so that a
crash or a hang is told from an answer. Of an ONNX model there are these forms: all inputs given, all but the
first part of the model (for an optimiser all), dimensions left open, and the first input turned by a
Transpose before the node. In three more it runs several times: behind a call of other dimensions, with an eye
on the memory of inputs and outputs, and with each number of threads.
"""

from __future__ import annotations

import argparse
import base64
import copy
import ctypes
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

HERE = Path(__file__).resolve().parent
TIME_LIMIT = 60.0
Inputs = list[tuple[str, Any]]
FORMS = ("inputs", "initializers", "dynamic", "strided", "again", "untouched", "threads")
THREADS = (1, 2, 4)
CHOOSING = ("onnxruntime", "openvino", "opencv")  # runtimes that can be told how many threads
OPTIMIZERS: dict[str, Callable[[Any, Any], Any]] = {
    "onnxoptimizer": lambda module, model: module.optimize(model),
    "onnxsim": lambda module, model: module.simplify(model)[0],
    "onnxslim": lambda module, model: module.slim(model),
    "onnxscript": lambda module, model: module.optimizer.optimize(model),
}
AT_ENDS = (
    "onnxruntime",
    "onnx",
    *OPTIMIZERS,
)  # those that take sequences, optionals and maps at the ends of a graph
FIRST_FORMS = {"tract": "initializers"} | dict.fromkeys(OPTIMIZERS, "initializers")  # there is more to fold
TURNED = "_turned"
SMALL_INTEGERS = ("int4", "uint4", "int2", "uint2")
LACKING = (
    "bfloat16",
    "float8",
    "float6",
    "float4",
    "int4",
    "int2",
)  # parts of names of types that numpy lacks
OPENVINO_THREADS = 2
OPENVINO_SETTINGS = {
    "INFERENCE_PRECISION_HINT": "f32",
    "EXECUTION_MODE_HINT": "ACCURACY",
    "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_NUM_THREADS": OPENVINO_THREADS,
    "NUM_STREAMS": 1,
    "ENABLE_CPU_PINNING": False,
}
OPENVINO_TYPES = {
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
    "float8_e8m0fnu": "f8e8m0",
    "float4_e2m1fn": "f4e2m1",
    "int4": "i4",
    "uint4": "u4",
}  # of types that numpy lacks


def say(text: str) -> None:
    """Print a text; what would be an order to a terminal or to continuous integration is written out."""
    visible = "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in text)
    print(
        re.sub(r"(?m)^(\s*:):|(##\w*)\[", lambda at: f"{at[1]}\\x3a" if at[1] else f"{at[2]}\\x5b", visible)
    )


def read_tensor(name: str) -> Any:
    """The array of a serialized TensorProto beside this script; strings become an object array."""
    return array_of(onnx.TensorProto.FromString((HERE / name).read_bytes()))


def array_of(message: Any) -> Any:
    if message.data_type == onnx.TensorProto.STRING:
        found = np.empty(len(message.string_data), dtype=object)
        found[:] = [each.decode("utf-8", "surrogateescape") for each in message.string_data]
        return found.reshape(tuple(message.dims))
    return numpy_helper.to_array(message).copy()  # some runtimes want to write where they read


def read_value(entry: dict[str, Any]) -> Any:
    """An input as runtimes of Python take it: an array, a list of what it holds, a dictionary, or None."""
    kind = entry.get("type")
    if kind is None:
        return read_tensor(entry["file"])
    messages: dict[str, Any] = {
        "seq": onnx.SequenceProto,
        "map": onnx.MapProto,
        "optional": onnx.OptionalProto,
    }
    raw = (HERE / entry["file"]).read_bytes()
    return value_of(messages[kind.partition("(")[0]].FromString(raw))


def value_of(message: Any) -> Any:
    if isinstance(message, onnx.TensorProto):
        return array_of(message)
    if isinstance(message, onnx.SequenceProto):
        return [value_of(each) for each in (*message.tensor_values, *message.map_values)]
    if isinstance(message, onnx.MapProto):
        keys = [*message.keys, *(each.decode("utf-8", "surrogateescape") for each in message.string_keys)]
        values = [array_of(each).item() for each in message.values.tensor_values]
        return dict(zip(keys, values, strict=True))
    held = [field for field in ("tensor_value", "sequence_value", "map_value") if message.HasField(field)]
    return value_of(getattr(message, held[0])) if held else None


class OtherKind(Exception):
    """What came is not the kind of value that was to come."""


def parts_of(value: Any, kind: str | None) -> list[Any]:
    """The arrays of an output: of a sequence its length and elements, of an optional whether it holds
    something and what, of a map its keys in order and its values."""
    word, _, inner = (kind or "tensor").partition("(")
    inner = inner[:-1]
    if word == "optional":
        return [np.array(value is not None), *([] if value is None else parts_of(value, inner))]
    if word == "seq" and isinstance(value, list):
        return [np.array(len(value), np.int64), *(part for each in value for part in parts_of(each, inner))]
    if word == "map" and isinstance(value, dict):
        key, _, of = inner.partition(",")
        keys = sorted(value)
        return [
            np.array(keys, plain_type(key)),
            np.array([value[each] for each in keys], plain_type(of[7:-1])),
        ]
    if word == "tensor" and isinstance(value, np.ndarray | np.generic):
        return [np.asarray(value)]
    raise OtherKind(f"no {word} but a {type(value).__name__}")


def plain_type(name: str) -> Any:
    return {"string": object, "float": np.float32, "double": np.float64}.get(name) or np.dtype(name)


def read_model(form: str, folder: str) -> bytes:
    """The model in a form, which of many cases is the same as another; nothing where the case has none."""
    paths = (HERE / folder / "forms" / f"{form}.onnx", HERE / folder / "model.onnx")
    return next((path.read_bytes() for path in paths if path.exists()), b"")


def fitting(model: bytes, inputs: Inputs) -> Inputs:
    """What a model takes of the inputs: one that it turns itself is given turned."""
    known, found = dict(inputs), []
    for value_info in onnx.load_from_string(model).graph.input:
        if value_info.name in known:
            found.append((value_info.name, known[value_info.name]))
        else:
            array = known[value_info.name[: -len(TURNED)]]
            found.append((value_info.name, np.ascontiguousarray(array.transpose())))
    return found


def has_plain_type(array: Any) -> bool:
    """Whether numpy itself has the type; bfloat16, float8, 4 and 2 bits come from ml_dtypes."""
    return bool(array.dtype.isbuiltin == 1)


def lacking_type(runtime: str, array: Any) -> bool:
    """Whether a runtime, or its Python interface, has no tensors of an array's type."""
    kind, plain = array.dtype.kind, has_plain_type(array)
    if runtime == "openvino":
        return kind == "c" or not (plain or array.dtype.name in OPENVINO_TYPES)
    return runtime in ("tract", "opencv") and (kind in "cO" or not plain)


def of_bytes(dtype: Any, shape: Any, read: Callable[[int], bytes]) -> Any:
    """An array of a type that numpy lacks; `read` gets how many bytes it has, several elements in one."""
    message = numpy_helper.from_array(np.zeros(tuple(shape), dtype))
    message.raw_data = read(len(message.raw_data))
    return numpy_helper.to_array(message)


def run_onnxruntime(case: dict[str, Any], model: bytes, calls: list[Inputs], threads: int) -> list[list[Any]]:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    if case["now"]["provider"]:
        session = on_provider(onnxruntime, model, settings, case["now"])
    else:
        session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    return [call_onnxruntime(onnxruntime, session, each) for each in calls]


class NotThere(Exception):
    """What is to be tried is not here, or there is nothing to compare with: that says nothing of the case."""


def on_provider(onnxruntime: Any, model: bytes, settings: Any, now: dict[str, Any]) -> Any:
    """A session on another provider than the CPU, which does not step in: by name, package or library."""
    provider, pairs = now["provider"], [each.partition("=") for each in now["options"].split(";") if each]
    options = {name: value for name, _, value in pairs}
    settings.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    settings.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    named = None
    if f"{provider}ExecutionProvider" in onnxruntime.get_available_providers():
        named = [(f"{provider}ExecutionProvider", options)]
    else:
        try:
            device = plugged_in(onnxruntime, provider)
        except Exception as error:
            raise NotThere(f"the provider {provider}: {type(error).__name__}: {error}") from error
        settings.add_provider_for_devices([device], options)
    session = onnxruntime.InferenceSession(model, settings, providers=named, enable_fallback=0)
    if not session.get_provider_graph_assignment_info():
        raise NotThere(f"no node came to the provider {provider}: onnxruntime's own optimisation left none")
    return session


def plugged_in(onnxruntime: Any, provider: str) -> Any:
    """The first device of a plug-in, by the path of its library or the package that has it."""
    library, name = provider, Path(provider).name.partition(".")[0].removeprefix("lib")
    if os.sep not in provider:
        files = [each for each in metadata.files(provider) or () if each.suffix in (".so", ".dylib", ".dll")]
        found = [each for each in files if b"CreateEpFactories" in each.read_binary()]
        library, name = str(Path(str(found[0].locate())).resolve()), provider.removeprefix("onnxruntime-")
    before = {each.ep_name for each in onnxruntime.get_ep_devices()}
    onnxruntime.register_execution_provider_library(name, library)
    return next(each for each in onnxruntime.get_ep_devices() if each.ep_name not in before)


def are_alike(one: Any, other: Any) -> bool:
    """Whether two answers are the same bit for bit, of the same types and shapes."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and bool(same(one, other).all())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(are_alike, one, other))
    return repr(one) == repr(other)


def run_optimizer(case: dict[str, Any], model: bytes, calls: list[Inputs], _: int) -> list[list[Any]]:
    """What onnxruntime answers to what an optimiser made of a model; `now` says whether that is as before."""
    name, every = case["now"]["runtime"], []
    module = import_module(name)
    if name == "onnxscript":
        import_module("onnxscript.optimizer")
    for inputs in calls:
        graph = onnx.load_from_string(model)
        if case["now"]["form"] == "initializers":
            inputs = held_as_constants(graph, inputs)
        content = graph.SerializeToString()
        try:
            before = run_apart(content, inputs)
        except Exception as error:
            raise NotThere(f"before it is optimised: {type(error).__name__}: {error}") from error
        made = OPTIMIZERS[name](module, graph).SerializeToString()
        outputs = run_unoptimised(made, inputs)
        kept = are_alike(outputs, before)
        for _ in range(0 if kept else 4):
            if not are_alike(run_unoptimised(content, inputs), before):
                raise NotThere("the model answers otherwise each time")
        case["now"]["kept"] = kept
        every.append(outputs)
    return every


def held_as_constants(model: Any, inputs: Inputs) -> Inputs:
    """Make constants of all inputs of a model but texts, and what is no tensor; these are returned."""
    arrays = {name: each for name, each in inputs if isinstance(each, np.ndarray) and each.dtype.kind != "O"}
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in arrays.items())
    left = [each for each in model.graph.input if each.name not in arrays]
    del model.graph.input[:]
    model.graph.input.extend(left)
    return [(name, each) for name, each in inputs if name not in arrays]


def run_unoptimised(model: bytes, inputs: Inputs) -> list[Any]:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    taken = {each.name for each in session.get_inputs()}
    return call_onnxruntime(onnxruntime, session, [each for each in inputs if each[0] in taken])


def run_apart(model: bytes, inputs: Inputs) -> list[Any]:
    """The same, tried in a child first: a model that ends the process is no fault of an optimiser."""
    import onnxruntime  # noqa: F401 - the child has it then

    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            run_unoptimised(model, inputs)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    if status not in (0, signal.SIGALRM):  # a child may wait for threads that it does not have
        raise RuntimeError(f"the model ends the process by {status}")
    return run_unoptimised(model, inputs)


def call_onnxruntime(onnxruntime: Any, session: Any, inputs: Inputs) -> list[Any]:
    outputs = session.get_outputs()
    types = [each.type for each in (*session.get_inputs(), *outputs)]
    if not any(part in each for part in LACKING for each in types):
        return list(session.run(None, dict(inputs)))
    values = {}
    for name, array in inputs:
        if has_plain_type(array):
            values[name] = onnxruntime.OrtValue.ortvalue_from_numpy(array)
        else:
            values[name] = to_ort_value(onnxruntime.OrtValue, array)
    found = session.run_with_ort_values([output.name for output in outputs], values)
    return [from_ort_value(value, declared.type) for value, declared in zip(found, outputs, strict=True)]


def to_ort_value(kinds: Any, array: Any) -> Any:
    code = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    raw = numpy_helper.from_array(array).raw_data
    if len(raw) == array.nbytes:
        return kinds.ortvalue_from_numpy_with_onnx_type(array.view(f"u{array.dtype.itemsize}"), code)
    value = kinds.ortvalue_from_shape_and_type(array.shape, code)  # several elements in a byte
    ctypes.memmove(value.data_ptr(), raw, len(raw))
    return value


def from_ort_value(value: Any, declared: str) -> Any:
    name = declared[len("tensor(") : -1]
    if not any(part in name for part in LACKING):
        return value.numpy()
    code = getattr(onnx.TensorProto, name.upper())
    dtype = onnx.helper.tensor_dtype_to_np_dtype(code)
    return of_bytes(dtype, value.shape(), lambda count: ctypes.string_at(value.data_ptr(), count))


def run_onnx(_: dict[str, Any], model: bytes, calls: list[Inputs], _threads: int) -> list[list[Any]]:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(onnx.load_from_string(model))
    return [list(evaluator.run(None, dict(each))) for each in calls]


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
    known = {**OPENVINO_SETTINGS, "INFERENCE_NUM_THREADS": threads}
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
    if has_plain_type(array):
        made = openvino.Tensor(openvino.Type(array.dtype), shape)
        if array.size:
            made.data[...] = array
        return made
    made = openvino.Tensor(getattr(openvino.Type, OPENVINO_TYPES[array.dtype.name]), shape)
    raw = np.frombuffer(numpy_helper.from_array(array).raw_data, np.uint8)
    made.data.reshape(-1).view(np.uint8)[:] = raw
    return made


def from_openvino(tensor: Any) -> Any:
    kind = tensor.element_type.get_type_name()
    if kind == "string":
        texts = [each.decode("utf-8", "surrogateescape") for each in tensor.bytes_data.reshape(-1).tolist()]
        return np.array(texts, object).reshape(tuple(tensor.shape))
    name = {there: here for here, there in OPENVINO_TYPES.items()}.get(kind)
    if name is None:
        return np.array(tensor.data)
    dtype = getattr(import_module("ml_dtypes"), name)
    return of_bytes(dtype, tensor.shape, lambda _: tensor.data.tobytes())


def snake_case(name: str) -> str:
    return "".join("_" + each.lower() if each.isupper() else each for each in name).lstrip("_")


def run_tensorflow(case: dict[str, Any], _: bytes, calls: list[Inputs], _threads: int) -> list[list[Any]]:
    import tensorflow

    call, every = getattr(tensorflow.raw_ops, case["name"]), []
    for inputs in calls:
        found = call(**{name: tensorflow.constant(array) for name, array in inputs}, **case["attributes"])
        every.append([each.numpy() for each in (found if isinstance(found, list | tuple) else [found])])
    return every


def run_litert(case: dict[str, Any], _: bytes, calls: list[Inputs], _threads: int) -> list[list[Any]]:
    litert, schema = import_module("ai_edge_litert.interpreter"), needed("ai_edge_litert.schema_py_generated")
    kinds = litert.OpResolverType
    plain = "delegate=none" in case["now"]["options"].split(";")
    interpreter = litert.Interpreter(
        model_content=flatbuffer(schema, case),
        num_threads=1,
        experimental_op_resolver_type=kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES if plain else kinds.AUTO,
    )
    interpreter.allocate_tensors()
    every = []
    for inputs in calls:
        for name, each in zip(planned_for(case)["given"], interpreter.get_input_details(), strict=True):
            interpreter.set_tensor(each["index"], in_bytes(dict(inputs)[name]))
        interpreter.invoke()
        found = [interpreter.get_tensor(each["index"]) for each in interpreter.get_output_details()]
        every.append([in_texts(each) for each in found])
    return every


def run_tflite_micro(case: dict[str, Any], _: bytes, calls: list[Inputs], _threads: int) -> list[list[Any]]:
    runtime = import_module("tflite_micro").runtime
    schema = needed("tflite_micro.tensorflow.lite.micro.python.schema_py_generated")
    content = flatbuffer(schema, case)
    interpreter = with_words(lambda: runtime.Interpreter.from_bytes(content, arena_size=1 << 24))
    every = []
    for inputs in calls:
        for place, name in enumerate(planned_for(case)["given"]):
            interpreter.set_input(dict(inputs)[name], place)
        with_words(interpreter.invoke)
        every.append([np.array(interpreter.get_output(0))])
    return every


def with_words(call: Callable[[], Any]) -> Any:
    """What a call returns; an error of it has what it printed on standard error, where its reason stands."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            return call()
        except RuntimeError as error:
            file.seek(0)
            raise RuntimeError(f"{error}\n{file.read().decode('utf-8', 'replace')}") from error
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def in_bytes(array: Any) -> Any:
    """Texts as bytes; an array of one text without axes as numpy's own."""
    if array.dtype.kind != "O":
        return array
    found = np.empty(array.shape, object)
    flat = found.reshape(-1)
    flat[:] = [each.encode("utf-8", "surrogateescape") for each in array.reshape(-1)]
    return found if array.shape else np.array(flat[0])


def in_texts(array: Any) -> Any:
    if array.dtype.kind not in "OS":
        return array
    texts = [each.decode("utf-8", "surrogateescape") for each in array.reshape(-1).tolist()]
    return np.array(texts, object).reshape(array.shape)


def needed(name: str) -> Any:
    """A module beside the runtime's own, which makes its models; NotThere where that is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise NotThere(str(error)) from error


def planned_for(case: dict[str, Any]) -> dict[str, Any]:
    """The model of one builtin that the call is; NotThere where there is none."""
    found: dict[str, Any] = case["tflite"][case["now"]["runtime"]]
    if "none" in found:
        raise NotThere(found["none"])
    return found


def flatbuffer(schema: Any, case: dict[str, Any]) -> bytes:
    """The model of one builtin that the call is, by a package's own classes of TensorFlow Lite's schema."""
    planned = planned_for(case)
    code, operator, graph, model = (
        getattr(schema, name)() for name in ("OperatorCodeT", "OperatorT", "SubGraphT", "ModelT")
    )
    code.builtinCode = getattr(schema.BuiltinOperator, planned["builtin"])
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    code.version = planned["version"]
    operator.inputs, operator.outputs = planned["order"], [len(planned["tensors"]) - 1]
    if planned["options"]:
        operator.builtinOptionsType = getattr(schema.BuiltinOptions, planned["options"])
        operator.builtinOptions = getattr(schema, planned["options"] + "T")()
        for field, value in planned["fields"].items():
            setattr(operator.builtinOptions, field, value)
    names = [each["name"] for each in planned["tensors"]]
    graph.inputs = [names.index(name) for name in planned["given"]]
    graph.operators, graph.outputs, graph.tensors = [operator], operator.outputs, []
    model.buffers = [Buffer(schema, b"")]
    for each in planned["tensors"]:
        tensor = schema.TensorT()
        tensor.name, tensor.shape = each["name"], each["shape"]
        if not hasattr(schema.TensorType, each["type"]):
            raise NotThere(f"this TensorFlow Lite has no tensors of {each['type']}")
        tensor.type = getattr(schema.TensorType, each["type"])
        if each["data"]:
            tensor.buffer = len(model.buffers)
            model.buffers.append(Buffer(schema, base64.b64decode(each["data"])))
        graph.tensors.append(tensor)
    model.version, model.operatorCodes, model.subgraphs = 3, [code], [graph]
    builder = needed("flatbuffers").Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


class Buffer:
    """A buffer whose bytes are aligned, which those of the schema's own class are not."""

    def __init__(self, schema: Any, data: bytes) -> None:
        self.schema, self.data = schema, data

    def Pack(self, builder: Any) -> Any:  # noqa: N802 - the schema's name
        builder.StartVector(1, len(self.data), 16)
        builder.head = builder.head - len(self.data)
        builder.Bytes[builder.head : builder.head + len(self.data)] = self.data
        vector = builder.EndVector()
        self.schema.BufferStart(builder)
        if self.data:
            self.schema.BufferAddData(builder, vector)
        return self.schema.BufferEnd(builder)


def run_tfjs(case: dict[str, Any], _: bytes, calls: list[Inputs], _threads: int) -> list[list[Any]]:
    node = shutil.which("node")
    kinds = {each["name"]: each["element_type"] for each in case["load"]["inputs"] if each}
    if node is None:
        raise NotThere("there is no node on this machine")
    sent = [
        [
            {
                "name": name,
                "element_type": kinds[name],
                "shape": list(array.shape),
                "data": base64.b64encode(wire_bytes(array)).decode(),
            }
            for name, array in inputs
        ]
        for inputs in calls
    ]
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder) / "asked.json", Path(folder) / "told.json"
        asked.write_text(json.dumps({"load": case["load"], "calls": sent}), encoding="utf-8")
        command = [node, str(HERE / "tfjs_call.mjs"), str(asked), str(told)]
        try:
            code = subprocess.run(command, timeout=TIME_LIMIT - 5, check=False).returncode
        except subprocess.TimeoutExpired:
            code = None
        said: dict[str, Any] = json.loads(told.read_text(encoding="utf-8")) if told.exists() else {}
    if code is None:
        signal.pause()  # node is ended; who waits for this process says that there is no answer
    elif code < 0:
        os.kill(os.getpid(), -code)  # it died so
    elif not said:
        raise NotThere(f"this node does not run tfjs_call.mjs: it ended with exit code {code}")
    elif "begun" in said:
        os._exit(code or 1)  # the call took node with it
    if "absent" in said:
        raise NotThere(said["absent"])
    if "error" in said:
        raise type(said["kind"], (Exception,), {})(said["error"])
    return [[of_wire(each) for each in outputs] for outputs in said["answers"]]


def wire_bytes(array: Any) -> bytes:
    """Little-endian elements; texts each behind their length."""
    if array.dtype.kind != "O":
        return bytes(array.tobytes())
    texts = [each.encode("utf-8", "surrogateescape") for each in array.reshape(-1)]
    return b"".join(struct.pack("<I", len(each)) + each for each in texts)


def of_wire(told: dict[str, Any]) -> Any:
    if "element_type" not in told:
        return told["text"]
    raw = base64.b64decode(told["data"])
    if told["element_type"] != "string":
        return np.frombuffer(raw, plain_type(told["element_type"])).reshape(told["shape"])
    texts, at = [], 0
    while at < len(raw):
        (length,) = struct.unpack_from("<I", raw, at)
        texts.append(raw[at + 4 : at + 4 + length].decode("utf-8", "surrogateescape"))
        at += 4 + length
    return np.array(texts, object).reshape(told["shape"])


def run_tract(_: dict[str, Any], model: bytes, calls: list[Inputs], _threads: int) -> list[list[Any]]:
    tract = import_module("tract")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"  # it reads models from files alone
        path.write_bytes(model)
        found = tract.onnx().load(path)
        order = [found.input_name(place) for place in range(found.input_count())]
        runnable = found.into_model().into_runnable()
    given = [dict(each) for each in calls]
    return [[out.to_numpy() for out in runnable.run([each[name] for name in order])] for each in given]


def run_opencv(case: dict[str, Any], model: bytes, calls: list[Inputs], threads: int) -> list[list[Any]]:
    cv2 = import_module("cv2")

    cv2.setNumThreads(threads)
    network, found = cv2.dnn.readNetFromONNX(np.frombuffer(model, np.uint8)), []
    for inputs in calls:
        for name, array in inputs:
            network.setInput(array, name)
        found.append(list(network.forward([each for each in case["outputs"] if each])))
    return found


Runtime = Callable[[dict[str, Any], bytes, list[Inputs], int], list[list[Any]]]
RUNTIMES: dict[str, Runtime] = {
    "onnxruntime": run_onnxruntime,
    "onnx": run_onnx,
    "openvino": run_openvino,
    "tensorflow": run_tensorflow,
    "tract": run_tract,
    "opencv": run_opencv,
    "ai-edge-litert": run_litert,
    "tflite-micro": run_tflite_micro,
    "tfjs": run_tfjs,
    **dict.fromkeys(OPTIMIZERS, run_optimizer),
}
MODULES = {
    "opencv": "cv2",
    "ai-edge-litert": "ai_edge_litert.interpreter",
    "tflite-micro": "tflite_micro",
    "tfjs": "subprocess",  # it is none of Python
}
TENSORFLOW = ("tensorflow", "ai-edge-litert", "tflite-micro", "tfjs")


def numbers(array: Any) -> Any:
    """Values that can be subtracted: float64, complex128, or Python's integers."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    if array.dtype.kind in "iu" or array.dtype.name in SMALL_INTEGERS:
        return array.astype(object)
    return array.astype(np.float64)


def same(got: Any, wanted: Any) -> Any:
    """Where elements are equal bit for bit; any two NaN are, the two zeros are not."""
    if got.dtype.kind in "OSUbiu" or got.dtype.name in SMALL_INTEGERS:
        return np.asarray(got == wanted, dtype=bool).reshape(got.shape)
    if got.dtype.kind == "c":
        return same(got.real.copy(), wanted.real.copy()) & same(got.imag.copy(), wanted.imag.copy())
    left, right = numbers(got), numbers(wanted)
    equal = (left == right) & (np.signbit(left) == np.signbit(right))
    return equal | (np.isnan(left) & np.isnan(right))


def distances(got: Any, wanted: Any, equal: Any) -> Any:
    """How far apart elements are; infinitely far where no distance can be told."""
    if got.dtype.kind in "OSUb":
        return np.where(equal, 0.0, np.inf)
    with np.errstate(all="ignore"):
        apart = np.asarray(np.abs(numbers(got) - numbers(wanted)), np.float64)
    return np.where(equal, 0.0, np.where(np.isnan(apart), np.inf, apart))


def compare(got: Any, expected: dict[str, Any]) -> tuple[bool, str]:
    """Whether one output is right, and a line about its worst element."""
    wanted = read_tensor(expected["file"])
    if got.dtype != wanted.dtype and not (got.dtype.kind in "OSU" and wanted.dtype.kind in "OSU"):
        return False, f"element type {got.dtype} instead of {wanted.dtype}"
    if got.shape != wanted.shape:
        return False, f"shape {list(got.shape)} instead of {list(wanted.shape)}"
    right = same(got, wanted)
    apart = distances(got, wanted, right)
    limit = read_tensor(expected["allowed"]) if expected["allowed"] else np.zeros(wanted.shape)
    if expected["allowed"]:
        right = right | (apart <= limit)
    if expected["alternatives"]:
        values = read_tensor(expected["alternatives"]["file"])
        flat = right.reshape(-1)
        chosen = got.reshape(-1)[expected["alternatives"]["index"]]
        for index, fits in zip(expected["alternatives"]["index"], same(chosen, values), strict=True):
            flat[index] |= fits
        right = flat.reshape(right.shape)
    if right.all():
        return True, "every element is as it must be"
    with np.errstate(all="ignore"):
        ratio = np.where(right, -1.0, np.where(limit > 0, apart / limit, np.inf))
    order = np.where(ratio == ratio.max(), np.where(right, -1.0, apart), -1.0)
    index = np.unravel_index(int(np.argmax(order)), wanted.shape)
    place = [int(coordinate) for coordinate in index]
    text = f"{int(np.count_nonzero(~right))} of {right.size} elements wrong; worst at {place}: "
    text += f"got {got[index]}, expected {wanted[index]}, allowed error {limit[index]:g}"
    if np.isfinite(ratio[index]):
        text += f", error over allowed {ratio[index]:.3g}"
    return False, text


def judge(case: dict[str, Any], outputs: list[Any]) -> bool:
    """Print how the outputs stand to every expectation that may hold; True if one does."""
    holds = False
    for number, expectation in enumerate(case["expectations"], 1):
        several = len(case["expectations"]) > 1
        say(
            f"expectation {number} of {len(case['expectations'])}: {expectation['readings']}"
            if several
            else ""
        )
        if len(expectation["outputs"]) != len(outputs):
            say(f"  {len(outputs)} outputs instead of {len(expectation['outputs'])}")
            continue
        verdicts = []
        for expected, output in zip(expectation["outputs"], outputs, strict=True):
            wanted = read_tensor(expected["file"])
            say(f"expected {expected['name']}: {wanted.dtype} {list(wanted.shape)}\n{wanted}")
            if expected["allowed"]:
                limit = read_tensor(expected["allowed"])
                if limit.size:
                    say(f"allowed error: {limit.min():g} to {limit.max():g}")
            right, text = compare(output, expected)
            say(text)
            verdicts.append(right)
        holds = holds or all(verdicts)
    return holds


def says_unsupported(runtime: str, kind: str, text: str) -> bool:
    """Whether a runtime says that it does not offer something, by its rules in `unsupported.json`."""
    rules = json.loads((HERE / "unsupported.json").read_text(encoding="utf-8")).get(runtime, [])
    return any(re.fullmatch(rule["kind"], kind) and re.search(rule["message"], text) for rule in rules)


def answers_of(
    case: dict[str, Any], runtime: str, form: str, model: bytes, inputs: Inputs
) -> list[tuple[str, list[Any], str]]:
    """The answers that are judged: which each is, its outputs, and what it touched that belongs to others."""
    run, usual = RUNTIMES[runtime], OPENVINO_THREADS if runtime == "openvino" else 1
    given = fitting(model, inputs) if model else inputs
    if form == "threads":
        every = [(f"threads {thread}", run(case, model, [given], thread)[0]) for thread in THREADS]
        return [(which, outputs, "") for which, outputs in every]
    if form == "again":
        before = [(each["name"], read_tensor(each["file"])) for each in case["between"] if each["file"]]
        calls = [fitting(model, before), given] if before else [given]
        every_run = run(case, model, calls * 2, usual)
        return [("run 1", every_run[len(calls) - 1], ""), ("run 2", every_run[-1], "")]
    if form == "untouched":
        calls = [[(name, copy.deepcopy(array)) for name, array in given] for _ in range(2)]
        first, second = run(case, model, calls, usual)
        touched = [
            touched_by(given, call, outputs, earlier)
            for call, outputs, earlier in zip(calls, (first, second), ([], first), strict=True)
        ]
        return [("run 1", first, touched[0]), ("run 2", second, touched[1])]
    return [("", run(case, model, [given], usual)[0], "")]


def touched_by(given: Inputs, call: Inputs, outputs: list[Any], earlier: list[Any]) -> str:
    """What a run touched of its inputs, and where its outputs lie that is not their own."""
    found = []
    outputs = [output for output in outputs if isinstance(output, np.ndarray)]
    earlier = [output for output in earlier if isinstance(output, np.ndarray)]
    for (name, before), (_, after) in zip(given, call, strict=True):
        if not isinstance(after, np.ndarray):
            continue
        if not same(np.asarray(after), np.asarray(before)).all():
            found.append(f"the input {name} is changed")
        places = [place for place, output in enumerate(outputs) if np.shares_memory(output, after)]
        found += [f"output {place} lies in the memory of the input {name}" for place in places]
    for place, output in enumerate(outputs):
        if any(np.shares_memory(output, other) for other in earlier):
            found.append(f"output {place} lies in the memory of an output of the run before")
    return "; ".join(found)


def call(
    case: dict[str, Any], runtime: str, form: str, provider: str = "", options: str = ""
) -> dict[str, Any]:
    """Make the call and judge it, in this process."""
    types = [case.get("types", {}).get(name) for name in case["outputs"] if name]
    values = any(types) or any(each.get("type") for each in case["inputs"])
    folder = "packed" if values and runtime not in AT_ENDS else ""
    if folder and not (HERE / folder).exists():
        return {"absent": f"{runtime} takes no such values at the ends of a graph, and no node makes them"}
    listed = case["packed"] if folder else case["inputs"]
    inputs = [(each["name"], read_value(each)) for each in listed if each["file"]]
    preferred = "dynamic" if form == "again" else FIRST_FORMS.get(runtime, "inputs")
    carried = form if form in FORMS[:4] else preferred
    case["now"] = {"runtime": runtime, "form": carried, "provider": provider, "options": options}
    domain = "org.tensorflow" if runtime in TENSORFLOW else f"org.{runtime}"
    own, model = case["domain"] == domain, read_model(carried, folder)
    if not own and (runtime in TENSORFLOW or not model):
        return {"absent": f"{runtime} has no operators of {case['domain']}"}
    if not model and form != "inputs":
        return {"absent": f"only a model has the form {form}"}
    if form == "threads" and runtime not in CHOOSING:
        return {"absent": f"{runtime} is not told how many threads there are"}
    try:
        import_module(MODULES.get(runtime, runtime))
    except ImportError as error:
        return {"absent": str(error)}
    arrays = [array for _, array in inputs if isinstance(array, np.ndarray)]
    lacking = sorted({str(array.dtype) for array in arrays if lacking_type(runtime, array)})
    if lacking:
        return {"absent": f"{runtime} does not offer tensors of {' or '.join(lacking)}"}
    try:
        answers = answers_of(case, runtime, form, model, inputs)
    except NotThere as error:
        return {"absent": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever a runtime raises is its refusal
        kind, text = type(error).__name__, str(error)
        known = [runtime, *(["provider"] if provider else [])]
        unsupported = any(says_unsupported(each, kind, text) for each in known)
        return {"refused": f"{kind}: {text}", "unsupported": unsupported}
    kinds = [] if folder else types
    said = judge_answers(case, answers, kinds if values else None)
    if not said["holds"] and case["now"].get("kept"):
        return {"absent": "the model answers the same before it is optimised"}
    return said


def judge_answers(
    case: dict[str, Any], answers: list[tuple[str, list[Any], str]], types: list[str | None] | None
) -> dict[str, Any]:
    """What the answers come to; `types` are those of outputs that are no tensors, where there may be some."""
    values = types is not None
    for which, found, touched in answers:
        if which:
            say(which)
        try:
            kinds = [*(types or ()), *[None] * len(found)]
            pairs = zip(found, kinds, strict=False)
            outputs = [part for each, kind in pairs for part in (parts_of(each, kind) if values else [each])]
        except OtherKind as error:
            return {"holds": case["demand"] != "answer", "problem": f"an output is {error}"}
        outputs = [np.asarray(each) for each in outputs]
        told = case["expectations"] if values else []
        names = [each["name"] for each in told[0]["outputs"]] if told else case["outputs"]
        for name, output in zip(names, outputs, strict=False):
            say(f"got {name}: {output.dtype} {list(output.shape)}\n{output}")
        if case["demand"] == "answer" and not judge(case, outputs):
            return {"holds": False, "problem": "the answer is not what the documents say"}
        if case["demand"] == "answer" and touched:
            return {"holds": False, "problem": touched}
    if case["demand"] == "answer":
        return {"holds": True}
    return {"holds": case["demand"] == "survive", "problem": "a call that must be rejected is answered"}


def conclude(case: dict[str, Any], said: dict[str, Any] | None, code: int) -> tuple[int, str]:
    """The exit code, and the last line."""
    if said is None:
        how = f"died of signal {-code}" if code < 0 else f"ended with exit code {code}"
        return 1, f"REPRODUCED: the process {how}"
    if "absent" in said:
        return 2, f"not tried: {said['absent']}"
    if "refused" in said:
        say(f"rejected with {said['refused']}")
        if case["demand"] == "answer" and said["unsupported"]:
            return 2, "not tried: the runtime says that it does not offer this"
        if case["demand"] == "answer" and case["may_refuse"] is None:
            return 1, "REPRODUCED: a valid call is rejected"
        return 0, f"holds: {case['must'] if case['demand'] == 'refuse' else 'this call may be rejected'}"
    return (
        (0, "holds: the answer is one that may be")
        if said["holds"]
        else (1, f"REPRODUCED: {said['problem']}")
    )


def main() -> int:
    case = json.loads((HERE / "case.json").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description="Reproduce one case.")
    parser.add_argument("--runtime", choices=sorted(RUNTIMES), default=case["runtime"])
    parser.add_argument("--form", choices=FORMS)
    parser.add_argument("--provider", default="", help="of onnxruntime: OpenVINO, a package, or a library")
    parser.add_argument("--provider-options", default="", metavar="KEY=VALUE;...")
    parser.add_argument("--result", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.provider and options.runtime != "onnxruntime":
        parser.error(f"a provider is one of onnxruntime's, and the runtime is {options.runtime}")
    form = options.form or case.get("form") or FIRST_FORMS.get(options.runtime, "inputs")
    if case.get("beyond"):
        say(f"not tried: {case['beyond']}; `opcert run` judges it")
        return 2
    if options.result:
        try:
            answer = call(case, options.runtime, form, options.provider, options.provider_options)
        except Exception as error:  # noqa: BLE001 - where this script fails, the runtime did not
            traceback.print_exc()
            answer = {"absent": f"this script fails: {type(error).__name__}: {error}"}
        Path(options.result).write_text(json.dumps(answer), encoding="utf-8")
        return 0
    say(
        f"case {case['id']} on {options.runtime}, form {form}\n{case['must']}\n"
        f"attributes {json.dumps(case['attributes'])}"
    )
    for each in case["inputs"]:
        array = read_value(each) if each["file"] else None
        shape = (
            f"{array.dtype} {list(array.shape)}\n{array}" if isinstance(array, np.ndarray) else repr(array)
        )
        shape = "absent" if not each["file"] else shape
        say(f"input {each['name']}: {shape}")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, __file__, "--runtime", options.runtime, "--form", form]
        command += ["--provider", options.provider, "--provider-options", options.provider_options]
        command += ["--result", str(result)]
        try:
            code = subprocess.run(command, timeout=TIME_LIMIT, check=False).returncode
        except subprocess.TimeoutExpired:
            say(f"REPRODUCED: no answer within {TIME_LIMIT:g} s")
            return 1
        said = json.loads(result.read_text(encoding="utf-8")) if result.exists() else None
    exit_code, line = conclude(case, said, code)
    say(line)
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
