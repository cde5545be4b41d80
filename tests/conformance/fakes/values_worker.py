"""A fake runtime whose answers are more than tensors, or random: right ones, and wrong ones on purpose.

Its operator Make returns what its attribute `do` says, Draw random numbers of that kind.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "conformance" / "workers"))

if TYPE_CHECKING:
    from conformance.workers import wire_arrays, worker_protocol
else:
    import wire_arrays
    import worker_protocol


def floats(*values: float) -> Any:
    return wire_arrays.from_numpy(np.array(values, np.float32))


def keyed(*pairs: tuple[str, float]) -> Any:
    keys = wire_arrays.from_storage("string", np.array([key for key, _ in pairs], object))
    return worker_protocol.WireMap(keys, floats(*(value for _, value in pairs)))


class Values(worker_protocol.Worker):
    """Takes nodes of org.example."""

    def __init__(self, options: dict[str, str]) -> None:
        del options

    def hello(self) -> dict[str, Any]:
        return {
            "runtime": {"name": "values", "version": "1.0"},
            "domains": {"org.example": "node"},
            "forms": ["inputs"],
            "values": ["sequence", "optional", "map"],
        }

    def load(self, request: worker_protocol.LoadRequest) -> Any:
        # What another load of the same model draws is another draw, unless the seed decides.
        seed = request.attributes.get("seed")
        fresh = seed if seed is not None and request.attributes["do"] != "unseeded" else os.urandom(4)
        entropy = fresh if isinstance(fresh, int) else int.from_bytes(fresh, "little")
        return request, np.random.default_rng(entropy)

    def run(self, model: Any, inputs: Any) -> Any:
        request, rng = model
        if request.name == "Draw":
            return [wire_arrays.from_numpy(each) for each in draw(request.attributes["do"], rng)]
        return [make(request.attributes["do"], list(inputs.values()))]


def draw(do: str, rng: Any) -> list[Any]:
    values = rng.uniform(0, 1, (40, 50)).astype(np.float32)
    match do:
        case "biased":
            values = values**2
        case "outside":
            values[3, 4] = 1.5
        case "nan":
            values[0, 0] = np.nan
        case "double":
            values = values.astype(np.float64)
        case "short":
            values = values[:39]
        case "constant":
            values = np.full((40, 50), 0.5, np.float32)
        case "two":
            return [values, values]
    return [values]


def make(do: str, given: list[Any]) -> Any:
    some = worker_protocol.WireOptional
    match do:
        case "echo":
            return given[0]
        case "sequence":
            return [floats(1, 2), floats(3)]
        case "short_sequence":
            return [floats(1, 2)]
        case "swapped_sequence":
            return [floats(3), floats(1, 2)]
        case "map":
            return keyed(("b", 2), ("a", 1))
        case "other_map":
            return keyed(("b", 1), ("a", 2))
        case "optional":
            return some(floats(1, 2))
        case "empty_optional":
            return some(None)
        case "long_sequence":
            return [floats(1, 2), floats(3), floats(4)]
        case "mixed_sequence":
            return [floats(1, 2), wire_arrays.from_numpy(np.array([3.0]))]
        case "empty_sequence":
            return []
        case "short_map":
            return keyed(("b", 2))
        case "renamed_map":
            return keyed(("a", 1), ("c", 2))
        case "optional_of_an_optional":
            return some(some(floats(1, 2)))
        case "optional_sequence":
            return some([floats(1, 2)])
        case "none":
            return worker_protocol.NotTensor(None)
        case "zero":
            return wire_arrays.from_numpy(np.array(0, np.int64))
        case "false":
            return wire_arrays.from_numpy(np.array(False))
        case "list":
            return [1, 2]
    return floats(1, 2)


if __name__ == "__main__":
    worker_protocol.serve(Values)
