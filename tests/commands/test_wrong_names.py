"""What does not exist: commands, options, runtimes, operators, suites, profiles, cases, facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.command_line import call, check_message, identity_suite

Capture = pytest.CaptureFixture[str]
BACKEND = "fake_backends:Good"
OPERATORS = "operators: [ai.onnx::Identity-13]\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["certfy", "onnx"], "No such command 'certfy'. Did you mean certify or verify?"),
        (["frobnicate"], "No such command 'frobnicate'. Commands: adequacy, adopt, certify, "),
        (["run", "onnx", "--jbs", "2"], "No such option '--jbs'. (Did you mean one of: '--beside', '--jobs'"),
        (["certify"], "Missing argument 'RUNTIME'"),
        (["certify", "onnx", "-j", "many"], "'many' is not a valid integer range"),
        (["run", "onnx", "--timeout", "0"], "0.0 is not in the range"),
        (["export", "suite"], "Missing option '-o'"),
        (["report", "run.jsonl", "--format", "pdf"], "'pdf' is not one of 'annotations', 'badge', 'clauses'"),
        (["list", "everything"], "'everything' is not one of 'operators', 'runtimes', 'profiles'"),
    ],
)
def test_wrong_usage(capsys: Capture, words: list[str], message: str) -> None:
    answer = call(capsys, *words)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert "--help' for help" in answer.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("onnxruntim", ["unknown runtime", "'onnxruntim'", "Did you mean onnxruntime or "]),
        (
            "cuda9",
            ["unknown runtime", "onnxruntime, onnxruntime-node, ", "tinygrad, tract, wonnx, module:Backend"],
        ),
        ("onnxruntime[speed=9]", ["no such option", "'speed=9'", "optimization=all|none"]),
        ("onnxruntime==1.2==3", ["not a runtime", "opcert list runtimes"]),
        ("exec:/no/such/program", ["there is no such program", "/no/such/program"]),
        ("exec:", ["there is no such program"]),
    ],
)
@pytest.mark.parametrize("command", ["run", "certify"])
def test_an_unknown_runtime(
    capsys: Capture, tmp_path: Path, command: str, text: str, words: list[str]
) -> None:
    answer = call(capsys, command, text, "-s", identity_suite(tmp_path), "-o", tmp_path / "out")
    check_message(answer, 2, "input", *words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["generate", "Resiz-18"], ["unknown operator", "'Resiz-18'", "ai.onnx::Resize-18"]),
        (["generate", "ai.onnx::Resize-99"], ["unknown operator", "ai.onnx::Resize-18"]),
        (["generate", "!!"], ["unknown operator", "'!!'"]),
        (["show", "Resiz-18"], ["unknown operator", "'Resiz-18'", "ai.onnx::Resize-18"]),
        (["show", "ai.onnx::Resize-99"], ["unknown operator", "ai.onnx::Resize-18"]),
        (["show", "ai.onnx::Resiz"], ["unknown operator", "'ai.onnx::Resiz'"]),
        (["show", "Resize-18", "--why", "colour"], ["no fact at this path", "'colour'", "opcert show"]),
        (["show", "Resize-18", "--why", "attributes.mod"], ["Did you mean attributes.mode"]),
        (["show", "Resize-18", "--specs", "/no/such/folder"], ["no such folder of specs", "/no/such/folder"]),
        (["report", "/no/such/run.jsonl"], ["/no/such/run.jsonl", "cannot be read", "opcert run"]),
        (["export", "/no/such/suite", "-o", "x"], ["/no/such/suite", "no suite here", "opcert generate"]),
        (["repro", "Resize"], ["not a case id", "'Resize'", "domain/Operator-version/family"]),
        (
            ["generate", "--check", "--size", "small"],
            ["--check and --update", "the suites that ship", "one of the two"],
        ),
    ],
)
def test_a_name_that_means_nothing(capsys: Capture, words: list[str], message: list[str]) -> None:
    check_message(call(capsys, *words), 2, "input", *message)


def test_a_pattern_is_given_once(capsys: Capture) -> None:
    """The last of two would have been taken, and a run of one operator told as that of both."""
    answer = call(capsys, "run", "onnx", "-k", "Add", "-k", "Mul")
    words = ("-k is given more than once", "'Add' and 'Mul'", "opcert certify RUNTIME OPERATOR...")
    check_message(answer, 2, "input", *words)


def test_a_case_that_the_suite_lacks(capsys: Capture, tmp_path: Path) -> None:
    case = "ai.onnx/Identity-13/cover/000000000000"
    answer = call(capsys, "repro", case, "-s", identity_suite(tmp_path), "-o", tmp_path / "repro")
    check_message(answer, 2, "input", "no such case", case, str(tmp_path / "suite"))


def test_an_unknown_profile_is_noticed_before_anything_runs(capsys: Capture, tmp_path: Path) -> None:
    suite = identity_suite(tmp_path)
    answer = call(capsys, "certify", BACKEND, "-s", suite, "--profile", "center-crop", "-o", tmp_path / "out")
    check_message(
        answer, 2, "input", "unknown profile", "'center-crop'", "center-crop-pad, first-operators, onnx"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("operators: [ai.onnx::Identty-13]", ["operator", "::Identty-13", "perhaps ai.onnx::Identity-13"]),
        ("operators: [ai.onnx::Identity-14]", ["the operator", "perhaps ai.onnx::Identity-13"]),
        (f"{OPERATORS}element_types: [flaot]", [":4", "no element type: flaot", "perhaps float"]),
        (f"{OPERATORS}element_types: [bool]", ["no case of the element type", "got bool", "of float"]),
        (f"{OPERATORS}families: [boundry]", [":4", "no family of cases: boundry", "perhaps boundary"]),
    ],
)
def test_what_a_profile_names_and_the_suite_lacks_is_a_mistake(
    capsys: Capture, tmp_path: Path, more: str, words: list[str]
) -> None:
    profile = tmp_path / "mine.yaml"
    profile.write_text(f"profile: mine\ndescription: d\n{more}\n")
    suite, out = identity_suite(tmp_path), tmp_path / "out"
    answer = call(capsys, "certify", BACKEND, "-s", suite, "--profile", profile, "-o", out)
    check_message(answer, 2, "input", *words)
    assert not (out / "run.jsonl").exists()


def test_a_pattern_that_selects_nothing(capsys: Capture, tmp_path: Path) -> None:
    suite = identity_suite(tmp_path)
    answer = call(capsys, "run", BACKEND, "-s", suite, "-k", "Resise", "-o", tmp_path / "run.jsonl")
    check_message(answer, 5, "run", "no case of the suite is selected", "'Resise'", str(suite), "-k")
    answer = call(capsys, "run", BACKEND, "-s", suite, "-k", "Identty-13", "-o", tmp_path / "run.jsonl")
    check_message(answer, 5, "run", "'Identty-13'", "perhaps Identity-13")
    assert not (tmp_path / "run.jsonl").exists()


@pytest.mark.parametrize(("runtime", "python"), [(BACKEND, "python9"), ("onnx", "./python9")])
def test_an_interpreter_that_is_not_there(capsys: Capture, tmp_path: Path, runtime: str, python: str) -> None:
    suite = identity_suite(tmp_path)
    answer = call(capsys, "certify", runtime, "-s", suite, "--python", python, "-o", tmp_path / "out")
    check_message(answer, 2, "input", "no such interpreter", repr(python), "--python")


@pytest.mark.parametrize("name", ["fake_backends:Missing", "no_such_module:Backend"])
def test_a_backend_that_is_not_there(capsys: Capture, tmp_path: Path, name: str) -> None:
    suite = identity_suite(tmp_path)
    answer = call(capsys, "certify", name, "-s", suite, "-o", tmp_path / "out")
    words = ["PYTHONPATH", "--python"] if name.startswith("no") else ["fake_backends has no Missing"]
    check_message(answer, 2, "input", *words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "meant"), [("relu", "perhaps ai.onnx::Relu-14"), ("Relu-99", "perhaps ai.onnx::Relu-14 or")]
)
def test_the_operator_that_is_meant_comes_first(capsys: Capture, text: str, meant: str) -> None:
    check_message(call(capsys, "generate", text), 2, "input", "unknown operator", meant)


def test_what_is_no_record_stays_where_it_is(capsys: Capture, tmp_path: Path) -> None:
    suite = identity_suite(tmp_path)
    before = (suite / "manifest.json").read_bytes()
    for place in (suite / "manifest.json", tmp_path / "model.onnx"):
        if not place.exists():
            place.write_bytes(b"a model")
        answer = call(capsys, "run", BACKEND, "-s", suite, "-o", place)
        check_message(answer, 2, "input", str(place), "no record", "Name another file")
    assert (suite / "manifest.json").read_bytes() == before
    assert (tmp_path / "model.onnx").read_bytes() == b"a model"


@pytest.mark.parametrize("option", ["--known", "--beside"])
def test_what_a_run_needs_afterwards_is_read_before_it(capsys: Capture, tmp_path: Path, option: str) -> None:
    suite, broken = identity_suite(tmp_path), tmp_path / "broken"
    broken.write_text("a: [1,\n")
    for command, place in (("run", tmp_path / "run.jsonl"), ("certify", tmp_path / "out")):
        answer = call(capsys, command, BACKEND, "-s", suite, option, broken, "-o", place)
        check_message(answer, 2, "input", str(broken))
        assert not place.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--resume", "--again"], ["--resume", "--again", "one of them"]),
        (["--run", "run.jsonl", "-k", "Identity"], ["not run again", "--run with -k", "--run alone"]),
        (["--timeout", "nan"], ["--timeout", "nan is no number"]),
    ],
)
def test_options_that_contradict_each_other(capsys: Capture, words: list[str], told: list[str]) -> None:
    answer = call(capsys, "certify", BACKEND, "-s", "suite", *words)
    assert answer.code == 2
    assert not [each for each in told if each not in answer.err], answer.err


def test_a_record_of_a_suite_that_nobody_has_here_makes_none(capsys: Capture, tmp_path: Path) -> None:
    suite, run = identity_suite(tmp_path), tmp_path / "run.jsonl"
    call(capsys, "run", BACKEND, "-s", suite, "-o", run)
    answer = call(capsys, "report", run, "-o", tmp_path / "out")
    check_message(answer, 2, "input", "not kept here", "Name the suite with -s")
