"""What the page of a check says of calls, chains, nodes and the whole model, ready for the template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.checked_models.model_calls import ModelNode
from conformance.checked_models.whole_model import OutputVerdict, WholeModelFacts
from conformance.judging.verdicts import NOT_RUN, REJECTED_VALID
from opcert.vocabulary.harmless import one_line
from reports.causes.failure_class import marked_features
from reports.checked_models.call_answers import ANSWERS, Answer, CallAnswer, CallCause
from reports.checked_models.call_evidence import CheckedCall
from reports.checked_models.call_words import (
    SIGNS,
    WORDS,
    answer_text,
    attributes_text,
    evidence_text,
    fails_text,
    node_name,
    operator_text,
    value_text,
)
from reports.checked_models.chain_answers import CheckedChain
from reports.checked_models.chain_words import answer_of_chain, nodes_of_chain, path_of_chain
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers
from reports.checked_models.number_words import (
    effect_text,
    not_running_text,
    numbers_line,
    output_text,
    passed_over_lines,
    right_text,
    wrong_text,
)
from reports.single_cases.answer_views import AnswerView, view_answer
from reports.single_cases.case_views import CaseView, view_case
from reports.single_cases.passages_shown import with_titles
from reports.text.phrasing import count

MOST_NAMED = 10
"""So many nodes of a call are named with it; the table of nodes has them all."""
MOST_WRONG = 500
"""So many wrong nodes stand on the page."""
_LONGEST = 200


@dataclass(frozen=True)
class Said:
    """An answer with its sign and word."""

    answer: Answer
    sign: str
    word: str


@dataclass(frozen=True)
class CauseView:
    """A cause of one call on one runtime; without `smallest` and `got` where the page has no more room."""

    answer: Said
    headline: str
    fails: str
    error: str
    remarks: tuple[str, ...]
    command: str
    smallest: CaseView | None = None
    got: AnswerView | None = None


@dataclass(frozen=True)
class RuntimeView:
    """What one runtime makes of a call."""

    label: str
    said: Said
    evidence: str
    causes: tuple[CauseView, ...]


@dataclass(frozen=True)
class CallView:
    """A call, the nodes that make it, and what each runtime makes of it."""

    checked: CheckedCall
    anchor: str
    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]
    nodes: tuple[str, ...]
    more_nodes: int
    worst: Said
    varied: tuple[tuple[str, str], ...]
    runtimes: tuple[RuntimeView, ...]

    @property
    def number(self) -> int:
        return self.checked.nodes


@dataclass(frozen=True)
class NodeRow:
    """A node in its place, its call, and the answer of each runtime; `rank` orders the worst first.

    `numbers` is what came of it with actual inputs, for each runtime; empty where nobody asked.
    """

    number: int
    place: str
    name: str
    operator: str
    anchor: str
    rank: int
    said: tuple[Said, ...]
    numbers: tuple[str, ...]


@dataclass(frozen=True)
class NodeBlock:
    """Nodes that stand one after the other."""

    heading: str
    open: bool
    rows: tuple[NodeRow, ...]


@dataclass(frozen=True)
class ChainView:
    """A chain, its nodes, and what runtimes make of it; causes only of what fewer nodes do not tell."""

    chain: CheckedChain
    path: str
    nodes: str
    runtimes: tuple[RuntimeView, ...]

    @property
    def telling(self) -> bool:
        """Whether some runtime fails it of itself."""
        return any(each.causes for each in self.runtimes)


@dataclass(frozen=True)
class WrongNode:
    """A node that was wrong with actual inputs, and what its wrong values do to the model's outputs."""

    place: str
    name: str
    operator: str
    anchor: str
    said: str
    effects: tuple[str, ...]


@dataclass(frozen=True)
class NumbersView:
    """The whole model on one runtime."""

    label: str
    line: str
    inputs: tuple[str, ...]
    wrong: tuple[WrongNode, ...]
    left_out: int
    passed_over: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def said_of(answer: Answer, word: str = "") -> Said:
    """An answer as pages show it."""
    return Said(answer, SIGNS[answer], word or WORDS[answer])


def view_calls(check: ModelCheck, calls: Sequence[CheckedCall], most_detailed: int) -> Iterator[CallView]:
    """The calls in words; so many causes, the first ones, have their smallest case with them."""
    room = most_detailed
    for each in calls:
        runtimes = []
        for runtime, answer in zip(check.runtimes, check.answers(each), strict=True):
            causes = tuple(
                view_cause(answer, cause, position < room) for position, cause in enumerate(answer.causes)
            )
            room -= len(causes)
            said = said_of(answer.answer, answer_text(answer))
            evidence = runtime.unavailable or evidence_text(answer)
            runtimes.append(RuntimeView(runtime.label, said, evidence, causes))
        yield _call(check, each, tuple(runtimes))


def _call(check: ModelCheck, checked: CheckedCall, runtimes: tuple[RuntimeView, ...]) -> CallView:
    first = checked.call.first
    return CallView(
        checked,
        anchor_of(checked),
        operator_text(first),
        tuple(value_text(each) for each in first.inputs),
        tuple(value_text(each) for each in first.outputs),
        tuple(attributes_text(first)),
        tuple(node_name(each) for each in checked.call.nodes[:MOST_NAMED]),
        max(0, checked.nodes - MOST_NAMED),
        said_of(check.worst(checked)),
        tuple((name, ", ".join(levels)) for name, levels in checked.varied.items()),
        runtimes,
    )


def view_cause(answer: CallAnswer, cause: CallCause, detailed: bool) -> CauseView:
    """A cause in words, with its smallest case where that is asked for."""
    results, smallest = cause.results, cause.smallest
    case = results.suite.case(str(smallest.id)) if detailed else None
    marked = marked_features(cause.found) if cause.found is not None else frozenset()
    return CauseView(
        said_of(cause.answer),
        cause.says,
        fails_text(cause, answer.asked),
        cause.error,
        tuple(with_titles(each, smallest.operator) for each in cause.remarks),
        results.reproduction_command(smallest.id),
        None if case is None else view_case(results, case, marked),
        None if case is None else view_answer(results, smallest, case),
    )


def view_chains(check: ModelCheck, most_detailed: int) -> Iterator[ChainView]:
    """The chains that were asked; so many causes, the first ones, have their smallest case with them."""
    room = most_detailed
    for place, chain in enumerate(each for each in check.chains if each.case):
        runtimes = []
        for runtime in check.runtimes:
            if place >= len(runtime.chains):
                continue
            answer = runtime.chains[place]
            told = () if answer.is_known else answer.own.causes
            causes = tuple(view_cause(answer.own, each, at < room) for at, each in enumerate(told))
            room -= len(causes)
            said = said_of(answer.answer, answer_of_chain(answer))
            why = answer.own.why if answer.answer == "uncovered" else ""
            runtimes.append(RuntimeView(runtime.label, said, why, causes))
        yield ChainView(chain, path_of_chain(chain), nodes_of_chain(chain), tuple(runtimes))


def anchor_of(checked: CheckedCall) -> str:
    """The element of a call."""
    return f"call-{checked.number}"


def node_blocks(check: ModelCheck, size: int, few: int) -> Iterator[NodeBlock]:
    """Every node in the order of the model, in blocks of a size; up to `few` nodes are one open block."""
    nodes = check.model.nodes
    step = max(len(nodes), 1) if len(nodes) <= few else size
    for begun in range(0, len(nodes), step):
        rows = tuple(
            _row(check, begun + place, each) for place, each in enumerate(nodes[begun : begun + step], 1)
        )
        odd = sum(each.rank < ANSWERS.index("conformant") for each in rows)
        said = f"{count(odd)} not conformant" if odd else "all conformant"
        heading = f"Nodes {count(begun + 1)} to {count(begun + len(rows))}: {said}"
        yield NodeBlock(heading, step == len(nodes), rows)


def _row(check: ModelCheck, number: int, node: ModelNode) -> NodeRow:
    checked = check.call_of.get(node.place)
    answers = () if checked is None else check.answers(checked)
    worst: Answer = "uncovered" if checked is None else check.worst(checked)
    said = tuple(said_of(each.answer) for each in answers) or tuple(
        said_of("uncovered") for _ in check.runtimes
    )
    return NodeRow(
        number,
        node.place,
        node_name(node),
        operator_text(node),
        "" if checked is None else anchor_of(checked),
        ANSWERS.index(worst),
        said,
        tuple(_numbers(each, node) for each in check.runtimes),
    )


def _numbers(runtime: RuntimeAnswers, node: ModelNode) -> str:
    found = runtime.numbers_of.get(node.place)
    if found is None or found.verdict == "passed_over":
        return ""
    return f"here {right_text(found)}" if found.verdict == "right" else "wrong here, see above"


def view_numbers(check: ModelCheck, runtime: RuntimeAnswers) -> NumbersView:
    """Put the numbers of a runtime, which has some, into words."""
    numbers = runtime.numbers
    assert numbers is not None
    nodes = {each.place: each for each in check.model.nodes}
    wrong = []
    for each in numbers.wrong[:MOST_WRONG]:
        node, call = nodes.get(each.place), check.call_of.get(each.place)
        wrong.append(
            WrongNode(
                each.place,
                each.place if node is None else node_name(node),
                "" if node is None else operator_text(node),
                "" if call is None else anchor_of(call),
                wrong_text(each),
                tuple(effect_text(one) for one in numbers.effects if one.place == each.place),
            )
        )
    inputs = [
        f"{each.name}: {each.element_type} {list(each.shape)}, {each.source}" for each in numbers.inputs
    ]
    return NumbersView(
        runtime.label,
        numbers_line(numbers),
        tuple(one_line(each, _LONGEST) for each in inputs),
        tuple(wrong),
        max(0, len(numbers.wrong) - MOST_WRONG),
        tuple(passed_over_lines(numbers)),
        _outputs(numbers),
        tuple(one_line(each, _LONGEST) for each in numbers.notes),
    )


def _outputs(numbers: WholeModelFacts) -> tuple[tuple[str, str], ...]:
    """What came at the end, with the verdict whose sign it has."""
    signs: dict[OutputVerdict, str] = {"right": "pass", "same": "pass", "near": "pass", "unknown": NOT_RUN}
    failing = numbers.failing
    told = [("mismatch", output_text(each)) for each in failing]
    told += [
        (signs.get(each.verdict, "observed"), output_text(each))
        for each in numbers.outputs
        if each not in failing
    ]
    if numbers.does_not_run:
        told.insert(0, (REJECTED_VALID, not_running_text(numbers)))
    return tuple(told)
