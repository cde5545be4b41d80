"""What is worked out is kept by all that it hangs on, and nothing in the cache can do harm."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from conformance.suite import store as kept_work
from conformance.suite.store import KeptWork, seal
from opcert.vocabulary import file_digests
from opcert.vocabulary.file_digests import project_digest

CONTENT = {"cases": [[None, 3, [1, 2]], ["a rule", 0, []]], "seconds": 0.5}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_work, "cache_folder", lambda: tmp_path / "opcert")


def test_what_was_kept_is_found_by_the_same_parts_alone() -> None:
    work, other = KeptWork("one"), KeptWork("other")
    key = work.key("a suite", ["x", 1])
    assert work.find(key) is None
    work.keep(key, CONTENT)
    assert work.find(key) == CONTENT
    assert work.key("a suite", ["x", 1]) == key
    assert len({key, work.key("a suite", ["x", 2]), work.key("a suite"), work.key("another", ["x", 1])}) == 4
    assert other.find(key) is None
    work.keep(key, "newer")
    assert work.find(key) == "newer"
    assert [path.name for path in work.store.folder.iterdir()] == [key]


def test_another_file_of_ours_is_another_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = KeptWork("one").key("a suite")
    for name in ("opcert", "specs"):
        (tmp_path / name).mkdir()
    (tmp_path / "opcert" / "a.py").write_text("1")
    monkeypatch.setattr(file_digests, "_folders_of", lambda name: [tmp_path / name])
    digests = []
    for change in (lambda: None, lambda: (tmp_path / "specs" / "b.yaml").write_text("x"),
                   lambda: (tmp_path / "opcert" / "a.py").write_text("2")):  # fmt: skip
        change()
        project_digest.cache_clear()
        digests.append(KeptWork("one").key("a suite"))
    (tmp_path / "opcert" / "__pycache__").mkdir()
    (tmp_path / "opcert" / "__pycache__" / "a.pyc").write_text("3")
    project_digest.cache_clear()
    assert KeptWork("one").key("a suite") == digests[-1]
    assert len({before, *digests}) == 4
    project_digest.cache_clear()


DAMAGED = {
    "nothing": b"",
    "not packed": b"not packed",
    "no JSON": gzip.compress(b"{"),
    "deep": gzip.compress(b"[" * 100_000),
    "cut off": gzip.compress(b"1" * 99)[:-9],
}


@pytest.mark.parametrize("raw", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_file_is_none(raw: bytes) -> None:
    work = KeptWork("one")
    key = work.key("a suite")
    work.keep(key, CONTENT)
    (work.store.folder / key).write_bytes(seal(f"one/{key}", raw) + raw)
    assert work.find(key) is None
    (work.store.folder / key).write_bytes(raw)
    assert work.find(key) is None
    work.keep(key, CONTENT)
    assert work.find(key) == CONTENT


def test_what_is_sealed_with_another_secret_or_under_another_key_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = KeptWork("one")
    key, other_key = work.key("a suite"), work.key("another")
    with monkeypatch.context() as other:
        other.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
        work.keep(key, CONTENT)
        assert work.find(key) == CONTENT
    assert work.find(key) is None
    work.keep(key, CONTENT)
    shutil.copy(work.store.folder / key, work.store.folder / other_key)
    KeptWork("two").store.folder.mkdir(parents=True)
    shutil.copy(work.store.folder / key, KeptWork("two").store.folder / key)
    assert work.find(key) == CONTENT
    assert work.find(other_key) is None
    assert KeptWork("two").find(key) is None


def test_a_folder_or_a_pipe_in_its_place_is_none(tmp_path: Path) -> None:
    work = KeptWork("one")
    key = work.key("a suite")
    (work.store.folder / key).mkdir(parents=True)
    assert work.find(key) is None
    work.keep(key, CONTENT)
    assert work.find(key) is None


def test_a_cache_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "opcert").write_text("a file where the cache should be")
    work = KeptWork("one")
    work.keep(work.key("a suite"), CONTENT)
    assert work.find(work.key("a suite")) is None


def test_what_was_used_last_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_work, "MOST_KEPT", 2)
    work = KeptWork("one")
    (work.store.folder).mkdir(parents=True)
    (work.store.folder / "a file of somebody else").write_text("stays")
    keys = [work.key(number) for number in range(4)]
    for number, key in enumerate(keys):
        work.keep(key, number)
    assert [work.find(key) for key in keys] == [None, None, 2, 3]
    assert (work.store.folder / "a file of somebody else").exists()


def test_what_is_too_large_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_work, "_LARGEST", 10)
    work = KeptWork("one")
    work.keep(work.key("a suite"), CONTENT)
    assert work.find(work.key("a suite")) is None
