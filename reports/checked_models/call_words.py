"""Calls of a model, their answers and the causes of these in words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from conformance.checked_models.model_calls import ModelCall, ModelNode, ModelValue
from conformance.judging.verdicts import ACCEPTED_INVALID, NOT_RUN, REJECTED_VALID
from opcert.vocabulary.harmless import one_line
from reports.causes.spoken_failures import said_form
from reports.checked_models.call_answers import Answer, CallAnswer, CallCause
from reports.checked_models.call_evidence import CheckedCall
from reports.single_cases.answer_views import view_answer
from reports.single_cases.case_views import demand_text
from reports.text.phrasing import count, plural
from reports.text.value_text import attribute_text, values_text

_FEW = 16
"""A constant of so many elements stands in a sentence with its values."""
WORDS: dict[Answer, str] = {
    "crashes": "crashes",
    "wrong": "wrong",
    "refused": "refused",
    "special": "wrong on special values alone",
    "constant": "wrong with other constants alone",
    "inexact": "inexact",
    "elsewhere": "fails at other extents",
    "open": "open in the documents",
    "uncovered": "not covered",
    "conformant": "conformant",
}
SIGNS: dict[Answer, str] = {
    "crashes": "crash",
    "wrong": "mismatch",
    "refused": REJECTED_VALID,
    "special": ACCEPTED_INVALID,
    "constant": ACCEPTED_INVALID,
    "inexact": ACCEPTED_INVALID,
    "elsewhere": ACCEPTED_INVALID,
    "open": "observed",
    "uncovered": NOT_RUN,
    "conformant": "pass",
}
"""The verdict of a case whose sign and colour an answer has."""
REASONS: Mapping[str, str] = {
    "unknown": "the model names no operator version that there is",
    "unspecified": "no declaration speaks of the operator",
    "no_reference": "no reference says what is right",
    "unread": "an attribute of the node could not be read",
    "no_tensors": "what it takes or gives is no tensor",
    "not_valid": "the documents do not allow the node",
    "no_call": "no valid call with what the node says was found",
    "too_costly": "every such call is too large for exact arithmetic",
    "too_slow": "making its cases takes longer than is waited",
    "refused": "the reference defines no result",
    "failed": "cases could not be made, which is a mistake in opcert",
    "random": "nothing but its distribution could be held against a document",
}
"""By the word that programs read."""
_LONGEST = 120
_LONGEST_ATTRIBUTE = 200
_DIGITS = 8


def operator_text(node: ModelNode) -> str:
    """`Conv-11`, other domains than ai.onnx by name; what the model says where it is no operator version."""
    if node.operator is not None:
        return node.operator.short if node.operator.domain == "ai.onnx" else str(node.operator)
    name = node.op_type or "a node without an operator"
    return one_line(f"{node.domain}::{name}" if node.domain else name, _LONGEST)


def value_text(value: ModelValue | None) -> str:
    """`float [N, 3, ?]`, `constant int64 [2] = 0 1`; a dash for what is left out."""
    if value is None:
        return "–"
    said = value.element_type or value.kind or "unknown type"
    if value.shape is not None:
        said += f" [{', '.join('?' if each is None else str(each) for each in value.shape)}]"
    if value.constant is not None and value.constant.array.size <= _FEW:
        said += f" = {values_text(value.constant)}"
    return one_line(f"constant {said}" if value.is_constant else said, _LONGEST)


def attributes_text(node: ModelNode) -> list[tuple[str, str]]:
    """Names and values, in the order of the names; those that could not be carried with the reason."""
    told = [
        (one_line(name, _LONGEST), one_line(attribute_text(each.value), _LONGEST_ATTRIBUTE))
        for name, each in sorted(node.attributes.items())
    ]
    unread = [(one_line(name, _LONGEST), f"not read: {one_line(why)}") for name, why in node.unread.items()]
    return [*told, *sorted(unread)]


def signature_text(call: ModelCall) -> str:
    """The call in a line: `(float [1, 3], constant float [4]) alpha=0.5`."""
    node = call.first
    inputs = ", ".join(value_text(each) for each in node.inputs)
    attributes = " ".join(f"{name}={value}" for name, value in attributes_text(node))
    return one_line(f"({inputs}) {attributes}".rstrip(), 3 * _LONGEST)


def node_name(node: ModelNode) -> str:
    """A node by its name, or by its place where it has none."""
    return one_line(node.name or f"node {node.place}", _LONGEST)


def node_names(nodes: Sequence[ModelNode], most: int = 8) -> str:
    """The names of nodes, the first of many."""
    names = ", ".join(node_name(each) for each in nodes[:most])
    left = len(nodes) - most
    return f"{names} and {count(left)} more" if left > 0 else names


def answer_text(answer: CallAnswer) -> str:
    """`conformant by ONNX's node tests alone`, `not covered`."""
    said = WORDS[answer.answer]
    return f"{said} by ONNX's node tests alone" if answer.weaker else said


def evidence_text(answer: CallAnswer) -> str:
    """How many cases pass of how many, and what kind of cases: `12 of 14 cases pass`."""
    checked = answer.checked
    if not answer.asked:
        return answer.why or checked.why
    what = "node test" if checked.evidence == "node_tests" else "case"
    said = (
        f"{count(answer.passing)} of {plural(answer.asked, what)} {'pass' if answer.asked > 1 else 'passes'}"
    )
    if answer.unsupported:
        said += f"; {count(answer.unsupported)} the runtime says it does not offer"
    if answer.left:
        said += f"; {count(answer.left)} left out"
    return said if not answer.why else f"{said}; {answer.why}"


def calls_and_nodes(calls: Sequence[CheckedCall]) -> str:
    """`3 nodes of 2 calls`."""
    nodes = sum(each.nodes for each in calls)
    return f"{plural(nodes, 'node')} of {plural(len(calls), 'call')}"


def reason_text(word: str, why: str) -> str:
    """The sentence of a reason; of a word that has none, what was said of the call itself."""
    return REASONS.get(word) or why or "nobody said why"


def rule_of(cause: CallCause) -> str:
    """The id of a known entry, else operator, answer and digits of what is said: `Conv/wrong/1a2b3c4d`."""
    found = cause.found
    alone = "" if cause.setting == "any" else f"/{cause.setting}"
    if found is not None and found.known is not None:
        return f"{found.known.id}{alone}"
    operator = cause.smallest.operator
    name = operator.name if operator.domain == "ai.onnx" else operator.unversioned.replace("::", ".")
    # Names of nodes and numbers in a runtime's message change from case to case.
    said = said_form(cause.smallest) if cause.answer in ("refused", "crashes") else cause.title
    digits = hashlib.sha256(re.sub(r"\d+", "#", said).encode()).hexdigest()[:_DIGITS]
    return f"{name}/{cause.answer}/{digits}{alone}"


def fails_text(cause: CallCause, asked: int) -> str:
    """In how many of the cases that were asked: `3 of 14 cases`."""
    return f"{count(len(cause.cases))} of {plural(asked, 'case')}"


def smallest_texts(cause: CallCause) -> tuple[str, str]:
    """What the smallest case of a cause expects, and what it got."""
    case = cause.results.suite.case(str(cause.smallest.id))
    return demand_text(case), view_answer(cause.results, cause.smallest, case).answer
