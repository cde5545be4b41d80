"""`opcert show`: every fact with its origin, one fact with all its reasons, and wrong names."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from opcert.commands.show_command import command
from opcert.vocabulary.errors import UserError

IMPORTED = """\
operator: {domain: ai.test, name: Blend, since_version: 3}
documents:
  d1: {file: blend.rst, dialect: onnx-sphinx-rst, sha256: "00", identity: stated}
attributes:
  ratio:
    required: false
    default: {value: 0.5, rule: stated-default, confidence: 1.0, src: [d1, 8]}
    src: [d1, 7]
inputs:
  - {name: X, type: T, option: single, src: [d1, 10, 3]}
outputs:
  - {name: Y, type: T, option: single, src: [d1, 14]}
findings:
  - {code: html-escape, severity: warning, src: [d1, 2], message: m, evidence: e, action: repaired}
"""
ADDED = """\
attributes:
  ratio: {type: float, default: 0.25, overrides: {default: 0.5}, src: [d1, 9], why: a misprint}
readings:
  - id: edge
    question: what happens at the edge
    options: {kept: it stays, dropped: it goes}
    evidence: [{option: kept, kind: text, src: [d1, 11], note: it says so}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "ai.test" / "Blend"
    place.mkdir(parents=True)
    (place / "imported-3.yaml").write_text(IMPORTED)
    (place / "spec.yaml").write_text(ADDED)
    return tmp_path


def _run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments, "--specs", str(folder)], standalone_mode=False)


@pytest.mark.parametrize("name", ["ai.test::Blend-3", "ai.test/Blend-3", "Blend-3", "Blend"])
def test_every_fact_has_its_origin(folder: Path, name: str) -> None:
    result = _run(folder, name)
    assert result.exception is None
    for line in (
        "attributes.ratio.default   0.25  (overridden: blend.rst:9)",
        "inputs.X.type              T  (imported: blend.rst:10:3)",
        "reading edge (open: every option is accepted)",
        "  question: what happens at the edge",
        "  kept: it stays",
        "    text at blend.rst:11: it says so",
        "  dropped: it goes",
        "warning html-escape at blend.rst:2: m; e (repaired)",
    ):
        assert line in result.output


def test_why(folder: Path) -> None:
    result = _run(folder, "Blend", "--why", "attributes.ratio")
    assert result.exception is None
    assert "instead of 0.5" in result.output
    assert "because a misprint" in result.output
    evidence = _run(folder, "Blend", "--why", "readings.edge")
    assert "text for kept: it says so (blend.rst:11)" in evidence.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Blend", "--why", "attributes.size"], "no fact at this path"),
        (["Blent-3"], "unknown operator"),
        (["ai.test::Blend-4"], "ai.test::Blend-3"),
        (["ai.test::Blen"], "unknown operator"),
    ],
)
def test_wrong_names(folder: Path, arguments: list[str], message: str) -> None:
    result = _run(folder, *arguments)
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)
