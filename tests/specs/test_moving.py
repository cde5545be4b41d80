"""Folders of specs in the form of before: every command refuses them, one moves them, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from specs.library import list_operators, load_spec
from specs.moving import check_moves, make_moves, plan_moves
from specs.old_form import load_old
from tests.commands.command_line import call

Capture = pytest.CaptureFixture[str]

FACTS = """\
operator: {{domain: org.example, name: Blend, since_version: {version}}}
documents: {{d1: {{file: blend.md, dialect: onnx-markdown, sha256: "00", identity: stated}}}}
attributes:
  mode: {{type: string, required: false, src: [d1, {line}]}}
inputs: [{{name: X, type: T, option: single, src: [d1, 5]}}]
outputs: [{{name: "Y", type: T, option: single, src: [d1, 6]}}]
type_constraints: {{T: {{types: [float, int32], src: [d1, 7]}}}}
"""
FIRST = """\
# What the page leaves open.
attributes:
  mode: {default: soft, why: the examples compute so}
constraints:
  - {id: mode_value, require: "mode in ['soft']", else: undefined, src: [d1, 3]}
  - {id: some_axes, require: rank(X) > 0, else: undefined, why: nothing is said of none}
readings:
  - id: blending
    question: how
    options: {softly: by halves, hard: not at all}
    evidence: [{option: softly, kind: text, src: [d1, 4]}]
    src: [d1, 4]
behaviours: [subnormals]
factors: {mode: [soft], rank: [1, 2]}
exclusions: [{when: "rank == 1 and mode == 'soft'", why: one axis is not blended}]
"""
SECOND = """\
# What the page leaves open.
attributes:
  mode: {default: soft, why: the examples compute so}
let: {axes: rank(X)}
constraints:
  - {id: few_axes, require: axes < 9, else: undefined, why: no example has more}
  - {id: mode_value, require: "mode in ['soft', 'hard']", else: undefined, src: [d1, 30]}
  - {id: some_axes, require: rank(X) > 0, else: undefined, why: nothing is said of none}
readings:
  - id: blending
    question: how
    options: {softly: by halves, hard: not at all}
    evidence: [{option: softly, kind: text, src: [d1, 40]}, {option: hard, kind: text, src: [d1, 41]}]
    src: [d1, 40]
behaviours: [integer_overflow, subnormals]
factors: {mode: [soft, hard], rank: [1, 2]}
exclusions: [{when: "rank == 1 and mode == 'soft'", why: one axis is not blended}]
findings:
  - {code: a-b, severity: hint, src: [d1, 9], message: m, evidence: e, action: noted}
"""


def write_old(folder: Path, version: int, added: str | None, **files: str) -> OperatorName:
    place = folder / "org.example" / f"Blend-{version}"
    place.mkdir(parents=True)
    (place / "imported.yaml").write_text(FACTS.format(version=version, line=version + 1))
    if added is not None:
        (place / "curated.yaml").write_text(added)
    for name, text in files.items():
        (place / f"{name}.py").write_text(text)
    return OperatorName("org.example", "Blend", version)


def files_of(folder: Path) -> dict[str, str]:
    return {str(each.relative_to(folder)): each.read_text() for each in folder.rglob("*") if each.is_file()}


def move(folder: Path) -> None:
    moves = plan_moves(folder)
    check_moves(folder, moves)
    make_moves(moves)


def test_versions_become_one_declaration_that_says_the_same(tmp_path: Path) -> None:
    versions = [write_old(tmp_path, version, text) for version, text in ((1, FIRST), (2, FIRST), (5, SECOND))]
    before = [load_old(each, tmp_path / "org.example" / each.short, [tmp_path]) for each in versions]
    written = files_of(tmp_path)
    move(tmp_path)
    assert list_operators([tmp_path]) == sorted(versions)
    for spec in before:
        after = load_spec(spec.operator, [tmp_path])
        assert {**vars(spec), "declared": None} == {**vars(after), "declared": None}
    text = (tmp_path / "org.example" / "Blend" / "spec.yaml").read_text()
    assert text.count("id: some_axes") == text.count("question: how") == text.count("id: mode_value") == 1
    assert "versions: 1..5" in text
    assert set(written.values()) <= set(files_of(tmp_path).values())
    assert not list(tmp_path.rglob("Blend-*"))


def test_a_single_file_is_kept_with_its_remarks(tmp_path: Path) -> None:
    operator = write_old(tmp_path, 3, FIRST)
    write_old(tmp_path, 4, None)
    move(tmp_path)
    text = (tmp_path / "org.example" / "Blend" / "spec.yaml").read_text()
    assert text == FIRST.replace("open.\n", "open.\nversions: 3\n")
    assert load_spec(operator, [tmp_path]).readings
    assert not load_spec(OperatorName("org.example", "Blend", 4), [tmp_path]).readings


def test_versions_that_nothing_was_added_to_say_nothing_more(tmp_path: Path) -> None:
    for version, text in ((1, FIRST), (2, None), (3, SECOND)):
        write_old(tmp_path, version, text)
    move(tmp_path)
    spec = load_spec(OperatorName("org.example", "Blend", 2), [tmp_path])
    assert (spec.readings, spec.constraints, spec.factors) == ((), (), ())


@pytest.mark.parametrize("same", [True, False])
def test_modules_of_versions_stand_apart_where_they_differ(tmp_path: Path, same: bool) -> None:
    for version in (1, 2):
        code = "" if same else f"VERSION = {version}\n"
        write_old(tmp_path, version, FIRST + "reference: reference.py\n", reference=code)
    move(tmp_path)
    for version in (1, 2):
        module = load_spec(OperatorName("org.example", "Blend", version), [tmp_path]).reference_module
        assert module is not None
        assert module.read_text() == ("" if same else f"VERSION = {version}\n")
        assert (module.parent.name == "Blend") == same


@pytest.mark.parametrize("target", ["spec.yaml", "imported-1.yaml"])
def test_nothing_is_overwritten(tmp_path: Path, target: str) -> None:
    write_old(tmp_path, 1, FIRST)
    (tmp_path / "org.example" / "Blend").mkdir()
    (tmp_path / "org.example" / "Blend" / target).write_text("# mine\n")
    before = files_of(tmp_path)
    with pytest.raises(UserError, match=f"(?s)stands where another.*{target}"):
        plan_moves(tmp_path)
    assert files_of(tmp_path) == before


def test_what_is_wrong_is_told_and_nothing_is_moved(tmp_path: Path) -> None:
    write_old(tmp_path, 1, FIRST + "colour: red\n")
    before = files_of(tmp_path)
    with pytest.raises(SeveralErrors, match="colour"):
        move(tmp_path)
    assert files_of(tmp_path) == before


def test_what_would_say_something_else_is_not_moved(tmp_path: Path) -> None:
    """Options that are named by numbers look as if they were of versions."""
    numbers = "options: {softly: by halves, hard: not at all}", "options: {'1': by halves, '2': not at all}"
    first, second = (
        each.replace(*numbers).replace("option: softly", "option: '1'") for each in (FIRST, SECOND)
    )
    write_old(tmp_path, 1, first)
    write_old(tmp_path, 2, second.replace("option: hard", "option: '2'"))
    before = files_of(tmp_path)
    with pytest.raises(UserError):
        move(tmp_path)
    assert files_of(tmp_path) == before


COMMANDS = [
    ("list", "operators"),
    ("show", "org.example::Blend-1"),
    ("show", "ai.onnx::Abs-13"),
    ("generate", "-o", "OUT/suite"),
    ("generate", "Pad-1", "-o", "OUT/suite"),
    ("try", "Concat", "--runtime", "none"),
    ("adequacy", "Pad-1"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_refuses_the_form_of_before(
    capsys: Capture, tmp_path: Path, words: tuple[str, ...]
) -> None:
    write_old(tmp_path / "specs", 1, FIRST)
    given = [each.replace("OUT", str(tmp_path)) for each in words]
    answer = call(capsys, *given, "--specs", tmp_path / "specs")
    assert answer.code == 2, answer
    assert str(tmp_path / "specs" / "org.example" / "Blend-1") in answer.err
    assert f"opcert move {tmp_path / 'specs'}" in answer.err


def test_documents_are_not_imported_into_the_form_of_before(capsys: Capture, tmp_path: Path) -> None:
    write_old(tmp_path / "specs", 1, FIRST)
    page = tmp_path / "page.md"
    page.write_text("# Nothing\n")
    answer = call(capsys, "import", page, "-o", tmp_path / "specs")
    assert answer.code == 2
    assert "opcert move" in answer.err


def test_a_dry_run_says_what_would_be_moved(capsys: Capture, tmp_path: Path) -> None:
    write_old(tmp_path, 1, FIRST)
    before = files_of(tmp_path)
    answer = call(capsys, "move", tmp_path, "--dry-run")
    assert answer.code == 0
    assert (
        f"{tmp_path}/org.example/Blend-1/imported.yaml -> {tmp_path}/org.example/Blend/imported-1.yaml"
        in answer.out
    )
    assert "nothing was moved" in answer.out
    assert files_of(tmp_path) == before
    assert call(capsys, "move", tmp_path).code == 0
    assert list_operators([tmp_path]) == [OperatorName("org.example", "Blend", 1)]
    assert "has the form of before" in call(capsys, "move", tmp_path).out
