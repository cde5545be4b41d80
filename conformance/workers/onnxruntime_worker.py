"""The worker for ONNX Runtime.

Settings that make a run repeatable and a worker cheap: one thread, no profiling, no log. Element types that
numpy lacks travel as OrtValue, bit for bit.
"""

from __future__ import annotations

import ctypes
from importlib import import_module
from typing import TYPE_CHECKING, Any, Dict, List, Sequence

import numpy as np

if TYPE_CHECKING:
    from conformance.workers import watched_memory
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import watched_memory
    import wire_arrays as wire
    import worker_protocol as protocol

_LEVELS = {
    "all": "ORT_ENABLE_ALL",
    "none": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
}

_PROVIDER = "ExecutionProvider"

# How many threads may compute one operator: one, so that runs are repeatable, unless `load` asks for more.
_THREADS = (1, 2, 4)

# Element types that numpy lacks: their number in ONNX's TensorProto.
_EXTENDED = {
    name: number
    for number, name in enumerate(
        ("bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4", "int4",
         "float4e2m1", "float8e8m0", "uint2", "int2", "float6e2m3", "float6e3m2"),
        start=16,
    )
}  # fmt: skip

# One Identity of one float, opset 9, IR version 4.
_IDENTITY = (
    b'\x08\x04:7\n\x10\n\x01x\x12\x01y"\x08Identity\x12\x01gZ\x0f\n\x01x\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01'
    b"b\x0f\n\x01y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01B\x02\x10\t"
)


class _Model:
    __slots__ = ("outputs", "session", "through_values", "types", "watch")

    def __init__(self, session: Any, watch: watched_memory.Watch) -> None:
        self.session = session
        self.watch = watch
        self.outputs: List[str] = [output.name for output in session.get_outputs()]
        self.types: List[str] = [output.type for output in session.get_outputs()]
        # Only types that numpy lacks take the longer way.
        types = [each.type for each in list(session.get_inputs()) + list(session.get_outputs())]
        self.through_values = any(_element_type(each) in _EXTENDED for each in types)
        lacking = [each for each in types for name in _EXTENDED if "(tensor(%s)" % name in each]
        if lacking:
            raise protocol.Unsupported("the Python interface of ONNX Runtime has no %s" % lacking[0])


class OnnxRuntimeWorker(protocol.Worker):
    """Sessions on one execution provider."""

    def __init__(self, options: Dict[str, str]) -> None:
        self._ort = import_module("onnxruntime")
        self._ort.set_default_logger_severity(4)
        self._provider = options.get("provider", "CPU")
        self._level = options.get("optimization", "all")
        offered = [provider[: -len(_PROVIDER)] for provider in self._ort.get_available_providers()]
        if self._provider not in offered:
            message = "no provider %r here; offered: %s" % (self._provider, ", ".join(offered))
            near = [each for each in offered if each.lower() == self._provider.lower()]
            raise ValueError(message + "".join("; did you mean %s?" % each for each in near))
        self._providers = [self._provider + _PROVIDER]
        self._by_threads = {count: self._make_settings(count) for count in _THREADS}
        self._check_installation()

    def _make_settings(self, threads: int) -> Any:
        settings = self._ort.SessionOptions()
        settings.intra_op_num_threads = threads
        settings.inter_op_num_threads = 1
        settings.log_severity_level = 4
        settings.use_deterministic_compute = True
        settings.graph_optimization_level = getattr(self._ort.GraphOptimizationLevel, _LEVELS[self._level])
        return settings

    def _check_installation(self) -> None:
        """Run something: an installation that does not fit its numpy dies here, not at the first case."""
        session = self._ort.InferenceSession(
            _IDENTITY, self._by_threads[_THREADS[0]], providers=list(self._providers)
        )
        (returned,) = session.run(None, {"x": np.ones(1, np.float32)})
        if returned.tolist() != [1.0]:
            raise RuntimeError("this installation answers %r to Identity of [1.0]" % (returned,))

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "onnxruntime", "version": str(self._ort.__version__)},
            "domains": {"*": "onnx"},
            "forms": ["inputs", "initializers", "dynamic", "strided", "again", "untouched", "threads"],
            "devices": [self._provider],
            "threads": list(_THREADS),
            "values": ["map", "optional", "sequence"],
            "element_types": None,
            "x_settings": {
                "provider": self._provider,
                "optimization": self._level,
                "threads": 1,
                "deterministic_compute": True,
            },
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        # The session's constructor changes the list that it is given, when it falls back.
        providers = list(self._providers)
        settings = self._by_threads[request.threads or _THREADS[0]]
        session = self._ort.InferenceSession(request.demand_onnx(), settings, providers=providers)
        return _Model(session, watched_memory.watch_for(request))

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        try:
            return self._run(model, inputs)
        except UnicodeEncodeError:
            raise protocol.Unsupported(
                "the Python interface of ONNX Runtime takes strings in UTF-8 alone"
            ) from None

    def _run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        if not all(_is_passed(value) for value in inputs.values()):
            raise protocol.Unsupported(
                "the Python interface of ONNX Runtime takes maps to floats alone, and none without entries"
            )
        if not model.through_values:
            arrays = {name: wire.to_plain(each) for name, each in inputs.items()}
            model.watch.given(arrays)
            returned = model.session.run(None, arrays)
            outputs = [wire.from_plain(each, kind) for each, kind in zip(returned, model.types)]  # noqa: B905
            return model.watch.returned(returned, outputs)
        values = {name: self._to_value(each) for name, each in inputs.items()}
        returned = model.session.run_with_ort_values(model.outputs, values)
        return [_from_value(each) for each in returned]

    def _to_value(self, tensor: protocol.WireTensor) -> Any:
        kinds = self._ort.OrtValue
        if tensor.element_type not in _EXTENDED:
            return kinds.ortvalue_from_numpy(wire.to_numpy(tensor))
        if not hasattr(kinds, "ortvalue_from_numpy_with_onnx_type"):
            raise protocol.Unsupported(
                "the Python interface of this ONNX Runtime takes no %s" % tensor.element_type
            )
        code, stored = _EXTENDED[tensor.element_type], wire.to_storage(tensor)
        if tensor.element_type not in wire.PACKED:
            return kinds.ortvalue_from_numpy_with_onnx_type(stored, code)
        value = kinds.ortvalue_from_shape_and_type(tensor.shape, code)
        raw = wire.pack(tensor.element_type, stored).tobytes()
        ctypes.memmove(value.data_ptr(), raw, len(raw))
        return value


def _is_passed(value: Any) -> bool:
    """Whether the interface, which tells the type of a dictionary by its entries, can pass a value."""
    if not isinstance(value, protocol.WireMap):
        return True
    return value.values.element_type == "float" and value.values.shape[0] > 0


def _from_value(value: Any) -> Any:
    if not value.is_tensor():
        return protocol.NotTensor(value)
    name = _element_type(value.data_type())
    if name not in _EXTENDED:
        return wire.from_numpy(value.numpy())
    shape = tuple(value.shape())
    count = int(np.prod(shape, dtype=np.int64))
    plain = np.dtype(wire.STORAGE[name])
    size = -(-count * wire.PACKED[name] // 8) if name in wire.PACKED else count * plain.itemsize
    raw = ctypes.string_at(value.data_ptr(), size) if count else b""
    if name in wire.PACKED:
        return wire.from_storage(name, wire.unpack(name, np.frombuffer(raw, np.uint8), shape))
    return wire.from_storage(name, np.frombuffer(raw, plain).reshape(shape))


def _element_type(text: str) -> str:
    """`bfloat16` of `tensor(bfloat16)`; ONNX Runtime's names are ONNX's."""
    return text[len("tensor(") : -1] if text.startswith("tensor(") else text


if __name__ == "__main__":
    protocol.serve(OnnxRuntimeWorker)
