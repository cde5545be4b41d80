"""The outputs that a worker returned, read without trust: tensors, and those of sequences and maps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from conformance.judging.responses import Answered, ReturnedOther, input_changed
from conformance.processes.frames import (
    GREATEST_EXTENT,
    LONGEST_WORD,
    MOST_DIMENSIONS,
    MOST_OUTPUTS,
    MOST_STRINGS,
    MOST_TOUCHED,
    BrokenProtocol,
    Frame,
    cut,
)
from conformance.suite.flat_values import MapValue, flatten_map
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor, tensor

_MOST_DEPTH = 8
Outputs = Iterator[Tensor | ReturnedOther]


def read_outputs(frame: Frame, seconds: float) -> Answered:
    """The outputs in an `outputs` answer; raises BrokenProtocol where they are not as they must be."""
    described = frame.header.get("outputs")
    if frame.header.get("type") != "outputs" or not isinstance(described, list):
        raise BrokenProtocol(f"an answer to run of type {frame.header.get('type')!r}")
    if len(described) > MOST_OUTPUTS:
        raise BrokenProtocol(f"an answer of {len(described)} outputs; at most {MOST_OUTPUTS} are allowed")
    reader = _OutputReader(frame.blobs)
    outputs = tuple(each for one in described for each in reader.value(one))
    if len(outputs) > MOST_OUTPUTS:
        raise BrokenProtocol(f"an answer of {len(outputs)} tensors; at most {MOST_OUTPUTS} are allowed")
    return Answered(outputs, seconds)


def read_touched(frame: Frame) -> tuple[str, ...]:
    """What an answer in the form `untouched` says of memory, in words; BrokenProtocol where it says nothing
    that can be read."""
    stated = frame.header.get("touched", [])
    if not isinstance(stated, list) or len(stated) > MOST_TOUCHED:
        raise BrokenProtocol("an answer whose list of touched memory is none")
    return tuple(map(_touched, stated))


def _touched(entry: Any) -> str:
    known = entry if isinstance(entry, dict) else {}
    output, name = known.get("output"), known.get("input")
    place = type(output) is int and 0 <= output < MOST_OUTPUTS
    if isinstance(name, str) and output is None:
        return input_changed(_word(name))
    if isinstance(name, str) and place:
        return f"output {output} lies in the memory of the input {_word(name)}"
    if name is None and place:
        return f"output {output} lies in the memory of an output of the run before"
    raise BrokenProtocol(f"an answer that says of touched memory {_word(entry)}")


class _OutputReader:
    """Reads the tensors of outputs, as `conformance.suite.flat_values` has them; no blob is of two."""

    def __init__(self, blobs: tuple[bytes, ...]) -> None:
        self._blobs = blobs
        self._taken: set[int] = set()

    def value(self, entry: Any, depth: int = 0) -> Outputs:
        """The tensors of an output; raises BrokenProtocol where it cannot be read."""
        if depth > _MOST_DEPTH:
            raise BrokenProtocol("an output nested too deeply")
        try:
            if isinstance(entry, dict) and "sequence" in entry:
                elements = list(entry["sequence"])
                yield tensor(np.array(len(elements), np.int64))
                for element in elements:
                    yield from self.value(element, depth + 1)
            elif isinstance(entry, dict) and "optional" in entry:
                yield tensor(np.array(entry["optional"] is not None))
                if entry["optional"] is not None:
                    yield from self.value(entry["optional"], depth + 1)
            elif isinstance(entry, dict) and "map" in entry:
                yield from self._map(entry["map"])
            else:
                yield self._output(entry)
        except (KeyError, TypeError, AttributeError) as error:
            raise BrokenProtocol(f"an output that cannot be read: {type(error).__name__}: {error}") from error

    def _map(self, entry: Any) -> Outputs:
        keys, values = (self._output(entry[name]) for name in ("keys", "values"))
        if isinstance(keys, ReturnedOther) or isinstance(values, ReturnedOther):
            yield from (keys, values)
        elif len(keys.shape) != 1 or keys.shape != values.shape:
            raise BrokenProtocol(f"a map with keys {list(keys.shape)} and values {list(values.shape)}")
        else:
            yield from flatten_map(MapValue(keys, values))

    def _output(self, entry: Any) -> Tensor | ReturnedOther:
        try:
            if "not_a_tensor" in entry:
                return ReturnedOther(_word(entry["not_a_tensor"]), _word(entry.get("text", "")))
            element_type, shape = ELEMENT_TYPES[entry["element_type"]], tuple(entry["shape"])
            if len(shape) > MOST_DIMENSIONS or not all(
                type(extent) is int and 0 <= extent <= GREATEST_EXTENT for extent in shape
            ):
                raise BrokenProtocol(f"an output of shape {list(shape)}")
            if element_type.kind == "string" and math.prod(shape) > MOST_STRINGS:
                raise BrokenProtocol(
                    f"an output of {math.prod(shape)} strings; at most {MOST_STRINGS} are allowed"
                )
            blob = entry["blob"]
            if type(blob) is not int or not 0 <= blob < len(self._blobs):
                raise BrokenProtocol(f"an output in blob {blob!r}, of {len(self._blobs)}")
            if blob in self._taken:
                raise BrokenProtocol("an answer in which two outputs have one blob")
            self._taken.add(blob)
            return Tensor.from_bytes(element_type, shape, self._blobs[blob])
        except (KeyError, TypeError, ValueError, OverflowError, UserError) as error:
            raise BrokenProtocol(f"an output that cannot be read: {type(error).__name__}: {error}") from error


def _word(value: object) -> str:
    return cut(str(value), LONGEST_WORD)
