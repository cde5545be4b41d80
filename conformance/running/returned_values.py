"""The outputs that a worker returned, read without trust: tensors, and those of sequences and maps."""

from __future__ import annotations

import math
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
from opcert.vocabulary.value_types import (
    ONE_ELEMENT_TYPE,
    OPTIONAL_OF_A_VALUE,
    OptionalType,
    SequenceType,
    ValueType,
    words_of,
)

_MOST_DEPTH = 8
Outputs = list[Tensor | ReturnedOther]
Returned = tuple[ValueType | None, ...] | None
"""The types of outputs that are no tensors, None for one that is; None: nobody says."""


def read_outputs(frame: Frame, seconds: float, types: Returned = None) -> Answered:
    """The outputs in an `outputs` answer; raises BrokenProtocol where they are not as they must be.

    An output of another kind than `types` says is what was returned in place of it.
    """
    described = frame.header.get("outputs")
    if frame.header.get("type") != "outputs" or not isinstance(described, list):
        raise BrokenProtocol(f"an answer to run of type {frame.header.get('type')!r}")
    if len(described) > MOST_OUTPUTS:
        raise BrokenProtocol(f"an answer of {len(described)} outputs; at most {MOST_OUTPUTS} are allowed")
    reader = _OutputReader(frame.blobs)
    outputs: Outputs = []
    for place, entry in enumerate(described):
        found = reader.value(entry)
        if types is not None:
            strange = _another_kind(entry, types[place] if place < len(types) else None)
            found = found if strange is None else [strange]
        outputs += found
    if len(outputs) > MOST_OUTPUTS:
        raise BrokenProtocol(f"an answer of {len(outputs)} tensors; at most {MOST_OUTPUTS} are allowed")
    return Answered(tuple(outputs), seconds)


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
                held = [part for element in elements for part in self.value(element, depth + 1)]
                return [tensor(np.array(len(elements), np.int64)), *held]
            if isinstance(entry, dict) and "optional" in entry:
                inner = entry["optional"]
                held = [] if inner is None else self.value(inner, depth + 1)
                return [tensor(np.array(inner is not None)), *held]
            if isinstance(entry, dict) and "map" in entry:
                return self._map(entry["map"])
            return [self._output(entry)]
        except (KeyError, TypeError, AttributeError) as error:
            raise BrokenProtocol(f"an output that cannot be read: {type(error).__name__}: {error}") from error

    def _map(self, entry: Any) -> Outputs:
        keys, values = (self._output(entry[name]) for name in ("keys", "values"))
        if isinstance(keys, ReturnedOther) or isinstance(values, ReturnedOther):
            return [keys, values]
        if len(keys.shape) != 1 or keys.shape != values.shape:
            raise BrokenProtocol(f"a map with keys {list(keys.shape)} and values {list(values.shape)}")
        return [*flatten_map(MapValue(keys, values))]

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


def _another_kind(entry: Any, kind: ValueType | None) -> ReturnedOther | None:
    """What was returned in place of a value of a type (None: of a tensor), or breaks a rule of values."""
    word = next(words_of(kind), "tensor") if kind is not None else "tensor"
    said = _kind_of(entry)
    if said is None:
        return None
    if said != word:
        return ReturnedOther(said, _shown(entry, said))
    match kind:
        case OptionalType():
            inner = entry["optional"]
            if _kind_of(inner) == "optional":
                return ReturnedOther("optional of an optional", OPTIONAL_OF_A_VALUE)
            return None if inner is None else _another_kind(inner, kind.of)
        case SequenceType():
            elements = list(entry["sequence"])
            strange = (_another_kind(element, kind.of) for element in elements)
            found = next((each for each in strange if each is not None), None)
            types = sorted({str(element.get("element_type")) for element in elements} - {"None"})
            if found is None and len(types) > 1:
                return ReturnedOther(f"sequence of {' and '.join(types)}", ONE_ELEMENT_TYPE)
            return found if found is None else ReturnedOther(f"sequence of {found.kind}", found.text)
    return None


def _kind_of(entry: Any) -> str | None:
    """`sequence`, `optional`, `map` or `tensor`; None for what is none of these and says what it is."""
    if not isinstance(entry, dict) or "not_a_tensor" in entry:
        return None
    return next((word for word in ("sequence", "optional", "map") if word in entry), "tensor")


def _shown(entry: dict[str, Any], kind: str) -> str:
    if kind == "sequence":
        return f"of {len(entry['sequence'])}"
    if kind == "optional":
        return "of nothing" if entry["optional"] is None else f"of a {_kind_of(entry['optional'])}"
    described = entry["map"]["values"] if kind == "map" else entry
    return f"{described['element_type']} {described['shape']}"


def _word(value: object) -> str:
    return cut(str(value), LONGEST_WORD)
