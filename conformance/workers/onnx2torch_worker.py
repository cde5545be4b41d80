"""The worker for onnx2torch: ONNX models that it converts, computed by PyTorch on the CPU."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Sequence

if TYPE_CHECKING:
    from conformance.workers import watched_memory
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import watched_memory
    import wire_arrays as wire
    import worker_protocol as protocol


class _Model(NamedTuple):
    module: Any
    order: List[str]
    watch: watched_memory.Watch


class Onnx2TorchWorker(protocol.Worker):
    """Modules of one model each, told that they are not trained."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        self._torch = import_module("torch")
        self._onnx = import_module("onnx")
        try:
            import_module("torchvision")
        except RuntimeError:
            # Where its library does not load, which one made for another processor does not, it still wants
            # to describe two operators of it. What calls them says then that they are not there.
            self._named = self._torch.library.Library("torchvision", "FRAGMENT")
            for each in ("nms", "qnms"):
                self._named.define(each + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        self._convert = import_module("onnx2torch").convert
        self._torch.set_grad_enabled(False)

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "onnx2torch", "version": version("onnx2torch")},
            "domains": {"*": "onnx"},
            "forms": ["initializers", "inputs", "dynamic", "strided", "again", "untouched"],
            "devices": ["CPU"],
            "element_types": [*wire.REAL, "bfloat16", "complex64", "complex128"],
            "x_settings": {"torch": str(self._torch.__version__)},
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        model = self._onnx.load_model_from_string(request.demand_onnx())
        order = [each.name for each in model.graph.input]
        return _Model(self._convert(model).eval(), order, watched_memory.watch_for(request))

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        arrays = {name: wire.to_storage(inputs[name]) for name in model.order}
        model.watch.given(arrays)
        returned = model.module(
            *[self._to_tensor(array, inputs[name].element_type) for name, array in arrays.items()]
        )
        several = list(returned) if isinstance(returned, (list, tuple)) else [returned]
        values = [self._from_tensor(each) for each in several]
        return model.watch.returned(values, [wire.from_numpy(each) for each in values])

    def _to_tensor(self, array: Any, element_type: str) -> Any:
        made = self._torch.from_numpy(array)
        return made.view(self._torch.bfloat16) if element_type == "bfloat16" else made

    def _from_tensor(self, value: Any) -> Any:
        """The array of a tensor, in the same memory; what is none as it is."""
        if not isinstance(value, self._torch.Tensor):
            return value
        if value.dtype == self._torch.bfloat16:
            return value.view(self._torch.uint16).numpy().view(import_module("ml_dtypes").bfloat16)
        return value.numpy()


if __name__ == "__main__":
    protocol.serve(Onnx2TorchWorker)
