"""`opcert check`: what is wrong on purpose is found where the model has it, and nowhere else."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save

from reports.schemas import load_schema
from tests.commands.checked_models import write_model
from tests.commands.command_line import Answer, call, check_message
from tests.reports.sarif_checks import check_sarif

FORMATS = ("html", "json", "sarif", "markdown", "junit")
WANTED = [word for each in FORMATS for word in ("--format", each)]


def on(*names: str) -> list[str]:
    return [word for name in names for word in ("--on", f"checked_backends:{name}")]


def answers_of(document: dict[str, Any], runtime: str, node: str) -> str:
    """The answer of a runtime for a node by its name."""
    call_of = {each["name"]: each["call"] for each in document["nodes"]}
    found = document["calls"][call_of[node] - 1]["answers"]
    (answer,) = (each["answer"] for each in found if each["runtime"] == f"checked_backends:{runtime}")
    return str(answer)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[Answer, dict[str, Any]]:
    answer = call(capsys, "check", *words, "--diagnose", "0")
    document = json.loads(Path("out/check/model/check.json").read_text())
    jsonschema.validate(document, load_schema("check"))
    return answer, document


@pytest.mark.slow
def test_each_mistake_is_found_where_it_is(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    model = write_model(place / "model.onnx", unknown=True)
    runtimes = ("Right", "WrongAlpha", "RefusesNeg")
    answer, document = check(capsys, model, *on(*runtimes), *WANTED)
    assert answer.code == 1, answer.err
    odd = {
        "WrongAlpha": {"leaky": "wrong", "leaky again": "wrong"},
        "RefusesNeg": {"negated": "refused"},
    }
    for runtime in runtimes:
        for node in ("leaky", "negated", "leaky again", "flat"):
            wanted = odd.get(runtime, {}).get(node, "conformant")
            assert answers_of(document, runtime, node) == wanted, (runtime, node)
        assert answers_of(document, runtime, "odd") == "uncovered"
    assert [each["holds"] for each in document["runtimes"]] == [True, False, False]
    for each in document["runtimes"]:
        assert sum(each["nodes"].values()) == len(document["nodes"]) == 5
        assert sum(each["calls"].values()) == len(document["calls"]) == 4

    (wrong,) = (each for each in document["calls"] if each["opType"] == "LeakyRelu")
    causes = wrong["answers"][1]["causes"]
    assert causes
    for cause in causes:
        assert set(cause["cases"]) < set(wrong["cases"])
        assert cause["smallest"]["case"] in cause["cases"]
        assert cause["smallest"]["got"] != cause["smallest"]["expected"]
        assert cause["smallest"]["attributes"] == {"alpha": "0.25"}
        assert any("LeakyRelu-16" in each for each in cause["smallest"]["passages"])

    assert "checked_backends:Right 3.1: 4 of 5 nodes conformant, 1 not covered" in answer.out
    assert answer.out.splitlines()[-2].startswith("junit: ")
    last = answer.out.splitlines()[-1]
    assert last == "Not all was checked: 1 of 5 nodes not covered: org.example::Frobnicate-1 (1)."
    assert document["coverage"] == {
        "complete": False,
        "uncovered": {"org.example::Frobnicate-1": 1},
        "forbidden": {},
        "open": [],
    }
    assert "no room for a Neg" in answer.out
    check_files(Path("out/check/model"), document)
    again = causes[0]["smallest"]["reproduce"].split()[1:]
    assert call(capsys, *again, "-o", "again").code == 0


def test_without_a_runtime_the_error_says_how_to_name_one(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    answer = call(capsys, "check", "my model.onnx")
    check_message(answer, 2, "input", "no runtime is named", "check 'my model.onnx' --on onnxruntime")
    assert len(answer.err.splitlines()) == 1


@pytest.mark.slow
def test_what_fails_with_open_extents_alone_is_told_so(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_model(place / "model.onnx", batch="batch")
    answer, document = check(capsys, model, *on("WrongWhenOpen"), "--no-chains")
    assert answer.code == 1, answer.err
    assert answers_of(document, "WrongWhenOpen", "leaky") == "wrong"
    assert answers_of(document, "WrongWhenOpen", "negated") == "conformant"
    (leaky,) = (each for each in document["calls"] if each["opType"] == "LeakyRelu")
    assert leaky["varied"]["shapes"] == ["fixed", "open"]
    (cause,) = leaky["answers"][0]["causes"]
    told = (
        "only where the model leaves dimensions open, as yours does; the same cases pass where it states them"
    )
    assert told in cause["remarks"]
    assert told in answer.out
    again = cause["smallest"]["reproduce"].split()[1:]
    assert call(capsys, *again, "-o", "again").code == 0


@pytest.mark.slow
def test_a_model_that_states_its_extents_is_not_asked_with_open_ones(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_model(place / "model.onnx")
    answer, _ = check(capsys, model, *on("WrongWhenOpen"), "--no-chains")
    assert answer.code == 0, answer.err


@pytest.mark.slow
def test_a_call_that_kills_the_runtime_costs_none_of_the_others(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    """The cases of Flatten are the first that run, and all of them die."""
    model = write_model(place / "model.onnx")
    answer, document = check(capsys, model, *on("DiesOfFlatten"))
    assert answer.code == 1, answer.err
    assert answers_of(document, "DiesOfFlatten", "flat") == "crashes"
    assert document["runtimes"][0]["nodes"]["conformant"] == 3
    assert "killed by SIGSEGV" in answer.out
    (flat,) = (each for each in document["calls"] if each["opType"] == "Flatten")
    (found,) = flat["answers"]
    assert (found["asked"], found["leftOut"]) == (2, len(flat["cases"]) - 2)


def check_files(folder: Path, document: dict[str, Any]) -> None:
    sarif = json.loads((folder / "check.sarif").read_text())
    check_sarif(sarif)
    counts = []
    for run in sarif["runs"]:
        levels = [each["level"] for each in run["results"]]
        counts.append((levels.count("error"), levels.count("note")))
    assert [notes for _, notes in counts] == [1, 1, 1]
    assert [errors > 0 for errors, _ in counts] == [False, True, True]
    wrong = next(each for each in sarif["runs"][1]["results"] if each["level"] == "error")
    (location,) = wrong["locations"]
    assert [each["name"] for each in location["logicalLocations"]] == ["leaky", "leaky again"]
    junit = ElementTree.parse(folder / "junit.xml").getroot()
    loading = [element.find("testcase[@name='the model loads']/failure") is not None for element in junit]
    assert loading == [False, False, True]
    assert [element.get("skipped") for element in junit] == ["1", "1", "1"]
    assert [int(element.get("failures") or 0) > 0 for element in junit] == [False, True, True]
    page = (folder / "index.html").read_text()
    for name in ("leaky again", "flat", "Frobnicate"):
        assert name in page
    assert "<script src" not in page
    assert "http-equiv" in page
    assert "4 nodes of" not in (folder / "check.md").read_text().splitlines()[0]


@pytest.mark.slow
def test_a_model_with_actual_inputs_is_judged_node_by_node(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_model(place / "model.onnx")
    np.save("x.npy", np.linspace(-2, 2, 24, dtype=np.float32).reshape(2, 3, 4))
    answer, document = check(capsys, model, *on("Right", "WrongAlpha"), "--inputs", ".", *WANTED)
    assert answer.code == 1, answer.err
    verdicts = []
    for runtime in document["runtimes"]:
        assert runtime["numbers"]["inputs"][0]["shape"] == [2, 3, 4]
        verdicts.append([each["verdict"] for each in runtime["numbers"]["nodes"]])
    assert verdicts == [["right"] * 4, ["wrong", "right", "wrong", "right"]]
    assert "with these inputs 2 of 4 nodes right, 2 wrong" in answer.out
    page = Path("out/check/model/index.html").read_text()
    assert "The whole model on" in page
    check_sarif(json.loads(Path("out/check/model/check.sarif").read_text()))
    empty = call(capsys, "check", model, *on("Right"), "--inputs", "no/such/folder")
    assert "making cases" not in empty.err
    check_message(empty, 2, "input", "no/such/folder")


@pytest.mark.slow
def test_a_value_that_the_model_has_not_is_not_reported(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_model(place / "model.onnx", alpha=0.5)
    answer, document = check(capsys, model, *on("WrongAlpha"))
    assert answer.code == 0, answer.err
    assert document["holds"]
    assert {each["evidence"] for each in document["calls"]} == {"reference"}
    assert not (place / "out/check/model/check.sarif").exists()


@pytest.mark.slow
def test_a_baseline_knows_what_failed_before(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    model = write_model(place / "model.onnx")
    answer, _ = check(capsys, model, *on("WrongAlpha"), "--baseline", "known.yaml", "--update-baseline")
    assert answer.code == 0, answer.err
    assert "ai.onnx/LeakyRelu-16/cover/" in Path("known.yaml").read_text()
    answer, _ = check(capsys, model, *on("WrongAlpha"), "--baseline", "known.yaml")
    assert answer.code == 0
    assert "baseline: known.yaml: 0 new" in answer.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("waived", "code"), [("ai.onnx::Neg-13", 0), ("ai.onnx::LeakyRelu-16", 1), ("ai.onnx::Add-14", 2)]
)
def test_a_profile_asks_for_its_operators_alone(
    capsys: pytest.CaptureFixture[str], place: Path, waived: str, code: int
) -> None:
    model = write_model(place / "model.onnx")
    profile = f"profile: mine\ndescription: One operator\noperators: [{waived}]\n"
    Path("mine.yaml").write_text(profile)
    answer, _ = check(capsys, model, *on("WrongAlpha"), "--profile", "mine.yaml")
    assert answer.code == code, answer.err


@pytest.mark.slow
def test_a_model_of_which_nothing_is_known_answers_5(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    from onnx import TensorProto, helper, save

    values = [helper.make_tensor_value_info(each, TensorProto.FLOAT, [2]) for each in ("x", "y")]
    node = helper.make_node("Frobnicate", ["x"], ["y"], domain="org.example")
    graph = helper.make_graph([node], "g", values[:1], values[1:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("org.example", 1)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), "model.onnx")
    answer, document = check(capsys, "model.onnx", *on("Right"))
    check_message(answer, 5, "run", "nothing is known")
    assert "1 node of 1 call (" in answer.out
    assert "Frobnicate" in answer.out
    assert document["suite"] is None


@pytest.mark.slow
@pytest.mark.runtimes("onnxruntime")
def test_a_cell_of_constant_weights_that_fails_has_the_cause_that_its_entry_says(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    """Experiments change what the model of a case holds, too."""
    draw = np.random.default_rng(1)
    weights = [
        numpy_helper.from_array(draw.uniform(-0.2, 0.2, shape).astype(np.float32), name)
        for name, shape in (("W", (1, 96, 16)), ("R", (1, 96, 24)), ("B", (1, 192)))
    ]
    names = ["X", "W", "R", "B", "", "h", "c"]
    shapes: dict[str, list[str | int]] = {"X": ["t", "b", 16], "h": [1, "b", 24], "c": [1, "b", 24]}
    graph = helper.make_graph(
        [helper.make_node("LSTM", names, ["y"], name="cell", hidden_size=24)],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, each) for name, each in shapes.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        weights,
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx")
    call(capsys, "check", "model.onnx", "--on", "onnxruntime", "--diagnose", "30")
    document = json.loads(Path("out/check/model/check.json").read_text())
    ((causes,),) = ([each["causes"] for each in found["answers"]] for found in document["calls"])
    assert causes
    assert {each["known"] for each in causes} == {"onnxruntime_cells_sigmoid_by_tanh"}


def test_a_slope_that_is_infinite_is_not_covered_and_a_bound_is(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    from onnx import TensorProto, helper, save

    values = [helper.make_tensor_value_info(each, TensorProto.FLOAT, [2]) for each in ("x", "z")]
    nodes = [
        helper.make_node("Clip", ["x"], ["y"], name="bound", min=-1.0, max=math.inf),
        helper.make_node("LeakyRelu", ["y"], ["z"], name="slope", alpha=math.inf),
    ]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 6)], ir_version=8), "model.onnx")
    answer, document = check(capsys, "model.onnx", "--on", "onnxruntime")
    told = {each["operator"]: each for each in document["calls"]}
    assert [each["answer"] for each in told["ai.onnx::Clip-6"]["answers"]] == ["conformant"]
    assert [each["answer"] for each in told["ai.onnx::LeakyRelu-6"]["answers"]] == ["uncovered"]
    assert "the reference defines no result" in answer.out
    assert "mistake" not in answer.out


@pytest.mark.slow
def test_a_runtime_that_does_not_start_is_told_and_the_others_are_asked(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_model(place / "model.onnx")
    answer, document = check(capsys, model, "--on", "exec:/bin/false", *on("Right"), *WANTED)
    assert answer.code == 4
    assert [each["unavailable"] is None for each in document["runtimes"]] == [False, True]
    assert document["runtimes"][1]["nodes"]["conformant"] == 4
    assert document["runtimes"][0]["nodes"]["uncovered"] == 4
    check_sarif(json.loads(Path("out/check/model/check.sarif").read_text()))


def test_what_is_no_model_or_no_runtime_is_the_callers_mistake(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    model = write_model(place / "model.onnx")
    (place / "text.onnx").write_text("This is no model, but a letter.")
    (place / "folder.onnx").mkdir()
    (place / "empty.onnx").write_bytes(b"")
    for name in ("text.onnx", "folder.onnx", "empty.onnx", "absent.onnx"):
        check_message(call(capsys, "check", name, *on("Right")), 2, "input", name)
    check_message(call(capsys, "check", model, "--on", "onnxruntim"), 2, "input", "onnxruntime")
    check_message(
        call(capsys, "check", model, *on("Right", "WrongAlpha"), "--baseline", "k.yaml", "--update-baseline"),
        2,
        "input",
        "one runtime",
    )
    check_message(call(capsys, "check", model, *on("Right"), "--update-baseline"), 2, "input", "--baseline")
    missing = call(capsys, "check", model)
    assert missing.code == 2
    assert "--on" in missing.err
    assert not (place / "out").exists()


@pytest.mark.slow
def test_what_an_earlier_check_left_goes_before_another(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    folder = place / "out" / "check" / "model"
    folder.mkdir(parents=True)
    (folder / "check.md").write_text("# notes of mine\n")
    (folder / "check.sarif").write_text('{"runs": [{"automationDetails": {"id": "opcert check/x"}}]}')
    check(capsys, write_model(place / "model.onnx", alpha=0.5), *on("Right"))
    assert (folder / "check.md").read_text() == "# notes of mine\n"
    assert not (folder / "check.sarif").exists()
