"""What a runtime makes of a whole model: whether it loads, its nodes, and how far its outputs are off."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from conformance.judging.patterns.elements import measure, same_elements, ulp_distances
from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ElementType
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor

LoadVerdict = Literal["loads", "refused", "lost", "unknown"]
"""It loads; the runtime refuses it; the runtime was lost or did not answer; nobody could ask."""


@dataclass(frozen=True)
class UnoptimisedLoad:
    """Whether a model that does not load does so where `source`, the runtime without its own optimisation, is
    asked.
    """

    source: str
    verdict: LoadVerdict
    message: str = ""


@dataclass(frozen=True)
class LoadFacts:
    """Whether a model loads; `message` is what the runtime says, whole, or why nothing is known.

    `by_run` is true where the runtime does nothing with a model before it is run, so that it was run once
    with inputs drawn by what the model declares. `unoptimised` is what comes of it without the runtime's own
    optimisation; None where that was not tried.
    """

    verdict: LoadVerdict
    message: str = ""
    by_run: bool = False
    unoptimised: UnoptimisedLoad | None = None

    @property
    def fails(self) -> bool:
        """Whether the model does not load."""
        return self.verdict in ("refused", "lost")


Unit = Literal["step", "ulp", "value"]
_MOST_STEP_BITS = 16
_MOST_CLASSES = 1 << 16


@dataclass(frozen=True)
class Apart:
    """How far two tensors of one type and shape are apart.

    `elements` of `of_elements` differ, the nearest of them by `least` units and the farthest by `most`; these
    are None where none differs, and of a `value`, which has no distance. `lost` of those that differ are NaN
    or infinite in one of the two alone. `classes` of `rows` have another largest element along the last axis.
    `is_far` says that more than rounding separates them: more than a step of small integers, any other value
    of wide ones, or more than half of the digits of floats, beside the largest of them.
    """

    unit: Unit
    elements: int
    of_elements: int
    least: int | None = None
    most: int | None = None
    lost: int = 0
    classes: int = 0
    rows: int = 0
    is_far: bool = False


def apart(one: Tensor, other: Tensor, step: float | None = None) -> Apart | str:
    """How far the second is from the first; in words where type or shape are others.

    `step` is how far two neighbours among the values are apart, where floats are integers times a scale.
    """
    kind = one.element_type
    if other.element_type is not kind or other.shape != one.shape:
        return f"{other.element_type} {list(other.shape)} in place of {kind} {list(one.shape)}"
    left, right = one.array.reshape(-1), other.array.reshape(-1)
    differing = ~same_elements(kind, left, right)
    count = int(np.count_nonzero(differing))
    unit: Unit = (
        "step" if kind.is_integer or (kind.is_float and step) else "ulp" if kind.is_float else "value"
    )
    if not count:
        return Apart(unit, 0, int(left.size))
    left, right = left[differing], right[differing]
    classes, rows = _classes(one, other)
    if unit == "value":
        return Apart(unit, count, int(one.array.size), is_far=True)
    with np.errstate(all="ignore"):
        distance, _ = measure(kind, right, left, None)
        kept = np.isfinite(distance)
        distance = distance / step if kind.is_float and step else distance
        steps = ulp_distances(kind, right, left) if unit == "ulp" else np.rint(distance)
    assert steps is not None
    known = steps[kept]
    return Apart(
        unit,
        count,
        int(one.array.size),
        int(known.min()) if known.size else None,
        int(known.max()) if known.size else None,
        int(count - np.count_nonzero(kept)),
        classes,
        rows,
        bool(distance.max() > 1.5) if kind.is_float and step else _is_far(kind, one, distance),
    )


def _is_far(kind: ElementType, one: Tensor, distance: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    if not np.isfinite(distance).all():
        return True
    if kind.is_integer:
        return bool(distance.max() > (1 if kind.bits <= _MOST_STEP_BITS else 0))
    values = np.abs(decode_floats(kind, one.array.reshape(-1)))
    finite = values[np.isfinite(values)]
    digits = kind.layout.precision if kind.layout is not None else 0
    return bool(distance.max() > math.ldexp(1.0, -(digits // 2)) * (finite.max() if finite.size else 0.0))


def _classes(one: Tensor, other: Tensor) -> tuple[int, int]:
    """In how many rows the largest element is another one, of how many."""
    kind, shape = one.element_type, one.shape
    if not (kind.is_float or kind.is_integer) or not 1 <= len(shape) <= 2:
        return 0, 0
    if not 2 <= shape[-1] <= _MOST_CLASSES:
        return 0, 0
    arrays = [decode_floats(kind, tensor.array) if kind.is_float else tensor.array for tensor in (one, other)]
    first, second = (array.argmax(-1).reshape(-1) for array in arrays)
    return int(np.count_nonzero(first != second)), int(first.size)


NodeVerdict = Literal["right", "wrong", "passed_over"]
How = Literal["whole", "nodes", "not_run"]
Why = Literal[
    "unknown",
    "unread",
    "no_tensors",
    "no_reference",
    "not_valid",
    "undefined",
    "too_costly",
    "not_seen",
    "inside",
    "not_run",
    "together",
    "failed",
]
"""Why a node is passed over. `unknown`: it names no operator version; `unread`: an attribute that is not
carried; `no_tensors`: it takes or gives a sequence, optional or map; `no_reference`: nothing says what is
right; `not_valid`: a rule of its document is broken, so that nothing is owed; `undefined`: no document says
what comes out; `too_costly`: exact arithmetic would take too long; `not_seen`: the runtime did not show what
it took or gave; `inside`: it is in the graph of another node; `not_run`: the runtime did not get to it;
`together`: it differs in the model, and is right by itself, given the same: the runtime computes several
nodes at once, and no document speaks of that; `failed`: a mistake of ours."""


@dataclass(frozen=True)
class NodeNumbers:
    """What one node gave for what it took. `place` is that of the `ModelNode`.

    `reason` says what is wrong, or why it is passed over; the numbers of one that is `together` are those of
    the difference in the model. `ulps` is the greatest distance of its outputs in steps of their type;
    `over_bound` the greatest distance as a multiple of what is allowed, more than 1 where it is wrong,
    infinite where nothing is allowed; so it is of one that is less exact than a table of functions and right
    nonetheless. `expected` and `got` are of the worst element, at `index` of `output`.
    `elements` were judged, of `of_elements`.
    """

    place: str
    operator: OperatorName | None
    verdict: NodeVerdict
    why: Why | None = None
    reason: str = ""
    ulps: int | None = None
    over_bound: float | None = None
    output: str | None = None
    index: tuple[int, ...] | None = None
    expected: str | None = None
    got: str | None = None
    elements: int = 0
    of_elements: int = 0

    @property
    def is_inexact(self) -> bool:
        """Whether it is right, and less exact than the table of functions allows."""
        return self.verdict == "right" and self.over_bound is not None and self.over_bound > 1


@dataclass(frozen=True)
class EndEffect:
    """How far an output of the model moves where a wrong node's right values take the place of its own.

    `place` is the node. `distance` is the greatest of all elements, `largest` the greatest magnitude that the
    output has, `ulps` the greatest distance in steps of its type, None where it has none. `reason` says why
    the model could not be run on from there, in place of the numbers.
    """

    place: str
    output: str
    distance: float | None = None
    largest: float | None = None
    ulps: int | None = None
    reason: str | None = None


@dataclass(frozen=True)
class GivenInput:
    """An input that the model was given: its name, type and shape, and where its values are from."""

    name: str
    element_type: str
    shape: tuple[int, ...]
    source: str


Against = Literal["references", "unoptimised", "runtime"]
OutputVerdict = Literal["right", "wrong", "same", "near", "far", "unknown"]


@dataclass(frozen=True)
class OutputNumbers:
    """An output of the model as the runtime computes it, optimised, beside something else.

    `against` are the references, run node by node in the model's order, the same runtime without its own
    optimisation, or another runtime, which `beside` names. `right` and `wrong` are said where a bound is
    known of every element or, for `wrong`, of one that is beyond it; else it is the `same`, `near` or `far`
    away. `unknown`: there is nothing to hold it against. `over_bound` is the greatest distance as a multiple
    of its bound; `bounded` elements have one. `reason` says why there is none, or what differs that is no
    value.
    """

    name: str
    against: Against
    verdict: OutputVerdict
    apart: Apart | None = None
    over_bound: float | None = None
    bounded: int = 0
    reason: str = ""
    beside: str = ""


@dataclass(frozen=True)
class WholeModelFacts:
    """A model as a runtime computed it once, node by node in the model's order.

    `how` says how the nodes' outputs were got: `whole` (the model itself with all of them as outputs), or
    `nodes` (each node by itself, where the runtime refused that). `first_wrong` is the place of the first
    wrong node. `passed_over` counts nodes by why. `outputs` are those of the model as it is, held against
    something else; `given` and `answered` are its inputs and outputs by name, the latter None where it does
    not run, for the reason that `does_not_run` gives. `steps` are those of outputs that are integers times a
    scale, by name.
    """

    runtime: str
    how: How
    inputs: tuple[GivenInput, ...]
    nodes: tuple[NodeNumbers, ...]
    effects: tuple[EndEffect, ...] = ()
    notes: tuple[str, ...] = ()
    passed_over: Mapping[str, int] = field(default_factory=dict)
    outputs: tuple[OutputNumbers, ...] = ()
    given: tuple[tuple[str, Tensor], ...] = field(default=(), repr=False, compare=False)
    answered: Mapping[str, Tensor] | None = field(default=None, repr=False, compare=False)
    does_not_run: str = ""
    steps: Mapping[str, float] = field(default_factory=dict, repr=False, compare=False)

    @property
    def holds(self) -> bool:
        """Whether it ran, and nothing that came speaks against the model."""
        return not (self.wrong or self.does_not_run or self.failing)

    @property
    def failing(self) -> tuple[OutputNumbers, ...]:
        """What speaks against the model's outputs: where the references decide, they alone do."""
        decided = {
            output.name
            for output in self.outputs
            if output.against == "references" and output.verdict in ("right", "wrong")
        }
        return tuple(
            output
            for output in self.outputs
            if output.verdict == "wrong" or (output.verdict == "far" and output.name not in decided)
        )

    @property
    def first_wrong(self) -> NodeNumbers | None:
        return next((node for node in self.nodes if node.verdict == "wrong"), None)

    @property
    def wrong(self) -> tuple[NodeNumbers, ...]:
        return tuple(node for node in self.nodes if node.verdict == "wrong")
