"""What a check prints at its end: the worst calls of each runtime, what nothing covers, then the totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.checked_models.model_calls import ModelNode
from opcert.vocabulary.harmless import one_line
from reports.checked_models.call_answers import ANSWERS, BLAMING, Answer, CallAnswer, CallCause
from reports.checked_models.check_words import (
    WORDS,
    answer_of_chain,
    calls_and_nodes,
    chains_line,
    effect_text,
    fails_text,
    load_text,
    node_name,
    node_names,
    nodes_of_chain,
    not_running_text,
    numbers_line,
    operator_text,
    output_lines,
    passed_over_lines,
    path_of_chain,
    smallest_texts,
    unasked_lines,
    wrong_text,
)
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers, nodes_of
from reports.text.phrasing import count, listed, plural

MOST_CALLS = MOST_CAUSES = MOST_CHAINS = 10
_MOST_REMARKS = 2
_MOST_NAMES = 1_000
_MOST_OUTPUTS = 12
_MOST_REASONS = 12
_LONGEST = 400
_LONGEST_GROUP = 8_000


@dataclass(frozen=True, eq=False)
class CauseGroup:
    """A cause with the calls that show it, the one with the smallest case first."""

    answer: Answer
    members: tuple[tuple[CallAnswer, CallCause], ...]

    @property
    def first(self) -> tuple[CallAnswer, CallCause]:
        return self.members[0]

    @property
    def nodes(self) -> tuple[ModelNode, ...]:
        """Every node whose call shows it."""
        return tuple(node for answer, _ in self.members for node in answer.checked.call.nodes)


def format_check(check: ModelCheck, program: str = "opcert") -> str:
    """The whole of it; `program` is how opcert is called."""
    parts = [*_not_loading(check), _model(check)]
    for each in check.runtimes:
        parts += _runtime(each, program)
        parts += ["\n".join(lines) for lines in (chain_lines(each, program),) if lines]
        parts += _numbers(check, each)
    parts += _forbidden(check)
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
    groups = cause_groups(runtime)
    if not groups:
        return []
    head = f"{one_line(runtime.label, 60)}: {plural(len(groups), 'cause')}"
    lines = [
        f"{head}, one a line; of the first {MOST_CAUSES} the smallest case:"
        if len(groups) > MOST_CAUSES
        else f"{head}:"
    ]
    for number, each in enumerate(groups, 1):
        lines.append(f"  {number}. {group_line(each)}")
        if number <= MOST_CAUSES:
            answer, cause = each.first
            lines += [f"  {line}" for line in cause_lines(cause, answer.asked, program)]
    return ["\n".join(lines)]


def cause_groups(runtime: RuntimeAnswers) -> tuple[CauseGroup, ...]:
    """The causes that a runtime shows, the worst first, of these what most nodes have."""
    found: dict[tuple[object, ...], list[tuple[CallAnswer, CallCause]]] = {}
    for answer in runtime.answers:
        for cause in answer.causes:
            which = cause.title if cause.found is None else cause.found.number
            key = (id(cause.results), which, cause.setting, cause.answer)
            found.setdefault(key, []).append((answer, cause))
    groups = [
        CauseGroup(
            members[0][1].answer,
            tuple(sorted(members, key=lambda each: (each[1].smallest.size, each[0].checked.number))),
        )
        for members in found.values()
    ]
    return tuple(sorted(groups, key=lambda each: (ANSWERS.index(each.answer), -len(each.nodes))))


def group_line(group: CauseGroup) -> str:
    """`wrong: it moves int64 in 32 bits; 46 nodes (Add-14 40, Mul-14 6): a, b, c`."""
    nodes = group.nodes
    counts = Counter(operator_text(each) for each in nodes).most_common()
    which = (
        ", ".join(f"{name} {count(number)}" for name, number in counts) if len(counts) > 1 else counts[0][0]
    )
    names = node_names(nodes, _MOST_NAMES)
    said = f"{WORDS[group.answer]}: {group.first[1].says}; {plural(len(nodes), 'node')} ({which}): {names}"
    return one_line(said, _LONGEST_GROUP)


def cause_lines(cause: CallCause, asked: int, program: str) -> list[str]:
    """What it is, in how many of the cases that were asked, the smallest one, and how to see it."""
    error = f", {cause.error}" if cause.error else ""
    lines = [f"   {one_line(cause.says, _LONGEST)} ({fails_text(cause, asked)}{error})"]
    lines += [f"     {each}" for each in cause.remarks[:_MOST_REMARKS]]
    smallest = cause.smallest
    if smallest.verdict == "mismatch":
        expected, got = smallest_texts(cause)
        lines.append(f"     expected {one_line(expected, 200)}, got {one_line(got, 200)}")
    command = cause.results.reproduction_command(smallest.id)
    return [*lines, f"     {command.replace('opcert', program, 1)}"]


def chain_lines(runtime: RuntimeAnswers, program: str) -> list[str]:
    """What a runtime makes of the chains, and those that it fails of itself; nothing where none was asked."""
    if not runtime.chains or runtime.unavailable:
        return []
    lines = [one_line(f"{runtime.label}, {chains_line(runtime)}", _LONGEST)]
    blaming = runtime.blaming_chains
    for number, each in enumerate(blaming[:MOST_CHAINS], 1):
        lines.append(f"  {number}. {path_of_chain(each.chain)}: {answer_of_chain(each)}")
        lines.append(f"     {nodes_of_chain(each.chain)}")
        for cause in each.own.causes:
            lines += [f"  {line}" for line in cause_lines(cause, each.own.asked, program)]
    left = len(blaming) - MOST_CHAINS
    return [*lines, *([f"  and {plural(left, 'chain')} more (the page has all)"] if left > 0 else [])]


def _numbers(check: ModelCheck, runtime: RuntimeAnswers) -> list[str]:
    """What came of the whole model with actual inputs."""
    numbers = runtime.numbers
    if numbers is None:
        return []
    names = {each.place: node_name(each) for each in check.model.nodes}
    effects = {each.place: each for each in numbers.effects}
    lines = [f"{runtime.label}, the whole model: {numbers_line(numbers)}"]
    lines += [f"  {not_running_text(numbers)}"] if numbers.does_not_run else []
    lines += [f"  {each}" for each in output_lines(numbers)[:_MOST_OUTPUTS]]
    for each in numbers.wrong[:MOST_CALLS]:
        lines.append(f"  {names.get(each.place, each.place)} (node {each.place}): {wrong_text(each)}")
        if each.place in effects:
            lines.append(f"    {effect_text(effects[each.place])}")
    left = len(numbers.wrong) - MOST_CALLS
    lines += [f"  and {plural(left, 'wrong node')} more"] if left > 0 else []
    lines += [f"  {each}" for each in (*passed_over_lines(numbers), *numbers.notes)]
    return ["\n".join(one_line(each, _LONGEST) if not each.startswith(" ") else each for each in lines)]


def forbidden_lines(check: ModelCheck) -> list[str]:
    """The nodes that their documents do not allow, and why: findings about the model."""
    return [
        one_line(f"{operator_text(each.call.first)} ({node_names(each.call.nodes)}): {each.why}", _LONGEST)
        for each in check.forbidden
    ]


def _forbidden(check: ModelCheck) -> list[str]:
    lines = forbidden_lines(check)
    if not lines:
        return []
    head = "About the model: no document allows these nodes, so that no runtime owes anything of them:"
    left = len(lines) - _MOST_REASONS
    told = [head, *(f"  {each}" for each in lines[:_MOST_REASONS])]
    return ["\n".join([*told, *([f"  and {plural(left, 'call')} more"] if left > 0 else [])])]


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
    told = [
        answer
        for answer in ANSWERS
        if answer in ("conformant", *BLAMING) or any(each.nodes[answer] for each in check.runtimes)
    ]
    rows = [["nodes", *(WORDS[each] for each in told)]]
    for each in check.runtimes:
        counts = ["–" if each.unavailable else count(each.nodes[answer]) for answer in told]
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
