"""`opcert try`: the truth test of one operator, on witnesses that are wrong on purpose and on real ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from generator.asking.calls import Call
from generator.calls.borders.breaches import Breach
from generator.calls.declared.modelled import choose_modelled, modelled_operators
from generator.trust.witnesses.truth_runs import Reaction, Witnessed
from generator.trust.witnesses.truth_table import (
    FILE_NAME,
    ExplainedRefusal,
    TruthCalls,
    TruthTable,
    TruthTableMaker,
    read_explanations,
)
from opcert.commands.truth_trying import summarise_truth
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.errors import OpcertError, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import tensor
from specs.model.spec import Constraint, Origin
from tests.commands.command_line import Answer
from tests.commands.command_line import call as command
from tests.conformance.samples import FAKES

pytestmark = pytest.mark.slow

GATHER = OperatorName.parse("ai.onnx::Gather-13")
GOOD = """
shapes: {data: "*S", indices: "*I"}
extents: {S: 1..3, I: 0..2}
kinds:
  axis: axis(data)
  indices: index(data, axis)
"""
WRONG = """
shapes: {data: "*S", indices: "*I"}
extents: {S: 1..3, I: 0..2}
kinds:
  axis: integer(0, 5)
  indices: integer(0, 9)
"""
"""The axes of every tensor."""


def call(axis: int) -> Call:
    return Call({"axis": attribute("int", axis)}, (("X", tensor([1, 2], "int32")),))


def breach(axis: int, rule: str) -> Breach:
    constraint = Constraint(rule, None, "axis < 9", "error", None, None, Origin("added"))
    return Breach(constraint, call(0), call(axis))


def table(
    said: Mapping[str, Mapping[int, tuple[Reaction, str]]], *explanations: ExplainedRefusal
) -> TruthTable:
    """The table of three valid calls and two wrong ones, by axis, of what witnesses said of each."""
    calls = TruthCalls((call(0), call(1), call(2)), (breach(10, "range"), breach(11, "other")), ())
    maker = TruthTableMaker(GATHER, calls, explanations)
    for witness, answers in said.items():
        maker.said[witness] = {
            call(axis).digest(GATHER): Witnessed(reaction, message)
            for axis, (reaction, message) in answers.items()
        }
    return maker.make()


ANSWERED: tuple[Reaction, str] = ("answered", "")
SAID: dict[str, dict[int, tuple[Reaction, str]]] = {
    "checker": {0: ANSWERED, 1: ANSWERED, 2: ANSWERED, 10: ("refused", "out of range"), 11: ANSWERED},
    "some": {
        0: ANSWERED,
        1: ("refused", "axis 1 of 'X' is beyond me"),
        2: ("refused", "axis 2 of 'Y' is beyond me"),
        10: ANSWERED,
        11: ANSWERED,
    },
}


def test_refusals_are_grouped_by_what_they_say_but_for_numbers_and_names() -> None:
    (group,) = table(SAID).refusals
    assert (group.witness, group.reaction, len(group.calls)) == ("some", "refused", 2)
    assert group.explanation is None


def test_an_error_is_refused_by_one_witness_or_told() -> None:
    found = table(SAID)
    (answered,) = found.answered_errors
    assert (answered.rule, len(answered.calls)) == ("other", 1)
    assert found.unexplained == 3
    told = summarise_truth(found)
    assert "nobody rejects 1 call that break other, an error by the text (unexplained)" in told
    assert "3 calls unexplained" in told


def test_what_is_explained_is_told_as_that() -> None:
    beyond = ExplainedRefusal(
        id="beyond", against="some", reason=("*is beyond me*",), cause="limit", explanation="made up"
    )
    ignored = ExplainedRefusal(
        id="ignored", against="*", accepts=("other",), cause="reading", explanation="made up"
    )
    found = table(SAID, beyond, ignored)
    assert found.unexplained == 0
    told = summarise_truth(found)
    assert "explained: beyond" in told
    assert "explained: ignored" in told
    assert "nothing is unexplained" in told
    elsewhere = replace_operators(beyond, "ai.onnx::Other-*")
    assert table(SAID, elsewhere, ignored).unexplained == 2


def replace_operators(explanation: ExplainedRefusal, pattern: str) -> ExplainedRefusal:
    return explanation.model_copy(update={"operators": (pattern,)})


def test_a_crash_is_no_answer() -> None:
    said = {**SAID, "some": {**SAID["some"], 0: ("crashed", "died of SIGSEGV")}}
    assert {refusal.reaction for refusal in table(said).refusals} == {"refused", "crashed"}
    assert table({**said, "some": {**said["some"], 11: ("crashed", "")}}).answered_errors == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("calls: [{id: a, against: checker, cause: limit, explanation: x}]", "neither"),
        ("calls: [{id: a, against: b, reason: x, accepts: y, cause: limit, explanation: x}]", "two entries"),
        ("calls: [{id: a, against: checker, accepts: y, cause: limit, explanation: x}]", "against"),
        ("calls: [{id: A b, against: checker, reason: x, cause: limit, explanation: x}]", "id"),
        ("calls: [{id: a, against: checker, reason: x, cause: limit}]", "explanation"),
        ("calls: [{id: a, against: checker, reason: x, explanation: x}]", "cause"),
        ("calls: [{id: a, against: b, reason: x, cause: witness_fault, explanation: x}]", "the passage"),
        ("calls: [{id: a, against: b, reason: x, cause: limit, passage: p.md, explanation: x}]", "passage"),
        ("calls: [{id: a, against: b, reason: x, cause: limit, explanation: x, because: y}]", "because"),
        ("calls: {id: a}", "calls"),
    ],
)
def test_a_wrong_entry_is_told_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / FILE_NAME
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OpcertError) as raised:
        read_explanations(path)
    told = str(raised.value) + "".join(map(str, getattr(raised.value, "errors", ())))
    assert FILE_NAME in told
    assert words in told


def room(folder: Path, declaration: str = GOOD, explanations: str | None = None) -> Path:
    """A folder of specs in which Gather is declared."""
    path = folder / GATHER.domain / GATHER.name
    path.mkdir(parents=True)
    (path / "spec.yaml").write_text(declaration, encoding="utf-8")
    if explanations is not None:
        (path / FILE_NAME).write_text(explanations, encoding="utf-8")
    return folder


@pytest.fixture
def try_gather(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Try the Gather of a folder of specs."""
    return lambda folder, *words: command(
        capsys, "try", "Gather-13", "--strength", "1", "--specs", folder, *words
    )


def test_a_good_declaration_leaves_nothing_unexplained(
    tmp_path: Path, try_gather: Callable[..., Answer]
) -> None:
    found = try_gather(room(tmp_path), "--runtime", "none")
    assert found.code == 0, found.err
    assert "nothing is unexplained" in found.out
    assert "inference" in found.out


def test_without_a_runtime_nobody_says_whether_errors_are_refused() -> None:
    alone = table({"checker": SAID["checker"]})
    assert alone.unexplained == 0
    assert "whether errors are rejected, runtimes say" in summarise_truth(alone)


def test_calls_that_are_not_valid_show(tmp_path: Path, try_gather: Callable[..., Answer]) -> None:
    found = try_gather(room(tmp_path, WRONG), "--runtime", "none")
    assert found.code == 1, found.err
    assert "(unexplained)" in found.out
    assert "for example (axis=" in found.out


def test_a_runtime_that_refuses_and_dies_is_told_by_what_it_says(
    tmp_path: Path, try_gather: Callable[..., Answer]
) -> None:
    moody = f"exec:{sys.executable} {FAKES / 'moody_worker.py'}"
    found = try_gather(room(tmp_path), "--runtime", moody)
    assert found.code == 1, found.err
    lines = [line for line in found.out.splitlines() if "beyond me" in line]
    assert len(lines) == 1  # axis 1 and axis 2 are one group
    assert "crashed (unexplained)" in found.out


def test_entries_explain_what_a_runtime_says(tmp_path: Path, try_gather: Callable[..., Answer]) -> None:
    moody = f"exec:{sys.executable} {FAKES / 'moody_worker.py'}"
    entries = f"""calls:
- {{id: moods, against: "{moody}", reason: "*is beyond me*", cause: limit, explanation: it has its moods}}
- {{id: deaths, against: "{moody}", reason: "*status 7*", cause: limit, explanation: axes below 0 end it}}
"""
    found = try_gather(room(tmp_path, explanations=entries), "--runtime", moody)
    assert "explained: moods" in found.out
    assert "explained: deaths" in found.out
    assert found.code == 0, found.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("try", "Gathr"), "perhaps Gather"),
        (("try", "BeamSearch"), "no operator with a declaration"),
        (("try",), "Missing argument"),
        (("try", "Gather", "--runtime", "nobody"), "nobody"),
    ],
)
def test_a_users_mistake_is_told(
    words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = command(capsys, *words)
    assert found.code == 2
    assert told in found.err
    assert "Traceback" not in found.err


def test_a_name_means_the_newest_version_or_all() -> None:
    assert choose_modelled("Gather") == [GATHER]
    assert choose_modelled("ai.onnx::Gather-11")[0].since_version == 11
    every = choose_modelled("Gather", every=True)
    assert every == [
        modelled_operator for modelled_operator in modelled_operators() if modelled_operator.name == "Gather"
    ]
    assert len(every) > 1
    with pytest.raises(UserError):
        choose_modelled("BatchToSpaceND")


@pytest.mark.runtimes("onnx")
def test_the_reference_of_onnx_answers(tmp_path: Path, try_gather: Callable[..., Answer]) -> None:
    found = try_gather(room(tmp_path), "--runtime", "onnx")
    assert "onnx       computes" in found.out
    assert found.code == 0, found.err
