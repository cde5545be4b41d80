"""The worker for Apache TVM: ONNX models imported into relax, and compiled for the CPU by LLVM."""

from __future__ import annotations

import os
import warnings
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

# Of 4-bit integers its tensors hold two in a byte, which numpy does not fill.
_FURTHER = ("bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")


class _Model(NamedTuple):
    machine: Any
    order: List[str]
    watch: watched_memory.Watch


class ApacheTvmWorker(protocol.Worker):
    """Virtual machines of relax, of one model each; initializers are constants of the program."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        os.environ["TVM_NUM_THREADS"] = "1"  # its threads would wait for work in a loop
        warnings.simplefilter("ignore")
        self._onnx = import_module("onnx")
        self._tvm = import_module("tvm")
        self._relax = import_module("tvm.relax")
        self._import = import_module("tvm.relax.frontend.onnx").from_onnx
        self._target = self._tvm.target.Target("llvm")

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "apache-tvm", "version": str(self._tvm.__version__)},
            "domains": {"*": "onnx"},
            "forms": ["initializers", "inputs", "dynamic", "strided", "again", "untouched"],
            "devices": ["CPU"],
            "element_types": [*wire.REAL, *_FURTHER],
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        model = self._onnx.load_model_from_string(request.demand_onnx())
        order = [each.name for each in model.graph.input]
        module = self._import(model, keep_params_in_input=False)
        compiled = self._tvm.compile(module, target=self._target)
        machine = self._relax.VirtualMachine(compiled, self._tvm.cpu())
        return _Model(machine, order, watched_memory.watch_for(request))

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        arrays = {name: wire.to_numpy(inputs[name]) for name in model.order}
        model.watch.given(arrays)
        tensors = [self._tvm.runtime.tensor(each, self._tvm.cpu()) for each in arrays.values()]
        returned = model.machine["main"](*tensors)
        several = returned if isinstance(returned, self._tvm.ir.Array) else [returned]
        # Arrays are copied into its tensors, and tensors into arrays: of where they lie nothing is known.
        return model.watch.returned([], [_from_tensor(each) for each in several])


def _from_tensor(value: Any) -> Any:
    array = value.numpy() if hasattr(value, "numpy") else None
    return wire.from_numpy(array) if isinstance(array, np.ndarray) else protocol.NotTensor(value)


if __name__ == "__main__":
    protocol.serve(ApacheTvmWorker)
