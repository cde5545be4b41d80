"""The worker for nxrt, a runtime in Rust: ONNX models on its own kernels for the CPU."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Sequence

if TYPE_CHECKING:
    from conformance.workers import watched_memory
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import watched_memory
    import wire_arrays as wire
    import worker_protocol as protocol


class _Model(NamedTuple):
    session: Any
    watch: watched_memory.Watch


class PanicException(Exception):
    """A panic of Rust, which ends no process: pyo3 raises it past whoever expects an Exception."""


class NxrtWorker(protocol.Worker):
    """Sessions of one model each; there is nothing to set."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        self._nxrt = import_module("nxrt")

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "nxrt", "version": str(self._nxrt.__version__)},
            "domains": {"*": "onnx"},
            "forms": ["inputs", "initializers", "dynamic", "strided", "again", "untouched"],
            "devices": ["CPU"],
            "element_types": [*wire.REAL, "bfloat16"],
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        session = _told(lambda: self._nxrt.InferenceSession(request.demand_onnx()))
        return _Model(session, watched_memory.watch_for(request))

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        taken = set(model.session.input_names)  # one that no node uses is refused
        arrays = {name: wire.to_numpy(each) for name, each in inputs.items() if name in taken}
        model.watch.given(arrays)
        returned = _told(lambda: model.session.run(None, arrays))
        outputs = [wire.from_numpy(each) for each in returned]
        return model.watch.returned(returned, outputs)


def _told(call: Callable[[], Any]) -> Any:
    """What a call returns; a panic in it becomes an error like any other."""
    try:
        return call()
    except BaseException as error:
        if type(error).__name__ == PanicException.__name__:
            raise PanicException(str(error)) from error
        raise


if __name__ == "__main__":
    protocol.serve(NxrtWorker)
