"""What a check prints at its end: the worst calls of each runtime, what nothing covers, then the totals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opcert.vocabulary.harmless import one_line
from reports.checked_models.call_answers import ANSWERS, CallAnswer
from reports.checked_models.call_words import (
    WORDS,
    calls_and_nodes,
    node_name,
    node_names,
    operator_text,
    signature_text,
)
from reports.checked_models.cause_lines import cause_lines
from reports.checked_models.chain_words import chain_lines, chains_line, unasked_lines
from reports.checked_models.load_words import load_text
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers, nodes_of
from reports.checked_models.number_words import effect_text, numbers_line, passed_over_lines, wrong_text
from reports.page_making.phrasing import count, listed, plural

MOST_CALLS = 10
_MOST_CAUSES = 3
_MOST_REASONS = 12
_LONGEST = 400


def format_check(check: ModelCheck, program: str = "opcert") -> str:
    """The whole of it; `program` is how opcert is called."""
    parts = [*_not_loading(check), _model(check)]
    for each in check.runtimes:
        parts += _runtime(each, program)
        parts += ["\n".join(lines) for lines in (chain_lines(each, program),) if lines]
        parts += _numbers(check, each)
    parts += _uncovered(check)
    parts += ["\n".join(lines) for lines in (unasked_lines(check),) if lines]
    parts += [f"Note: {one_line(each, _LONGEST)}" for each in check.model.notes]
    parts.append(_table(check))
    parts += [total_line(check, each) for each in check.runtimes]
    return "\n\n".join(parts) + "\n"


def _not_loading(check: ModelCheck) -> list[str]:
    return [
        f"{one_line(each.label, 60)}: {load_text(each.load)}"
        for each in check.runtimes
        if each.load is not None and each.load.verdict != "loads"
    ]


def model_line(check: ModelCheck) -> str:
    """`resnet.onnx: 122 nodes make 25 distinct calls of 8 operators`."""
    model = check.model
    operators = {operator_text(each.call.first) for each in check.calls}
    made = f"{plural(len(check.calls), 'distinct call')} of {plural(len(operators), 'operator version')}"
    verb = "makes" if len(model.nodes) == 1 else "make"
    return one_line(f"{Path(model.path).name}: {plural(len(model.nodes), 'node')} {verb} {made}", _LONGEST)


def evidence_line(check: ModelCheck) -> str:
    """How many nodes there are cases for, and what kind of cases."""
    parts = []
    strong, weak = check.evidence_of("reference"), check.evidence_of("node_tests")
    if strong:
        parts.append(f"{plural(nodes_of(strong), 'node')} held against references")
    if weak:
        parts.append(f"{count(nodes_of(weak))} against ONNX's node tests alone, which is weaker")
    left = nodes_of(check.evidence_of("none"))
    if left:
        parts.append(f"{count(left)} against nothing")
    return listed(parts) if parts else "it has no nodes"


def total_line(check: ModelCheck, runtime: RuntimeAnswers) -> str:
    """One line for one runtime: how many nodes are conformant, and what the others are."""
    if runtime.unavailable:
        return one_line(f"{runtime.label}: not asked: {runtime.unavailable}", _LONGEST)
    nodes = runtime.nodes
    total = len(check.model.nodes)
    said = "does not load; " if runtime.does_not_load else ""
    said += f"{count(nodes['conformant'])} of {plural(total, 'node')} conformant"
    if runtime.weaker:
        said += f" ({count(runtime.weaker)} by ONNX's node tests alone)"
    others = [f"{count(nodes[each])} {WORDS[each]}" for each in ANSWERS[:-1] if nodes[each]]
    whole = "" if runtime.numbers is None else f"; {numbers_line(runtime.numbers)}"
    chains = f"; {chains_line(runtime)}" if runtime.blaming_chains else ""
    return one_line(f"{runtime.label}: {', '.join([said, *others])}{whole}{chains}", _LONGEST)


def _model(check: ModelCheck) -> str:
    opsets = listed([f"{name or 'ai.onnx'} {number}" for name, number in sorted(check.model.opsets.items())])
    line = f"{model_line(check)}; operator sets: {opsets or 'none named'}."
    return one_line(f"{line} {_capital(evidence_line(check))}.", 2 * _LONGEST)


def _runtime(runtime: RuntimeAnswers, program: str) -> list[str]:
    worst = runtime.worst
    if not worst:
        return []
    head = f"{runtime.label}: calls to look at"
    if len(worst) > MOST_CALLS:
        head += f", the worst {MOST_CALLS} of {count(len(worst))} (the page has all)"
    lines = [f"{head}:"]
    for number, each in enumerate(worst[:MOST_CALLS], 1):
        lines += [f"  {line}" for line in _call(number, each, program)]
    return ["\n".join(lines)]


def _call(number: int, answer: CallAnswer, program: str) -> list[str]:
    call = answer.checked.call
    nodes = plural(len(call.nodes), "node")
    lines = [
        f"{number}. {operator_text(call.first)} {signature_text(call)}: {WORDS[answer.answer]}",
        f"   {nodes}: {node_names(call.nodes, 4)}",
    ]
    for each in answer.causes[:_MOST_CAUSES]:
        lines += cause_lines(each, answer.asked, program)
    left = len(answer.causes) - _MOST_CAUSES
    return [*lines, *([f"   and {plural(left, 'cause')} more"] if left > 0 else [])]


def _numbers(check: ModelCheck, runtime: RuntimeAnswers) -> list[str]:
    """What came of the whole model with actual inputs."""
    numbers = runtime.numbers
    if numbers is None:
        return []
    names = {each.place: node_name(each) for each in check.model.nodes}
    effects = {each.place: each for each in numbers.effects}
    lines = [f"{runtime.label}, the whole model: {numbers_line(numbers)}"]
    for each in numbers.wrong[:MOST_CALLS]:
        lines.append(f"  {names.get(each.place, each.place)} (node {each.place}): {wrong_text(each)}")
        if each.place in effects:
            lines.append(f"    {effect_text(effects[each.place])}")
    left = len(numbers.wrong) - MOST_CALLS
    lines += [f"  and {plural(left, 'wrong node')} more"] if left > 0 else []
    lines += [f"  {each}" for each in (*passed_over_lines(numbers), *numbers.notes)]
    return ["\n".join(one_line(each, _LONGEST) if not each.startswith(" ") else each for each in lines)]


def _uncovered(check: ModelCheck) -> list[str]:
    reasons = list(check.uncovered.items())
    if not reasons:
        return []
    lines = ["Not covered:"]
    for why, calls in reasons[:_MOST_REASONS]:
        names = list(dict.fromkeys(operator_text(each.call.first) for each in calls))
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        told = f"{calls_and_nodes(calls)} ({', '.join(names[:6])}{more}): {why}"
        lines.append(f"  {one_line(told, _LONGEST)}")
    left = len(reasons) - _MOST_REASONS
    return ["\n".join([*lines, *([f"  and {plural(left, 'reason')} more"] if left > 0 else [])])]


def _table(check: ModelCheck) -> str:
    rows = [["nodes", *(WORDS[each] for each in ANSWERS)]]
    for each in check.runtimes:
        counts = ["–" if each.unavailable else count(each.nodes[answer]) for answer in ANSWERS]
        rows.append([one_line(each.label, 60), *counts])
    return align(rows)


def align(rows: Sequence[Sequence[str]]) -> str:
    """Rows under each other, the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            each.ljust(width) if not column else each.rjust(width)
            for column, (each, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
