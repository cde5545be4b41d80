"""How runtimes are called by themselves, as their users do: the lines of a script behind those of a case.

They need the names `inputs`, `attributes`, and of an ONNX model `model`; the outputs are left in `got`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from conformance.models.case_models import Form
from opcert.vocabulary.harmless import for_python

Kind = Literal["onnx", "org.openvino", "org.tensorflow"]

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
_OPTIMISED = """
{constants}
def run(model):
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    content = model.SerializeToString()
    session = onnxruntime.InferenceSession(content, settings, providers=["CPUExecutionProvider"])
    taken = {{each.name for each in session.get_inputs()}}
    return session.run(None, {{name: array for name, array in inputs.items() if name in taken}})

for array in run(model):
    print("before", array.dtype, array.shape, array.ravel(), flush=True)
got = run({optimise})
"""
_CONSTANTS = """
held = [name for name, array in inputs.items() if array.dtype != object]
model.graph.initializer.extend(onnx.numpy_helper.from_array(inputs[name], name) for name in held)
left = [each for each in model.graph.input if each.name not in held]
del model.graph.input[:]
model.graph.input.extend(left)
model.ir_version = max(model.ir_version, 4)
"""
_OPTIMISERS: Mapping[str, tuple[str, str]] = {
    "onnxoptimizer": ("onnxoptimizer", "onnxoptimizer.optimize(model)"),
    "onnxsim": ("onnxsim", "onnxsim.simplify(model)[0]"),
    "onnxslim": ("onnxslim", "onnxslim.slim(model)"),
    "onnxscript": ("onnxscript.optimizer", "onnxscript.optimizer.optimize(model)"),
}
_NO_CPU = 'settings.add_session_config_entry("session.disable_cpu_ep_fallback", "1")\n'
_LEVELS = {"none": "ORT_DISABLE_ALL", "basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED"}
_LEVEL = "settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.{}\n"
_BUILT_IN_PROVIDER = """
settings = onnxruntime.SessionOptions()
{how}session = onnxruntime.InferenceSession(
    model.SerializeToString(), settings, enable_fallback=0,
    providers=[({provider}, {options})],
)
got = session.run(None, inputs)
"""
_LIBRARY_OF = """
files = importlib.metadata.files({package})
libraries = [each for each in files if each.suffix == ".so" and b"CreateEpFactories" in each.read_binary()]
library = str(libraries[0].locate().resolve())
"""
_PLUG_IN = """
before = {{each.ep_name for each in onnxruntime.get_ep_devices()}}
onnxruntime.register_execution_provider_library({name}, library)
devices = [each for each in onnxruntime.get_ep_devices() if each.ep_name not in before]
device = next((each for each in devices if each.ep_name == {name}), devices[0])
settings = onnxruntime.SessionOptions()
{how}settings.add_provider_for_devices([device], {options})
session = onnxruntime.InferenceSession(model.SerializeToString(), settings)
got = session.run(None, inputs)
"""
_SAID_ALREADY = re.compile(
    r"(?m)^from (__future__|typing) .*\n+|^import (numpy as np|onnx)\n|: Any\b| -> Any\b|  # noqa: \w+.*$"
)
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
class BareCall:
    """The lines of a call, and the modules that they need beside numpy."""

    modules: tuple[str, ...]
    lines: str


def call_of(
    runtime: str, kind: Kind, options: Mapping[str, str] | None = None, form: Form = "initializers"
) -> BareCall | None:
    """How a runtime is called by itself with its options; None where nobody knows.

    An optimiser of models gets every input as a constant, unless the form is another one.
    """
    found = CALLS.get((runtime, kind))
    if found is not None:
        return BareCall(*found)
    if kind != "onnx":
        return None
    file = files("reports.single_cases.reproduction").joinpath(f"call_{runtime.replace('-', '_')}.py")
    if file.is_file():
        return _of_file(file.read_text("utf-8"), options or {})
    if runtime in _OPTIMISERS:
        module, optimise = _OPTIMISERS[runtime]
        constants = _CONSTANTS if form == "initializers" else ""
        modules = ("onnx", "onnx.numpy_helper", "onnxruntime", module)
        return BareCall(modules, _OPTIMISED.format(constants=constants, optimise=optimise))
    return _on_provider(options or {}) if runtime.startswith("onnxruntime-") else None


def _of_file(text: str, options: Mapping[str, str]) -> BareCall:
    """The lines of a file that reproductions carry, without types and what every script has already."""
    plain = _SAID_ALREADY.sub("", text.partition("\n\n")[2])
    for name, option in options.items():
        # A path is of the machine that ran it.
        if name.isidentifier() and not any(mark in option for mark in "/\\"):
            line = f"{name.upper()} = {for_python(option)}"
            plain = re.sub(rf"(?m)^{name.upper()} = .*$", lambda _, line=line: line, plain)  # type: ignore[misc]
    return BareCall(("onnx",), f"{plain.strip()}\n\ngot = prepare(model)(inputs)\n")


def _on_provider(options: Mapping[str, str]) -> BareCall | None:
    """ONNX Runtime on another provider than the CPU; None where the options name none."""
    pairs = (each.partition("=") for each in options.get("options", "").split(";") if each.strip())
    said = for_python({name.strip(): value.strip() for name, _, value in pairs})
    how = "" if options.get("fallback") == "on" else _NO_CPU
    level = _LEVELS.get(options.get("optimization", ""))
    how += "" if level is None else _LEVEL.format(level)
    if "provider" in options and "package" in options:
        provider = for_python(options["provider"] + "ExecutionProvider")
        lines = _BUILT_IN_PROVIDER.format(how=how, provider=provider, options=said)
        return BareCall(("onnx", "onnxruntime"), lines)
    if "library" in options:
        library = f"\nlibrary = {for_python(options['library'])}\n"
        modules: tuple[str, ...] = ("onnx", "onnxruntime")
    elif "package" in options:
        library = _LIBRARY_OF.format(package=for_python(options["package"]))
        modules = ("importlib.metadata", "onnx", "onnxruntime")
    else:
        return None
    short = options.get("package", "").replace("onnxruntime-", "").replace("ep-", "")
    name = for_python(options.get("name") or short)
    return BareCall(modules, library + _PLUG_IN.format(name=name, how=how, options=said).lstrip("\n"))
