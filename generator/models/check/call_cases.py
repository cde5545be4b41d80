"""What is made of one call of a model: its cases, what they keep and vary, or why there are none."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from conformance.checked_models.model_calls import ModelCall, ModelNode, ModelValue
from conformance.models.case_models import Form
from conformance.suite.canonical import canonical_json
from conformance.suite.cases import Case
from conformance.suite.goldens import read_golden, write_golden
from opcert.vocabulary.attributes import Attribute, Graph, describe_value
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from reference.registry.body_runs import means_another

_DIGITS = 12


def key_of_call(call: ModelCall) -> str:
    """The 12 hex digits of a call: of its operator, attributes, types, extents, constants and outputs."""
    node, names = call.first, dict[str, str]()
    said: dict[str, object] = {
        "operator": str(node.operator or f"{node.domain}::{node.op_type}"),
        "attributes": {name: _attribute(attribute) for name, attribute in sorted(node.attributes.items())},
        "unread": sorted(node.unread),
        "inputs": [_value(value, names) for value in node.inputs],
        "outputs": [output is not None for output in node.outputs],
    }
    if node.open_graphs:
        graphs = {name: hashlib.sha256(one.raw).hexdigest() for name, one in sorted(node.open_graphs.items())}
        said["open_graphs"] = [graphs, [_value(value, names) for value in node.around.values()]]
    if opset := opset_of_cases(node):
        said["opset"] = opset
    if known := sorted(names[run_extent] for run_extent in node.run_extents & names.keys()):
        said["run_extents"] = known
    return hashlib.sha256(canonical_json(said)).hexdigest()[:_DIGITS]


PLAIN_OPSET = 6
"""In sets before it Cast has its type as a string, and others attributes that are gone: a runtime that puts
nodes of its own beside one makes no model of such a set."""


def opset_of_cases(node: ModelNode) -> int:
    """The opset of the model, where the cases of a node are to be of it: 0 where that of its version will do.

    Graphs of a node may mean other operators by another, and a runtime may reject a set for its age.
    """
    if is_aged(node):
        return node.opset
    graphs = list(node.open_graphs.values())
    closed = [given.value for given in node.attributes.values() if isinstance(given.value, Graph)]
    if node.operator is not None:
        graphs += [graph for graph in closed if means_another(graph, node.operator.since_version)]
    return max((graph.opset for graph in graphs), default=0)


def is_aged(node: ModelNode) -> bool:
    """Whether a version of a node is of a set before `PLAIN_OPSET`, and the model is not."""
    operator = node.operator
    if operator is None or operator.domain != "ai.onnx":
        return False
    return operator.since_version < PLAIN_OPSET <= node.opset


def _attribute(given: Attribute) -> list[Any]:
    if isinstance(given.value, Graph):
        return [given.kind, hashlib.sha256(given.value.raw).hexdigest()]
    return [given.kind, repr(describe_value(given.value))]


def _value(value: ModelValue | None, names: dict[str, str]) -> Any:
    if value is None:
        return None
    extents = None if value.shape is None else [_extent(extent, names) for extent in value.shape]
    return [value.element_type, extents, value.kind, value.is_constant, _constant(value.constant)]


def _extent(extent: int | str | None, names: dict[str, str]) -> int | str | None:
    return names.setdefault(extent, f"n{len(names)}") if isinstance(extent, str) else extent


def _constant(constant: Tensor | None) -> Any:
    if constant is None:
        return None
    return [constant.element_type.name, list(constant.shape), hashlib.sha256(constant.to_bytes()).hexdigest()]


Why = Literal[
    "unknown",
    "unspecified",
    "no_reference",
    "unread",
    "no_tensors",
    "not_valid",
    "undefined",
    "no_call",
    "too_costly",
    "too_slow",
    "refused",
    "failed",
]
"""`unknown`: the node names no operator version; `unspecified`: no declaration speaks of it; `no_reference`:
nothing says what is right; `unread`: an attribute that is not carried; `no_tensors`: maps, and
sequences among the values of a variadic input; `not_valid`: the documents do not allow the node;
`undefined`: they say nothing of what it computes; `no_call`: no valid call with what the node says was
found; `too_costly`: every one is too large for exact arithmetic, or takes too much; `too_slow`: making its
cases took longer than is waited; `refused`: the reference defines no result; `failed`: a mistake of ours."""


@dataclass(frozen=True)
class NotCovered:
    """Why a call has no cases: a word for programs, and a sentence for people."""

    why: Why
    text: str


class Uncovered(Exception):
    """A call of a model has no cases; it never leaves `generator.models.check`."""

    def __init__(self, why: Why, text: str) -> None:
        super().__init__(text)
        self.reason = NotCovered(why, text)


@dataclass(frozen=True, eq=False)
class CallCases:
    """The cases of one call of a model, or why it has none.

    `key` are 12 hex digits of what the call says, the same in every model; the ids of its cases have the word
    `call_<key>`. `fixed` says in words what the cases keep of the node, `given_up` what they do not, in
    sentences; `varied` are the dimensions that they vary, each with the levels that occur, of which
    `covered_pairs` of `pairs` stand in some case. `forms` are those that a runner should put the cases in,
    the one that is nearest to the model first; of the runtime's own optimisation nothing is said here.
    `node_tests` are ONNX's own tests of the call: weaker evidence, asked for where there are no cases.
    """

    call: ModelCall
    key: str
    cases: tuple[Case, ...] = ()
    not_covered: NotCovered | None = None
    fixed: Mapping[str, str] = field(default_factory=dict)
    given_up: tuple[str, ...] = ()
    varied: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pairs: int = 0
    covered_pairs: int = 0
    forms: tuple[Form, ...] = ("inputs",)
    node_tests: tuple[Case, ...] = ()

    @property
    def word(self) -> str:
        """The word in the ids of its cases."""
        return word_of_key(self.key)


def word_of_key(key: str) -> str:
    """The word that cases of the call with this key have in their ids."""
    return f"call_{key}"


@dataclass(frozen=True, eq=False)
class CallGoldens:
    """The cases of a call as goldens, and what else `CallCases` says, for a cache and from other machines."""

    goldens: tuple[bytes, ...]
    not_covered: NotCovered | None
    fixed: Mapping[str, str]
    given_up: tuple[str, ...]
    varied: Mapping[str, tuple[str, ...]]
    pairs: int
    covered_pairs: int
    forms: tuple[Form, ...]

    @classmethod
    def of(cls, made: CallCases) -> CallGoldens:
        return cls(tuple(write_golden(case)[0] for case in made.cases), **_said(made))

    def cases_of(self, call: ModelCall) -> CallCases:
        """The cases of the call; UserError where a golden is none, or none of this call's operator."""
        cases = tuple(map(read_golden, self.goldens))
        for case in cases:
            if case.operator != call.operator or case.call_digest() != case.id.digest:
                raise UserError("a case of something else", got=str(case.id))
        return CallCases(call, key_of_call(call), cases, **_said(self))


def _said(made: CallCases | CallGoldens) -> dict[str, Any]:
    """What both say beside the cases."""
    names = (part.name for part in fields(CallGoldens) if part.name != "goldens")
    return {name: getattr(made, name) for name in names}
