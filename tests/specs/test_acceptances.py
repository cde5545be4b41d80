"""findings.yaml: what it accepts, what is wrong with it, and entries that are about nothing any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from opcert.vocabulary.errors import SeveralErrors
from opcert.vocabulary.names import OperatorName
from specs.lint.linting import Acceptances, Linted, Reported, accept, read_acceptances
from specs.model.spec import Finding, Severity, Source

PAD, TILE = OperatorName.parse("ai.onnx::Pad-1"), OperatorName.parse("ai.onnx::Tile-1")


def written(folder: Path, text: str) -> Acceptances:
    path = folder / "findings.yaml"
    path.write_text(text, encoding="utf-8")
    return read_acceptances(path)


def found(code: str, line: int, operator: OperatorName, severity: Severity = "error") -> Reported:
    return Reported(Finding(code, severity, Source("d", line), "message", "", "noted"), "docs/a.md", operator)


def lint(*each: Reported) -> Linted:
    return Linted(list(each), [("docs/a.md", PAD), ("docs/a.md", TILE)])


@pytest.mark.parametrize(
    ("entry", "accepted"),
    [
        ("{code: one, reason: r}", [True, True, False]),
        ("{code: '*', reason: r}", [True, True, True]),
        ("{code: one, document: a.md, reason: r}", [True, True, False]),
        ("{code: one, document: docs/*.md, line: [1, 3], reason: r}", [True, False, False]),
        ("{code: one, operator: 'ai.onnx::Pad-*', reason: r}", [True, False, False]),
        ("{code: [one, two], message: 'm*e', reason: r}", [True, True, True]),
        ("{code: one, message: other, reason: r}", [False, False, False]),
    ],
)
def test_what_an_entry_accepts(tmp_path: Path, entry: str, accepted: list[bool]) -> None:
    linted = lint(found("one", 1, PAD), found("one", 2, TILE), found("two", 3, PAD))
    result = accept(linted, written(tmp_path, f"accepted: [{entry}]"))
    findings = [each for each in result.found if each.finding.code != "stale-acceptance"]
    assert [finding.accepted == "r" for finding in findings] == accepted
    assert result.errors == accepted.count(False)


def test_an_entry_that_accepts_nothing_is_told(tmp_path: Path) -> None:
    entries = ("{code: one, reason: r}", "{code: gone, reason: r}", "{code: x, document: b.md, reason: r}")
    text = "accepted:\n" + "".join(f"- {entry}\n" for entry in entries)
    result = accept(lint(found("one", 1, PAD)), written(tmp_path, text))
    stale = [reported for reported in result.found if reported.finding.code == "stale-acceptance"]
    assert [reported.finding.source.line for reported in stale] == [3]
    assert "gone" in stale[0].finding.message
    assert result.errors == 0


def test_every_mistake_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(SeveralErrors) as raised:
        written(
            tmp_path, "accepted:\n- {code: one}\n- {code: two, reason: r, line: x}\n- {codes: a, reason: r}\n"
        )
    text = str(raised.value)
    for each in ("findings.yaml:2", "'reason'", "findings.yaml:3", "findings.yaml:4", "'codes'"):
        assert each in text
