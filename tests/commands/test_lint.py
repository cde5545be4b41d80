"""`opcert lint` as its users have it: documents and operators, forms, codes, and what is accepted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.command_line import call, check_message
from tests.specs.test_lint_formats import check_sarif

PAGE = """\
<a name="Twice"></a>
### <a name="Twice"></a><a name="twice">**Twice**</a>

  Doubles. Where `axi` is given, see `factor`.

#### Version

This version of the operator has been available since version 1 of the default ONNX operator set.

#### Attributes

<dl>
<dt><tt>axis</tt> : int (default is many)</dt>
<dd>The axis.</dd>
</dl>

#### Inputs

<dl>
<dt><tt>X</tt> : U</dt>
<dd>Input.</dd>
</dl>

#### Outputs

<dl>
<dt><tt>Y</tt> : T</dt>
<dd>Output.</dd>
</dl>

#### Type Constraints

<dl>
<dt><tt>T</tt> : tensor(float)</dt>
<dd>Any.</dd>
</dl>
"""
ACCEPTED = "accepted:\n- {code: type-constraint-missing, reason: U is explained elsewhere}\n"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page with one error and one warning, in a folder that the command is called in."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "page.md"
    path.write_text(PAGE.replace("**Twice**</a>", "**Twice**</a>", 1), encoding="utf-8")
    return path


def test_an_error_that_is_not_accepted_is_exit_code_1(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = call(capsys, "lint", "page.md")
    assert answer.code == 1
    assert "page.md:20: error type-constraint-missing: " in answer.out
    assert "page.md:13: warning default-undecodable: " in answer.out
    assert "    20 | <dt><tt>X</tt> : U</dt>" in answer.out
    assert answer.out.splitlines()[-1] == "1 error, 2 warnings in 1 document"


def test_what_the_folder_accepts_is_exit_code_0(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("findings.yaml").write_text(ACCEPTED, encoding="utf-8")
    answer = call(capsys, "lint", "page.md")
    assert (answer.code, answer.out.splitlines()[-1]) == (0, "2 warnings in 1 document; 1 accepted")
    other = Path("known.yaml")
    other.write_text(f"{ACCEPTED}- {{code: gone, reason: long ago}}\n", encoding="utf-8")
    answer = call(capsys, "lint", "page.md", "--findings", other, "--format", "json")
    rows = json.loads(answer.out)
    assert [row["code"] for row in rows if row["accepted"]] == ["type-constraint-missing"]
    assert [(row["document"], row["line"]) for row in rows if row["code"] == "stale-acceptance"] == [
        ("known.yaml", 3)
    ]
    assert answer.code == 0


def test_one_code(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = call(capsys, "lint", "page.md", "--code", "default-undecodable", "--format", "json")
    assert ([row["code"] for row in json.loads(answer.out)], answer.code) == (["default-undecodable"], 0)
    check_message(
        call(capsys, "lint", "page.md", "--code", "default-undecodabel"), 2, "input", "default-undecodable"
    )


def test_a_file_that_is_no_page_is_a_mistake_and_in_a_folder_it_is_listed(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("notes.md").write_text("nothing of ours\n", encoding="utf-8")
    check_message(call(capsys, "lint", "notes.md"), 2, "input", "notes.md", "no operator page")
    answer = call(capsys, "lint", ".")
    assert answer.code == 1
    assert "not read: notes.md: the document is no operator page" in answer.err


def test_a_wrong_findings_file_is_told(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("findings.yaml").write_text("accepted:\n- {code: one}\n", encoding="utf-8")
    check_message(call(capsys, "lint", "page.md"), 2, "input", "findings.yaml:2", "'reason'")


def test_two_documents_of_one_version_are_compared(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = page.read_text(encoding="utf-8").replace("tensor(float)", "tensor(double)")
    Path("second.md").write_text(other, encoding="utf-8")
    answer = call(capsys, "lint", "page.md", "second.md", "--code", "documents-disagree", "--format", "json")
    rows = json.loads(answer.out)
    assert [(row["document"], row["line"]) for row in rows] == [("second.md", 34)]
    assert "page.md" in rows[0]["message"]


def test_an_operator_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    answer = call(capsys, "lint", "ai.onnx::Resize-18", "--format", "json")
    rows = json.loads(answer.out)
    assert {row["operator"] for row in rows} == {"ai.onnx::Resize-18"}
    assert "example-vs-reference" in {row["code"] for row in rows}
    check_message(call(capsys, "lint", "ai.onnx::Resise-18"), 2, "input", "Resize-18")


@pytest.mark.slow
def test_every_error_of_the_shipped_specs_is_accepted_with_a_reason(
    capsys: pytest.CaptureFixture[str], repository: Path
) -> None:
    answer = call(capsys, "lint", "--findings", repository / "findings.yaml", "--format", "json")
    rows = json.loads(answer.out)
    open_ = [row for row in rows if row["severity"] == "error" and row["accepted"] is None]
    assert (answer.code, open_) == (0, [])
    assert [row for row in rows if row["code"] in ("stale-acceptance", "fact-without-source")] == []


def test_sarif_of_the_shipped_specs(capsys: pytest.CaptureFixture[str]) -> None:
    answer = call(capsys, "lint", "Resize-18", "--format", "sarif")
    log = json.loads(answer.out)
    check_sarif(log)
    assert {each["ruleId"] for each in log["runs"][0]["results"]} > {"example-vs-reference", "unstated-rule"}
