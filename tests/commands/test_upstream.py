"""`opcert upstream`: what it says where nothing can be written, and that the table names known entries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from opcert.commands import cli
from opcert.vocabulary.errors import ExitCode, UserError
from reference.readings.disagreements import load_disagreements
from reports.upstream.issues import MOST

_ROW = re.compile(r"^\| \d+ \| .+ \(`(?P<key>\w+)`\) \| ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["onnxruntime", "-o", "issues"], "Run `opcert run onnxruntime` first"),
        (["onnxruntime", "--table"], "Run `opcert run onnxruntime` first"),
        (["onnxruntime"], "issues need a folder"),
        (["onnxruntime", "one", "two", "-o", "issues"], "one runtime is told at a time"),
        (["onnxruntme", "1"], "unknown runtime"),
    ],
)
def test_mistakes_of_who_asks_are_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["upstream", *words])
    assert isinstance(done.exception, UserError)
    assert said in str(done.exception)
    assert done.exception.exit_code == ExitCode.USAGE


def test_the_table_names_entries_that_there_are(repository: Path) -> None:
    lines = (repository / "docs" / "tables" / "upstream.md").read_text("utf-8").splitlines()
    keys = [found["key"] for line in lines if (found := _ROW.match(line))]
    assert 0 < len(keys) == len(set(keys)) <= MOST
    assert set(keys) <= {disagreement.id for disagreement in load_disagreements()}
    assert len(lines) < 120
