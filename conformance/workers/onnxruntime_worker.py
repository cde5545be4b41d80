"""The worker for ONNX Runtime, on the CPU or on one other execution provider.

On another provider the CPU does not step in, unless `fallback` is on; what it computed then is no answer of
the provider's, and the worker says so (`FellBack`). Settings make a run repeatable and a worker cheap: one
thread, no profiling, no log. Element types that numpy lacks travel as OrtValue, bit for bit.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
from collections import Counter
from contextlib import suppress
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Sequence

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
_SECONDS = 30

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


class _Never:
    """In place of a session's wish to try the CPU where its provider fails, which would hide why."""

    def __get__(self, session: Any, kind: Any = None) -> bool:
        return False

    def __set__(self, session: Any, value: Any) -> None:
        pass


class FellBack(Exception):
    """Not the provider that is asked about computed, or not alone."""


class _Model:
    __slots__ = ("fell_back", "outputs", "session", "through_values", "types", "watch")

    def __init__(self, session: Any, watch: watched_memory.Watch) -> None:
        self.fell_back = ""
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
        self._options = options
        self._session = type("Session", (self._ort.InferenceSession,), {"_enable_fallback": _Never()})
        self._level = options.get("optimization", "all")
        self._provider = options.get("provider", "CPU") + _PROVIDER
        self._device: Any = None
        self._version = str(self._ort.__version__)
        library = options.get("library") or ""
        if "package" in options:
            self._version = metadata.version(options["package"])
            library = "" if "provider" in options else _library_of(options["package"])
        if library:
            short = options.get("package", "").replace("onnxruntime-", "").replace("ep-", "")
            self._register(library, options.get("name") or short)
        else:
            self._check_offered()
        self._alone = self._provider != "CPU" + _PROVIDER
        if self._alone and not hasattr(self._ort.InferenceSession, "get_provider_graph_assignment_info"):
            raise ValueError("ONNX Runtime %s does not say which nodes ran where; ask 1.24 or newer"
                             % self._ort.__version__)  # fmt: skip
        self._by_threads = {
            count: self._make_settings(count) for count in _THREADS[: 1 if self._alone else None]
        }
        self._check_installation()

    def _check_offered(self) -> None:
        offered = [each[: -len(_PROVIDER)] for each in self._ort.get_available_providers()]
        asked = self._provider[: -len(_PROVIDER)]
        if asked not in offered:
            message = "no provider %r here; offered: %s" % (asked, ", ".join(offered))
            near = [each for each in offered if each.lower() == asked.lower()]
            raise ValueError(message + "".join("; did you mean %s?" % each for each in near))

    def _register(self, library: str, name: str) -> None:
        """Load a plug-in and choose its provider: the one of that name, else the first that has a device."""
        if not hasattr(self._ort, "register_execution_provider_library"):
            raise ValueError("ONNX Runtime %s takes no plug-ins; ask 1.24 or newer" % self._ort.__version__)
        before = {each.ep_name for each in self._ort.get_ep_devices()}
        ended = try_apart(lambda: self._ort.register_execution_provider_library(name, library), _SECONDS)
        if ended:
            told = "the provider's library %s ends the process that loads it (%s); name another build of it"
            raise ValueError(told % (library, ended))
        self._ort.register_execution_provider_library(name, library)
        devices = [each for each in self._ort.get_ep_devices() if each.ep_name not in before]
        if not devices:
            raise ValueError(
                "the provider's library %s was loaded, and has no device on this machine" % library
            )
        self._device = next((each for each in devices if each.ep_name == name), devices[0])
        self._provider = self._device.ep_name
        if "package" not in self._options:
            self._version = str(self._device.ep_metadata.get("version", self._version))

    def _make_settings(self, threads: int) -> Any:
        settings = self._ort.SessionOptions()
        settings.intra_op_num_threads = threads
        settings.inter_op_num_threads = 1
        settings.log_severity_level = 4
        settings.use_deterministic_compute = True
        settings.graph_optimization_level = getattr(self._ort.GraphOptimizationLevel, _LEVELS[self._level])
        if self._alone:
            settings.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
            if self._options.get("fallback") != "on":
                settings.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        if self._device is not None:
            settings.add_provider_for_devices([self._device], self._settings_of_provider())
        return settings

    def _settings_of_provider(self) -> Dict[str, str]:
        parts = [each.partition("=") for each in self._options.get("options", "").split(";") if each.strip()]
        return {name.strip(): value.strip() for name, _, value in parts}

    def _open(self, model: bytes, settings: Any) -> Any:
        if self._device is not None:
            return self._session(model, settings)
        providers = [(self._provider, self._settings_of_provider())]
        return self._session(model, settings, providers=providers)

    def _check_installation(self) -> None:
        """Run something: an installation that does not fit its numpy dies here, not at the first case."""
        if self._alone:
            # A provider need not take Identity: whether it takes options of its own is seen all the same.
            self._check_settings()
        settings = self._ort.SessionOptions() if self._alone else self._by_threads[_THREADS[0]]
        providers = ["CPU" + _PROVIDER] if self._alone else [self._provider]
        session = self._ort.InferenceSession(_IDENTITY, settings, providers=providers)
        (returned,) = session.run(None, {"x": np.ones(1, np.float32)})
        if returned.tolist() != [1.0]:
            raise RuntimeError("this installation answers %r to Identity of [1.0]" % (returned,))

    def _check_settings(self) -> None:
        try:
            self._open(_IDENTITY, self._by_threads[_THREADS[0]])
        except Exception as error:
            if "fallback to CPU EP has been explicitly disabled" not in str(error):
                raise

    def hello(self) -> protocol.Header:
        options = self._options
        library = "onnxruntime-" + options["name"] if "library" in options else "onnxruntime"
        settings: Dict[str, Any] = {
            "provider": self._provider.replace(_PROVIDER, ""),
            "optimization": self._level,
            "threads": 1,
            "deterministic_compute": True,
        }
        if self._alone:
            settings["onnxruntime"] = str(self._ort.__version__)
            settings["fallback"] = options.get("fallback", "off")
        # How many threads a provider has it decides by itself.
        threads = [] if self._alone else ["threads"]
        return {
            "runtime": {"name": options.get("package", library), "version": self._version},
            "domains": {"*": "onnx"},
            "forms": ["inputs", "initializers", "dynamic", "strided", "again", "untouched", *threads],
            "devices": [self._provider.replace(_PROVIDER, "")],
            "threads": list(self._by_threads),
            "values": ["map", "optional", "sequence"],
            "element_types": None,
            "x_settings": settings,
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        settings = self._by_threads[request.threads or _THREADS[0]]
        session = self._open(request.demand_onnx(), settings)
        model = _Model(session, watched_memory.watch_for(request))
        if self._alone:
            model.fell_back = self._ran_elsewhere(session)
            if model.fell_back and self._options.get("fallback") != "on":
                raise FellBack(model.fell_back)
        return model

    def _ran_elsewhere(self, session: Any) -> str:
        """Which nodes are given to others than the provider, in words; empty where there are none."""
        found: Dict[str, Counter[str]] = {}
        for part in session.get_provider_graph_assignment_info():
            found.setdefault(part.ep_name, Counter()).update(node.op_type for node in part.get_nodes())
        if not found:
            return "no node came to %s: ONNX Runtime's own optimisation left none" % self._provider
        told = [
            "%s ran %s" % (name, ", ".join("%s (%d)" % (kind, count) if count > 1 else kind
                                           for kind, count in sorted(kinds.items())))
            for name, kinds in sorted(found.items(), key=lambda each: each[0] == self._provider)
        ]  # fmt: skip
        return "" if set(found) == {self._provider} else "; ".join(told)

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        if model.fell_back:
            try:
                self._run(model, inputs)
            except Exception as error:
                raise FellBack("%s; it fails: %s" % (model.fell_back, error)) from error
            raise FellBack(model.fell_back)
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


def try_apart(work: Callable[[], Any], seconds: int) -> str:
    """How some work, at most so long, ends a child that does it, in a word; empty where it survives."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        faulthandler.disable()
        with suppress(BaseException):
            work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status == 0:
        return ""
    return signal.Signals(status & 127).name if status & 127 else "status %d" % (status >> 8)


def _library_of(package: str) -> str:
    """The one library of a package that is a plug-in; raises ValueError where there is none."""
    found = [
        str(Path(str(file.locate())).resolve())
        for file in metadata.files(package) or ()
        if file.suffix in (".so", ".dylib", ".dll") and b"CreateEpFactories" in file.read_binary()
    ]
    if len(found) != 1:
        told = "libraries %s" % ", ".join(found) if found else "no library"
        raise ValueError(
            "the package %s has %s with CreateEpFactories; name one by ep=/path" % (package, told)
        )
    return found[0]


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
