"""Folders of specs that do not ship: which modules run, where they may lie, what is said when they fail."""

from __future__ import annotations

import pickle
import re
import shutil
from pathlib import Path

import pytest

from generator.asking.calls import Call
from generator.asking.calls_files import KeptCall, write_call
from generator.asking.named_operators import known_operators
from generator.making.operators.discovery import open_spec, select_operators
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from generator.making.suites.suite_making import write_generated
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from reference.registry import find_operator, implemented
from specs.files.library import load_spec
from specs.files.spec_folders import find_operator_name
from tests.conftest import REPOSITORY

NAME = OperatorName.parse("org.example::EveryNth-1")
PAD = OperatorName.parse("com.microsoft::Pad-1")
FILES = Path(__file__).parent / "every_nth"
IMPORTED = """\
operator: {domain: org.example, name: EveryNth, since_version: 1}
documents: {d1: {file: every_nth.md, dialect: onnx-markdown, sha256: "00", identity: stated}}
attributes:
  axis:
    {type: int, required: false, default: {value: 0, rule: x, confidence: 1.0, src: [d1, 12]}, src: [d1, 12]}
  step:
    {type: int, required: false, default: {value: 1, rule: x, confidence: 1.0, src: [d1, 14]}, src: [d1, 14]}
inputs: [{name: X, type: T, option: single, src: [d1, 21]}]
outputs: [{name: "Y", type: T, option: single, src: [d1, 28]}]
type_constraints: {T: {types: [float, int32, string], src: [d1, 35]}}
prose:
  - about: attributes.axis
    src: [d1, 13]
    lines: 1
    normative: [{word: error, src: [d1, 13]}]
    sha256: SUM
  - about: attributes.step
    src: [d1, 15]
    lines: 1
    normative: [{word: must, src: [d1, 15]}]
    sha256: SUM
""".replace("SUM", "a" * 64)


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A folder of specs with an operator that its user declares."""
    folder = tmp_path / "specs" / "org.example" / "EveryNth"
    folder.mkdir(parents=True)
    (folder / "imported-1.yaml").write_text(IMPORTED)
    for name in ("spec.yaml", "reference.py"):
        shutil.copy(FILES / f"{name}.txt", folder / name)
    return tmp_path / "specs"


def declaration(specs: Path) -> Path:
    return specs / "org.example" / "EveryNth" / "spec.yaml"


def test_an_operator_is_known_through_its_folder_alone(specs: Path) -> None:
    assert known_operators([specs]) == [NAME]
    assert select_operators([], [specs]) == [NAME]
    assert select_operators(["EveryNth", str(PAD)], [specs]) == [PAD, NAME]
    assert find_operator_name("CenterCropPad", [specs]).domain == "ai.onnx"
    made = generate_operator(NAME, Options(), [specs])
    assert {each.family for each in made.cases} == {"boundary", "cover", "invalid", "survival"}
    assert NAME not in known_operators()
    assert NAME not in implemented()
    with pytest.raises(UserError, match="unknown operator"):
        load_spec(NAME)


def test_a_folder_may_stand_in_for_an_operator_that_ships(specs: Path) -> None:
    shipped = find_operator(PAD)
    room = specs / "com.microsoft" / "Pad"
    shutil.copytree(REPOSITORY / "specs" / "com.microsoft" / "Pad", room)
    (room / "own.py").write_text(
        "from reference.operators.pad import *\nfrom reference.registry import reference_operator\n"
        "@reference_operator('com.microsoft::Pad-1')\ndef own(data, pads, value=None, *, mode='constant'):\n"
        "    raise NotImplementedError\n"
    )
    with (room / "spec.yaml").open("a") as file:
        file.write("\nreference: own.py\n")
    spec = load_spec(PAD, [specs])
    assert find_operator(PAD, spec.reference_module).function.__name__ == "own"
    assert find_operator(PAD) is shipped


def test_a_module_must_lie_in_the_folder_that_was_named(specs: Path) -> None:
    (specs.parent / "elsewhere.py").write_text("raise SystemExit('it was run')")
    text = declaration(specs).read_text()
    for place in ("../../../elsewhere.py", str(specs.parent / "elsewhere.py"), "absent.py", "spec.yaml"):
        declaration(specs).write_text(text.replace("reference: reference.py", f"reference: {place}"))
        with pytest.raises(SeveralErrors, match="no such module"):
            load_spec(NAME, [specs])
    (specs / "shared.py").write_text(declaration(specs).with_name("reference.py").read_text())
    declaration(specs).write_text(text.replace("reference: reference.py", "reference: ../../shared.py"))
    assert find_operator(NAME, load_spec(NAME, [specs]).reference_module).operator == NAME


def test_reading_a_spec_runs_no_module(specs: Path) -> None:
    declaration(specs).with_name("reference.py").write_text("raise SystemExit('it was run')")
    assert load_spec(NAME, [specs]).reference_module is not None
    assert known_operators([specs]) == [NAME]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("import nothing_of_this_name\n", "ModuleNotFoundError", 1),
        ("\n\ndef broken(:\n", "SyntaxError", 3),
        ("value = 1\n\nvalue / 0\n", "ZeroDivisionError", 3),
    ],
)
def test_a_module_that_fails_is_told_with_its_line(specs: Path, text: str, message: str, line: int) -> None:
    declaration(specs).with_name("reference.py").write_text(text)
    with pytest.raises(UserError, match=message) as caught:
        generate_operator(NAME, Options(), [specs])
    assert f"reference.py:{line}" in str(caught.value)


def test_a_module_without_a_reference_is_told(specs: Path) -> None:
    declaration(specs).with_name("reference.py").write_text("")
    with pytest.raises(UserError, match="does not declare a reference"):
        generate_operator(NAME, Options(), [specs])


def test_a_module_that_makes_calls_is_refused_with_what_to_write(specs: Path) -> None:
    with declaration(specs).open("a") as file:
        file.write("levels: levels.py\n")
    with pytest.raises(UserError, match="no module makes the calls") as caught:
        load_spec(NAME, [specs])
    assert "spec.yaml:10:" in str(caught.value)
    assert "`shapes` and `kinds`" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("slice(0, None, step)", "slices", "NameError", "window[axis] = slices"),
        ("return Answer(Tensor(", "return (); (Tensor(", "too few outputs", None),
        ("return Answer(Tensor(", "return (X,); (Tensor(", "what is no tensor", None),
        ("return Answer(Tensor(", "return Answer(X.array); (Tensor(", "what is no tensor", None),
        (
            "return Answer(Tensor(X.element_type, X.array[tuple(window)]))",
            "from opcert.vocabulary.element_types import ELEMENT_TYPES\n    import numpy\n"
            "    return Answer(Tensor(ELEMENT_TYPES['bool'], numpy.zeros(3, bool)))",
            *("another type than it has", None),
        ),
    ],
)
def test_a_mistake_in_a_module_is_told_as_its_users_own(
    specs: Path, old: str, new: str, message: str, line: str | None
) -> None:
    path = declaration(specs).with_name("reference.py")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(UserError, match="makes a mistake") as caught:
        generate_operator(NAME, Options(), [specs])
    assert message in str(caught.value)
    wanted = "reference.py"
    if line is not None:
        lines = path.read_text().splitlines()
        wanted = f"{path.name}:{next(number for number, each in enumerate(lines, 1) if line in each)}"
    assert wanted in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # it comes from another process


def test_a_folder_without_anything_to_generate_is_told(specs: Path) -> None:
    declaration(specs).unlink()
    with pytest.raises(UserError, match="no operator that cases can be made of"):
        write_generated(specs.parent / "suite", [], Options(), [specs])


def test_a_level_is_one_word_of_yaml(specs: Path) -> None:
    before = {each.id for each in generate_operator(NAME, Options(), [specs]).cases}
    text = declaration(specs).read_text()
    declaration(specs).write_text(text.replace("data: [distinct,", "data: [constant, distinct,"))
    after = generate_operator(NAME, Options(), [specs]).cases
    assert {each.levels["data"] for each in after if each.levels} == {
        "constant", "distinct", "random", "nonfinite",
    }  # fmt: skip
    assert len(after) >= len(before)


def test_factors_that_interact_are_covered_with_their_own_strength(specs: Path) -> None:
    plain = generate_operator(NAME, Options(), [specs]).facts["coverage"]
    with declaration(specs).open("a") as file:
        file.write(
            "\ninteractions:\n  - {factors: [rank_S, axis, step], strength: 3, why: they meet in one slice}\n"
        )
    made = generate_operator(NAME, Options(), [specs])
    names = ("rank_S", "axis", "step")
    rows = {tuple(case.levels[name] for name in names) for case in made.cases if case.levels}
    # Four pairs of a rank and an axis have no call: there is no inner axis below rank 3, for example.
    assert len(rows) == (3 * 6 - 4) * 4
    facts = made.facts["coverage"]
    assert facts["covered"] == facts["feasible"] > plain["feasible"]
    assert facts["interactions"] == [{"factors": ["rank_S", "axis", "step"], "strength": 3}]
    assert generate_operator(NAME, Options.of("small"), [specs]).facts["coverage"]["interactions"] == []


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{factors: [rank_S, colour], strength: 2, why: x}", "no such factor"),
        ("{factors: [rank_S, axis], strength: 3, why: x}", "more factors to combine"),
        ("{factors: [rank_S, axis], strength: 2}", "needs a reason"),
    ],
)
def test_interactions_that_make_no_sense_are_told(specs: Path, entry: str, message: str) -> None:
    with declaration(specs).open("a") as file:
        file.write(f"\ninteractions:\n  - {entry}\n")
    with pytest.raises(UserError, match=message):
        open_spec(NAME, [specs])


def test_a_call_that_was_kept_is_in_the_suite_for_ever(specs: Path) -> None:
    call = Call({"step": attribute("int", 4)}, (("X", tensor([9, 8, 7, 6, 5], "int32")),))
    broken = call.with_attribute("step", attribute("int", -7))
    folder = declaration(specs).parent / "regressions"
    write_call(KeptCall(NAME, call, word="odd"), folder / "odd.json")
    write_call(KeptCall(NAME, broken, made_from=call), folder / "broken.json")
    for size in ("small", "default"):
        cases = {str(each.id): each for each in generate_operator(NAME, Options.of(size), [specs]).cases}
        kept = cases[f"org.example/EveryNth-1/boundary/odd-{call.digest(NAME)}"]
        assert kept.expectations[0].outputs[0].expected == tensor([9, 5], "int32")
        refused = cases[f"org.example/EveryNth-1/invalid/step_range-{broken.digest(NAME)}"]
        assert refused.valid_case == str(kept.id)


def test_files_are_run_in_one_place_alone() -> None:
    """Whoever may run a file that is no module of ours; by its path, nothing else in the project does."""
    packages = ("opcert", "specs", "reference", "generator", "conformance", "reports")
    found = {
        path.relative_to(REPOSITORY).as_posix()
        for package in packages
        for path in (REPOSITORY / package).rglob("*.py")
        if re.search(r"exec_module|spec_from_file|SourceFileLoader|run_path", path.read_text("utf-8"))
    }
    assert found == {"specs/files/user_modules.py"}
