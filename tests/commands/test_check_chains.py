"""`opcert check` and nodes in a row: what is wrong there alone is found where the model has the row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conformance.checked_models.model_calls import ModelFacts
from conformance.checked_models.model_reading import read_model
from conformance.suite.cases import Case
from generator.models.chains.chain_cases import case_of_chain
from generator.models.chains.chains import Chain
from generator.models.model_chains import model_chains
from opcert.commands.checked_model import make_chains
from tests.commands.checked_models import write_product
from tests.commands.command_line import call
from tests.commands.test_check import WANTED, check, on
from tests.reports.sarif_checks import check_sarif


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def by_path(document: dict[str, Any], runtime: str) -> dict[str, dict[str, Any]]:
    """What a runtime makes of each chain, by the chain's operators."""
    return {
        chain["path"]: answer
        for chain in document["chains"]["chains"]
        for answer in chain["answers"]
        if answer["runtime"] == f"checked_backends:{runtime}"
    }


@pytest.mark.slow
def test_a_wrong_fusion_is_found_where_the_model_has_the_row(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_product(place / "model.onnx", turned=True)
    runtimes = ("FusesWrongly", "Rows")
    answer, document = check(capsys, model, *on(*runtimes), *WANTED)
    assert answer.code == 1, answer.err
    assert [each["holds"] for each in document["runtimes"]] == [False, True]

    fused = by_path(document, "FusesWrongly")
    assert {path: each["answer"] for path, each in fused.items()} == {
        "Transpose > MatMul": "wrong",
        "MatMul > Relu": "conformant",
    }
    assert document["runtimes"][0]["nodes"]["conformant"] == 3
    (cause,) = fused["Transpose > MatMul"]["causes"]
    assert fused["Transpose > MatMul"]["follows"] == []
    assert cause["smallest"]["got"] != cause["smallest"]["expected"]
    assert "2 chains of neighbours: 1 conformant, 1 wrong" in answer.out
    assert "turned > product" in answer.out
    assert call(capsys, *cause["smallest"]["reproduce"].split()[1:], "-o", "again").code == 0

    assert {each["answer"] for each in by_path(document, "Rows").values()} == {"conformant"}
    check_files(Path("out/check/model"))


def check_files(folder: Path) -> None:
    sarif = json.loads((folder / "check.sarif").read_text())
    check_sarif(sarif)
    chained = [
        [each for each in run["results"] if each["ruleId"].startswith("chain/")] for run in sarif["runs"]
    ]
    assert [len(each) for each in chained] == [1, 0]
    (location,) = chained[0][0]["locations"]
    assert [each["name"] for each in location["logicalLocations"]] == ["turned", "product"]
    junit = ElementTree.parse(folder / "junit.xml").getroot()
    assert [(element.get("tests"), element.get("failures")) for element in junit] == [
        ("5", "1"),
        ("5", "0"),
    ]
    page = (folder / "index.html").read_text()
    assert 'id="chain-1"' in page
    assert "turned &gt; product" in page
    assert "every node is conformant" not in page
    assert "turned" in (folder / "check.md").read_text()


@pytest.mark.slow
def test_what_a_node_fails_alone_is_no_finding_of_its_chain(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_product(place / "model.onnx", turned=True)
    answer, document = check(capsys, model, *on("WrongMatMul", "OneNode"), *WANTED)
    assert answer.code == 1, answer.err
    number = next(each["number"] for each in document["calls"] if each["opType"] == "MatMul")
    for each in by_path(document, "WrongMatMul").values():
        assert (each["answer"], each["follows"]) == ("wrong", [number])
    assert "2 chains of neighbours: 2 follow from what a node of the chain fails alone" in answer.out
    # Who takes models of one node alone does not load the model, and is not blamed for rows of it.
    assert {each["answer"] for each in by_path(document, "OneNode").values()} == {"uncovered"}
    assert document["runtimes"][1]["nodes"]["conformant"] == 3
    junit = ElementTree.parse("out/check/model/junit.xml").getroot()
    assert [(each.get("tests"), each.get("failures")) for each in junit] == [("5", "1"), ("4", "1")]


@pytest.mark.slow
def test_it_is_not_reported_of_a_model_without_the_row(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_product(place / "model.onnx", turned=False)
    answer, document = check(capsys, model, *on("FusesWrongly"))
    assert answer.code == 0, answer.err
    assert set(by_path(document, "FusesWrongly")) == {"MatMul > Relu", "Relu > Transpose"}
    model = write_product(place / "model.onnx", turned=True)
    answer, document = check(capsys, model, *on("FusesWrongly"), "--no-chains")
    assert answer.code == 0, answer.err
    assert document["chains"] == {"cut": None, "chains": []}


@pytest.mark.slow
def test_rows_that_kill_the_runtime_cost_no_node_its_answer(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_product(place / "model.onnx", turned=True)
    answer, document = check(capsys, model, *on("DiesOfRows"))
    assert answer.code == 1, answer.err
    assert document["runtimes"][0]["nodes"]["conformant"] == 3
    assert {each["answer"] for each in by_path(document, "DiesOfRows").values()} == {"crashes"}


def test_chains_are_bounded_and_the_bound_is_told(place: Path) -> None:
    facts = read_model(write_product(place / "model.onnx", turned=True))
    whole = make_chains(facts)
    assert (len(whole.chains), len(whole.cases), whole.cut) == (2, 2, "")
    first = make_chains(facts, most=1)
    assert (len(first.cases), first.cut) == (1, "Only the first 1 chains of neighbours were run.")
    assert "0 seconds" in make_chains(facts, seconds=0).cut


def test_extents_that_come_with_each_run_are_not_made_up(place: Path) -> None:
    from onnx import TensorProto, helper, save

    nodes = [
        helper.make_node("Expand", ["x", "s"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Abs", ["b"], ["c"]),
    ]
    given = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1]),
        helper.make_tensor_value_info("s", TensorProto.INT64, [3]),
    ]
    last = [helper.make_tensor_value_info("c", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", given, last)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
    first, second = make_chains(read_model(Path("model.onnx"))).chains
    assert (first.path, first.case) == ("Expand > Neg", "")
    assert "which dimensions Expand is given" in first.why
    assert (second.path, bool(second.case)) == ("Neg > Abs", True)


def test_a_chain_that_cannot_be_made_stops_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = read_model(write_product(place / "model.onnx", turned=True))
    seen: list[Chain] = []

    def fails_once(chain: Chain) -> Case:
        seen.append(chain)
        if len(seen) == 1:
            raise ZeroDivisionError("no way")
        return case_of_chain(chain)

    monkeypatch.setattr(model_chains, "case_of_chain", fails_once)
    made = make_chains(facts, keep=False)
    assert [bool(checked_chain.case) for checked_chain in made.chains] == [False, True]
    assert "no way" in made.chains[0].why

    def breaks(_: ModelFacts, most: int = 0, kept: object = None) -> Iterator[model_chains.ModelChain]:
        raise RecursionError("deep")
        yield

    monkeypatch.setattr(model_chains, "chains_of_model", breaks)
    assert "RecursionError" in make_chains(facts).cut
