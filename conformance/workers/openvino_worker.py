"""The worker for OpenVINO on the CPU: its ONNX front end, and its own operators built one node at a time.

It computes in float32 and for accuracy: by default it may choose bfloat16 on machines that are fast at it,
which would answer another question. It gets two threads, not one: with one, 2026.4.1 loses the errors that
come up once the shapes are known, and answers with an empty tensor.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Sequence

import numpy as np

if TYPE_CHECKING:
    from conformance.workers import watched_memory
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import watched_memory
    import wire_arrays as wire
    import worker_protocol as protocol

# The first unless `load` asks for another.
_THREADS = (2, 1, 4)
_SETTINGS = {
    "INFERENCE_PRECISION_HINT": "f32",
    "EXECUTION_MODE_HINT": "ACCURACY",
    "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_NUM_THREADS": _THREADS[0],
    "NUM_STREAMS": 1,
    "ENABLE_CPU_PINNING": False,
}
_TYPES = {
    "float": "f32",
    "double": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "bool": "boolean",
    "string": "string",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float8e4m3fn": "f8e4m3",
    "float8e5m2": "f8e5m2",
    "int4": "i4",
    "uint4": "u4",
    "float8e8m0": "f8e8m0",
    "float4e2m1": "f4e2m1",
}


_SPELT = {"PReLU": "PRelu", "SoftMax": "Softmax"}
"""Operators that the specifications write otherwise than the operator sets."""
_SETS_LATER = 3
_NO_SUCH = "Couldn't create operation"


class _Model(NamedTuple):
    request: Any
    outputs: int
    ports: Dict[str, Any]
    """By the name of an input; one that the model does not use is not there after its conversion."""
    watch: watched_memory.Watch


class OpenvinoWorker(protocol.Worker):
    """Models compiled for the CPU."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        # It reports every start to its makers, from a forked child; without this module it does not.
        sys.modules["openvino_telemetry"] = None  # type: ignore[assignment] # the import system's way to say no
        self._openvino = import_module("openvino")
        self._core = self._openvino.Core()
        offered = set(self._core.get_property("CPU", "SUPPORTED_PROPERTIES"))
        self._settings = {name: value for name, value in _SETTINGS.items() if name in offered}
        if "INFERENCE_PRECISION_HINT" not in self._settings:
            raise RuntimeError("this OpenVINO cannot be told to compute in float32")
        self._types = {
            name: getattr(self._openvino.Type, theirs)
            for name, theirs in _TYPES.items()
            if hasattr(self._openvino.Type, theirs)
        }
        self._names = {theirs.get_type_name(): name for name, theirs in self._types.items()}

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "openvino", "version": _version(self._openvino)},
            "domains": {"org.openvino": "node", "*": "onnx"},
            "forms": ["inputs", "initializers", "dynamic", "strided", "again", "untouched", "threads"],
            "devices": ["CPU"],
            "threads": list(_THREADS),
            "element_types": sorted(self._types),
            "x_settings": dict(self._settings),
            "x_device_name": str(self._core.get_property("CPU", "FULL_DEVICE_NAME")),
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        if request.domain == "org.openvino":
            model = self._build(request)
        else:
            model = self._core.read_model(request.demand_onnx())
        settings = dict(self._settings)
        if request.threads is not None:
            settings["INFERENCE_NUM_THREADS"] = request.threads
        compiled = self._core.compile_model(model, "CPU", settings)
        ports = _ports_by_name(request, compiled.inputs)
        watch = watched_memory.watch_for(request)
        return _Model(compiled.create_infer_request(), len(compiled.outputs), ports, watch)

    def _build(self, request: protocol.LoadRequest) -> Any:
        """A model of the one node; `since_version` is the number of the operator set that defines it.

        Some have a number before that of the first set that holds them: Asinh-3 came with the fourth.
        """
        operators = import_module("openvino.opset1")
        constant = import_module("openvino.op").Constant
        factory = import_module("openvino.utils.node_factory").NodeFactory
        parameters: Dict[str, Any] = {}
        arguments: List[Any] = []
        for each in request.inputs:
            if each is None:
                raise protocol.Unsupported("operators of OpenVINO have no omitted inputs before given ones")
            name, element_type, shape = each
            if name in request.constants:
                node = constant(self._to_tensor(request.constants[name]), shared_memory=False)
            elif name in parameters:  # one tensor as several inputs
                node = parameters[name]
            else:
                extents = [-1 if extent is None else extent for extent in shape]
                node = operators.parameter(extents, self._type(element_type), name=name)
                node.output(0).get_tensor().set_names({name})
                parameters[name] = node
            arguments.append(node.output(0))
        made: Any = None
        for number in range(request.since_version, request.since_version + _SETS_LATER + 1):
            try:
                made = factory("opset%d" % number).create(
                    _SPELT.get(request.name, request.name), arguments, dict(request.attributes)
                )
                break
            except RuntimeError as error:
                if _NO_SUCH not in str(error) or number == request.since_version + _SETS_LATER:
                    raise
        if request.outputs and not made.outputs():
            raise protocol.Unsupported(
                "the number of outputs of %s depends on a dynamic dimension" % request.name
            )
        return self._openvino.Model(made.outputs(), list(parameters.values()), request.name)

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        tensors = {name: self._to_tensor(each) for name, each in inputs.items() if name in model.ports}
        for name, tensor in tensors.items():
            model.request.set_tensor(model.ports[name], tensor)
        if model.watch.looks:
            model.watch.given({name: tensor.data for name, tensor in tensors.items() if _has_data(tensor)})
        model.request.infer()
        outputs = [self._from_tensor(model.request.get_output_tensor(each)) for each in range(model.outputs)]
        # What lies in a request's own tensors is there until it runs again: OpenVINO says so.
        return model.watch.returned([], outputs)

    def _to_tensor(self, tensor: protocol.WireTensor) -> Any:
        if tensor.element_type == "string":
            return self._to_strings(tensor)
        made = self._openvino.Tensor(self._type(tensor.element_type), list(tensor.shape))
        stored = wire.to_storage(tensor)
        if tensor.element_type in wire.PACKED:
            made.data.view(np.uint8)[...] = wire.pack(tensor.element_type, stored)
        elif stored.size:
            # bfloat16 and float8 show themselves to numpy as other types of the same width.
            made.data.view(stored.dtype)[...] = stored
        return made

    def _type(self, element_type: str) -> Any:
        if element_type not in self._types:
            raise protocol.Unsupported("OpenVINO has no element type %s" % element_type)
        return self._types[element_type]

    def _to_strings(self, tensor: protocol.WireTensor) -> Any:
        texts = wire.to_bytes(tensor).reshape(-1).tolist()
        if any(text.endswith(b"\0") for text in texts):
            raise protocol.Unsupported("the Python interface of OpenVINO drops NUL at the end of a string")
        made = self._openvino.Tensor(self._types["string"], list(tensor.shape))
        if texts:
            made.bytes_data = np.array(texts, dtype=np.bytes_).reshape(tensor.shape)
        return made

    def _from_tensor(self, tensor: Any) -> Any:
        name = self._names.get(tensor.element_type.get_type_name())
        shape = tuple(tensor.shape)
        if name is None:
            return protocol.NotTensor(tensor)
        if name == "string":
            return wire.from_numpy(np.array(tensor.bytes_data, dtype=object).reshape(shape))
        if name in wire.PACKED:
            return wire.from_storage(name, wire.unpack(name, tensor.data.view(np.uint8), shape))
        if name in wire.STORAGE:
            return wire.from_storage(name, tensor.data.view(wire.STORAGE[name]))
        return wire.from_numpy(tensor.data)


def _has_data(tensor: Any) -> bool:
    return bool(tensor.element_type.get_type_name() != "string")


def _ports_by_name(request: protocol.LoadRequest, ports: Sequence[Any]) -> Dict[str, Any]:
    """The compiled model's inputs by the names that `run` has for them; one that is not used has no port.

    Where an output is nothing but an input (Dropout), 2026.4.1 calls the input by the output's name: such a
    port belongs to the first of the names left over that has its rank, and fits its extents.
    """
    shapes = {
        each[0]: each[2] for each in request.inputs if each is not None and each[0] not in request.constants
    }
    found = {name: port for port in ports for name in port.get_names() if name in shapes}
    taken = [id(port) for port in found.values()]
    for port in ports:
        if id(port) not in taken:
            fitting = [name for name in shapes if name not in found and _fits(port, shapes[name])]
            if not fitting:
                raise protocol.WorkerFault("no input of the request is the model's %s" % port)
            found[fitting[0]] = port
    return found


def _fits(port: Any, shape: Sequence[Any]) -> bool:
    partial = port.get_partial_shape()
    if partial.rank.is_dynamic:
        return True
    if len(partial) != len(shape):
        return False
    return all(
        partial[axis].is_dynamic or shape[axis] is None or partial[axis].get_length() == shape[axis]
        for axis in range(len(shape))
    )


def _version(module: Any) -> str:
    """The release alone: `2026.4.1` of `2026.4.1-22982-e213a147257-releases/2026/4`."""
    return str(module.__version__).partition("-")[0]


if __name__ == "__main__":
    protocol.serve(OpenvinoWorker)
