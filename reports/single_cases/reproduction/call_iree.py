"""IREE: what its command iree-import-onnx does, its compiler, and its runtime on the CPU."""

from __future__ import annotations

from typing import Any

import iree.compiler
import iree.compiler.extras.onnx_importer
import iree.compiler.ir
import iree.runtime
import numpy as np
import onnx.shape_inference

TARGET = "llvm-cpu"


def prepare(model: Any) -> Any:
    importer = iree.compiler.extras.onnx_importer
    with iree.compiler.ir.Context() as context:
        context.allow_unregistered_dialects = True
        read = importer.ModelInfo(onnx.shape_inference.infer_shapes(model, data_prop=True))
        module = read.create_module(context=context).operation
        importer.NodeImporter.define_function(read.main_graph, module).import_all()
        text = str(module)
    further = ["--iree-input-demote-f64-to-f32=false"]  # doubles stay doubles
    further += ["--iree-llvmcpu-target-cpu=host"] if TARGET == "llvm-cpu" else []
    compiled = iree.compiler.compile_str(
        text, target_backends=[TARGET], input_type="auto", extra_args=further
    )
    config = iree.runtime.Config("local-sync")
    running = iree.runtime.SystemContext(config=config)
    program = iree.runtime.VmModule.copy_buffer(config.vm_instance, compiled)
    running.add_vm_module(program)
    function = running.modules[program.name][model.graph.name]
    types = [each.type.tensor_type.elem_type for each in model.graph.output]
    due = [onnx.helper.tensor_dtype_to_np_dtype(each) for each in types]

    def call(inputs: Any) -> Any:
        returned = function(*[inputs[each.name] for each in model.graph.input])
        several = returned if isinstance(returned, (tuple, list)) else [returned]
        arrays = [np.asarray(each.to_host() if hasattr(each, "to_host") else each) for each in several]
        return [signed(*pair) for pair in zip(arrays, due, strict=False)]

    def signed(array: Any, kind: Any) -> Any:  # its integers have no sign of their own: it is the model's
        alike = array.dtype.kind + kind.kind in ("iu", "ui") and array.dtype.itemsize == kind.itemsize
        return array.view(kind) if alike else array

    return call
