"""Measured files that a wheel has packed: found by their place, the file itself first, damage told."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from generator.measured.kept import measured_json, read_measured_file
from opcert.vocabulary.errors import UserError

FORM = "opcert-example/1"
PLACE = Path("ai.onnx", "Relu", "example-14.json")


def _read(folder: Path) -> dict[str, Any] | None:
    return read_measured_file(
        folder / PLACE, FORM, lambda raw: raw, "the example", "Measure again.", folder / "example.json.xz"
    )


def _pack(folder: Path, contents: Mapping[str, Any]) -> Path:
    packed = folder / "example.json.xz"
    packed.write_bytes(lzma.compress(json.dumps(contents).encode()))
    return packed


def test_a_file_is_found_among_the_packed_ones_by_its_place(tmp_path: Path) -> None:
    _pack(tmp_path, {PLACE.as_posix(): {"format": FORM, "cases": 3}, "other": {"format": FORM, "cases": 4}})
    assert _read(tmp_path) == {"cases": 3}


def test_nothing_is_found_where_nothing_of_that_place_was_packed_or_nothing_at_all(tmp_path: Path) -> None:
    assert _read(tmp_path) is None
    _pack(tmp_path, {"other": {"format": FORM, "cases": 4}})
    assert _read(tmp_path) is None


def test_a_file_of_its_own_comes_first(tmp_path: Path) -> None:
    _pack(tmp_path, {PLACE.as_posix(): {"format": FORM, "cases": 3}})
    (tmp_path / PLACE).parent.mkdir(parents=True)
    (tmp_path / PLACE).write_text(measured_json(FORM, {"cases": 5}), encoding="utf-8")
    assert _read(tmp_path) == {"cases": 5}


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"not packed",
        lzma.compress(b"{}")[:-20],
        lzma.compress(b"[1, 2"),
        lzma.compress(json.dumps({PLACE.as_posix(): {"format": "another/1"}}).encode()),
    ],
    ids=["empty", "not packed", "cut short", "no JSON", "another format"],
)
def test_a_damaged_one_is_named(damaged: bytes, tmp_path: Path) -> None:
    packed = tmp_path / "example.json.xz"
    packed.write_bytes(damaged)
    with pytest.raises(UserError, match="the example cannot be read") as raised:
        _read(tmp_path)
    assert str(packed) in str(raised.value)
    assert "Measure again." in str(raised.value)
