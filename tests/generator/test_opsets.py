"""Suites of an opset: the versions in force, named in any command, and operators that fail told together."""

from __future__ import annotations

from pathlib import Path

import onnx.defs
import pytest
from click.testing import CliRunner

from conformance.suite.suites import open_suite
from generator.asking.named_operators import referenced_operators
from generator.making.operators.opsets import newest_opset, operators_of_opset
from generator.making.operators.workshop import Options
from generator.making.suites import suite_making
from generator.making.suites.lock import read_lock
from generator.making.suites.operator_cases import generate_operator
from opcert.commands import generate_command, suite_argument
from opcert.vocabulary.errors import InternalError, UserError
from opcert.vocabulary.names import CaseId, OperatorName
from reference.registry.reference_operator import ReferenceOperator
from specs.files.library import load_spec

OTHER_PAGES = ("ai.onnx.ml", "ai.onnx.preview.training")


def test_no_version_that_its_document_calls_deprecated_is_asked() -> None:
    """Runtimes refuse one, and are right to."""
    locked = map(OperatorName.parse, read_lock().versions)
    assert [str(operator) for operator in locked if load_spec(operator).deprecated] == []


@pytest.mark.parametrize("opset", [7, 13, 18, 22])
def test_the_versions_are_those_that_onnx_has_in_force(opset: int) -> None:
    found = operators_of_opset(opset)
    assert len(found) > 40
    # Those of other domains have nothing to do with ONNX's opsets.
    beside = {str(each) for each in found if each.domain not in ("ai.onnx", *OTHER_PAGES)}
    assert beside == {
        "ai.onnx.preview::FlexAttention-1", "com.microsoft::Pad-1",
        "org.openvino::ExtractImagePatches-3", "org.tensorflow::BatchToSpaceND-1",
    }  # fmt: skip
    newest = {name for name in read_lock().default.versions if name.startswith(OTHER_PAGES)}
    assert {str(each) for each in found if each.domain in OTHER_PAGES} == newest
    found = [each for each in found if each.domain == "ai.onnx"]
    for each in found:
        assert each.since_version == onnx.defs.get_schema(each.name, opset, "").since_version
    # What an opset has in a version without reference is left out, and not taken in an older version.
    known = set(referenced_operators())
    names = {each.name for each in found}
    for schema in onnx.defs.get_all_schemas():
        if schema.domain == "" and onnx.defs.has(schema.name, opset, ""):
            version = onnx.defs.get_schema(schema.name, opset, "").since_version
            assert (OperatorName("ai.onnx", schema.name, version) in known) == (schema.name in names)


@pytest.mark.parametrize("opset", [0, 6, 99])
def test_an_opset_without_cases_is_a_mistake_that_names_those_with(opset: int) -> None:
    with pytest.raises(UserError, match=f"expected 7 to {newest_opset()}"):
        operators_of_opset(opset)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--opset", "6"], "an opset without cases"),
        (["Nott", "--opset", "13"], "perhaps ai.onnx::Not-1"),
        (["--opset", "13", "--versions", "all"], "one opset has one version"),
        (["--opset", "13", "--update"], "about the suites that ship"),
        (["--versions", "all", "--specs", "."], "no --specs beside them"),
    ],
)
def test_mistakes_of_the_command_line_are_told(words: list[str], said: str) -> None:
    ran = CliRunner().invoke(generate_command.command, words)
    assert isinstance(ran.exception, UserError)
    assert said in str(ran.exception)


@pytest.mark.slow
def test_versions_of_an_operator_are_made_by_opset_or_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "suite"
    given = ["Floor", "Not", "--size", "small", "-o", str(path)]
    for more, names in (
        (["--opset", "9"], {"Floor-6", "Not-1"}),
        (["--opset", "20"], {"Floor-13", "Not-1"}),
        (["--versions", "all"], {"Floor-6", "Floor-13", "Not-1"}),
    ):
        ran = CliRunner().invoke(generate_command.command, [*given, *more])
        assert ran.exception is None
        with open_suite(path) as suite:
            assert {CaseId.parse(case_id).operator.short for case_id in suite.case_ids} == names


@pytest.mark.slow
def test_a_suite_is_named_by_its_opset_and_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    quick = [OperatorName.parse("ai.onnx::Not-1"), OperatorName.parse("ai.onnx::And-7")]
    monkeypatch.setattr(
        "generator.making.operators.named_suites.operators_of_opset",
        lambda opset: quick if opset == 13 else quick[:1],
    )
    with suite_argument.resolve_suite("opset-13") as suite:
        operators, digest = suite.manifest["options"]["operators"], suite.digest
    assert operators == sorted(map(str, quick))
    monkeypatch.setattr(
        "generator.making.suites.cache.write_generated", None
    )  # it is kept, and not made again
    with suite_argument.resolve_suite("opset-13") as suite:
        assert suite.digest == digest
    with suite_argument.resolve_suite("opset-8", digest) as suite:  # a record names the suite that it is of
        assert suite.digest == digest


def test_operators_that_fail_are_told_when_the_others_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    evaluate = ReferenceOperator.evaluate

    def failing(self: ReferenceOperator, *given: object, **named: object) -> object:
        if self.operator.name in ("Not", "Xor"):
            raise ZeroDivisionError("nothing to divide by")
        return evaluate(self, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(ReferenceOperator, "evaluate", failing)
    wanted = [OperatorName.parse(f"ai.onnx::{each}") for each in ("And-7", "Not-1", "Or-7", "Xor-7")]
    made: list[str] = []
    path = tmp_path / "suite"
    with pytest.raises(InternalError) as caught:
        suite_making.write_generated(
            path, wanted, Options.of("small"), progress=lambda told: made.append(str(told))
        )
    assert [each.partition(": ")[0] for each in made] == ["ai.onnx::And-7", "ai.onnx::Or-7"]
    said = str(caught.value)
    assert "ai.onnx::Not-1: ZeroDivisionError: nothing to divide by" in said
    assert "ai.onnx::Xor-7" in said
    assert said.count("under {") == 2  # the calls
    assert not path.exists()


def test_a_case_without_inputs_counts_under_the_type_that_comes_out() -> None:
    made = generate_operator(OperatorName.parse("ai.onnx::Constant-25"), Options.of("small"))
    answered = [each for each in made.cases if each.demand == "answer"]
    assert len({each.element_type.name for each in answered}) > 5
    for each in answered:
        assert each.element_type is each.expectations[0].outputs[0].expected.element_type
