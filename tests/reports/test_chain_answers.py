"""What is said of nodes in a row: a finding where they fail together alone, and nothing where a node does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from conformance.judging.responses import Crashed, Refused, Response
from conformance.suite.cases import Case
from reports.checked_models.chain_answers import ChainAnswer
from reports.checked_models.check_data import render_check, render_sarif
from reports.checked_models.check_files import render_check_page, render_junit_check, render_markdown_check
from reports.checked_models.check_summary import format_check
from reports.checked_models.check_words import answer_of_chain
from reports.checked_models.model_check import ModelCheck
from reports.schemas import load_schema
from tests.reports.checked_models import HOSTILE, calls, check_of, is_resize, is_row, right, run, wrong
from tests.reports.sarif_checks import check_sarif

Respond = Callable[[Case], Response]


def rows(respond: Respond) -> Respond:
    """Right in every call, in nodes in a row as `respond` says."""
    return lambda case: respond(case) if is_row(case) else right(case)


def resizes(respond: Respond) -> Respond:
    """Wrong in Resize and in nodes in a row."""
    return lambda case: respond(case) if is_row(case) or is_resize(case) else right(case)


def crash(_: Case) -> Response:
    return Crashed("killed by SIGSEGV", "SIGSEGV", stderr=HOSTILE)


def refuse(_: Case) -> Response:
    return Refused("Fail", "no such kernel")


def checked(folder: Path, optimised: Respond, plain: Respond | None = None) -> tuple[ModelCheck, ChainAnswer]:
    beside = None if plain is None else run(folder / "plain", plain)
    check = check_of(calls(), (run(folder / "own", optimised), beside))
    (answer,) = check.runtimes[0].chains
    return check, answer


@pytest.mark.parametrize(("respond", "wanted"), [(wrong, "wrong"), (crash, "crashes"), (refuse, "refused")])
def test_what_fails_in_a_row_alone_makes_the_answer_1(tmp_path: Path, respond: Respond, wanted: str) -> None:
    check, answer = checked(tmp_path, rows(respond), rows(respond))
    assert (answer.answer, answer.follows, answer.setting) == (wanted, (), "any")
    assert not check.holds
    assert check.runtimes[0].nodes["conformant"] == 4


def test_what_optimisation_alone_breaks_in_a_row_is_told_so(tmp_path: Path) -> None:
    check, answer = checked(tmp_path, rows(wrong), right)
    assert (answer.answer, answer.setting) == ("wrong", "optimised")
    assert not check.holds
    told = format_check(check)
    assert "1 chain of neighbours: 1 wrong (only with optimisation: 1)" in told
    assert "1 chain of neighbours not tested: no bound is derived" in told


def test_what_is_wrong_without_optimisation_alone_blames_nobody(tmp_path: Path) -> None:
    check, answer = checked(tmp_path, right, rows(wrong))
    assert answer.answer == "conformant"
    assert check.holds


def test_a_node_that_fails_alone_explains_its_chain(tmp_path: Path) -> None:
    check, answer = checked(tmp_path, resizes(wrong), resizes(wrong))
    assert (answer.answer, answer.follows) == ("wrong", (1,))
    assert answer_of_chain(answer) == "wrong: follows from call 1"
    assert not check.runtimes[0].blaming_chains
    assert "chain/" not in render_sarif(check)


def test_a_node_that_fails_in_any_case_explains_nothing_that_optimisation_breaks(tmp_path: Path) -> None:
    _, answer = checked(
        tmp_path, resizes(wrong), lambda case: wrong(case) if is_resize(case) else right(case)
    )
    assert (answer.setting, answer.follows, answer.blames) == ("optimised", (), True)
    _, answer = checked(tmp_path / "both", resizes(wrong), right)
    assert (answer.setting, answer.follows, answer.blames) == ("optimised", (1,), False)


def test_every_file_tells_of_the_chain(tmp_path: Path) -> None:
    made = calls(name=HOSTILE)
    check = check_of(made, (run(tmp_path / "a", rows(crash)), None), (run(tmp_path / "b", right), None))
    document = json.loads(render_check(check))
    jsonschema.validate(document, load_schema("check"))
    first, second = document["chains"]["chains"]
    assert [each["answer"] for each in first["answers"]] == ["crashes", "conformant"]
    assert first["answers"][0]["causes"][0]["cases"] == [first["case"]]
    assert (second["case"], second["answers"], second["why"]) == (None, [], "no bound is derived")
    sarif = json.loads(render_sarif(check))
    check_sarif(sarif)
    found = [[each["ruleId"].split("/")[0] for each in one["results"]] for one in sarif["runs"]]
    assert [one.count("chain") for one in found] == [1, 0]
    page = render_check_page(check)
    assert 'id="chain-1"' in page
    assert "1 chain of neighbours: 1 crashes." in page
    assert "<img" not in page
    texts = (page, format_check(check), render_markdown_check(check), render_junit_check(check).decode())
    for text in texts:
        assert "Resize &gt; " in text or "Resize > " in text or "Resize \\> " in text
        assert "\x1b" not in text
        assert "\u202e" not in text
