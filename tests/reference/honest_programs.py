"""What programs of a test compute, held beside every expectation that open readings leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import ExpectedOutput
from generator.asking.calls import Call
from generator.asking.expectations import expect
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor, tensor
from reference.registry import find_operator
from tests.generator.declared import newest_operators, space_of

Array = NDArray[Any]
KINDS: Mapping[str, type[Any]] = {
    "float": np.float32,
    "double": np.float64,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
}
_WORDS = {int: "int", float: "float", str: "string", list: "ints"}
_OPERATORS = {
    newest_operator.name: newest_operator
    for newest_operator in newest_operators()
    if newest_operator.domain == "ai.onnx"
}


@dataclass(frozen=True)
class Asked:
    """A call in one element type, and all that is accepted of its outputs."""

    kind: str
    accepted: Sequence[Sequence[ExpectedOutput]]

    @classmethod
    def of(
        cls,
        name: str,
        kind: str,
        inputs: Sequence[tuple[str, Array | None]],
        attributes: Mapping[str, Any] | None = None,
        version: int | None = None,
        outputs: tuple[str, ...] | None = None,
    ) -> Asked:
        """The newest version of an operator of ONNX, or the one that is named, asked for outputs."""
        operator = _OPERATORS[name]
        if version is not None:
            operator = type(operator)(operator.domain, operator.name, version)
        given: Mapping[str, Attribute] = {
            key: attribute(_word(value), tuple(value) if isinstance(value, list) else value)
            for key, value in (attributes or {}).items()
        }
        call = Call(given, tuple((each, _tensor(data, kind)) for each, data in inputs), outputs=outputs)
        found = expect(space_of(operator).spec, find_operator(operator), call)
        return cls(kind, [each.outputs for each in found])

    def wrong(self, got: Array, output: int = 0) -> NDArray[np.bool_]:
        """Which elements are outside, under the expectation that leaves out the fewest."""
        found = [self._outside(each[output], np.asarray(got)) for each in self.accepted]
        return min(found, key=np.count_nonzero)

    def _outside(self, output: ExpectedOutput, got: Array) -> NDArray[np.bool_]:
        expected, allowed = self._decoded(output.expected.array), output.allowed
        if allowed is None:
            # Elements that were moved.
            allowed = np.zeros(expected.shape)
        assert got.dtype == np.dtype(KINDS[self.kind])
        assert got.shape == expected.shape
        value = got.astype(np.float64)
        with np.errstate(invalid="ignore"):
            found = (np.abs(expected - value) <= allowed) | np.isposinf(allowed)
        found |= (expected == value) | (np.isnan(expected) & np.isnan(value))
        for alternative in output.alternatives:
            others = self._decoded(np.array(alternative.values, output.expected.array.dtype))
            here = value.reshape(-1)[alternative.index]
            found.reshape(-1)[alternative.index] |= bool(
                np.any((others == here) | (np.isnan(others) & np.isnan(here)))
            )
        return np.asarray(~found)

    def _decoded(self, given: Array) -> Array:
        decoded: Array = np.asarray(given).view(KINDS[self.kind]).astype(np.float64)
        return decoded


def _word(value: Any) -> str:
    """The kind of an attribute; a list has that of its first element, or of integers where it has none."""
    return f"{_WORDS[type(value[0])]}s" if isinstance(value, list) and value else _WORDS[type(value)]


def _tensor(given: Array | None, kind: str) -> Tensor | None:
    if given is None:
        return None
    if given.dtype != ml_dtypes.bfloat16:
        return tensor(given)
    found = ELEMENT_TYPES[kind]
    return Tensor(found, np.ascontiguousarray(given).view(found.storage).reshape(given.shape))
