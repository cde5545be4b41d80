"""A second `opcert certify` of the same build asks nothing; with `--again`, and of another suite, it does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.suite import store
from tests.commands.command_line import call, identity_suite

pytestmark = [pytest.mark.slow, pytest.mark.runtimes("onnxruntime")]
STANDS = "the same build ran these cases here"


def certificate(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "certificate.json").read_bytes())
    return found


def test_the_record_of_before_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(store, "cache_folder", lambda: tmp_path / "cache")
    suite, out = identity_suite(tmp_path), tmp_path / "out"
    words = ("certify", "onnxruntime", "-s", suite, "-o", out, "--diagnose", "0")
    first = call(capsys, *words)
    assert first.code == 0, first.err
    assert STANDS not in first.err
    record, before = (out / "run.jsonl").read_bytes(), certificate(out)
    (out / "index.html").unlink()

    second = call(capsys, *words)
    assert second.code == 0, second.err
    assert STANDS in second.err
    assert (out / "run.jsonl").read_bytes() == record
    assert (out / "index.html").is_file()
    assert second.out == first.out
    assert certificate(out)["subject"] == before["subject"]
    assert call(capsys, "verify", out / "certificate.json", "-s", suite).code == 0

    third = call(capsys, *words, "--again")
    assert third.code == 0, third.err
    assert STANDS not in third.err
    assert (out / "run.jsonl").read_bytes() != record
    assert STANDS not in call(capsys, "run", "onnxruntime", "-s", suite, "-o", out / "run.jsonl").err
    # The record is one that `certify` has not written.
    assert STANDS not in call(capsys, *words).err
