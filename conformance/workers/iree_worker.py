"""The worker for IREE: ONNX models through its importer, compiled by its compiler, run on the CPU."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence

import numpy as np

if TYPE_CHECKING:
    from conformance.workers import watched_memory
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import watched_memory
    import wire_arrays as wire
    import worker_protocol as protocol


class CompilerToolError(Exception):
    """What IREE's compiler says, without its command line; named as IREE's own class is."""


class _Model(NamedTuple):
    call: Any
    order: List[str]
    outputs: List[Any]
    watch: watched_memory.Watch


class IreeWorker(protocol.Worker):
    """Modules that are compiled once, for the processor that this is; each call is one of theirs."""

    def __init__(self, options: Dict[str, str]) -> None:
        self._target = options.get("target", "llvm-cpu")
        self._onnx = import_module("onnx")
        self._compiler = import_module("iree.compiler")
        self._importer = import_module("iree.compiler.extras.onnx_importer")
        self._context = import_module("iree.compiler.ir").Context
        self._runtime = import_module("iree.runtime")
        self._configured = self._runtime.Config("local-sync")

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "iree", "version": version("iree-base-compiler")},
            "domains": {"*": "onnx"},
            "forms": ["inputs", "initializers", "dynamic", "again", "untouched"],
            "devices": ["CPU"],
            "element_types": wire.REAL,
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        model = self._onnx.load_model_from_string(request.demand_onnx())
        order = [each.name for each in model.graph.input]
        context = self._runtime.SystemContext(config=self._configured)
        module = self._runtime.VmModule.copy_buffer(self._configured.vm_instance, self._compile(model))
        context.add_vm_module(module)
        call = context.modules[module.name][model.graph.name]
        dtype_of = self._onnx.helper.tensor_dtype_to_np_dtype
        outputs = [dtype_of(each.type.tensor_type.elem_type) for each in model.graph.output]
        return _Model(call, order, outputs, watched_memory.watch_for(request))

    def _compile(self, model: Any) -> bytes:
        """What its command `iree-import-onnx` does, and then its compiler."""
        inferred = self._onnx.shape_inference.infer_shapes(model, data_prop=True)
        context = self._context()
        context.allow_unregistered_dialects = True
        with context:
            information = self._importer.ModelInfo(inferred)
            module = information.create_module(context=context).operation
            self._importer.NodeImporter.define_function(information.main_graph, module).import_all()
            text = str(module)
        further = ["--iree-input-demote-f64-to-f32=false"]  # doubles stay doubles
        if self._target == "llvm-cpu":
            further.append("--iree-llvmcpu-target-cpu=host")
        try:
            compiled: bytes = self._compiler.compile_str(
                text, target_backends=[self._target], input_type="auto", extra_args=further
            )
        except self._compiler.CompilerToolError as error:
            raise CompilerToolError(_first_error(str(error))) from None
        return compiled

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        arrays = {name: wire.to_numpy(inputs[name]) for name in model.order}
        model.watch.given(arrays)
        returned = model.call(*arrays.values())
        several = returned if isinstance(returned, (tuple, list)) else [returned]
        # What it holds is copied into arrays: of where it lies nothing is known.
        due = dict(enumerate(model.outputs))
        outputs = [_signed_as(each, due.get(place)) for place, each in enumerate(several)]
        return model.watch.returned([], [wire.from_numpy(each) for each in outputs])


def _signed_as(value: Any, due: Optional[Any]) -> Any:
    """An array of a module's, whose integers have no sign of their own: it is the model's."""
    array = np.asarray(value.to_host() if hasattr(value, "to_host") else value)
    if due is None or array.dtype.kind not in "iu" or due.kind not in "iu":
        return array
    return array.view(due) if array.dtype.itemsize == due.itemsize else array


def _first_error(told: str) -> str:
    """The first error of the compiler's diagnostics, with the operator that it is about, in one line."""
    found = re.search(r"error: (.*)", told)
    if found is None:
        ended = re.search(r"Error code: (-?\d+)", told)
        return "iree-compile ended with error code %s" % (ended[1] if ended else "unknown")
    operator = re.search(r'"(onnx\.\w+)"', found[1])
    said = re.sub(r": %\d+ = .*", "", found[1])
    return "%s: %s" % (said, operator[1]) if operator else said


if __name__ == "__main__":
    protocol.serve(IreeWorker)
