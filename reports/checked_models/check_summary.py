"""What a check prints at its end: the worst calls of each runtime, what nothing covers, then the totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.checked_models.model_calls import ModelFacts, ModelNode
from opcert.vocabulary.harmless import one_line
from reports.checked_models import check_words as words
from reports.checked_models.call_answers import ANSWERS, BLAMING, Answer, CallAnswer, CallCause
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers, nodes_of
from reports.text.phrasing import count, listed, plural

MOST_CALLS = MOST_CAUSES = MOST_CHAINS = 10
_MOST_REMARKS = 2
_MOST_NAMES = 1_000
_MOST_OUTPUTS = 12
_MOST_REASONS = 12
_MOST_OF_CHAINS = 4
_LONGEST = 400
_LONGEST_GROUP = 8_000


@dataclass(frozen=True, eq=False)
class CauseGroup:
    """A cause with the calls that show it, the one with the smallest case first."""

    answer: Answer
    members: tuple[tuple[CallAnswer, CallCause], ...]

    @property
    def nodes(self) -> tuple[ModelNode, ...]:
        """Every node whose call shows it."""
        return tuple(node for answer, _ in self.members for node in answer.checked.call.nodes)


def format_check(check: ModelCheck, program: str = "opcert") -> str:
    """The whole of it; `program` is how opcert is called."""
    opsets = listed([f"{name or 'ai.onnx'} {number}" for name, number in sorted(check.model.opsets.items())])
    evidence = evidence_line(check)
    model = f"{model_line(check.model)}; operator sets: {opsets or 'none named'}. "
    model += f"{evidence[:1].upper()}{evidence[1:]}."
    blocks = [
        *(
            [f"{one_line(run.label, 60)}: {words.load_text(run.load)}"]
            for run in check.runtimes
            if run.load is not None and run.load.verdict != "loads"
        ),
        [one_line(model, 2 * _LONGEST)],
    ]
    for run in check.runtimes:
        blocks += [_causes(run, program), chain_lines(run, program), _numbers(check, run)]
    blocks += [_forbidden(check), _uncovered(check), unasked_lines(check)]
    blocks += [[f"Note: {one_line(note, _LONGEST)}"] for note in check.model.notes]
    blocks += [[_table(check)], *([total_line(check, run)] for run in check.runtimes)]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def _first(lines: Sequence[str], most: int, noun: str) -> Iterator[str]:
    """The first of many lines, indented, and how many more there are."""
    yield from (f"  {line}" for line in lines[:most])
    if len(lines) > most:
        yield f"  and {plural(len(lines) - most, noun)} more"


def model_line(model: ModelFacts) -> str:
    """`resnet.onnx: 122 nodes make 25 distinct calls of 8 operators`."""
    operators = {words.operator_text(call.first) for call in model.calls}
    made = f"{plural(len(model.calls), 'distinct call')} of {plural(len(operators), 'operator version')}"
    verb = "makes" if len(model.nodes) == 1 else "make"
    return one_line(f"{Path(model.path).name}: {plural(len(model.nodes), 'node')} {verb} {made}", _LONGEST)


def evidence_line(check: ModelCheck) -> str:
    """How many nodes there are cases for, and what kind of cases."""
    strong, weak, left = (nodes_of(check.evidence_of(kind)) for kind in ("reference", "node_tests", "none"))
    parts = [f"{plural(strong, 'node')} held against references"] if strong else []
    parts += [f"{count(weak)} against ONNX's node tests alone, which is weaker"] if weak else []
    parts += [f"{count(left)} against nothing"] if left else []
    return listed(parts) if parts else "it has no nodes"


def total_line(check: ModelCheck, runtime: RuntimeAnswers) -> str:
    """One line for one runtime: how many nodes are conformant, and what the others are."""
    if runtime.unavailable:
        return one_line(f"{runtime.label}: not tested: {runtime.unavailable}", _LONGEST)
    nodes = runtime.nodes
    total = len(check.model.nodes)
    said = "does not load; " if runtime.does_not_load else ""
    said += f"{count(nodes['conformant'])} of {plural(total, 'node')} conformant"
    if runtime.weaker:
        said += f" ({count(runtime.weaker)} by ONNX's node tests alone)"
    others = [f"{count(nodes[answer])} {words.WORDS[answer]}" for answer in ANSWERS[:-1] if nodes[answer]]
    whole = "" if runtime.numbers is None else f"; {words.numbers_line(runtime.numbers)}"
    chains = f"; {chains_line(runtime)}" if runtime.blaming_chains else ""
    return one_line(f"{runtime.label}: {', '.join([said, *others])}{whole}{chains}", _LONGEST)


def _causes(runtime: RuntimeAnswers, program: str) -> list[str]:
    groups = cause_groups(runtime)
    if not groups:
        return []
    few = f", one a line; of the first {MOST_CAUSES} the smallest case" if len(groups) > MOST_CAUSES else ""
    lines = [f"{one_line(runtime.label, 60)}: {plural(len(groups), 'cause')}{few}:"]
    for number, group in enumerate(groups, 1):
        lines.append(f"  {number}. {group_line(group)}")
        if number <= MOST_CAUSES:
            answer, cause = group.members[0]
            # What it is stands in the line of its group.
            lines.append(f"     {words.fails_text(cause, answer.asked)}")
            lines += [f"  {line}" for line in cause_lines(cause, answer.asked, program)[1:]]
    return lines


def cause_groups(runtime: RuntimeAnswers) -> tuple[CauseGroup, ...]:
    """The causes that a runtime shows, the worst first, of these what most nodes have."""
    found: dict[tuple[object, ...], list[tuple[CallAnswer, CallCause]]] = {}
    for answer in runtime.answers:
        for cause in answer.causes:
            which = cause.title if cause.found is None else cause.found.number
            key = (id(cause.results), which, cause.setting, cause.answer)
            found.setdefault(key, []).append((answer, cause))
    groups = []
    for members in found.values():
        members.sort(key=lambda member: (member[1].smallest.size, member[0].checked.number))
        groups.append(CauseGroup(members[0][1].answer, tuple(members)))
    return tuple(sorted(groups, key=lambda group: (ANSWERS.index(group.answer), -len(group.nodes))))


def group_line(group: CauseGroup) -> str:
    """`wrong: it moves int64 in 32 bits; 46 nodes (Add-14 40, Mul-14 6): a, b, c`."""
    nodes = group.nodes
    counts = Counter(words.operator_text(node) for node in nodes).most_common()
    which = ", ".join(f"{name} {count(number)}" for name, number in counts)
    which = which if len(counts) > 1 else counts[0][0]
    said = words.with_cause(group.answer, group.members[0][1].says)
    said += f"; {plural(len(nodes), 'node')} ({which})"
    return one_line(f"{said}: {words.node_names(nodes, _MOST_NAMES)}", _LONGEST_GROUP)


def cause_lines(cause: CallCause, asked: int, program: str) -> list[str]:
    """What it is, in how many of the cases that were asked, the smallest one, and how to see it."""
    lines = [f"   {one_line(cause.says, _LONGEST)} ({words.fails_text(cause, asked)})"]
    lines += [f"     {remark}" for remark in cause.remarks[:_MOST_REMARKS]]
    if cause.smallest.verdict == "mismatch":
        expected, got = (one_line(text, 200) for text in words.smallest_texts(cause))
        lines.append(f"     expected {expected}, got {got}")
        # Of many elements the first are printed, which may all be right.
        row = cause.smallest.row
        lines += [f"     {one_line(row.reason or '', 200)}"] if row is not None and "…" in got else []
    command = cause.results.reproduction_command(cause.smallest.id)
    return [*lines, f"     {command.replace('opcert', program, 1)}"]


def chain_lines(runtime: RuntimeAnswers, program: str) -> list[str]:
    """What a runtime makes of the chains, and those that it fails of itself; nothing where none was asked."""
    if not runtime.chains or runtime.unavailable:
        return []
    lines = [one_line(f"{runtime.label}, {chains_line(runtime)}", _LONGEST)]
    blaming = runtime.blaming_chains
    for number, answer in enumerate(blaming[:MOST_CHAINS], 1):
        lines.append(f"  {number}. {words.path_of_chain(answer.chain)}: {words.answer_of_chain(answer)}")
        lines.append(f"     {words.nodes_of_chain(answer.chain)}")
        for cause in answer.own.causes:
            lines += [f"  {line}" for line in cause_lines(cause, answer.own.asked, program)]
    left = len(blaming) - MOST_CHAINS
    return [*lines, *([f"  and {plural(left, 'chain')} more (the page has all)"] if left > 0 else [])]


def _numbers(check: ModelCheck, runtime: RuntimeAnswers) -> list[str]:
    """What came of the whole model with actual inputs."""
    numbers = runtime.numbers
    if numbers is None:
        return []
    names = {node.place: words.node_name(node) for node in check.model.nodes}
    effects = {effect.place: effect for effect in numbers.effects}
    wrong = []
    for node in numbers.wrong:
        effect = effects.get(node.place)
        further = "" if effect is None else f"\n    {words.effect_text(effect)}"
        name = names.get(node.place, node.place)
        wrong.append(f"{name} (node {node.place}): {words.wrong_text(node)}{further}")
    return [
        one_line(f"{runtime.label}, the whole model: {words.numbers_line(numbers)}", _LONGEST),
        *([f"  {words.not_running_text(numbers)}"] if numbers.does_not_run else []),
        *(f"  {line}" for line in words.output_lines(numbers)[:_MOST_OUTPUTS]),
        *_first(wrong, MOST_CALLS, "wrong node"),
        *(f"  {line}" for line in (*words.passed_over_lines(numbers), *numbers.notes)),
    ]


def forbidden_lines(check: ModelCheck) -> list[str]:
    """The nodes that their documents do not allow, and why: findings about the model."""
    told = (
        f"{words.operator_text(found.call.first)} ({words.node_names(found.call.nodes)}): {found.why}"
        for found in check.forbidden
    )
    return [one_line(line, _LONGEST) for line in told]


def _forbidden(check: ModelCheck) -> list[str]:
    lines = forbidden_lines(check)
    head = "About the model: no document allows these nodes, so that no runtime owes anything of them:"
    return [head, *_first(lines, _MOST_REASONS, "call")] if lines else []


def _uncovered(check: ModelCheck) -> list[str]:
    lines = []
    for group in check.uncovered:
        names = group.operators
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        told = f"{words.calls_and_nodes(group.calls)} ({', '.join(names[:6])}{more}): {group.told}"
        lines.append(one_line(told, _LONGEST))
    return ["Not covered:", *_first(lines, _MOST_REASONS, "reason")] if lines else []


def answers_told(check: ModelCheck) -> list[Answer]:
    """The answers that a table has a column of: those that blame, `conformant`, and what some node has."""
    return [
        answer
        for answer in ANSWERS
        if answer in ("conformant", *BLAMING) or any(run.nodes[answer] for run in check.runtimes)
    ]


def _table(check: ModelCheck) -> str:
    told = answers_told(check)
    rows = [["nodes", *(words.WORDS[answer] for answer in told)]]
    for run in check.runtimes:
        counts = ["–" if run.unavailable else count(run.nodes[answer]) for answer in told]
        rows.append([one_line(run.label, 60), *counts])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows)
    return "\n".join("  ".join(cells).rstrip() for cells in lines)


def chains_line(runtime: RuntimeAnswers) -> str:
    """`12 chains of neighbours: 10 conformant, 1 wrong (only with optimisation: 1), 1 follows from ...`."""
    counts = Counter(chain.answer for chain in runtime.chains if not chain.is_known)
    optimised = Counter(
        chain.answer for chain in runtime.chains if chain.blames and chain.setting == "optimised"
    )
    told = [
        f"{count(counts[answer])} {words.WORDS[answer]}"
        + (f" (only with optimisation: {count(optimised[answer])})" if optimised[answer] else "")
        for answer in reversed(ANSWERS)
        if counts[answer]
    ]
    following = sum(bool(chain.follows) for chain in runtime.chains)
    longer = sum(bool(chain.shorter) for chain in runtime.chains)
    if following:
        verb = "follows" if following == 1 else "follow"
        told.append(f"{count(following)} {verb} from what a node of the chain fails alone")
    if longer:
        told.append(
            f"{count(longer)} {'fails' if longer == 1 else 'fail'} as a shorter one in the chain does"
        )
    return f"{plural(len(runtime.chains), 'chain')} of neighbours: {', '.join(told)}"


def unasked_lines(check: ModelCheck) -> list[str]:
    """What of the neighbours was not asked, and why."""
    reasons = Counter(chain.why for chain in check.chains if not chain.case)
    lines = [
        f"{plural(number, 'chain')} of neighbours not tested: {why}"
        for why, number in reasons.most_common(_MOST_OF_CHAINS)
    ]
    if others := [number for _, number in reasons.most_common()[_MOST_OF_CHAINS:]]:
        lines.append(
            f"{plural(sum(others), 'more chain')} not tested, for {plural(len(others), 'other reason')}"
        )
    return [one_line(line, _LONGEST) for line in (*lines, check.chains_cut) if line]
