"""Profiles in docs/certify.md: they are read, commands run, and no key is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opcert.commands import suite_argument
from opcert.commands.profile_argument import demanded_profile
from opcert.vocabulary.names import OperatorName
from reports.gates.profiles import Profile
from tests.commands.command_line import identity_suite
from tests.conformance.samples import FAKES
from tests.conftest import doc_section
from tests.reports.test_ci_docs import blocks, run
from tests.reports.test_profile_settling import model


@pytest.fixture
def page(repository: Path) -> str:
    return doc_section((repository / "docs" / "certify.md").read_text(), "Profiles")


def write_profiles(page: str, folder: Path) -> list[Path]:
    """The profiles of the page in files, each by the name that the page has for it."""
    names = re.findall(r"`(\w+\.yaml)`:\n", page)
    paths = [folder / name for name in names]
    for path, text in zip(paths, blocks(page, "yaml"), strict=True):
        path.write_text(text)
    model(folder / "model.onnx", ("", "Identity"), opset=13)
    return paths


def test_its_profiles_are_profiles(page: str, tmp_path: Path) -> None:
    opsets, of_model = (demanded_profile(str(path)) for path in write_profiles(page, tmp_path))
    assert opsets is not None
    assert of_model is not None
    identity = [
        named_operator.since_version
        for named_operator in opsets.named_operators
        if named_operator.name == "Identity"
    ]
    assert identity == [21, 19, 16, 14, 13]
    assert {named_operator.domain for named_operator in opsets.named_operators} == {"ai.onnx"}
    assert of_model.operators == ("ai.onnx::Identity-13",)


def test_it_has_every_key(page: str) -> None:
    for key in Profile.model_fields:
        assert re.search(rf"\b{key}\b", page), key


@pytest.mark.slow
def test_its_commands_run_as_they_stand(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the suite is made of is looked at; making it is left to other tests."""
    suite, asked = identity_suite(tmp_path), []

    def make(operators: list[OperatorName], **_: object) -> object:
        from conformance.suite.suites import open_suite

        asked.append([str(operator) for operator in operators])
        return open_suite(suite)

    monkeypatch.setattr(suite_argument, "made_of", make)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setenv("RUNTIME", "fake_backends:Good")
    write_profiles(page, tmp_path)
    (text,) = blocks(page, "bash")
    certify, verify = text.splitlines()
    assert run(capsys, certify) == 0
    assert run(capsys, f"{verify} --suite {suite}") == 0
    assert asked == [["ai.onnx::Identity-13"]]
