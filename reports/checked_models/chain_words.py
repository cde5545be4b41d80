"""Chains of a model and what runtimes make of them, in words."""

from __future__ import annotations

from collections import Counter

from opcert.vocabulary.harmless import one_line
from reports.checked_models.call_answers import ANSWERS
from reports.checked_models.call_words import WORDS, node_name
from reports.checked_models.chain_answers import ChainAnswer, CheckedChain
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers
from reports.text.phrasing import count, listed, plural

_MOST_REASONS = 4
_LONGEST = 400


def chains_line(runtime: RuntimeAnswers) -> str:
    """`12 chains of neighbours: 10 conformant, 1 wrong (only with optimisation: 1), 1 follows from ...`."""
    total = plural(len(runtime.chains), "chain")
    counts = Counter(each.answer for each in runtime.chains if not each.is_known)
    told = []
    for answer in reversed(ANSWERS):
        if not counts[answer]:
            continue
        own = [each for each in runtime.chains if each.answer == answer and each.blames]
        alone = sum(each.setting == "optimised" for each in own)
        told.append(
            f"{count(counts[answer])} {WORDS[answer]}"
            + (f" (only with optimisation: {count(alone)})" if alone else "")
        )
    following = sum(bool(each.follows) for each in runtime.chains)
    if following:
        verb = "follows" if following == 1 else "follow"
        told.append(f"{count(following)} {verb} from what a node of the chain fails alone")
    longer = sum(bool(each.shorter) for each in runtime.chains)
    if longer:
        told.append(
            f"{count(longer)} {'fails' if longer == 1 else 'fail'} as a shorter one in the chain does"
        )
    return f"{total} of neighbours: {', '.join(told)}"


def answer_of_chain(answer: ChainAnswer) -> str:
    """`conformant`, `wrong, only with optimisation`, `wrong: follows from call 3` or `as chain 2 in it`."""
    said = WORDS[answer.answer]
    if answer.follows:
        numbers = listed([str(each) for each in answer.follows])
        return f"{said}: follows from {'call' if len(answer.follows) == 1 else 'calls'} {numbers}"
    if answer.shorter:
        numbers = listed([str(each) for each in answer.shorter])
        return f"{said}: as {'chain' if len(answer.shorter) == 1 else 'chains'} {numbers} in it"
    return f"{said}, only with optimisation" if answer.blames and answer.setting == "optimised" else said


def nodes_of_chain(chain: CheckedChain) -> str:
    """The names of its nodes, in order."""
    return one_line(" > ".join(node_name(each) for each in chain.nodes), _LONGEST)


def path_of_chain(chain: CheckedChain) -> str:
    """The names of its operators, in order."""
    return one_line(chain.path, _LONGEST)


def unasked_lines(check: ModelCheck) -> list[str]:
    """What of the neighbours was not asked, and why."""
    reasons = Counter(each.why for each in check.chains if not each.case)
    lines = [
        one_line(f"{plural(number, 'chain')} of neighbours not asked: {why}", _LONGEST)
        for why, number in reasons.most_common(_MOST_REASONS)
    ]
    left = len(reasons) - _MOST_REASONS
    lines += [f"and for {plural(left, 'reason')} more"] if left > 0 else []
    return [*lines, *([one_line(check.chains_cut, _LONGEST)] if check.chains_cut else [])]
