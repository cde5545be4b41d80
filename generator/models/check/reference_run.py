"""A whole model by the references alone: node by node in its order, with bounds as far as they are known."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from onnx import NodeProto

from conformance.checked_models.inlining import imported
from conformance.checked_models.model_calls import ModelNode
from conformance.checked_models.node_order import taken_names
from conformance.checked_models.whole_model import Against, Apart, OutputNumbers, OutputVerdict, apart
from conformance.checked_models.whole_reading import WholeModel
from conformance.judging.output_comparison import compare_output
from conformance.suite.cases import ExpectedOutput
from conformance.suite.protos import read_graph
from generator.asking.named_operators import referenced_operators
from generator.models.chains.chain_bodies import TRUE, ExpectedSequence, has_bodies, in_a_branch
from generator.models.chains.chains import Link
from generator.models.chains.node_answers import SUMS, Unpushed, call_of_node, rules_and_reference
from generator.models.chains.pushing import World, after
from generator.models.check.call_costs import estimated_seconds
from generator.models.check.model_inputs import ModelInputs
from generator.models.check.observed_values import initial_values
from generator.models.check.pushed_bounds import is_bounded, loosely, regardless, unbounded
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.tensors import Tensor, tensor
from opcert.vocabulary.value_types import SequenceType, TensorType, ValueType, parse_value_type
from reference.answers import OutsideDomain, UnstableLength
from specs.language.evaluation import EvaluationError
from specs.model.structures import is_sequence, sequence_type

_MOST_WORLDS = 8
_SIZES_TOO = 3
"""Of sums the sizes are worked out as well, with and without errors."""
_LONGEST = 200
_SEQUENCE = "seq(tensor("
_RUN = ("If", "Loop", "Scan")
"""Operators whose references run the graphs of a node."""
_MISTAKES = (ArithmeticError, LookupError, TypeError, ValueError, MemoryError)


@dataclass(frozen=True, eq=False)
class Referenced:
    """What an output must be, once for each outcome of what the documents leave open; or why nobody knows.

    `loose` says at which node the first bound was lost, where one was; `is_wide` whether bounds are such as
    no chain would have.
    """

    values: tuple[ExpectedOutput, ...] = ()
    why: str = ""
    loose: str = ""
    is_wide: bool = False


@dataclass(eq=False)
class ReferenceRun:
    """Runs a model on the inputs that it was given, for so many seconds of the processor at most.

    `counts` are how many elements values have, by name, as far as they were seen.
    """

    model: WholeModel
    given: ModelInputs
    seconds: float
    counts: Mapping[str, int] = field(default_factory=dict)
    _lost: dict[str, str] = field(default_factory=dict)
    _loose: dict[str, str] = field(default_factory=dict)
    _makers: dict[str, Link] = field(default_factory=dict)
    _wide: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._known = initial_values(self.model, self.given)
        self._facts = {facts.place: facts for _, facts in self.model.nodes}
        self._begun = time.process_time()

    def outputs(self) -> dict[str, Referenced]:
        """What each output of the model must be, by name."""
        given = (*self.given.values, (TRUE, tensor(np.array(True))))
        worlds: Sequence[World] = (World({name: ExpectedOutput(name, value) for name, value in given}),)
        for node in self.model.proto.graph.node:
            missing = [name for name in taken_names(node) if name in self._lost]
            if missing:
                self._lose(node, self._lost[missing[0]])
            else:
                worlds = self._after(node, self._holding(taken_names(node), worlds))
        return {
            value_info.name: self._of(value_info.name, worlds) for value_info in self.model.proto.graph.output
        }

    def _of(self, name: str, worlds: Sequence[World]) -> Referenced:
        worlds = self._holding([name], worlds)
        if name in self._lost or any(name not in world.values for world in worlds):
            return Referenced(why=self._lost.get(name, "no node gives it"))
        return Referenced(
            tuple(world.values[name] for world in worlds),
            loose=self._loose.get(name, ""),
            is_wide=name in self._wide,
        )

    def _holding(self, names: Iterable[str], worlds: Sequence[World]) -> Sequence[World]:
        """The worlds with the model's own constants among the values of these names."""
        found = {
            name: ExpectedOutput(name, value)
            for name in names
            if name and name not in worlds[0].values and (value := self._known.find(name)) is not None
        }
        return [replace(world, values={**world.values, **found}) for world in worlds] if found else worlds

    def _lose(self, node: NodeProto, why: str) -> None:
        self._lost |= {name: why for name in node.output if name}

    def _after(self, node: NodeProto, worlds: Sequence[World]) -> Sequence[World]:
        facts = self._facts.get(node.doc_string)
        if facts is None and node.op_type == "Identity":
            given, gives = node.input[0], node.output[0]
            return [replace(world, values={**world.values, gives: world.values[given]}) for world in worlds]
        bodies = self._bodies(node)
        why = _unreferenced(node, facts, runs=bool(bodies))
        types = [] if facts is None else [_type_of(facts, place) for place in range(len(node.output))]
        carries = any(isinstance(worlds[0].values.get(name), ExpectedSequence) for name in node.input)
        if facts is None or facts.operator is None or why:
            self._lose(node, why or "a node that could not be read")
            return worlds
        attributes = {**facts.attributes, **bodies}
        link = Link(facts.operator, attributes, tuple(node.input), tuple(node.output))
        if not bodies and (carries or any(isinstance(kind, SequenceType) for kind in types)):
            wanted = [kind for name, kind in zip(node.output, types, strict=True) if name]
            link = in_a_branch(node, wanted, self._opset)
        try:
            self._afford(link, worlds)
            found = [later for before in worlds for later in self._worlds(link, facts, before)]
        except (OpcertError, EvaluationError, OutsideDomain, UnstableLength) as error:
            self._lose(node, f"{_called(facts)}: {one_line(str(error), _LONGEST)}")
            return worlds
        except _MISTAKES as error:
            said = one_line(f"{type(error).__name__}: {error}", _LONGEST)
            self._lose(node, f"{_called(facts)}: a mistake of ours: {said}")
            return worlds
        self._makers |= dict.fromkeys(link.outputs, link)
        if len(found) <= _MOST_WORLDS:
            return found
        self._loosen(link, f"{_called(facts)} is open in too many ways")
        first = found[0]
        free = {name: unbounded(first.values[name]) for name in link.outputs if name}
        return [replace(first, values={**first.values, **free})]

    def _bodies(self, node: NodeProto) -> dict[str, Attribute]:
        """The graphs of a node that the references run, whatever they take from around; none of functions."""
        if node.op_type not in _RUN or node.domain not in ("", "ai.onnx") or "::" in node.doc_string:
            return {}
        found = {each.name: read_graph(each.g) for each in node.attribute if each.HasField("g")}
        return {name: Attribute("graph", replace(graph, opset=self._opset)) for name, graph in found.items()}

    @cached_property
    def _opset(self) -> int:
        return imported(self.model.proto.opset_import).get("ai.onnx", 0)

    def _worlds(self, link: Link, facts: ModelNode, world: World) -> Sequence[World]:
        taken = [world.values[name] if name else None for name in link.inputs]
        if any(name in self._wide for name in link.inputs):
            self._wide |= set(link.outputs)
        inherited = next((self._loose[name] for name in link.inputs if name in self._loose), "")
        try:
            found = list(after(link, world, self._makers))
        except Unpushed:
            if has_bodies(link):
                raise
            self._wide |= set(link.outputs)
            names = [name for name in link.outputs if name]
            found = []
            for outputs in self._loosely(link, facts, taken):
                made = {name: replace(output, name=name) for name, output in zip(names, outputs, strict=True)}
                found.append(replace(world, values={**world.values, **made}))
        for name in link.outputs:
            if name and any(not _is_bounded(each.values[name]) for each in found):
                self._loose.setdefault(name, inherited or f"no bound is known behind {_called(facts)}")
        return found

    def _loosely(
        self, link: Link, facts: ModelNode, taken: Sequence[ExpectedOutput | None]
    ) -> Sequence[Sequence[ExpectedOutput]]:
        try:
            return loosely(link, taken)
        except Unpushed:
            # A document may forbid what a reference computes nonetheless: then nothing is owed behind it.
            outputs = regardless(link, taken)
        self._loosen(
            link, f"{_called(facts)} is not allowed by its document or left open, so that nothing is owed"
        )
        return [outputs]

    def _loosen(self, link: Link, why: str) -> None:
        self._loose |= {name: why for name in link.outputs if name not in self._loose}

    def _afford(self, link: Link, worlds: Sequence[World]) -> None:
        tensors = [worlds[0].values[name].expected if name else None for name in link.inputs]
        call = call_of_node(link, tensors)
        largest = max((tensor.array.size for tensor in tensors if tensor is not None), default=1)
        count = sum(self.counts.get(name, largest) for name in link.outputs if name)
        seconds = estimated_seconds(link.operator.name, call, count) * len(worlds)
        seconds *= _SIZES_TOO if link.operator.name in SUMS else 1
        left = self.seconds - (time.process_time() - self._begun)
        if seconds > left:
            raise Unpushed(
                f"exact arithmetic would take about {seconds:.0f} s, of {self.seconds:g} s for the model "
                f"{max(left, 0.0):.0f} s are left"
            )


def _is_bounded(value: ExpectedOutput) -> bool:
    """Whether of every element a bound is known, and of every tensor of a sequence."""
    if isinstance(value, ExpectedSequence):
        return all(map(_is_bounded, value.parts))
    return bool(is_bounded(value).all())


def _unreferenced(node: NodeProto, facts: ModelNode | None, *, runs: bool) -> str:
    if facts is None:
        return "a node that could not be read"
    if facts.operator is None:
        return f"{_called(facts)} names no operator version"
    bodies = {each.name for each in node.attribute if each.HasField("g")} if runs else set()
    if set(facts.unread) - bodies:
        return f"{_called(facts)} has an attribute that is not carried"
    if not runs and any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute):
        return f"{_called(facts)} has graphs of its own"
    kinds = {value.kind for value in (*facts.inputs, *facts.outputs) if value is not None and value.kind}
    if not all(kind == "seq" or kind.startswith(_SEQUENCE) for kind in kinds) or (
        kinds and "::" in facts.place
    ):
        return f"{_called(facts)} takes or gives what is no tensor"
    return ""


def _type_of(facts: ModelNode, place: int) -> ValueType | None:
    """The type of an output: what the model says, else a sequence where the operator gives nothing else."""
    said = facts.outputs[place]
    if said is not None and said.kind is not None and said.kind.startswith(_SEQUENCE):
        return parse_value_type(said.kind)
    if said is not None and said.element_type is not None:
        return TensorType(ELEMENT_TYPES[said.element_type])
    if facts.operator is None or facts.operator not in referenced_operators():
        return None
    spec, _ = rules_and_reference(facts.operator)
    output = spec.outputs[min(place, len(spec.outputs) - 1)]
    return sequence_type("float") if is_sequence(spec, output) else None


def _called(facts: ModelNode) -> str:
    return one_line(f"{facts.op_type} {facts.name or f'(node {facts.place})'}", 120)


def hold_output(name: str, got: Tensor, wanted: Referenced, step: float | None = None) -> OutputNumbers:
    """An output beside what the references say that it must be, under the option that it is nearest to.

    `step` is that of `apart`.
    """
    if not wanted.values:
        return OutputNumbers(name, "references", "unknown", reason=wanted.why)
    found = [_hold(name, got, value, wanted, step) for value in wanted.values]
    order: tuple[OutputVerdict, ...] = ("right", "same", "near", "unknown", "far", "wrong")
    return min(found, key=lambda numbers: order.index(numbers.verdict))


def _hold(
    name: str, got: Tensor, wanted: ExpectedOutput, whole: Referenced, step: float | None
) -> OutputNumbers:
    compared = compare_output(wanted, got)
    distance = apart(wanted.expected, got, step)
    bounded = int(np.count_nonzero(is_bounded(wanted)))
    if isinstance(distance, str):
        return OutputNumbers(name, "references", "wrong", reason=distance)
    worst = compared.worst
    over = None if worst is None else float("inf") if worst.ratio is None else worst.ratio
    if compared.difference is not None:
        return OutputNumbers(name, "references", "wrong", distance, over, bounded, whole.loose)
    if bounded < distance.of_elements:
        return OutputNumbers(name, "references", _verdict(distance), distance, None, bounded, whole.loose)
    if whole.is_wide and distance.is_far:
        return OutputNumbers(name, "references", "far", distance, over, bounded, "its bound is a wide one")
    return OutputNumbers(name, "references", "right", distance, over, bounded)


def beside(
    name: str, one: Tensor, other: Tensor, against: Against, label: str = "", step: float | None = None
) -> OutputNumbers:
    """An output beside the same of another run; the second is the one that is held against it."""
    distance = apart(other, one, step)
    if isinstance(distance, str):
        return OutputNumbers(name, against, "far", reason=distance, beside=label)
    return OutputNumbers(name, against, _verdict(distance), distance, beside=label)


def _verdict(distance: Apart) -> OutputVerdict:
    return "same" if not distance.elements else "far" if distance.is_far else "near"
