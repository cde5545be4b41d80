"""The worker for MNN: ONNX models made its own by its converter, and run as modules on the CPU.

MNN has tensors of float, 32-bit integers and bytes, and turns all other types of a model into these. So a
call that gives one of another type with `run`, or wants one back, is not offered; constants may have any.
"""

from __future__ import annotations

import faulthandler
import os
import re
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Sequence

if TYPE_CHECKING:
    from conformance.workers import watched_memory
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import watched_memory
    import wire_arrays as wire
    import worker_protocol as protocol

_TYPES = {"float": "float", "int32": "int", "uint8": "uint8"}
_OF_CONSTANTS = ("int64", "double", "float16", "int8", "bool")


class ConversionFailed(Exception):
    """What the converter printed, where it made no model."""


class _Model(NamedTuple):
    module: Any
    order: List[str]
    watch: watched_memory.Watch


class MnnWorker(protocol.Worker):
    """Modules of one model each."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        # What the converter prints goes into a file: a crash is told where standard error was.
        faulthandler.enable(os.fdopen(os.dup(2), "w"))
        self._onnx = import_module("onnx")
        self._mnn = import_module("MNN")
        self._expressions = import_module("MNN.expr")
        self._convert = import_module("_tools").mnnconvert
        self._folder = Path(tempfile.mkdtemp(prefix="mnn-"))

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "mnn", "version": str(self._mnn.version())},
            "domains": {"*": "onnx"},
            "forms": ["initializers", "inputs", "dynamic", "strided", "again", "untouched"],
            "devices": ["CPU"],
            "element_types": [*_TYPES, *_OF_CONSTANTS],
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        model = self._onnx.load_model_from_string(request.demand_onnx())
        inputs = list(model.graph.input)
        for each in [*inputs, *model.graph.output]:
            name = self._onnx.helper.tensor_dtype_to_string(each.type.tensor_type.elem_type)
            element_type = name.partition(".")[2].lower()
            if element_type not in _TYPES:
                raise protocol.Unsupported(
                    "MNN computes with no tensors of %s: %s would be one" % (element_type, each.name)
                )
        source, made = self._folder / "model.onnx", self._folder / "model.mnn"
        source.write_bytes(request.demand_onnx())
        made.unlink(missing_ok=True)
        words = ["mnnconvert", "-f", "ONNX", "--modelFile", str(source), "--MNNModel", str(made)]
        words += ["--bizCode", "opcert", "--keepInputFormat", "1"]
        printed = self._print_of(lambda: self._convert(words))
        if not made.is_file():
            raise ConversionFailed(_without_times(printed))
        order = [each.name for each in inputs]
        outputs = [each.name for each in model.graph.output]
        module = self._mnn.nn.load_module_from_file(str(made), order, outputs)
        return _Model(module, order, watched_memory.watch_for(request))

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        arrays = {name: wire.to_numpy(inputs[name]) for name in model.order}
        model.watch.given(arrays)
        returned = model.module.forward(
            [self._to_variable(array, inputs[name].element_type) for name, array in arrays.items()]
        )
        # Variables are copied into arrays: of where they lie nothing is known.
        return model.watch.returned([], [self._from_variable(each) for each in returned])

    def _to_variable(self, array: Any, element_type: str) -> Any:
        of = getattr(self._expressions, _TYPES[element_type])
        if array.size == 0:  # such a constant it cannot read
            return self._expressions.placeholder(list(array.shape), self._expressions.NCHW, of)
        return self._expressions.const(array, list(array.shape), self._expressions.NCHW, of)

    def _from_variable(self, value: Any) -> Any:
        if not isinstance(value, self._expressions.Var):
            return protocol.NotTensor(value)
        if value.data_format == self._expressions.NC4HW4:
            value = self._expressions.convert(value, self._expressions.NCHW)
        if 0 in value.shape:  # such a one it cannot read, either
            name = str(value.dtype).partition(".")[2]
            found = [ours for ours, theirs in _TYPES.items() if theirs == name]
            return (
                protocol.WireTensor(found[0], tuple(value.shape), b"") if found else protocol.NotTensor(value)
            )
        return wire.from_numpy(value.read())

    def _print_of(self, call: Callable[[], Any]) -> str:
        """What a call prints on standard output and error; it goes on to standard error."""
        standard = import_module("ctypes").CDLL(None)
        sys.stderr.flush()
        kept = os.dup(1), os.dup(2)
        with tempfile.TemporaryFile(dir=self._folder) as file:
            try:
                for each in (1, 2):
                    os.dup2(file.fileno(), each)
                call()
            finally:
                standard.fflush(None)
                for place, each in enumerate(kept):
                    os.dup2(each, place + 1)
                    os.close(each)
            file.seek(0)
            printed = file.read().decode("utf-8", "replace")
        sys.stderr.write(printed)
        return printed


def _without_times(printed: str) -> str:
    """The lines of a log that are more than what each conversion says, without their times and lines."""
    lines = [re.sub(r"^\[\d+:\d+:\d+\] :\d+: ", "", line) for line in printed.splitlines()]
    said = ("Start to ", "ONNX Model ", "The device supports", "Converted Failed")
    return "\n".join(line for line in lines if line and not line.startswith(said))


if __name__ == "__main__":
    protocol.serve(MnnWorker)
