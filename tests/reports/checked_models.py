"""Checks of a made-up model: calls of made-up cases, and runtimes that answer them as a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from conformance.checked_models.model_calls import ModelCall, ModelFacts, ModelNode, ModelValue
from conformance.judging.responses import Answered, Response
from conformance.suite.cases import Case
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from reports.checked_models.call_answers import answer_calls
from reports.checked_models.call_evidence import CheckedCall, Evidence
from reports.checked_models.chain_answers import CheckedChain, answer_chains, without_chains
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers
from reports.results.case_results import Results, put_together
from tests.reports.sample import CROP_PAD, PAD, RESIZE_18, Maker, make_case

HOSTILE = '<img src=x onerror=alert(1)>\x1b[31m\u202e"; rm -rf / #'


def right(case: Case) -> Response:
    """What a runtime without a fault answers."""
    return Answered((case.expectations[0].outputs[0].expected,), 0.001)


def wrong(case: Case) -> Response:
    """The right answer, its first element another."""
    wanted = case.expectations[0].outputs[0].expected
    values = wanted.array.copy()
    values[0, 0] += 100
    return Answered((Tensor(wanted.element_type, values),), 0.001)


def cases_of(operator: OperatorName, levels: Sequence[str]) -> list[Case]:
    """A case of an operator for each of these levels of `data`."""
    return [make_case(operator, "cover", {"data": level}, side=2) for level in levels]


LEVELS = ("random", "huge", "nonfinite")
RESIZES, CROPS = cases_of(RESIZE_18, LEVELS), cases_of(CROP_PAD, LEVELS)
ROW = make_case(CROP_PAD, "pair", {"producer": "Resize", "consumer": "CenterCropPad"}, side=2)


def node(place: int, operator: OperatorName | None, name: str = "") -> ModelNode:
    value = ModelValue("x", "float", (2, 2))
    given = {"mode": attribute("string", "cubic")} if operator == RESIZE_18 else {}
    kind = "Frobnicate" if operator is None else operator.name
    return ModelNode(str(place), name or f"n{place}", operator, (value,), (value,), given, op_type=kind)


def calls(resizes: int = 3, crops: int = 1, *, name: str = "") -> tuple[CheckedCall, ...]:
    """Calls of Resize and of CenterCropPad, and one that nothing covers; so many nodes make each."""
    found, place = [], 0
    groups: list[tuple[OperatorName | None, int, Evidence, list[Case]]] = [
        (RESIZE_18, resizes, "reference", RESIZES),
        (CROP_PAD, crops, "node_tests", CROPS),
        (PAD, 1, "none", []),
    ]
    for number, (operator, count, evidence, cases) in enumerate(groups, 1):
        nodes = tuple(node(place + each, operator, name) for each in range(count))
        place += count
        reason = ("no_reference", "nobody says what is right") if evidence != "reference" else ("", "")
        found.append(
            CheckedCall(
                number,
                ModelCall(nodes[0], nodes),
                evidence,
                tuple(str(each.id) for each in cases),
                *reason,
                {"data": LEVELS} if cases else {},
            )
        )
    return tuple(found)


def run(folder: Path, respond: Callable[[Case], Response]) -> Results:
    """A run of all cases, of calls and of nodes in a row, on a runtime that answers so."""
    folder.mkdir(parents=True)
    made = Maker(folder).make([*RESIZES, *CROPS, ROW], respond, close=True)
    return put_together(made.suite, made.record, "suite")


def check_of(
    made: Sequence[CheckedCall], *runs: tuple[Results | None, Results | None], name: str = "made-up"
) -> ModelCheck:
    """A check of a model with these calls on runtimes with these runs, with and without optimisation."""
    nodes = tuple(each for one in made for each in one.call.nodes)
    facts = ModelFacts(
        "models/m.onnx", "0" * 64, {"": 18}, nodes, tuple(checked_call.call for checked_call in made)
    )
    rows = chains(made)
    runtimes = []
    for number, (results, plain) in enumerate(runs):
        answers = answer_calls(made, without_chains(results), without_chains(plain))
        told = answer_chains(rows, answers, results, plain)
        runtimes.append(RuntimeAnswers(f"{name} {number}", answers, results, plain, chains=told))
    return ModelCheck(facts, tuple(made), tuple(runtimes), rows)


def chains(made: Sequence[CheckedCall]) -> tuple[CheckedChain, ...]:
    """The first Resize before the first CenterCropPad, and the other way round, which nobody asks."""
    if len(made) < 2:
        return ()
    first, second, *_ = (checked_call.call.first for checked_call in made)
    return (
        CheckedChain(1, (first, second), str(ROW.id)),
        CheckedChain(2, (second, first), why="no bound is derived"),
    )


def is_resize(case: Case) -> bool:
    return case.operator == RESIZE_18


def is_row(case: Case) -> bool:
    return case.family == "pair"
