"""The fake Backends, found as a user's own would be; and nothing of the user's kept suites is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.samples import FAKES


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
