"""A check in words: calls, their answers and causes, chains, and the whole model."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from conformance.checked_models.model_calls import ModelCall, ModelNode, ModelValue
from conformance.checked_models.whole_model import (
    Apart,
    EndEffect,
    GivenInput,
    LoadFacts,
    NodeNumbers,
    OutputNumbers,
    OutputVerdict,
    WholeModelFacts,
)
from conformance.judging.verdicts import ACCEPTED_INVALID, NOT_RUN, REJECTED_VALID, word
from opcert.vocabulary.harmless import one_line
from reports.causes.spoken_failures import said_form
from reports.checked_models.call_answers import Answer, CallAnswer, CallCause
from reports.checked_models.call_evidence import CheckedCall
from reports.checked_models.chain_answers import ChainAnswer, CheckedChain
from reports.single_cases.answer_views import view_answer
from reports.single_cases.case_views import demand_text
from reports.text.phrasing import count, listed, plural, ratio_text
from reports.text.value_text import attribute_text, values_text

_FEW = 16
"""A constant of so many elements stands in a sentence with its values."""


class Look(NamedTuple):
    """How an answer is told: in words, with the sign and colour of a verdict, at a level of SARIF."""

    word: str
    sign: str
    level: str


LOOKS: Mapping[Answer, Look] = {
    "crashes": Look("crashes", "crash", "error"),
    "wrong": Look("wrong", "mismatch", "error"),
    "refused": Look("rejected", REJECTED_VALID, "error"),
    "special": Look("wrong on special values alone", ACCEPTED_INVALID, "warning"),
    "constant": Look("wrong with other constants alone", ACCEPTED_INVALID, "note"),
    "inexact": Look("inexact", ACCEPTED_INVALID, "note"),
    "elsewhere": Look("fails at other dimensions", ACCEPTED_INVALID, "warning"),
    "open": Look("open in the documents", "observed", "note"),
    "uncovered": Look("not covered", NOT_RUN, "note"),
    "conformant": Look("conformant", "pass", "none"),
}
WORDS = {answer: look.word for answer, look in LOOKS.items()}
SIGNS = {answer: look.sign for answer, look in LOOKS.items()}
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
    "undefined": "no document defines the result",
    "failed": "cases could not be made, which is a mistake in opcert",
    "random": "nothing but its distribution could be held against a document",
}
"""By the word that programs read."""
_LONGEST = 120
_LONGEST_ROW = 400
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
        said += f" [{', '.join('?' if extent is None else str(extent) for extent in value.shape)}]"
    if value.constant is not None and value.constant.array.size <= _FEW:
        said += f" = {values_text(value.constant)}"
    return one_line(f"constant {said}" if value.is_constant else said, _LONGEST)


def attributes_text(node: ModelNode) -> list[tuple[str, str]]:
    """Names and values, in the order of the names; those that could not be carried with the reason."""
    told = [
        (one_line(name, _LONGEST), one_line(attribute_text(attribute.value), _LONGEST_ATTRIBUTE))
        for name, attribute in sorted(node.attributes.items())
    ]
    taken = f"a graph that takes from around it: {', '.join(value.name for value in node.around.values())}"
    unread = [
        (one_line(name, _LONGEST), one_line(taken if name in node.open_graphs else f"not read: {why}"))
        for name, why in node.unread.items()
    ]
    return [*told, *sorted(unread)]


def signature_text(call: ModelCall) -> str:
    """The call in a line: `(float [1, 3], constant float [4]) alpha=0.5`."""
    node = call.first
    inputs = ", ".join(value_text(value) for value in node.inputs)
    attributes = " ".join(f"{name}={value}" for name, value in attributes_text(node))
    return one_line(f"({inputs}) {attributes}".rstrip(), 3 * _LONGEST)


def node_name(node: ModelNode) -> str:
    """A node by its name, or by its place where it has none."""
    return one_line(node.name or f"node {node.place}", _LONGEST)


def node_names(nodes: Sequence[ModelNode], most: int = 8) -> str:
    """The names of nodes, the first of many."""
    names = ", ".join(node_name(node) for node in nodes[:most])
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
    verb = "pass" if answer.asked > 1 else "passes"
    told = [f"{count(answer.passing)} of {plural(answer.asked, what)} {verb}"]
    told += [f"{count(answer.unsupported)} the runtime says it does not offer"] if answer.unsupported else []
    told += [f"{count(answer.left)} left out"] if answer.left else []
    return "; ".join([*told, *filter(None, [answer.why])])


def calls_and_nodes(calls: Sequence[CheckedCall]) -> str:
    """`3 nodes of 2 calls`."""
    return f"{plural(sum(checked.nodes for checked in calls), 'node')} of {plural(len(calls), 'call')}"


def reason_text(word: str, why: str) -> str:
    """The sentence of a reason; of a word that has none, what was said of the call itself."""
    return REASONS.get(word) or why or "nobody said why"


def with_cause(answer: Answer, says: str) -> str:
    """`wrong: cause not found` of `wrong, cause not found`: a verb that both begin with is said once."""
    word = WORDS[answer]
    verb = word.partition(" ")[0]
    for mark in (": ", ", "):
        says = says.removeprefix(f"{verb}{mark}")
    return f"{word}: {says}"


def rule_of(cause: CallCause) -> str:
    """The id of a known entry, else operator, answer and digits of what is said: `Conv/wrong/1a2b3c4d`."""
    alone = "" if cause.setting == "any" else f"/{cause.setting}"
    if cause.known is not None:
        return f"{cause.known.id}{alone}"
    operator = cause.smallest.operator
    name = operator.name if operator.domain == "ai.onnx" else operator.unversioned.replace("::", ".")
    # Names of nodes and numbers in a runtime's message change from case to case.
    said = said_form(cause.smallest) if cause.answer in ("refused", "crashes") else cause.title
    digits = hashlib.sha256(re.sub(r"\d+", "#", said).encode()).hexdigest()[:_DIGITS]
    return f"{name}/{cause.answer}/{digits}{alone}"


def fails_text(cause: CallCause, asked: int) -> str:
    """In how many cases of those asked, and by how much: `2 of 14 cases, 1 step off; 1 more inexact`."""
    error = f", {cause.error}" if cause.error else ""
    blamed = {id(each) for each in cause.blamed}
    beside = Counter(word(each.verdict) for each in cause.cases if id(each) not in blamed)
    more = [f"; {count(number)} more {how}" for how, number in beside.items()]
    return f"{count(len(cause.blamed))} of {plural(asked, 'case')}{error}{''.join(more)}"


def smallest_texts(cause: CallCause) -> tuple[str, str]:
    """What the smallest case of a cause expects, and what it got."""
    case = cause.results.suite.case(str(cause.smallest.id))
    return demand_text(case), view_answer(cause.results, cause.smallest, case).answer


def answer_of_chain(answer: ChainAnswer) -> str:
    """`conformant`, `wrong, only with optimisation`, `wrong: follows from call 3` or `as chain 2 in it`."""
    said = WORDS[answer.answer]
    for numbers, noun, form in (
        (answer.follows, "call", "follows from {}"),
        (answer.shorter, "chain", "as {} in it"),
    ):
        if numbers:
            named = f"{noun if len(numbers) == 1 else f'{noun}s'} {listed(list(map(str, numbers)))}"
            return f"{said}: {form.format(named)}"
    return f"{said}, only with optimisation" if answer.blames and answer.setting == "optimised" else said


def nodes_of_chain(chain: CheckedChain) -> str:
    """The names of its nodes, in order."""
    return one_line(" > ".join(map(node_name, chain.nodes)), _LONGEST_ROW)


def path_of_chain(chain: CheckedChain) -> str:
    """The names of its operators, in order."""
    return one_line(chain.path, _LONGEST_ROW)


PASSED_OVER: Mapping[str, str] = {
    "unknown": "no operator version is named",
    "unread": "an attribute could not be read",
    "no_tensors": "what is taken or given is no tensor",
    "no_reference": "no reference says what is right",
    "not_valid": "a rule of the document is broken, so that nothing is owed",
    "undefined": "no document defines the result",
    "too_costly": "exact arithmetic would take too long",
    "not_seen": "the runtime did not show what was taken or given",
    "together": "it differs in the model and is right alone: the runtime computes it with other nodes",
    "inside": "it stands in the graph of another node",
    NOT_RUN: "it was not run",
    "failed": "it could not be judged, which is a mistake in opcert",
}
VERDICTS: Mapping[OutputVerdict, str] = {
    "right": "right", "wrong": "wrong", "same": "the same", "near": "near", "far": "far away",
    "unknown": "not known",
}  # fmt: skip
_UNITS = {"ulp": ("ULP", "ULP"), "step": ("step", "steps")}
_LONGEST_OUTPUT = 500
_LONGEST_NUMBERS = 300
_NAME = 120
_SHORT = 200
_WHOLE = 8192
"""More than a message of a worker can hold."""


def load_text(load: LoadFacts) -> str:
    """`loads`, or `does not load: ` with all that the runtime says."""
    said = one_line(load.message, _WHOLE)
    if load.verdict == "unknown":
        return f"not known whether it loads: {said}"
    if load.fails:
        return f"does not load: {said}{_unoptimised_text(load)}"
    return "loads, and runs with inputs drawn by what it declares" if load.by_run else "loads"


def _unoptimised_text(load: LoadFacts) -> str:
    """` (with onnxruntime[optimization=none] it loads)`; nothing where that was not tried."""
    other = load.unoptimised
    if other is None or other.verdict == "unknown":
        return ""
    said = one_line(other.message, _WHOLE)
    if other.verdict == "loads":
        how = "loads"
    elif said == one_line(load.message, _WHOLE):
        how = "does not load either"
    else:
        how = f"does not load either: {said}"
    return f" (with {one_line(other.source, _NAME)} it {how})"


def numbers_line(numbers: WholeModelFacts) -> str:
    """`with these inputs 85 of 90 nodes are right, 2 wrong, 3 passed over`."""
    verdicts = Counter(node.verdict for node in numbers.nodes)
    if numbers.how == NOT_RUN:
        return "the whole model does not run with these inputs"
    right, wrong, left = (verdicts[verdict] for verdict in ("right", "wrong", "passed_over"))
    total = plural(len(numbers.nodes), "node")
    told = [f"with these inputs {count(right)} of {total} right, {count(wrong)} wrong"]
    inexact = sum(node.is_inexact for node in numbers.nodes)
    told[0] += f", {count(left)} passed over" if left else ""
    told[0] += f" ({count(inexact)} of the right ones inexact)" if inexact else ""
    told += ["each node was run by itself"] if numbers.how == "nodes" else []
    if numbers.does_not_run:
        told.append("the model as it is does not run")
    elif numbers.outputs:
        told.append(_outputs(numbers))
    return "; ".join(told)


def _outputs(numbers: WholeModelFacts) -> str:
    """`its outputs 1 right, 1 wrong`, beside the references; and how many are far from other runs."""
    counted = Counter(output.verdict for output in numbers.outputs if output.against == "references")
    told = [f"{count(counted[verdict])} {VERDICTS[verdict]}" for verdict in VERDICTS if counted[verdict]]
    said = f"its {'output' if sum(counted.values()) == 1 else 'outputs'} {', '.join(told)}"
    for against, words in (("unoptimised", "itself unoptimised"), ("runtime", "other runtimes")):
        far = sum(output_numbers.against == against for output_numbers in numbers.failing)
        said += f", {count(far)} far from {words}" if far else ""
    return said


def not_running_text(numbers: WholeModelFacts) -> str:
    """That the model does not run, and all that the runtime says."""
    drawn = any(given_input.source.startswith("drawn") for given_input in numbers.inputs)
    which = "inputs that were drawn by what it declares; give others in files" if drawn else "its inputs"
    return f"the model as it is does not run with {which}: {one_line(numbers.does_not_run, _WHOLE)}"


def passed_over_lines(numbers: WholeModelFacts) -> list[str]:
    """How many nodes were not judged, one line for each reason."""
    found = sorted(numbers.passed_over.items(), key=lambda each: -each[1])
    return [f"{count(number)} passed over: {PASSED_OVER.get(why, why)}" for why, number in found]


def wrong_text(node: NodeNumbers) -> str:
    """What a wrong node gave: `y[0, 3]: expected 1.5, got 1.25, 3.1 × the allowed error; 2 of 8 elements`."""
    place = f"{node.output or 'output'}{list(node.index) if node.index is not None else ''}"
    said = f"{place}: expected {node.expected or '?'}, got {node.got or '?'}"
    if node.over_bound not in (None, float("inf")):
        said += f", {ratio_text(node.over_bound)} the allowed error"
    return one_line(f"{said}; {node.reason}" if node.reason else said, _LONGEST_NUMBERS)


def input_text(given: GivenInput) -> str:
    """An input of the whole model: its name, type and shape, and where its values are from."""
    return one_line(f"{given.name}: {given.element_type} {list(given.shape)}, {given.source}", _SHORT)


def note_text(note: str) -> str:
    """A note on the whole model, as a page has room for it."""
    return one_line(note, _SHORT)


def right_text(node: NodeNumbers) -> str:
    """How far the values of a node that is right are off at most."""
    said = "inexact" if node.is_inexact else "right"
    return said if not node.ulps else f"{said}, within {plural(node.ulps, 'ulp', 'ulp')}"


def effect_text(effect: EndEffect) -> str:
    """`output y moves by 0.25 at most, of 3.5 at most (12 ulp)`."""
    output = one_line(effect.output, _NAME)
    if effect.distance is None:
        why = effect.reason or "no reason given"
        return one_line(f"what it does to {output} is not known: {why}", _LONGEST_NUMBERS)
    said = f"with its right values {output} moves by {effect.distance:.4g} at most"
    if effect.largest is not None:
        said += f", where its largest value is {effect.largest:.4g}"
    return f"{said} ({plural(effect.ulps, 'ulp', 'ulp')})" if effect.ulps is not None else said


def output_lines(numbers: WholeModelFacts) -> list[str]:
    """Each output beside each thing that it was held against, what speaks against the model first."""
    rest = (output for output in numbers.outputs if output not in numbers.failing)
    return [output_text(output) for output in (*numbers.failing, *rest)]


def output_text(output: OutputNumbers) -> str:
    """`y, beside the references: wrong: 22 of 64 elements off by 21 steps, 42 x what is allowed`."""
    against = {
        "references": "beside the references run node by node",
        "unoptimised": "beside the runtime without its optimisation",
        "runtime": f"beside {output.beside} (weak evidence)",
    }[output.against]
    said = VERDICTS[output.verdict]
    told = [] if output.apart is None else [apart_text(output.apart)]
    if output.verdict == "wrong" and output.over_bound not in (None, float("inf")):
        told.append(f"{ratio_text(output.over_bound)} what is allowed")
    total = 0 if output.apart is None else output.apart.of_elements
    compared = output.against == "references" and output.verdict in ("same", "near", "far", "wrong")
    if compared and output.bounded < total:
        told.append(f"a bound is known of {count(output.bounded)} of {plural(total, 'element')}")
    told += [output.reason] if output.reason else []
    name = one_line(output.name, _NAME)
    said = ": ".join(filter(None, [said, "; ".join(told)]))
    return one_line(f"output {name}, {against}: {said}", _LONGEST_OUTPUT)


def apart_text(apart: Apart) -> str:
    """`to the bit`, `1 of 512 elements off by 1 step`, `all 10 elements off by 3 to 40 ULP`."""
    if not apart.elements:
        return "to the bit"
    which = "all " if apart.elements == apart.of_elements else f"{count(apart.elements)} of "
    said = f"{which}{plural(apart.of_elements, 'element')}"
    if apart.unit == "value":
        return f"{said} have another value"
    if apart.least is not None and apart.most is not None:
        least = "" if apart.least == apart.most else f"{count(apart.least)} to "
        said += f" off by {least}{plural(apart.most, *_UNITS[apart.unit])}"
    if apart.lost:
        said += f", {count(apart.lost)} of them NaN or infinite in one alone"
    if apart.rows:
        said += f"; the largest is another one in {count(apart.classes)} of {plural(apart.rows, 'row')}"
    return said
