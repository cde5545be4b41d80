"""The worker for optimisers of ONNX models: each model runs on ONNX Runtime before and after.

ONNX Runtime's own optimisation is off. In the form `initializers` every input is a constant, the first one as
well, so that there is something to fold. An answer says whether it is that of the model before (`kept`).
"""

from __future__ import annotations

from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Sequence

if TYPE_CHECKING:
    from conformance.workers import onnxruntime_worker as onnxruntime
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import onnxruntime_worker as onnxruntime
    import wire_arrays as wire
    import worker_protocol as protocol


_SECONDS = 5
_TIMES = 4
"""So often answers that differ are asked for again: what reads memory that nobody wrote differs by itself."""


class RefusedBefore(Exception):
    """The model does not run, or not twice alike, before it is optimised: nothing can be compared."""


class _Outputs(List[Any]):
    kept: bool


class _Model(NamedTuple):
    request: protocol.LoadRequest
    content: bytes
    constant: bool


def _onnxoptimizer(module: Any, model: Any) -> Any:
    return module.optimize(model)


def _onnxsim(module: Any, model: Any) -> Any:
    return module.simplify(model)[0]


def _onnxslim(module: Any, model: Any) -> Any:
    return module.slim(model)


def _onnxscript(module: Any, model: Any) -> Any:
    return module.optimizer.optimize(model)


_OPTIMIZERS: Dict[str, Callable[[Any, Any], Any]] = {
    "onnxoptimizer": _onnxoptimizer,
    "onnxsim": _onnxsim,
    "onnxslim": _onnxslim,
    "onnxscript": _onnxscript,
}


class OptimizerWorker(protocol.Worker):
    """Models before and after one optimiser."""

    def __init__(self, options: Dict[str, str]) -> None:
        self._name = options["optimizer"]
        self._optimize = _OPTIMIZERS[self._name]
        self._onnx = import_module("onnx")
        self._module = import_module(self._name)
        if self._name == "onnxscript":
            import_module("onnxscript.optimizer")
        self._plain = onnxruntime.OnnxRuntimeWorker({"optimization": "none"})

    def hello(self) -> protocol.Header:
        offered = self._plain.hello()
        return {
            "runtime": {"name": self._name, "version": metadata.version(self._name)},
            "domains": {"*": "onnx"},
            "forms": ["initializers", "inputs", "dynamic"],
            "loads": False,
            "devices": offered["devices"],
            "values": offered["values"],
            "element_types": None,
            "x_settings": {"onnxruntime": offered["runtime"]["version"], **offered["x_settings"]},
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        return _Model(request, request.demand_onnx(), request.form == "initializers")

    def run(self, model: _Model, inputs: Dict[str, Any]) -> Sequence[Any]:
        try:
            graph = self._onnx.load_model_from_string(model.content)
            if model.constant:
                inputs = self._as_constants(graph, inputs)
            content = graph.SerializeToString()
            ended = onnxruntime.try_apart(lambda: self._answer(model.request, content, inputs), _SECONDS)
            # A child may wait for threads that it does not have: what takes long is tried here all the same.
            ended = "" if ended == "SIGALRM" else ended
            before = [] if ended else self._answer(model.request, content, inputs)
        except Exception as error:
            raise RefusedBefore("%s: %s" % (type(error).__name__, error)) from error
        if ended:
            raise RefusedBefore("the model ends the process by %s" % ended)
        optimised = self._optimize(self._module, graph).SerializeToString()
        outputs = _Outputs(self._answer_after(model.request, optimised, inputs))
        outputs.kept = list(outputs) == before
        for _ in range(0 if outputs.kept else _TIMES):
            again = self._answer(model.request, content, inputs)
            if again != before or self._answer_after(model.request, optimised, inputs) != list(outputs):
                raise RefusedBefore("the model answers otherwise each time")
        return outputs

    def _as_constants(self, model: Any, inputs: Dict[str, Any]) -> Dict[str, Any]:
        """Make constants of a model's inputs where ONNX's Python package can; what is left is returned."""
        rest: Dict[str, Any] = {}
        for name, value in inputs.items():
            known = isinstance(value, protocol.WireTensor) and value.element_type not in wire.STORAGE
            if known and value.element_type != "string":
                array = wire.to_numpy(value)
                model.graph.initializer.append(self._onnx.numpy_helper.from_array(array, name))
            else:
                rest[name] = value
        left = [each for each in model.graph.input if each.name in rest]
        del model.graph.input[:]
        model.graph.input.extend(left)
        return rest

    def _answer_after(
        self, request: protocol.LoadRequest, content: bytes, inputs: Dict[str, Any]
    ) -> Sequence[Any]:
        try:
            return self._answer(request, content, inputs)
        except Exception as error:
            # Under the runtime's own name, so that its words for what it does not offer are known.
            kind = type(type(error).__name__, (Exception,), {})
            raise kind("what %s made does not run: %s" % (self._name, error)) from error

    def _answer(self, request: protocol.LoadRequest, content: bytes, inputs: Dict[str, Any]) -> Sequence[Any]:
        request.onnx = content
        loaded = self._plain.load(request)
        taken = {each.name for each in loaded.session.get_inputs()}
        return list(self._plain.run(loaded, {name: each for name, each in inputs.items() if name in taken}))


if __name__ == "__main__":
    protocol.serve(OptimizerWorker)
