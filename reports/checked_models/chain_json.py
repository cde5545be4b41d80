"""The chains of a model in `check.json`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reports.checked_models.call_answers import CallCause
from reports.checked_models.chain_answers import ChainAnswer
from reports.checked_models.model_check import ModelCheck


def chains_json(check: ModelCheck, cause_json: Callable[[CallCause], dict[str, Any]]) -> dict[str, Any]:
    """The chains in order with the answer of each runtime; `cut` says what bounded them, None if nothing."""
    asked = [each for each in check.chains if each.case]
    answers: dict[int, list[dict[str, Any]]] = {each.number: [] for each in asked}
    for runtime in check.runtimes:
        for each in runtime.chains:
            answers[each.chain.number].append(_answer(runtime.source, each, cause_json))
    return {
        "cut": check.chains_cut or None,
        "chains": [
            {
                "number": each.number,
                "path": each.path,
                "nodes": [node.place for node in each.nodes],
                "case": each.case or None,
                "why": each.why or None,
                "answers": answers.get(each.number, []),
            }
            for each in check.chains
        ],
    }


def _answer(
    source: str, answer: ChainAnswer, cause_json: Callable[[CallCause], dict[str, Any]]
) -> dict[str, Any]:
    return {
        "runtime": source,
        "answer": answer.answer,
        "setting": answer.setting,
        "follows": list(answer.follows),
        "shorter": list(answer.shorter),
        "why": answer.own.why or None,
        "causes": [cause_json(each) for each in answer.own.causes],
    }
