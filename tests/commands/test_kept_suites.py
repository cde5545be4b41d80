"""Suites in the user's cache: where they are found again."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.suite.kept_suites import kept_suite
from tests.commands.command_line import call

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_suite_of_a_record_is_found_without_its_name(capsys: Capture, tmp_path: Path) -> None:
    made = call(capsys, "generate", "com.microsoft::Pad-1", "--size", "small")
    assert made.code == 0
    suite = made.out.splitlines()[0]
    assert suite.startswith(str(tmp_path / "cache"))
    run = tmp_path / "run.jsonl"
    assert call(capsys, "run", "fake_backends:Good", "-s", suite, "-o", run, "-k", "boundary").code == 1
    answer = call(capsys, "report", run)
    assert (answer.code, answer.out.strip()) == (0, str(tmp_path / "index.html"))
    # It was not by generating the default suite that it was found.
    assert len(list((tmp_path / "cache" / "opcert" / "suites").iterdir())) == 1


@pytest.mark.parametrize("digest", ["..", "", "0" * 64, "../" * 20 + "etc"])
def test_a_digest_of_a_record_leads_nowhere_else(tmp_path: Path, digest: str) -> None:
    (tmp_path / "cache" / "opcert").mkdir(parents=True)
    (tmp_path / "cache" / "opcert" / "manifest.json").write_text("{}")
    assert kept_suite(digest) is None
