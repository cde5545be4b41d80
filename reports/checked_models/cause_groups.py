"""The causes of a runtime over all calls: what has one cause is told once, with all of its nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from conformance.checked_models.model_calls import ModelNode
from opcert.vocabulary.harmless import one_line
from reports.checked_models.call_answers import ANSWERS, Answer, CallAnswer, CallCause
from reports.checked_models.call_words import WORDS, node_names, operator_text
from reports.checked_models.model_check import RuntimeAnswers
from reports.page_making.phrasing import count, plural

_MOST_NAMES = 1_000
_LONGEST = 8_000


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
    return one_line(said, _LONGEST)
