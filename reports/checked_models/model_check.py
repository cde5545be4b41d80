"""A whole check: the model, its calls, what each runtime makes of them, and what was not checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from conformance.checked_models.model_calls import ModelFacts
from conformance.checked_models.whole_model import LoadFacts, NodeNumbers, WholeModelFacts
from opcert.vocabulary.harmless import one_line
from reports.checked_models.call_answers import ANSWERS, BLAMING, Answer, CallAnswer
from reports.checked_models.call_evidence import CheckedCall, Evidence
from reports.checked_models.chain_answers import ChainAnswer, CheckedChain
from reports.checked_models.check_words import operator_text, reason_text
from reports.overview.headline import runtime_label
from reports.results.case_results import Results
from reports.text.phrasing import count, plural

FORBIDDEN = "not_valid"
"""The reason of calls that the documents do not allow: that is a finding about the model."""


@dataclass(frozen=True, eq=False)
class RuntimeAnswers:
    """What one runtime makes of every call, in the order of the model.

    `source` is the runtime as it was asked for. `results` is its run, `plain` the one without its own
    optimisation; None where there was none. `unavailable` says why the runtime could not be asked.
    `chains` is what it makes of each chain of the model that has a case. `load` says whether the model as it
    is loads; None where nobody asked.
    """

    source: str
    answers: tuple[CallAnswer, ...]
    results: Results | None = None
    plain: Results | None = None
    unavailable: str = ""
    numbers: WholeModelFacts | None = None
    chains: tuple[ChainAnswer, ...] = ()
    load: LoadFacts | None = None

    @property
    def label(self) -> str:
        """Name and version, or the words that asked for it where it never spoke."""
        return self.source if self.results is None else runtime_label(self.results.record)

    @cached_property
    def nodes(self) -> Mapping[Answer, int]:
        """How many nodes have each answer; together as many as the model has."""
        counted = Counter(answer.answer for answer in self.answers for _ in range(answer.checked.nodes))
        return {answer: counted[answer] for answer in ANSWERS}

    @cached_property
    def calls(self) -> Mapping[Answer, int]:
        counted = Counter(answer.answer for answer in self.answers)
        return {answer: counted[answer] for answer in ANSWERS}

    @property
    def weaker(self) -> int:
        """How many conformant nodes are so by ONNX's node tests alone."""
        return sum(
            answer.checked.nodes for answer in self.answers if answer.weaker and answer.answer == "conformant"
        )

    @property
    def holds(self) -> bool:
        """Whether nothing that is known speaks against the model on this runtime."""
        right = self.numbers is None or self.numbers.holds
        if self.blaming_chains or not right or self.unavailable or self.does_not_load:
            return False
        return not any(self.nodes[each] for each in BLAMING)

    @property
    def does_not_load(self) -> bool:
        """Whether the runtime does not take the model as it is."""
        return self.load is not None and self.load.fails

    @cached_property
    def blaming_chains(self) -> tuple[ChainAnswer, ...]:
        """The chains that fail where none of their nodes does alone, the worst first."""
        told = [chain for chain in self.chains if chain.blames]
        return tuple(sorted(told, key=lambda each: (ANSWERS.index(each.answer), each.chain.number)))

    @cached_property
    def numbers_of(self) -> Mapping[str, NodeNumbers]:
        """What each node gave with actual inputs, by its place."""
        return {} if self.numbers is None else {node.place: node for node in self.numbers.nodes}

    @cached_property
    def worst(self) -> tuple[CallAnswer, ...]:
        """The calls that are not conformant for a reason, the worst first, those of many nodes before."""
        told = [answer for answer in self.answers if answer.causes]
        return tuple(sorted(told, key=lambda each: (ANSWERS.index(each.answer), -each.checked.nodes)))


@dataclass(frozen=True, eq=False)
class ModelCheck:
    """A model, its distinct calls with their evidence, and the runtimes that were asked.

    `chains` are its neighbours; `chains_cut` says in a sentence why there are no more, empty where all are.
    """

    model: ModelFacts
    calls: tuple[CheckedCall, ...]
    runtimes: tuple[RuntimeAnswers, ...]
    chains: tuple[CheckedChain, ...] = ()
    chains_cut: str = ""

    @property
    def holds(self) -> bool:
        return all(runtime.holds for runtime in self.runtimes)

    @cached_property
    def call_of(self) -> Mapping[str, CheckedCall]:
        """The call that each node makes, by the node's place."""
        return {node.place: call for call in self.calls for node in call.call.nodes}

    @cached_property
    def worst_first(self) -> tuple[CheckedCall, ...]:
        """Every call by the worst that any runtime makes of it; of these what most nodes make comes first."""
        return tuple(
            sorted(self.calls, key=lambda call: (ANSWERS.index(self.worst(call)), -call.nodes, call.number))
        )

    def worst(self, checked: CheckedCall) -> Answer:
        """The worst that any runtime makes of a call."""
        return min(
            (answer.answer for answer in self.answers(checked)), key=ANSWERS.index, default="uncovered"
        )

    def answers(self, checked: CheckedCall) -> tuple[CallAnswer, ...]:
        """What each runtime makes of a call."""
        return tuple(runtime.answers[checked.number - 1] for runtime in self.runtimes)

    def evidence_of(self, kind: Evidence) -> tuple[CheckedCall, ...]:
        """The calls with one kind of evidence."""
        return tuple(call for call in self.calls if call.evidence == kind)

    @cached_property
    def forbidden(self) -> tuple[CheckedCall, ...]:
        """The calls that their documents do not allow."""
        return tuple(each for each in self.evidence_of("none") if each.reason == FORBIDDEN)

    @cached_property
    def uncovered(self) -> Sequence[UncoveredCalls]:
        """The calls that nothing covers, by the reason, that of most nodes first; then by runtime.

        Of a runtime are those whose cases say nothing there.
        """
        found: dict[str, list[CheckedCall]] = {}
        for checked in self.evidence_of("none"):
            if checked.reason != FORBIDDEN:
                found.setdefault(checked.reason, []).append(checked)
        every = [UncoveredCalls(reason, tuple(calls)) for reason, calls in found.items()]
        every.sort(key=lambda group: -nodes_of(group.calls))
        for run in self.runtimes:
            silent: dict[str, list[CheckedCall]] = {}
            for answer in run.answers if not run.unavailable else ():
                if answer.answer == "uncovered" and answer.checked.evidence != "none":
                    silent.setdefault(answer.why, []).append(answer.checked)
            every += [UncoveredCalls("", tuple(calls), run.label, why) for why, calls in silent.items()]
        return every


_FEW_REASONS = 2


@dataclass(frozen=True)
class UncoveredCalls:
    """Calls that one reason leaves uncovered; of the runtime `on` alone where it is named, as `why` says."""

    reason: str
    calls: tuple[CheckedCall, ...]
    on: str = ""
    why: str = ""

    @property
    def operators(self) -> Sequence[str]:
        """Their operators, each once."""
        return tuple(dict.fromkeys(operator_text(checked.call.first) for checked in self.calls))

    @property
    def told(self) -> str:
        """Why, with the first of what is said of the calls themselves where that is more."""
        reason = f"{f'on {self.on}: ' if self.on else ''}{reason_text(self.reason, self.why)}"
        whys = dict.fromkeys(() if self.on else (checked.why.removesuffix(".") for checked in self.calls))
        said = [why for why in whys if why and not why.startswith(_OF_OPERATORS)]
        left = len(said) - _FEW_REASONS
        more = [f"and {count(left)} more"] if left > 0 else []
        return f"{reason} ({'; '.join([*said[:_FEW_REASONS], *more])})" if said else reason


_OF_OPERATORS = ("There is no spec of ", "There is no reference for ", "No declaration says which calls ")
"""Sentences that name an operator beside its reason, and no more."""


def nodes_of(calls: Sequence[CheckedCall]) -> int:
    """How many nodes make these calls."""
    return sum(call.nodes for call in calls)


def nothing_known(check: ModelCheck) -> bool:
    """Whether no node, no row of nodes and no output of the model was held against anything on any runtime.

    That it does not load or differs between runtimes is known of a model none of whose nodes is.
    """
    total = len(check.model.nodes)
    if any(one.answer != "uncovered" for runtime in check.runtimes for one in runtime.chains):
        return False
    return all(
        runtime.nodes["uncovered"] == total
        and not runtime.does_not_load
        and (runtime.numbers is None or _says_nothing(runtime.numbers))
        for runtime in check.runtimes
    )


def _says_nothing(numbers: WholeModelFacts) -> bool:
    judged = any(node.verdict != "passed_over" for node in numbers.nodes)
    held = any(output.verdict != "unknown" for output in numbers.outputs)
    return not (judged or held or numbers.does_not_run)


_LONGEST = 2_000
_LABEL = 120


@dataclass(frozen=True)
class Coverage:
    """`nodes` of the model; of those that nothing covers, and that documents forbid, how many by operator.

    `open` says in sentences what else is not known.
    """

    nodes: int
    uncovered: Mapping[str, int]
    forbidden: Mapping[str, int]
    open: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether all of the model was checked."""
        return not (self.uncovered or self.forbidden or self.open)


def coverage_of(check: ModelCheck) -> Coverage:
    """What was checked on every runtime that was asked."""
    asked = [runtime for runtime in check.runtimes if not runtime.unavailable]
    uncovered, forbidden = Counter[str](), Counter[str]()
    for checked in check.calls:
        answers = [runtime_answers.answers[checked.number - 1].answer for runtime_answers in asked]
        if checked.evidence == "none" and checked.reason == FORBIDDEN:
            forbidden[operator_text(checked.call.first)] += checked.nodes
        elif checked.evidence == "none" or "uncovered" in answers:
            uncovered[operator_text(checked.call.first)] += checked.nodes
    told = tuple(one_line(line, _LONGEST) for runtime_answers in asked for line in _open(runtime_answers))
    return Coverage(len(check.model.nodes), dict(uncovered), dict(forbidden), told)


def _open(runtime: RuntimeAnswers) -> Iterator[str]:
    label = one_line(runtime.label, _LABEL)
    if runtime.load is not None and runtime.load.verdict == "unknown":
        yield f"whether it loads on {label}"
    left = sum(answer.left for answer in runtime.answers)
    if left:
        cases = plural(left, "case")
        yield f"what {label} makes of {cases} that did not run, since others lost their process"
    numbers = runtime.numbers
    for output in numbers.outputs if numbers is not None else ():
        if output.against == "references" and output.verdict not in ("right", "wrong"):
            reason = output.reason or "no bound is known"
            yield f"whether the output {output.name} is right on {label} ({reason})"


def coverage_line(coverage: Coverage) -> str:
    """`Checked: all 5 nodes.`, or how many are not covered, of which operators, and what else is open."""
    total = plural(coverage.nodes, "node")
    if coverage.complete:
        return f"Checked: all of {total}."
    parts = []
    if coverage.uncovered:
        missing = sum(coverage.uncovered.values())
        parts.append(f"{count(missing)} of {total} not covered: {_operators(coverage.uncovered)}")
    if coverage.forbidden:
        nodes = plural(sum(coverage.forbidden.values()), "node")
        parts.append(f"{nodes} not allowed by their documents: {_operators(coverage.forbidden)}")
    parts += [f"not known {each}" for each in coverage.open]
    return one_line(f"Not all was checked: {'; '.join(parts)}.", 2 * _LONGEST)


def _operators(counts: Mapping[str, int]) -> str:
    found = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{name} ({count(number)})" for name, number in found)
