"""What came of a whole model that was run on a runtime: each node held against its own actual inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from conformance.checked_models.output_distances import Apart
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor

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
    infinite where nothing is allowed. `expected` and `got` are of the worst element, at `index` of `output`.
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
            each.name
            for each in self.outputs
            if each.against == "references" and each.verdict in ("right", "wrong")
        }
        return tuple(
            each
            for each in self.outputs
            if each.verdict == "wrong" or (each.verdict == "far" and each.name not in decided)
        )

    @property
    def first_wrong(self) -> NodeNumbers | None:
        return next((each for each in self.nodes if each.verdict == "wrong"), None)

    @property
    def wrong(self) -> tuple[NodeNumbers, ...]:
        return tuple(each for each in self.nodes if each.verdict == "wrong")
