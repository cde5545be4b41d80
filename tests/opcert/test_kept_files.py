"""Of files that are kept, the oldest go first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opcert.vocabulary.kept_files import remove_oldest


def made(folder: Path, sizes: list[int]) -> list[Path]:
    """Files of so many bytes, the first of which is the newest."""
    found = []
    for number, size in enumerate(sizes):
        path = folder / f"{number}"
        path.write_bytes(bytes(size))
        os.utime(path, ns=(0, (len(sizes) - number) * 10**9))
        found.append(path)
    return found


@pytest.mark.parametrize(
    ("most", "most_bytes", "left"),
    [(9, None, 4), (2, None, 2), (0, None, 0), (9, 30, 3), (9, 29, 2), (9, 1, 1), (1, 100, 1)],
)
def test_the_newest_stay(tmp_path: Path, most: int, most_bytes: int | None, left: int) -> None:
    files = made(tmp_path, [10, 10, 10, 10])
    remove_oldest(reversed(files), most, most_bytes)
    assert sorted(each.name for each in tmp_path.iterdir()) == [each.name for each in files[:left]]


def test_what_another_process_removed_is_no_mistake(tmp_path: Path) -> None:
    remove_oldest([*made(tmp_path, [1]), tmp_path / "gone"], 0)
    assert list(tmp_path.iterdir()) == []
