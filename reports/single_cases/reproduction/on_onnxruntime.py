"""ONNX Runtime, by itself, on another provider, and on what optimisers make of models."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

if TYPE_CHECKING or __package__:
    from reports.single_cases.reproduction import case_values
    from reports.single_cases.reproduction.case_values import Inputs, NotThere
else:
    import case_values
    from case_values import Inputs, NotThere

OPTIMIZERS: dict[str, Callable[[Any, Any], Any]] = {
    "onnxoptimizer": lambda module, model: module.optimize(model),
    "onnxsim": lambda module, model: module.simplify(model)[0],
    "onnxslim": lambda module, model: module.slim(model),
    "onnxscript": lambda module, model: module.optimizer.optimize(model),
}
LACKING = ("bfloat16", "float8", "float6", "float4", "int4", "int2")
"""Parts of names of types that numpy lacks."""


def run_onnxruntime(case: dict[str, Any], model: bytes, calls: list[Inputs], threads: int) -> list[list[Any]]:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    if case["now"]["provider"]:
        session = on_provider(onnxruntime, model, settings, case["now"])
    else:
        session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    return [call_onnxruntime(onnxruntime, session, each) for each in calls]


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


def call_onnxruntime(onnxruntime: Any, session: Any, inputs: Inputs) -> list[Any]:
    outputs = session.get_outputs()
    types = [each.type for each in (*session.get_inputs(), *outputs)]
    if not any(part in each for part in LACKING for each in types):
        return list(session.run(None, dict(inputs)))
    given = {}
    for name, array in inputs:
        if case_values.has_plain_type(array):
            given[name] = onnxruntime.OrtValue.ortvalue_from_numpy(array)
        else:
            given[name] = to_ort_value(onnxruntime.OrtValue, array)
    found = session.run_with_ort_values([output.name for output in outputs], given)
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
    return case_values.of_bytes(dtype, value.shape(), lambda count: ctypes.string_at(value.data_ptr(), count))


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


def are_alike(one: Any, other: Any) -> bool:
    """Whether two answers are the same bit for bit, of the same types and shapes."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return (
            one.dtype == other.dtype and one.shape == other.shape and bool(case_values.same(one, other).all())
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(are_alike, one, other))
    return repr(one) == repr(other)


RUNTIMES = {
    "onnxruntime": case_values.BareRuntime(
        run_onnxruntime, "onnxruntime", chooses_threads=True, takes_values=True
    ),
    # As initializers there is more to fold.
    **{
        name: case_values.BareRuntime(run_optimizer, name, first_form="initializers", takes_values=True)
        for name in OPTIMIZERS
    },
}
