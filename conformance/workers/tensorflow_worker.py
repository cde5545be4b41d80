"""The worker for TensorFlow on the CPU: its operators by their raw names, run eagerly."""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np

if TYPE_CHECKING:
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import wire_arrays as wire
    import worker_protocol as protocol

# Before the import: no log, the same sums on every machine, no accelerator.
_ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": "-1"}


_TYPES = {
    "float": "float32",
    "double": "float64",
    "float8e5m2": "float8_e5m2",
    "float8e4m3fn": "float8_e4m3fn",
}
_TYPE = re.compile(r"tensor\((\w+)\)")
_PLACE = re.compile(r"_\d+$")


class _Model(NamedTuple):
    operator: Callable[..., Any]
    attributes: Dict[str, Any]
    lists: Sequence[str]
    """Arguments that are lists of tensors."""
    slots: Sequence[Tuple[str, str]]
    """Of each tensor the argument that it is, or is part of, and its own name."""


class TensorflowWorker(protocol.Worker):
    """Operators of `tf.raw_ops`, called with tensors of exactly the case's types."""

    def __init__(self, options: Dict[str, str]) -> None:
        del options  # it has none
        os.environ.update(_ENVIRONMENT)
        self._tensorflow = import_module("tensorflow")
        threading = self._tensorflow.config.threading
        threading.set_intra_op_parallelism_threads(1)
        threading.set_inter_op_parallelism_threads(1)
        # The first call of any operator sets up the eager context, which takes far longer than the call.
        self._tensorflow.constant(0)

    def hello(self) -> protocol.Header:
        return {
            "runtime": {"name": "tensorflow", "version": str(self._tensorflow.__version__)},
            "domains": {"org.tensorflow": "node"},
            "forms": ["inputs"],
            "devices": ["CPU"],
            "element_types": None,
            "x_settings": dict(_ENVIRONMENT, eager=True, threads=1),
        }

    def load(self, request: protocol.LoadRequest) -> _Model:
        operator = getattr(self._tensorflow.raw_ops, request.name, None)
        if operator is None:
            raise protocol.Unsupported("tf.raw_ops has no %s" % request.name)
        registry = import_module("tensorflow.python.framework.op_def_registry")
        definition = registry.get(request.name)
        kinds = {each.name: each.type for each in definition.attr}
        attributes = {
            name: self._converted(kinds.get(name, ""), value) for name, value in request.attributes.items()
        }
        lists = [each.name for each in definition.input_arg if each.number_attr or each.type_list_attr]
        arguments = [each.name for each in definition.input_arg]
        names = [each[0] for each in request.inputs if each is not None]
        return _Model(operator, attributes, lists, list(_slots(names, arguments, lists)))

    def _converted(self, kind: str, value: Any) -> Any:
        """An attribute as TensorFlow takes it: it has booleans and types of its own."""
        if kind == "bool":
            return bool(value)
        if kind == "list(bool)":
            return [bool(each) for each in value]
        if kind == "type":
            name = _TYPE.sub(r"\1", str(value))
            return getattr(self._tensorflow, _TYPES.get(name, name))
        return value

    def run(self, model: _Model, inputs: Dict[str, protocol.WireTensor]) -> Sequence[Any]:
        # `constant` converts numbers by value; of an array it keeps type and shape.
        tensors = {name: self._tensorflow.constant(_to_array(each)) for name, each in inputs.items()}
        given: Dict[str, Any] = {each: [] for each in model.lists}
        for argument, name in model.slots:
            if argument in model.lists:
                given[argument].append(tensors[name])
            else:
                given[argument] = tensors[name]
        returned = model.operator(**given, **model.attributes)
        several = isinstance(returned, (tuple, list))
        return [self._from_tensor(each) for each in (returned if several else [returned])]

    def _from_tensor(self, value: Any) -> Any:
        if not isinstance(value, self._tensorflow.Tensor):
            return protocol.NotTensor(value)
        array = value.numpy()
        if isinstance(array, bytes):  # a string of rank 0
            array = np.array(array, dtype=object)
        return wire.from_numpy(array)


def _slots(names: List[str], arguments: List[str], lists: List[str]) -> Iterator[Tuple[str, str]]:
    """Which argument each tensor is: the one of its name, behind which a place stands in a list.

    A tensor that is given twice has one name; the second time it is the argument that no name is left for.
    """
    missing = [each for each in arguments if each not in names and each not in lists]
    for at, name in enumerate(names):
        whole = _PLACE.sub("", name)
        if name in names[:at] and missing:
            yield missing.pop(0), name
        elif name not in arguments and whole in lists:
            yield whole, name
        else:
            yield name, name


def _to_array(tensor: protocol.WireTensor) -> Any:
    """Strings are bytes to TensorFlow."""
    return wire.to_bytes(tensor) if tensor.element_type == "string" else wire.to_numpy(tensor)


if __name__ == "__main__":
    protocol.serve(TensorflowWorker)
