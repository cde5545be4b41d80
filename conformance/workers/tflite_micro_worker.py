"""The worker for TensorFlow Lite Micro: TensorFlow's operators as models of one builtin."""

from __future__ import annotations

import faulthandler
import os
import sys
import tempfile
from importlib import import_module, metadata
from math import prod
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Sequence, Tuple

import numpy as np

if TYPE_CHECKING:
    from conformance.workers import tflite_flatbuffers, tflite_models
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import tflite_flatbuffers
    import tflite_models
    import wire_arrays as wire
    import worker_protocol as protocol

_ARENA = 1 << 20
_WIDEST = 16
"""Bytes of an element."""


class _Model(NamedTuple):
    interpreter: Any
    names: List[str]


class TfliteMicroWorker(protocol.Worker):
    """Interpreters of one model each, whose shapes are all known when it is loaded."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        # Why something fails is only printed, which goes into a file; a crash is told where it was.
        faulthandler.enable(os.fdopen(os.dup(2), "w"))
        self._runtime = import_module("tflite_micro").runtime
        self._schema = import_module("tflite_micro.tensorflow.lite.micro.python.schema_py_generated")

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "tflite-micro", "version": metadata.version("tflite-micro")},
            "domains": {"org.tensorflow": "node"},
            "forms": ["initializers"],
            "devices": ["CPU"],
            "element_types": None,
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        model = tflite_models.plan(request, "int32")  # it reads those of 64 bits as if they had 32
        shape = output_shape(model)
        shapes = [shape, *(tuple(int(each or 0) for each in operand.shape) for operand in model.operands)]
        content = tflite_flatbuffers.write(self._schema, model, shape)
        room = _ARENA + 3 * _WIDEST * sum(map(prod, shapes))
        interpreter = with_words(lambda: self._runtime.Interpreter.from_bytes(content, arena_size=room))
        return _Model(interpreter, [model.operands[place].name for place in model.given])

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        for place, name in enumerate(model.names):
            model.interpreter.set_input(wire.to_numpy(inputs[name]), place)
        with_words(model.interpreter.invoke)
        return [wire.from_numpy(model.interpreter.get_output(0))]


def with_words(call: Callable[[], Any]) -> Any:
    """What a call returns; an error of it has what it printed on standard error for a message."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            return call()
        except RuntimeError as error:
            file.seek(0)
            lines = file.read().decode("utf-8", "replace").splitlines()
            raise RuntimeError("\n".join([str(error), *lines])) from error
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def output_shape(model: tflite_models.Model) -> Tuple[int, ...]:
    """The shape of the output, which TensorFlow Lite Micro reads from the model and works out none itself.

    Raises protocol.Unsupported where it depends on what comes with the run, or where there is none.
    """
    values = []
    for at in model.order:
        operand = model.operands[at]
        if None in operand.shape:
            raise protocol.Unsupported("the shape of %s is not known before the run" % operand.name)
        whole = np.broadcast_to(np.int64(0), [int(each or 0) for each in operand.shape])
        if operand.data is not None and operand.element_type in ("int32", "int64"):
            whole = np.frombuffer(operand.data, wire.NATIVE[operand.element_type]).reshape(whole.shape)
        values.append(whole)
    if model.builtin.name == "RANGE":
        raise protocol.Unsupported("how long a RANGE is depends on what comes with the run")
    depends = [place for place, name in enumerate(model.parameters) if name not in ("", "indices")]
    if any(model.operands[model.order[place]].data is None for place in depends):
        raise protocol.Unsupported("the shape of the output depends on what comes with the run")
    shape_of: Callable[..., Sequence[Any]] = _SHAPES.get(model.builtin.name, _spread)
    try:
        return tuple(int(each) for each in shape_of(model.options, *values))
    except (ValueError, IndexError, TypeError) as error:
        raise protocol.Unsupported("no shape of the output fits the call: %s" % error) from error


def _spread(_: Dict[str, Any], *given: Any) -> Tuple[int, ...]:
    return np.broadcast_shapes(*map(np.shape, given))


def _reduced(options: Dict[str, Any], value: Any, axis: Any) -> Tuple[int, ...]:
    axes = tuple(int(each) for each in np.reshape(axis, -1))
    return np.shape(np.any(value, axis=axes, keepdims=options["keepDims"]))


def _product(options: Dict[str, Any], x: Any, y: Any) -> Tuple[int, ...]:
    left = np.swapaxes(x, -1, -2) if options["adjX"] else x
    right = np.swapaxes(y, -1, -2) if options["adjY"] else y
    if left.shape[-1] != right.shape[-2]:
        raise ValueError("%s by %s" % (left.shape, right.shape))
    return (*np.broadcast_shapes(left.shape[:-2], right.shape[:-2]), left.shape[-2], right.shape[-1])


def _joined(_: Dict[str, Any], value: Any, blocks: Any, crops: Any) -> Tuple[int, ...]:
    inner = value.shape[1 : 1 + blocks.size] * blocks - crops.sum(axis=1)
    return (value.shape[0] // int(np.prod(blocks)), *inner, *value.shape[1 + blocks.size :])


def _to_depth(options: Dict[str, Any], value: Any) -> Tuple[int, ...]:
    size, (batch, height, width, depth) = options["blockSize"], value.shape
    return (batch, height // size, width // size, depth * size * size)


def _to_space(options: Dict[str, Any], value: Any) -> Tuple[int, ...]:
    size, (batch, height, width, depth) = options["blockSize"], value.shape
    return (batch, height * size, width * size, depth // (size * size))


def _gathered(_: Dict[str, Any], value: Any, indices: Any) -> Tuple[int, ...]:
    return (*indices.shape[:-1], *value.shape[indices.shape[-1] :])


def _one_hot(options: Dict[str, Any], indices: Any, depth: Any, *_: Any) -> Tuple[int, ...]:
    place = options["axis"] if options["axis"] >= 0 else indices.ndim
    return (*indices.shape[:place], int(depth), *indices.shape[place:])


def _padded(_: Dict[str, Any], value: Any, widths: Any) -> Tuple[int, ...]:
    return tuple(np.add(value.shape, np.sum(widths, axis=1)))


def _squeezed(options: Dict[str, Any], value: Any) -> Tuple[int, ...]:
    return np.shape(np.squeeze(value, tuple(options["squeezeDims"]) or None))


_SHAPES: Dict[str, Callable[..., Sequence[Any]]] = {
    **dict.fromkeys(("REDUCE_ALL", "REDUCE_ANY", "REDUCE_MIN", "REDUCE_PROD", "SUM"), _reduced),
    **dict.fromkeys(("PAD", "MIRROR_PAD"), _padded),
    **dict.fromkeys(("CUMSUM", "REVERSE_V2"), lambda _, value, __: value.shape),
    "BATCH_MATMUL": _product,
    "BATCH_TO_SPACE_ND": _joined,
    "BROADCAST_TO": lambda _, value, shape: np.broadcast_to(value, shape).shape,
    "DEPTH_TO_SPACE": _to_space,
    "EXPAND_DIMS": lambda _, value, axis: np.expand_dims(value, int(np.reshape(axis, ()))).shape,
    "GATHER_ND": _gathered,
    "ONE_HOT": _one_hot,
    "SPACE_TO_DEPTH": _to_depth,
    "SQUEEZE": _squeezed,
    "TILE": lambda _, value, multiples: np.multiply(value.shape, multiples),
    "TRANSPOSE": lambda _, value, order: np.transpose(value, order).shape,
}


if __name__ == "__main__":
    protocol.serve(TfliteMicroWorker)
