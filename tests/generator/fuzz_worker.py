"""A worker that computes BatchToSpaceND with our reference.

It refuses where a crop is greater than one, and dies where there is a block of 3 in a tensor of strings.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "conformance" / "workers")]

if TYPE_CHECKING:
    from conformance.workers import worker_protocol
    from conformance.workers.wire_arrays import from_numpy, to_numpy
    from opcert.vocabulary.names import OperatorName
    from opcert.vocabulary.tensors import tensor
    from reference.registry import find_operator
else:
    import worker_protocol
    from wire_arrays import from_numpy, to_numpy

    from opcert.vocabulary.names import OperatorName
    from opcert.vocabulary.tensors import tensor
    from reference.registry import find_operator

OPERATOR = OperatorName.parse("org.tensorflow::BatchToSpaceND-1")
TYPES = ["float", "double", "int8", "int32", "int64", "uint8", "bool", "string"]


class Worker(worker_protocol.Worker):
    def __init__(self, options: dict[str, str]) -> None:
        self.reference = find_operator(OPERATOR)

    def hello(self) -> dict[str, Any]:
        return {
            "runtime": {"name": "fragile", "version": "1.0"},
            "domains": {"org.tensorflow": "node"},
            "forms": ["inputs"],
            "element_types": TYPES,
        }

    def load(self, request: worker_protocol.LoadRequest) -> Any:
        return request

    def run(self, model: Any, inputs: Any) -> Any:
        arrays = {name: to_numpy(each) for name, each in inputs.items()}
        if arrays["crops"].size and arrays["crops"].max() > 1:
            raise ValueError("too much to crop")
        if arrays["input"].dtype == object and 3 in arrays["block_shape"]:
            os.kill(os.getpid(), signal.SIGSEGV)
        given = {name: tensor(array) for name, array in arrays.items()}
        (answer,) = self.reference.evaluate({}, given)
        return [from_numpy(answer.expected.array)]

    def unload(self, model: Any) -> None:
        pass


if __name__ == "__main__":
    worker_protocol.serve(Worker)
