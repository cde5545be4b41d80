"""The worker for tinygrad: ONNX models through its importer, each kernel compiled for the CPU by clang."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Sequence

import numpy as np

if TYPE_CHECKING:
    from conformance.workers import watched_memory
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import watched_memory
    import wire_arrays as wire
    import worker_protocol as protocol


class _Model(NamedTuple):
    runner: Any
    watch: watched_memory.Watch


class TinygradWorker(protocol.Worker):
    """Graphs that are built anew from the model at each run, as its importer does it."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        os.environ["DEV"] = "CPU"
        found = sorted((Path(sys.prefix) / "bin").glob("clang-[1-9]*"))
        if found:  # the one that was installed beside it, and no other one of the machine
            os.environ["CC"] = str(found[-1])
        self._tensor = import_module("tinygrad").Tensor
        self._types = import_module("tinygrad").dtypes
        self._runner = import_module("tinygrad.nn.onnx").OnnxRunner
        # Without a compiler nothing runs: that is told before the first case.
        (self._tensor([1.0]) + 1).tolist()

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "tinygrad", "version": version("tinygrad")},
            "domains": {"*": "onnx"},
            "forms": ["inputs", "initializers", "dynamic", "strided", "again", "untouched"],
            "devices": ["CPU"],
            "element_types": [*wire.REAL, "bfloat16"],
            "loads": False,
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        held = self._tensor(np.frombuffer(request.demand_onnx(), np.uint8).copy())
        return _Model(self._runner(held), watched_memory.watch_for(request))

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        arrays = {name: wire.to_storage(each) for name, each in inputs.items()}
        model.watch.given(arrays)
        returned = model.runner(
            {name: self._to_tensor(arrays[name], each.element_type) for name, each in inputs.items()}
        )
        # What it holds is copied into arrays: of where it lies nothing is known.
        return model.watch.returned([], [self._from_tensor(each) for each in returned.values()])

    def _to_tensor(self, array: Any, element_type: str) -> Any:
        made = self._tensor(array)
        return made.bitcast(self._types.bfloat16) if element_type == "bfloat16" else made

    def _from_tensor(self, value: Any) -> Any:
        if not isinstance(value, self._tensor):
            return protocol.NotTensor(value)
        if value.dtype == self._types.bfloat16:  # numpy() would widen it
            return wire.from_storage("bfloat16", value.bitcast(self._types.uint16).numpy())
        return wire.from_numpy(value.numpy())


if __name__ == "__main__":
    protocol.serve(TinygradWorker)
