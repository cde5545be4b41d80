"""What the page of a check says of each call and of each node, ready for the template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.checked_models.model_calls import ModelNode
from reports.causes.failure_class import marked_features
from reports.checked_models.call_answers import ANSWERS, Answer, CallAnswer, CallCause
from reports.checked_models.call_evidence import CheckedCall
from reports.checked_models.call_words import (
    SIGNS,
    WORDS,
    answer_text,
    attributes_text,
    evidence_text,
    node_name,
    operator_text,
    value_text,
)
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers
from reports.checked_models.number_words import right_text
from reports.page_making.phrasing import count, plural
from reports.single_cases.answer_views import AnswerView, view_answer
from reports.single_cases.case_views import CaseView, view_case
from reports.single_cases.passages_shown import with_titles

MOST_NAMED = 10
"""So many nodes of a call are named with it; the table of nodes has them all."""


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
        f"{count(len(cause.cases))} of {plural(answer.asked, 'case')}",
        cause.error,
        tuple(with_titles(each, smallest.operator) for each in cause.remarks),
        results.reproduction_command(smallest.id),
        None if case is None else view_case(results, case, marked),
        None if case is None else view_answer(results, smallest, case),
    )


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
