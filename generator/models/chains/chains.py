"""Chains: a few nodes one after the other, with the data that goes in, before anybody says what comes out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from generator.calls.data.draws import Draw
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor

Floats = NDArray[np.float32]


_VARIANCES = np.array([3.5, 0.5, 15.5, 0.5, 3.5, 63.5, 0.5], np.float32)
"""With an epsilon of a half, variances of which the square root is a power of two."""


def integers(*values: int) -> NDArray[np.int64]:
    """Integers of 64 bits, as shapes and axes are."""
    return np.array(values, np.int64)


def whole(
    key: str, *shape: int, least: int = -4, most: int = 4, dtype: DTypeLike = np.float32
) -> NDArray[Any]:
    """Whole numbers between two, drawn for a key."""
    drawn = Draw(f"neighbours {key}").numbers(least, most, math.prod(shape))
    return np.array(drawn, dtype=dtype).reshape(shape)


def different(key: str, *shape: int) -> Floats:
    """The numbers from 1 on, each once and in no order: whatever moves, shows."""
    count = math.prod(shape)
    return np.array(Draw(f"neighbours {key}").shuffled(range(1, count + 1)), dtype=np.float32).reshape(shape)


def powers(key: str, *shape: int, least: int = -2, most: int = 2) -> Floats:
    """Powers of two of either sign."""
    draw = Draw(f"neighbours {key}")
    exponents = draw.numbers(least, most, math.prod(shape))
    signs = draw.numbers(0, 1, math.prod(shape))
    values = [math.ldexp(1 - 2 * sign, exponent) for sign, exponent in zip(signs, exponents, strict=True)]
    return np.array(values, dtype=np.float32).reshape(shape)


def real(key: str, *shape: int) -> Floats:
    """Numbers between -4 and 4 with 20 bits behind the point."""
    return (whole(key, *shape, least=-(1 << 22), most=1 << 22, dtype=np.float64) / (1 << 20)).astype(
        np.float32
    )


def normalization(key: str, channels: int) -> tuple[Floats, ...]:
    """Scale, bias, mean and variance of which the factor is a power of two where epsilon is a half."""
    return (
        powers(f"{key}scale", channels, least=-1, most=1),
        whole(f"{key}bias", channels),
        whole(f"{key}mean", channels),
        np.resize(_VARIANCES, channels),
    )


Given = Tensor | NDArray[Any]
_AXES_GIVEN = {"ReduceSum": 13}
"""Since when axes are an input of reductions; of the others since opset 18."""


@dataclass(frozen=True, eq=False)
class Link:
    """One node of a chain: what it takes and gives by the names of values; empty where one is left out."""

    operator: OperatorName
    attributes: Mapping[str, Attribute]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Chain:
    """Nodes in order, what is given to them at run time and what stands in the model, and what is asked for.

    `word` names the chain in case ids, `why` says in a sentence what a fusion of it gets wrong. `spelled`
    are the nodes that say in short what a chain writes out: then the bounds of these hold. `beside` is added
    to them: float64 of the last output's shape, for constants of the long form that are rounded. `opset` is
    that of the model where it is no matter of the nodes. `shapes` are those that the model states of what is
    given, where they are others than the data's: extents by name are open.
    """

    word: str
    links: tuple[Link, ...]
    given: tuple[tuple[str, Tensor], ...]
    constants: tuple[tuple[str, Tensor], ...] = ()
    outputs: tuple[str, ...] = ()
    why: str = ""
    levels: Mapping[str, str] = field(default_factory=dict)
    spelled: tuple[Link, ...] = ()
    beside: NDArray[np.float64] | None = None
    opset: int = 0
    shapes: Mapping[str, tuple[int | str, ...]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The names of the operators in order: `Conv > BatchNormalization > Relu`."""
        return " > ".join(each.operator.name for each in self.links)

    @property
    def owner(self) -> OperatorName:
        """The operator that the case counts for: that of the last node."""
        return self.links[-1].operator

    @property
    def data(self) -> dict[str, Tensor]:
        """What is there before any node has run, by name."""
        return dict(self.given) | dict(self.constants)


class Weaver:
    """Puts chains together node by node, one after the other, in the operator versions that it is given."""

    def __init__(self, operators: Mapping[str, OperatorName], opset: int) -> None:
        self.operators = operators
        self.opset = opset
        self._begin()

    def _begin(self) -> None:
        self._given: list[tuple[str, Tensor]] = []
        self._constants: list[tuple[str, Tensor]] = []
        self.links: list[Link] = []

    def given(self, value: Given) -> str:
        """A value that comes with each run; its name."""
        name = "X" if not self._given else f"X{len(self._given) + 1}"
        self._given.append((name, _as_tensor(value)))
        return name

    def constant(self, value: Given) -> str:
        """A value that stands in the model; its name."""
        name = f"C{len(self._constants) + 1}"
        self._constants.append((name, _as_tensor(value)))
        return name

    def node(self, name: str, *inputs: str | Given, outputs: int = 1, **attributes: object) -> str:
        """A node of an operator; the name of its first output. Arrays among the inputs are constants."""
        return self.nodes(name, *inputs, outputs=outputs, **attributes)[0]

    def nodes(
        self, name: str, *inputs: str | Given, outputs: int = 1, **attributes: object
    ) -> tuple[str, ...]:
        """A node of several outputs; their names. Raises ValueError where the opset lacks the operator."""
        found = self.link(name, *inputs, outputs=outputs, **attributes)
        if found.operator.since_version > self.opset:
            raise ValueError(f"{found.operator} is not in opset {self.opset}")
        self.links.append(found)
        return found.outputs

    def cut(self, value: str, start: int, end: int, axis: int, step: int = 1) -> str:
        """A Slice along one axis; the name of its output."""
        return self.node("Slice", value, integers(start), integers(end), integers(axis), integers(step))

    def link(self, name: str, *inputs: str | Given, outputs: int = 1, **attributes: object) -> Link:
        """The same without putting it into the chain."""
        operator = self.operators[name]
        if "axes" in attributes and operator.since_version >= _AXES_GIVEN.get(name, 18):
            inputs = (*inputs, np.array(attributes.pop("axes"), np.int64))
        taken = tuple(each if isinstance(each, str) else self.constant(each) for each in inputs)
        letter = "YZVUTSRQPONM"[len(self.links)] if len(self.links) < 12 else f"V{len(self.links)}_"
        given = (letter,) if outputs == 1 else tuple(f"{letter}{each + 1}" for each in range(outputs))
        stated = {key: attribute(*_kind(value)) for key, value in sorted(attributes.items())}
        return Link(operator, stated, taken, given)

    def end(
        self,
        word: str,
        why: str,
        *outputs: str,
        spelled: Sequence[Link] = (),
        beside: NDArray[np.float64] | None = None,
        **levels: str,
    ) -> Chain:
        """The chain so far, which asks for these outputs; without any, for those of the last node.

        `spelled` are the nodes that say it in short, the last of which gives these outputs. Whatever is put
        together behind it is another chain.
        """
        asked = outputs or self.links[-1].outputs
        short = (*spelled[:-1], *(replace(link, outputs=asked) for link in spelled[-1:]))
        chain = Chain(
            word,
            tuple(self.links),
            tuple(self._given),
            tuple(self._constants),
            asked,
            why,
            levels,
            short,
            beside,
            self.opset,
        )
        self._begin()
        return chain


def _as_tensor(value: Given) -> Tensor:
    return value if isinstance(value, Tensor) else tensor(value)


def _kind(value: object) -> tuple[str, object]:
    """The kind of an attribute, by its Python type."""
    kinds: Sequence[tuple[type, str]] = ((bool, "int"), (int, "int"), (float, "float"), (str, "string"))
    if isinstance(value, list):
        return next(f"{kind}s" for python, kind in kinds if isinstance(value[0], python)), value
    if isinstance(value, Tensor):
        return "tensor", value
    return next(kind for python, kind in kinds if isinstance(value, python)), value
