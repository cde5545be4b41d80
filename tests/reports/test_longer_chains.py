"""A chain that holds a shorter one which fails in the same way is no finding of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from conformance.judging.responses import Crashed, Response
from conformance.suite.cases import Case
from reports.checked_models.call_answers import answer_calls
from reports.checked_models.chain_answers import (
    ChainAnswer,
    CheckedChain,
    answer_chains,
    without_chains,
)
from reports.checked_models.check_data import render_check
from reports.checked_models.check_files import render_check_page
from reports.checked_models.check_summary import chains_line
from reports.checked_models.check_words import answer_of_chain
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers
from reports.results.case_results import Results, put_together
from reports.schemas import load_schema
from tests.reports.checked_models import CROPS, RESIZES, ROW, calls, check_of, right, wrong
from tests.reports.sample import CROP_PAD, Maker, make_case

LONGER = make_case(CROP_PAD, "pair", {"producer": "Resize", "chain": "three"}, side=2)
ANOTHER = make_case(CROP_PAD, "pair", {"producer": "Resize", "chain": "other three"}, side=2)
Respond = Callable[[Case], Response]


def crash(_: Case) -> Response:
    return Crashed("killed by SIGSEGV", "SIGSEGV", seconds=0.1)


def by_chain(**responses: Respond) -> Respond:
    """A runtime that answers chains so, and all else rightly."""
    cases = {"pair": ROW, "longer": LONGER, "another": ANOTHER}
    of_case = {str(cases[name].id): response for name, response in responses.items()}
    return lambda case: of_case.get(str(case.id), right)(case)


def run(folder: Path, respond: Respond) -> Results:
    folder.mkdir(parents=True)
    made = Maker(folder).make([*RESIZES, *CROPS, ROW, LONGER, ANOTHER], respond, close=True)
    return put_together(made.suite, made.record, "suite")


def answers(
    folder: Path, respond: Respond, plain: Respond | None = None
) -> tuple[ModelCheck, tuple[ChainAnswer, ...]]:
    """A pair of Resize and CenterCropPad, a row of three with that pair in it, and one in another order."""
    made = calls(resizes=2)
    (first, second), (crop,) = (checked_call.call.nodes for checked_call in made[:2])
    rows = (
        CheckedChain(1, (first, crop), str(ROW.id)),
        CheckedChain(2, (second, second, crop), str(LONGER.id)),
        CheckedChain(3, (first, second, second), str(ANOTHER.id)),
    )
    results = run(folder / "own", respond)
    beside = None if plain is None else run(folder / "plain", plain)
    own = answer_calls(made, without_chains(results), without_chains(beside))
    told = answer_chains(rows, own, results, beside)
    runtime = RuntimeAnswers("made-up", own, results, beside, chains=told)
    facts = check_of(made).model
    return ModelCheck(facts, made, (runtime,), rows), told


def test_a_longer_one_that_fails_likewise_is_told_under_the_shorter(tmp_path: Path) -> None:
    check, (pair, longer, another) = answers(tmp_path, by_chain(pair=wrong, longer=wrong))
    assert (pair.shorter, longer.shorter, another.shorter) == ((), (1,), ())
    assert (pair.blames, longer.blames, another.blames) == (True, False, False)
    assert answer_of_chain(longer) == "wrong: as chain 1 in it"
    line = chains_line(check.runtimes[0])
    assert line == (
        "3 chains of neighbours: 1 conformant, 1 wrong, 1 fails as a shorter one in the chain does"
    )
    document = json.loads(render_check(check))
    jsonschema.validate(document, load_schema("check"))
    assert [each["answers"][0]["shorter"] for each in document["chains"]["chains"]] == [[], [1], []]
    assert "as chain 1 in it" in render_check_page(check)


@pytest.mark.parametrize(
    "respond",
    [by_chain(pair=wrong, longer=crash), by_chain(longer=wrong), by_chain(pair=wrong, another=wrong)],
    ids=["in another way", "alone", "without it"],
)
def test_one_that_fails_otherwise_is_a_finding(tmp_path: Path, respond: Respond) -> None:
    _, told = answers(tmp_path, respond)
    failing = [each for each in told if each.answer != "conformant"]
    assert failing
    assert all(each.blames and not each.shorter for each in failing)


def test_one_that_fails_with_optimisation_alone_is_not_explained_by_one_that_always_fails(
    tmp_path: Path,
) -> None:
    _, (pair, longer, _) = answers(tmp_path, by_chain(pair=wrong, longer=wrong), by_chain(pair=wrong))
    assert (pair.setting, longer.setting) == ("any", "optimised")
    assert longer.blames
    assert not longer.shorter
