"""The nodes of a model one after the other, each judged by the reference from what it was given there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np
from onnx import ModelProto, NodeProto

from conformance.adopting.foreign_values import read_foreign_tensor
from conformance.checked_models.model_calls import ModelNode
from conformance.checked_models.node_order import taken_names
from conformance.checked_models.whole_model import (
    EndEffect,
    GivenInput,
    How,
    NodeNumbers,
    WholeModelFacts,
    Why,
)
from conformance.checked_models.whole_reading import WholeModel
from conformance.judging.patterns.elements import measure, ulp_distances
from conformance.judging.verdicts import NOT_RUN
from conformance.suite.protos import declare_tensor
from conformance.suite.values import decode_floats
from generator.exploring.shrinking.judged_calls import Ask
from generator.models.chains.carrying import MOVING
from generator.models.check.captured_values import with_seen
from generator.models.check.model_inputs import (
    InputSource,
    ModelInputs,
    NumberLimits,
    declared_inputs,
    drawn_inputs,
    filed_inputs,
)
from generator.models.check.node_judging import Judged, NodeJudge
from generator.models.check.observed_values import (
    ObservedNodes,
    Values,
    initial_values,
    node_case,
    observe_whole,
    returned,
    run_first,
    whole_case,
    with_branches_taken,
)
from generator.models.check.reference_run import ReferenceRun, hold_output
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.tensors import Tensor


def end_effects(
    ask: Ask,
    model: WholeModel,
    given: ModelInputs,
    node: NodeProto,
    own: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
) -> tuple[EndEffect, ...]:
    """The effect on each output of the model; `own` and `right` are the node's outputs by name.

    Both times the same model is run, in which these values are inputs: nothing differs but they.
    """
    place, outputs = node.doc_string, model.proto.graph.output
    ends = {output.name for output in outputs}
    found = [_effect(place, name, own[name], right[name]) for name in own if name in ends]
    names = [output.name for output in outputs if output.name not in own]
    if not names:
        return tuple(found)
    raw = _without(model, place, own)
    answers = []
    for values in (own, right):
        inputs = (*given.values, *((name, values[name]) for name in own))
        answer = returned(ask(whole_case(raw, inputs, names), None), names)
        if isinstance(answer, str):
            return (*found, *(EndEffect(place, name, reason=one_line(answer)) for name in names))
        answers.append(answer)
    before, after = answers
    for name in names:
        if name in before and name in after:
            found.append(_effect(place, name, before[name], after[name]))
        else:
            found.append(EndEffect(place, name, reason="it is no tensor"))
    return tuple(found)


def _without(model: WholeModel, place: str, values: Mapping[str, Tensor]) -> bytes:
    """The model without a node, whose outputs are inputs in its place, and no longer outputs."""
    cut = ModelProto()
    cut.CopyFrom(model.proto)
    del cut.graph.node[:]
    del cut.graph.output[:]
    cut.graph.node.extend(node for node in model.proto.graph.node if node.doc_string != place)
    cut.graph.output.extend(
        value_info for value_info in model.proto.graph.output if value_info.name not in values
    )
    for name, value in values.items():
        declare_tensor(cut.graph.input.add(), name, value.element_type, value.shape)
    return bytes(cut.SerializeToString())


def _effect(place: str, name: str, own: Tensor, right: Tensor) -> EndEffect:
    if own.element_type is not right.element_type or own.shape != right.shape:
        reason = f"{own.element_type} {list(own.shape)} became {right.element_type} {list(right.shape)}"
        return EndEffect(place, name, reason=reason)
    if not own.array.size:
        return EndEffect(place, name, 0.0, 0.0, 0)
    with np.errstate(all="ignore"):
        apart, _ = measure(own.element_type, own.array, right.array, None)
        steps = ulp_distances(own.element_type, own.array, right.array)
        largest = None
        if own.element_type.is_float or own.element_type.is_integer:
            floats = own.element_type.is_float
            values = decode_floats(right.element_type, right.array) if floats else right.array.astype(float)
            finite = np.abs(values[np.isfinite(values)])
            largest = float(finite.max()) if finite.size else None
    return EndEffect(place, name, float(apart.max()), largest, None if steps is None else int(steps.max()))


def output_steps(model: WholeModel) -> dict[str, float]:
    """The step of each output that comes of DequantizeLinear with one scale, moved about or not, by name."""
    makers = {name: node for node in model.proto.graph.node for name in node.output}
    found = {}
    for value_info in model.proto.graph.output:
        node = makers.get(value_info.name)
        while node is not None and node.op_type in MOVING and node.input:
            node = makers.get(node.input[0])
        if node is None or node.op_type != "DequantizeLinear" or len(node.input) < 2:
            continue
        proto = model.initializers.get(node.input[1])
        try:
            scale = None if proto is None else read_foreign_tensor(proto)
        except UserError:
            continue
        if scale is not None and scale.array.size == 1 and scale.array.dtype.kind == "f":
            found[value_info.name] = abs(float(scale.array.reshape(-1)[0]))
    return {name: step for name, step in found.items() if 0 < step < float("inf")}


_MOST_ASKED_ALONE = 200
_TAKEN = "it took a branch, whose nodes are judged by themselves"
_WITHIN = "it is in another node's graph, or in a branch that was not taken"
Tell = Callable[[str], None]


@dataclass(eq=False)
class NodeByNode:
    """Runs a model on a runtime that is asked by a function, and holds each node against its own inputs."""

    ask: Ask
    name: str
    model: WholeModel
    source: InputSource
    limits: NumberLimits
    tell: Tell
    numbers: dict[str, NodeNumbers] = field(default_factory=dict)
    effects: list[EndEffect] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    asked_alone: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    """How many elements values have that were seen."""

    def __post_init__(self) -> None:
        self._judge = NodeJudge(self.limits.seconds, self.limits.node_seconds, self.source.seed)

    def run(self) -> WholeModelFacts:
        wanted = declared_inputs(self.model.proto)
        _check_names(self.model)
        if self.source.folder is not None:
            tries: Iterator[ModelInputs] = iter((filed_inputs(wanted, self.source.folder),))
        else:
            tries = drawn_inputs(wanted, self.source.seed)
        self.tell(f"running the model on {self.name}")
        given, plain = run_first(self.ask, self.model, tries)
        self.model = with_branches_taken(self.ask, self.model, given)
        how = self._judge_whole(given, None if isinstance(plain, str) else plain)
        found = self._facts(given, how)
        if isinstance(plain, str):
            return replace(found, does_not_run=plain)
        steps = output_steps(self.model)
        self.tell("working out what the whole model must give")
        owed = ReferenceRun(self.model, given, self.limits.whole_seconds, self.counts).outputs()
        outputs = tuple(
            hold_output(name, value, owed[name], steps.get(name)) for name, value in plain.items()
        )
        return replace(found, answered=plain, outputs=outputs, steps=steps)

    def _judge_whole(self, given: ModelInputs, plain: Values | None) -> How:
        known = initial_values(self.model, given)
        ran = False
        for seen in observe_whole(self.ask, self.model, given):
            if seen.reason is not None and not ran:
                told = one_line(seen.reason, 300)
                self.notes.append(f"the model with all its values as outputs does not run: {told}")
                return self._judge_each(given)
            ran = True
            if self._judge.is_over:
                break
            if plain is not None:
                self._compare_ends(plain, seen)
            self.tell(f"judging {len(self.numbers) + len(seen.nodes)} of {len(self.model.nodes)} nodes")
            for node, facts in seen.nodes:
                if seen.reason is not None:
                    self._pass_over(facts, NOT_RUN, one_line(seen.reason, 300))
                else:
                    self._look_at(given, node, facts, known.beside(seen.values))
        return "whole"

    def _compare_ends(self, plain: Values, seen: ObservedNodes) -> None:
        moved = [name for name, value in plain.items() if name in seen.values and seen.values[name] != value]
        if moved and not any("its values as outputs" in note for note in self.notes):
            self.notes.append(
                f"with its values as outputs the model gives other bits of {len(moved)} of its outputs: the "
                "runtime puts nodes together where nobody looks"
            )

    def _judge_each(self, given: ModelInputs) -> How:
        """Each node by itself, on what the nodes before it gave."""
        known = initial_values(self.model, given)
        values: Values = {}
        last = {name: at for at, (node, _) in enumerate(self.model.nodes) for name in taken_names(node)}
        ran = False
        for at, (node, facts) in enumerate(self.model.nodes):
            names = list(dict.fromkeys(taken_names(node)))
            if self._judge.is_over:
                break
            taken = {name: found for name in names if (found := known.beside(values)(name)) is not None}
            if len(taken) < len(names):
                self._pass_over(facts, NOT_RUN, "a node before it gave nothing")
                continue
            case = node_case(node, facts, self.model, taken)
            answer = returned(self.ask(case, None), case.output_names)
            if isinstance(answer, str):
                self._pass_over(facts, NOT_RUN, one_line(answer, 300))
                continue
            ran = True
            values |= answer
            self._look_at(given, node, facts, known.beside(values), alone=True)
            for name in [name for name in values if last.get(name, -1) <= at]:
                del values[name]
        return "nodes" if ran else NOT_RUN

    def _look_at(
        self,
        given: ModelInputs,
        node: NodeProto,
        facts: ModelNode,
        find: Callable[[str], Tensor | None],
        *,
        alone: bool = False,
    ) -> None:
        taken = [find(name) if name else None for name in node.input]
        gave = [find(name) if name else None for name in node.output]
        own = {name: value for name, value in zip(node.output, gave, strict=True) if value is not None}
        self.counts |= {name: value.array.size for name, value in own.items()}
        pairs = zip((*node.input, *node.output), (*taken, *gave), strict=True)
        hidden = [name for name, value in pairs if name and value is None]
        if hidden and facts.operator is not None:
            kinds = [
                value.kind for value in (*facts.inputs, *facts.outputs) if value is not None and value.kind
            ]
            if kinds:
                self._pass_over(facts, "no_tensors", f"it takes or gives a {kinds[0]}")
            else:
                self._pass_over(facts, "not_seen", f"the runtime did not show {one_line(str(hidden[0]), 80)}")
            return
        facts = with_seen(node, facts, find)
        judged = self._judge.judge(facts, taken, gave)
        numbers = judged.numbers
        if numbers.verdict == "wrong" and not alone:
            numbers = self._alone(node, facts, numbers, taken, find)
        self.numbers[facts.place] = numbers
        looked_at = len({effect.place for effect in self.effects})
        if (numbers.verdict == "wrong" or numbers.why == "together") and looked_at < self.limits.effects:
            self._run_on(given, node, judged, own)

    def _alone(
        self,
        node: NodeProto,
        facts: ModelNode,
        numbers: NodeNumbers,
        taken: Sequence[Tensor | None],
        find: Callable[[str], Tensor | None],
    ) -> NodeNumbers:
        """Say whether a wrong node is wrong by itself as well; if not, the runtime made one of several."""
        self.asked_alone += 1
        if self.asked_alone > _MOST_ASKED_ALONE:
            reason = (
                f"{_MOST_ASKED_ALONE} nodes before it were asked by themselves; in the model {numbers.reason}"
            )
            return replace(numbers, verdict="passed_over", why="too_costly", reason=reason)
        values = {name: found for name in taken_names(node) if (found := find(name)) is not None}
        case = node_case(node, facts, self.model, values)
        answer = returned(self.ask(case, None), case.output_names)
        if isinstance(answer, str):
            reason = f"by itself it does not run ({one_line(answer)}); in the model {numbers.reason}"
            return replace(numbers, verdict="passed_over", why=NOT_RUN, reason=reason)
        again = self._judge.judge(facts, taken, [answer.get(name) if name else None for name in node.output])
        if again.numbers.verdict == "right":
            reason = f"by itself, given the same, it is right; in the model {numbers.reason}"
            return replace(numbers, verdict="passed_over", why="together", reason=reason)
        return numbers

    def _run_on(self, given: ModelInputs, node: NodeProto, judged: Judged, own: Mapping[str, Tensor]) -> None:
        if judged.right is None:
            reason = "only a part of its values was looked at"
            self.effects.append(EndEffect(node.doc_string, "", reason=reason))
            return
        right = dict(zip(own, judged.right, strict=True))
        self.effects += end_effects(self.ask, self.model, given, node, own, right)

    def _pass_over(self, facts: ModelNode, why: Why, reason: str) -> None:
        self.numbers[facts.place] = NodeNumbers(facts.place, facts.operator, "passed_over", why, reason)

    def _facts(self, given: ModelInputs, how: How) -> WholeModelFacts:
        around: set[str] = set()
        for node, facts in self.model.nodes:
            around.update(accumulate(node.doc_string.split("/"), "{}/{}".format))
            if facts.place not in self.numbers:
                over = f"the {self.limits.seconds:g} s for judging are over"
                self._pass_over(facts, "too_costly", over)
        for facts in self.model.facts.nodes:
            if facts.place not in self.numbers:
                self._pass_over(facts, "inside", _TAKEN if facts.place in around else _WITHIN)
        nodes = tuple(self.numbers[facts.place] for facts in self.model.facts.nodes)
        counted = Counter(str(node.why) for node in nodes if node.why is not None)
        inputs = tuple(
            GivenInput(name, value.element_type.name, value.shape, source)
            for (name, value), source in zip(given.values, given.sources, strict=True)
        )
        return WholeModelFacts(
            self.name,
            how,
            inputs,
            nodes,
            tuple(self.effects),
            tuple(self.notes),
            dict(sorted(counted.items())),
            given=given.values,
        )


def _check_names(model: WholeModel) -> None:
    """Raise UserError of a name that is no text: nothing can be asked for by it."""
    for node, facts in model.nodes:
        if any(isinstance(name, bytes) for name in (*node.input, *node.output)):
            raise UserError(
                "the model names a value in bytes that are no UTF-8",
                got=f"node {facts.place}",
                expected="names that are text, by which values can be asked for",
            )
