"""What the values within a model are on a runtime: the model is run with them as further outputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from onnx import GraphProto, ModelProto, NodeProto

from conformance.adopting.foreign_values import read_foreign_tensor
from conformance.checked_models.model_calls import ModelNode, ModelValue
from conformance.checked_models.node_order import branching_nodes, take_branches, taken_names
from conformance.checked_models.whole_reading import WholeModel
from conformance.judging.responses import Answered, Crashed, NotOffered, Refused, Response, TimedOut
from conformance.processes.frames import MOST_OUTPUTS
from conformance.suite.cases import Case
from conformance.suite.protos import declare_tensor
from generator.exploring.shrinking.judged_calls import Ask
from generator.models.check.model_inputs import ModelInputs
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import Tensor

_MODEL = CaseId(OperatorName("ai.onnx", "Model", 1), "survival", None, "0" * 12)
LOST = "lost: "
"""What the reason begins with where the runtime's process was lost."""
Values = dict[str, Tensor]


def whole_case(raw: bytes, inputs: Sequence[tuple[str, Tensor]], outputs: Sequence[str]) -> Case:
    """A model that is to be run on inputs by name; nothing is demanded."""
    return Case(
        id=_MODEL,
        element_type=ELEMENT_TYPES["float"],
        attributes={},
        inputs=tuple(inputs),
        output_names=tuple(outputs),
        demand="survive",
        model=raw,
    )


def returned(response: Response, names: Sequence[str]) -> Values | str:
    """The tensors of an answer by name, or why there are none."""
    match response:
        case Answered() if len(response.outputs) == len(names):
            pairs = zip(names, response.outputs, strict=True)
            return {name: pair for name, pair in pairs if isinstance(pair, Tensor)}
        case Answered():
            return f"{len(response.outputs)} outputs came instead of {len(names)}"
        case Refused():
            return f"rejected: {response.kind}: {response.message}"
        case TimedOut():
            return f"{LOST}no answer within {response.limit:g} s"
        case Crashed():
            return f"{LOST}{response.reason}"
        case NotOffered():
            return response.reason
    return str(response)


_MOST_NAMES = MOST_OUTPUTS - 8
_MOST_BYTES = 192 << 20
_UNKNOWN_BYTES = 1 << 20
_MOST_NESTED = 8
_MOST_SECONDS_OF_TRIES = 90.0
Node = tuple[NodeProto, ModelNode]


@dataclass(frozen=True, eq=False)
class ObservedNodes:
    """Nodes, and the values that they took and gave in one run; `reason` says why there are none."""

    nodes: Sequence[Node]
    values: Mapping[str, Tensor] = field(default_factory=dict)
    reason: str | None = None


def run_plain(ask: Ask, model: WholeModel, given: ModelInputs) -> Values | str:
    """The outputs of the model as it is; or why there are none."""
    names = [value_info.name for value_info in model.proto.graph.output]
    raw = model.proto.SerializeToString() if model.as_it_is is None else model.as_it_is
    return returned(ask(whole_case(raw, given.values, names), None), names)


def run_first(ask: Ask, model: WholeModel, tries: Iterator[ModelInputs]) -> tuple[ModelInputs, Values | str]:
    """The first inputs that the runtime takes the model with, and its outputs; else why not."""
    first: tuple[ModelInputs, Values | str] | None = None
    begun = time.monotonic()
    for given in tries:
        answer = run_plain(ask, model, given)
        if not isinstance(answer, str):
            return given, answer
        first = first or (given, answer)
        if answer.startswith(LOST) or time.monotonic() - begun > _MOST_SECONDS_OF_TRIES:
            break
    assert first is not None
    return first


def initial_values(model: WholeModel, given: ModelInputs) -> _Known:
    """The model's inputs and initializers by name; the latter are read when they are asked for."""
    return _Known(model, dict(given.values))


class _Known:
    def __init__(self, model: WholeModel, values: Values) -> None:
        self._model = model
        self._values = values

    def find(self, name: str) -> Tensor | None:
        """The value of a name; None where it is none of these, or cannot be read."""
        if name in self._values:
            return self._values[name]
        proto = self._model.initializers.get(name)
        if proto is None:
            return None
        try:
            return read_foreign_tensor(proto)
        except UserError:
            return None

    def beside(self, values: Mapping[str, Tensor]) -> Callable[[str], Tensor | None]:
        """Finds a value by name: among those that were seen first."""

        def find(name: str) -> Tensor | None:
            found = values.get(name)
            return self.find(name) if found is None else found

        return find


def with_branches_taken(ask: Ask, model: WholeModel, given: ModelInputs) -> WholeModel:
    """The model with the branches that its If nodes take in place of them, as far as that can be seen."""
    for _ in range(_MOST_NESTED):
        conditions = branching_nodes(model.proto)
        known = initial_values(model, given)
        changed = ModelProto()
        changed.CopyFrom(model.proto)
        own = {value_info.name for value_info in changed.graph.output}
        for name in sorted(set(conditions.values()) - own):
            if known.find(name) is None:
                _declare(changed.graph, name, ModelValue(name, "bool"))
        outputs = [value_info.name for value_info in changed.graph.output]
        if not conditions or len(outputs) > MOST_OUTPUTS:
            break
        found = returned(ask(whole_case(changed.SerializeToString(), given.values, outputs), None), outputs)
        if isinstance(found, str):
            break
        values = {place: known.beside(found)(name) for place, name in conditions.items()}
        taken = {
            place: bool(value.array.reshape(-1)[0])
            for place, value in values.items()
            if value is not None and value.array.size == 1
        }
        if not taken:
            break
        model = WholeModel(take_branches(model.proto, taken), model.facts)
    return model


def observe_whole(ask: Ask, model: WholeModel, given: ModelInputs) -> Iterator[ObservedNodes]:
    """The nodes part by part, each part with what its nodes took and gave in one and the same run."""
    known = {name for name, _ in given.values} | model.initializers.keys()
    own = {value_info.name: value_info for value_info in model.proto.graph.output}
    types = _types(model)
    no_tensors = {name for name, value in types.items() if value.kind is not None}
    for part in _parts(model, known):
        names = list(dict.fromkeys(name for node, _ in part for name in (*taken_names(node), *node.output)))
        wanted = [name for name in names if name and name not in known | no_tensors]
        changed = ModelProto()
        changed.CopyFrom(model.proto)
        if wanted:
            del changed.graph.output[:]
        for name in wanted:
            if name in own:
                changed.graph.output.add().CopyFrom(own[name])
            else:
                _declare(changed.graph, name, types.get(name))
        outputs = [value_info.name for value_info in changed.graph.output]
        found = returned(ask(whole_case(changed.SerializeToString(), given.values, outputs), None), outputs)
        yield ObservedNodes(part, reason=found) if isinstance(found, str) else ObservedNodes(part, found)


def node_case(node: NodeProto, node_facts: ModelNode, model: WholeModel, values: Values) -> Case:
    """A node by itself, with what it takes, and what the graphs in it take, as inputs."""
    alone = ModelProto(ir_version=model.proto.ir_version, opset_import=model.proto.opset_import)
    alone.graph.name = "node"
    alone.graph.node.add().CopyFrom(node)
    for name, value in values.items():
        declare_tensor(alone.graph.input.add(), name, value.element_type, value.shape)
    for output, name in zip(node_facts.outputs, node.output, strict=True):
        if name:
            _declare(alone.graph, name, output)
    names = [value_info.name for value_info in alone.graph.output]
    return whole_case(alone.SerializeToString(), list(values.items()), names)


def _parts(model: WholeModel, known: set[str]) -> Iterator[list[Node]]:
    part: list[Node] = []
    names: set[str] = set()
    size = 0
    for node, facts in model.nodes:
        own = {
            taken_name
            for taken_name in (*taken_names(node), *node.output)
            if taken_name and taken_name not in known
        }
        more = sum(_bytes(output) for output in facts.outputs if output is not None)
        if part and (len(names | own) > _MOST_NAMES or size + more > _MOST_BYTES):
            yield part
            part, names, size = [], set(), 0
        part.append((node, facts))
        names |= own
        size += more
    if part:
        yield part


def _bytes(value: ModelValue) -> int:
    if value.shape is None or not all(isinstance(extent, int) for extent in value.shape):
        return _UNKNOWN_BYTES
    return 4 * prod(extent for extent in value.shape if isinstance(extent, int))


def _types(model: WholeModel) -> dict[str, ModelValue]:
    found: dict[str, ModelValue] = {}
    for node, facts in model.nodes:
        for name, output in zip(node.output, facts.outputs, strict=True):
            if output is not None:
                found.setdefault(name, output)
    return found


def _declare(graph: GraphProto, name: str, value: ModelValue | None) -> None:
    """Make a value an output, of its element type and any shape: a shape that was inferred may be wrong."""
    declared = graph.output.add(name=name)
    if value is not None and value.element_type is not None:
        declared.type.tensor_type.elem_type = ELEMENT_TYPES[value.element_type].code
