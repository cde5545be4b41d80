"""Of the entries that the cache keeps, the oldest go first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.suite.store import Store


def keys_of(store: Store) -> list[str]:
    return sorted(path.name[:1] for path in store.folder.iterdir())


@pytest.mark.parametrize(
    ("most", "most_bytes", "left"),
    [(9, None, 4), (2, None, 2), (1, None, 1), (9, 30, 3), (9, 29, 2), (9, 1, 1), (1, 100, 1)],
)
def test_the_newest_stay(tmp_path: Path, most: int, most_bytes: int | None, left: int) -> None:
    for number in range(1, 4):
        Store(tmp_path, 9).keep(str(number) * 64, bytes(10))
        os.utime(tmp_path / (str(number) * 64), ns=(0, (4 - number) * 10**9))
    store = Store(tmp_path, most, most_bytes)
    store.keep("0" * 64, bytes(10))
    assert keys_of(store) == [str(number) for number in range(left)]
    assert len(list(store.contents())) == left


def test_of_what_is_found_nothing_is_older(tmp_path: Path) -> None:
    store = Store(tmp_path, 2)
    for number in range(2):
        store.keep(str(number) * 64, b"x")
        os.utime(tmp_path / (str(number) * 64), ns=(0, number))
    assert store.find("0" * 64) == b"x"
    store.keep("2" * 64, b"y")
    assert keys_of(store) == ["0", "2"]


def test_only_a_sealed_store_asks_who_has_written_it(tmp_path: Path) -> None:
    for sealed, found in ((False, b"forged"), (True, None)):
        store = Store(tmp_path, 2, sealed=sealed)
        store.keep("0" * 64, b"own")
        assert store.find("0" * 64) == b"own"
        (tmp_path / ("0" * 64)).write_bytes(b"forged")
        assert store.find("0" * 64) == found
