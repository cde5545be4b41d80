"""`opcert check` loads the model itself, before anything else is asked of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from onnx import load, numpy_helper, save

from conformance.checked_models.whole_model import LoadFacts, UnoptimisedLoad
from reports.checked_models.check_words import load_text
from tests.commands.checked_models import write_model, write_product
from tests.commands.test_check import WANTED, check, on, place
from tests.reports.sarif_checks import check_sarif

__all__ = ["place"]


@pytest.mark.slow
def test_a_model_that_does_not_load_is_told_first_and_whole(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_model(place / "model.onnx", unknown=True)
    answer, document = check(capsys, model, *on("Prepares", "Right"), *WANTED, "--no-chains")
    assert answer.code == 1, answer.err
    first = answer.out.splitlines()[0]
    assert first.startswith("checked_backends:Prepares 3.1: does not load: RuntimeError: no kernel for Frob")
    assert first.endswith("and at its end a word")
    told = answer.err.splitlines()
    assert told[0] == "opcert: model.onnx: 5 nodes make 4 distinct calls of 4 operator versions"
    (early,) = (line for line in told if line.startswith("opcert: checked_backends:Prepares: the model does"))
    assert early.startswith(
        "opcert: checked_backends:Prepares: the model does not load: RuntimeError: no ker"
    )
    right_loads = (
        "opcert: checked_backends:Right: the model loads, and runs with inputs drawn by what it declares"
    )
    places = [told.index(each) for each in (early, right_loads, "opcert: making cases of 4 calls")]
    assert places == sorted(places)
    refusing, right = document["runtimes"]
    assert [each["holds"] for each in (refusing, right)] == [False, True]
    assert refusing["load"]["verdict"] == "refused"
    assert refusing["load"]["message"].endswith("and at its end a word")
    assert right["load"] == {"verdict": "loads", "message": None, "byRun": True, "unoptimised": None}
    assert refusing["nodes"] == right["nodes"]

    folder = Path("out/check/model")
    sarif = json.loads((folder / "check.sarif").read_text())
    check_sarif(sarif)
    rules = [[each["ruleId"] for each in run["results"]] for run in sarif["runs"]]
    assert [rule.count("does-not-load") for rule in rules] == [1, 0]
    junit = ElementTree.parse(folder / "junit.xml").getroot()
    assert [each.find("testcase[@name='the model loads']/failure") is None for each in junit] == [False, True]
    assert "at its end a word" in (folder / "check.md").read_text()
    page = (folder / "index.html").read_text()
    assert "Does it load?" in page
    assert "at its end a word" in page


@pytest.mark.slow
@pytest.mark.parametrize("batch", [2, "batch"])
def test_who_takes_single_nodes_alone_does_not_load_a_model(
    capsys: pytest.CaptureFixture[str], place: Path, batch: int | str
) -> None:
    model = write_model(place / "model.onnx", batch=batch)
    answer, document = check(capsys, model, *on("OneNode"), "--no-chains")
    assert (answer.code, document["runtimes"][0]["load"]["verdict"]) == (1, "refused")
    assert "models of one node alone" in answer.out.splitlines()[0]
    assert document["runtimes"][0]["nodes"]["wrong"] == 0


@pytest.mark.slow
def test_inputs_that_were_drawn_refuse_no_model_with_open_extents(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    """A runtime that says nothing of a model before it is run may refuse what was drawn, not the model."""
    model = write_model(place / "model.onnx", batch="batch")
    answer, document = check(capsys, model, *on("RefusesNeg"), "--no-chains")
    assert "opcert: checked_backends:RefusesNeg: not known whether it loads: " in answer.err
    (load,) = (each["load"] for each in document["runtimes"])
    assert (load["verdict"], load["byRun"]) == ("unknown", True)
    assert "no room for a Neg" in load["message"]


@pytest.mark.slow
@pytest.mark.runtimes("onnxruntime")
def test_onnx_runtime_says_which_operator_it_does_not_have(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_model(place / "model.onnx", unknown=True)
    answer, document = check(capsys, model, "--on", "onnxruntime", "--no-chains")
    assert answer.code == 1
    assert "does not load: " in answer.out.splitlines()[0]
    assert "Frobnicate" in answer.out.splitlines()[0]
    load = document["runtimes"][0]["load"]
    assert load["byRun"] is False
    assert load["unoptimised"] == {
        "source": "onnxruntime[optimization=none]",
        "verdict": "refused",
        "message": load["message"],
    }
    assert answer.out.splitlines()[0].endswith(
        "(with onnxruntime[optimization=none] it does not load either)"
    )


def test_a_model_that_loads_without_optimisation_alone_has_a_way_around() -> None:
    other = UnoptimisedLoad("onnxruntime[optimization=none]", "loads")
    said = load_text(LoadFacts("refused", "Fail: no fusion", unoptimised=other))
    assert said == "does not load: Fail: no fusion (with onnxruntime[optimization=none] it loads)"
    another = replace(other, verdict="lost", message="killed by SIGSEGV")
    said = load_text(LoadFacts("refused", "Fail: no fusion", unoptimised=another))
    assert said.endswith("(with onnxruntime[optimization=none] it does not load either: killed by SIGSEGV)")
    assert load_text(LoadFacts("refused", "Fail: no fusion")) == "does not load: Fail: no fusion"


@pytest.mark.slow
@pytest.mark.runtimes("onnxruntime")
@pytest.mark.parametrize("left", [None, 8])
def test_a_model_that_lost_its_weights_does_not_load(
    capsys: pytest.CaptureFixture[str], place: Path, left: int | None
) -> None:
    """A file of weights is gone, or ends too early: what the runtime says to that stands there."""
    model = load(write_product(place / "whole.onnx", turned=False))
    model.graph.initializer[0].raw_data = numpy_helper.to_array(model.graph.initializer[0]).tobytes()
    del model.graph.initializer[0].float_data[:]
    save(model, place / "model.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    weights = place / "weights.bin"
    kept = weights.read_bytes()[: left or 0]
    weights.unlink()
    if left is not None:
        weights.write_bytes(kept)
    answer, document = check(
        capsys, place / "model.onnx", "--on", "onnxruntime", "--no-chains", "--inputs", "random"
    )
    assert answer.code == 1, answer.err
    why = "weights.bin cannot be found" if left is None else "weights.bin ends before the data of a tensor do"
    first = answer.out.splitlines()[0]
    assert f"does not load: {why}" in first
    assert "; without these data: Fail: [ONNXRuntimeError]" in first
    assert "opcert-scratch" not in first
    assert first.endswith("(with onnxruntime[optimization=none] it does not load either)")
    assert f"does not run with its inputs: {why}" in answer.out
    assert document["runtimes"][0]["holds"] is False


@pytest.mark.slow
@pytest.mark.runtimes("onnxruntime")
def test_a_model_whose_weights_are_outside_its_folder_does_not_load(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    """The weights are there, where the format lets no model have any."""
    model = load(write_product(place / "whole.onnx", turned=False))
    model.graph.initializer[0].raw_data = numpy_helper.to_array(model.graph.initializer[0]).tobytes()
    del model.graph.initializer[0].float_data[:]
    save(model, place / "model.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    inner = place / "inner"
    inner.mkdir()
    (place / "model.onnx").rename(inner / "model.onnx")
    changed = load(inner / "model.onnx", load_external_data=False)
    for entry in changed.graph.initializer[0].external_data:
        if entry.key == "location":
            entry.value = "../weights.bin"
    (inner / "model.onnx").write_bytes(changed.SerializeToString())
    answer, _ = check(capsys, inner / "model.onnx", "--on", "onnxruntime", "--no-chains")
    assert answer.code == 1, answer.err
    assert "does not load: ../weights.bin is outside the model's folder" in answer.out.splitlines()[0]
