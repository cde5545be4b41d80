"""What was measured before is found again for the same cases and code, and for nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.measured.kept import MeasuredOperator, Selected
from generator.trust.mutants import measured_before
from generator.trust.mutants.measured_before import MOST_KEPT, find_measured, keep_measured, measurement_key
from opcert.vocabulary.names import OperatorName

AND = OperatorName.parse("ai.onnx::And-7")
KEPT = MeasuredOperator(
    str(AND), "0" * 16, (Selected("cover/0a", 3, "1" * 16, {"rank_S": "1"}, 0),), {"calls": 2000}
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_before, "cache_folder", lambda: tmp_path)


def test_a_measurement_is_found_again_by_its_key_alone() -> None:
    key = measurement_key(AND, "0" * 16, True)
    assert find_measured(AND, key) is None
    keep_measured(AND, key, KEPT)
    assert find_measured(AND, key) == KEPT
    others = {measurement_key(AND, "1" * 16, True), measurement_key(AND, "0" * 16, False)}
    others.add(measurement_key(OperatorName.parse("ai.onnx::Or-7"), "0" * 16, True))
    assert len(others | {key}) == 4
    assert all(find_measured(AND, each) is None for each in others)


def test_other_code_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    key = measurement_key(AND, "0" * 16, True)
    monkeypatch.setattr(measured_before, "_code", lambda: "other")
    assert measurement_key(AND, "0" * 16, True) != key


def test_a_damaged_measurement_is_none_and_old_ones_go(tmp_path: Path) -> None:
    for number in range(MOST_KEPT + 2):
        keep_measured(AND, f"{number:064x}", KEPT)
    files = list((tmp_path / "adequacy" / "ai.onnx" / "And-7").glob("0*"))
    assert len(files) == MOST_KEPT
    files[0].write_text('{"format"', encoding="utf-8")
    assert find_measured(AND, files[0].name) is None
