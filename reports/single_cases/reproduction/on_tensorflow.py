"""TensorFlow's operators: TensorFlow itself, LiteRT and TensorFlow Lite Micro, TensorFlow.js.

LiteRT and Micro get a model of one builtin, made by the schema of their own package (with flatbuffers),
TensorFlow.js a graph of one operator, by node: as in a run, by what opcert's workers make them with.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING or __package__:
    from reports.single_cases.reproduction import case_values
    from reports.single_cases.reproduction.case_values import Inputs, NotThere
else:
    import case_values
    from case_values import Inputs, NotThere


def run_tensorflow(case: dict[str, Any], _: bytes, calls: list[Inputs], _threads: int) -> list[list[Any]]:
    import tensorflow

    call, every = getattr(tensorflow.raw_ops, case["name"]), []
    for inputs in calls:
        found = call(**{name: tensorflow.constant(array) for name, array in inputs}, **case["attributes"])
        every.append([each.numpy() for each in (found if isinstance(found, list | tuple) else [found])])
    return every


def run_litert(case: dict[str, Any], _: bytes, calls: list[Inputs], _threads: int) -> list[list[Any]]:
    litert, schema = import_module("ai_edge_litert.interpreter"), needed("ai_edge_litert.schema_py_generated")
    kinds, (content, names) = litert.OpResolverType, as_builtin(schema, case, "int64")
    plain = "delegate=none" in case["now"]["options"].split(";")
    interpreter = litert.Interpreter(
        model_content=content,
        num_threads=1,
        experimental_op_resolver_type=kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES if plain else kinds.AUTO,
    )
    interpreter.allocate_tensors()
    every = []
    for inputs in calls:
        for name, each in zip(names, interpreter.get_input_details(), strict=True):
            interpreter.set_tensor(each["index"], in_bytes(dict(inputs)[name]))
        interpreter.invoke()
        found = [interpreter.get_tensor(each["index"]) for each in interpreter.get_output_details()]
        every.append([in_texts(each) for each in found])
    return every


def run_tflite_micro(case: dict[str, Any], _: bytes, calls: list[Inputs], _threads: int) -> list[list[Any]]:
    runtime = import_module("tflite_micro").runtime
    schema = needed("tflite_micro.tensorflow.lite.micro.python.schema_py_generated")
    content, names = as_builtin(schema, case, "int32")
    with_words = import_module("tflite_micro_worker").with_words
    interpreter = with_words(lambda: runtime.Interpreter.from_bytes(content, arena_size=1 << 24))
    every = []
    for inputs in calls:
        for place, name in enumerate(names):
            interpreter.set_input(dict(inputs)[name], place)
        with_words(interpreter.invoke)
        every.append([np.array(interpreter.get_output(0))])
    return every


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


def as_builtin(schema: Any, case: dict[str, Any], widest: str) -> tuple[bytes, list[str]]:
    """The model of one builtin that the call is, all inputs but the first constants, and whose it takes.

    `widest` is how wide axes and lengths are. NotThere where there is no such model.
    """
    needed("flatbuffers")
    told, protocol = case["constants"], import_module("worker_protocol")
    if told["shape"] is None:
        raise NotThere("of a call that has no result nobody knows its shape")
    request = protocol.LoadRequest(told["load"], [base64.b64decode(each) for each in told["blobs"]])
    try:
        model = import_module("tflite_models").plan(request, widest)
        content = import_module("tflite_flatbuffers").write(schema, model, tuple(told["shape"]))
    except protocol.Unsupported as error:
        raise NotThere(str(error)) from error
    return content, [model.operands[place].name for place in model.given]


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
        command = [node, str(Path(__file__).with_name("tfjs_call.mjs")), str(asked), str(told)]
        try:
            code = subprocess.run(command, timeout=case_values.TIME_LIMIT - 5, check=False).returncode
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
        return np.frombuffer(raw, case_values.plain_type(told["element_type"])).reshape(told["shape"])
    texts, at = [], 0
    while at < len(raw):
        (length,) = struct.unpack_from("<I", raw, at)
        texts.append(raw[at + 4 : at + 4 + length].decode("utf-8", "surrogateescape"))
        at += 4 + length
    return np.array(texts, object).reshape(told["shape"])


def _runtime(run: Any, module: str) -> case_values.BareRuntime:
    return case_values.BareRuntime(run, module, "org.tensorflow", takes_models=False)


RUNTIMES = {
    "tensorflow": _runtime(run_tensorflow, "tensorflow"),
    "ai-edge-litert": _runtime(run_litert, "ai_edge_litert.interpreter"),
    "tflite-micro": _runtime(run_tflite_micro, "tflite_micro"),
    "tfjs": _runtime(run_tfjs, "subprocess"),  # it is none of Python
}
