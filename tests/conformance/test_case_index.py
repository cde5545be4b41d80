"""The index of a suite's cases is a list and a mapping of them, in memory or in files."""

from __future__ import annotations

import tempfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.suite.case_index import CaseIndex, SpilledBytes

_PARTS = st.text(alphabet="abÄ-_.", min_size=0, max_size=6)
_IDS = st.lists(st.tuples(_PARTS, _PARTS).map("/".join) | _PARTS, unique=True, max_size=60)


def _entry(number: int, case_id: str) -> dict[str, Any]:
    return {
        "id": case_id,
        "offset": number << 33,
        "length": number,
        "expectation": f"{number:064x}",
        "family": ("cover", "edge")[number % 2],
    }


@given(_IDS, st.sampled_from([0, 100, 1 << 20]))
def test_what_was_added_is_found_in_its_order(ids: list[str], most_in_memory: int) -> None:
    index = CaseIndex(most_in_memory)
    for number, each in enumerate(ids):
        assert each not in index
        index.add(_entry(number, each))
    assert list(index) == ids
    assert (len(index), index.kinds) == (len(ids), min(len(ids), 2))
    assert [index[each] for each in range(-len(ids), len(ids))] == ids + ids
    assert index[1:-1] == tuple(ids[1:-1])
    for number, each in enumerate(ids):
        assert each in index
        assert index.position(each) == number
        assert index.get(each) == _entry(number, each)
    assert index.get("none of them") is None
    with pytest.raises(KeyError):
        index.position("none of them")
    with pytest.raises(IndexError):
        index[len(ids)]


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("id", "a/b", ValueError),
        ("id", 3, AttributeError),
        ("id", "a/\ud800", ValueError),
        ("offset", -1, ValueError),
        ("offset", "1", ValueError),
        ("length", 1 << 32, ValueError),
        ("expectation", "00", ValueError),
        ("expectation", "zz", ValueError),
        ("expectation", None, TypeError),
    ],
)
def test_an_entry_that_does_not_say_what_it_must_is_refused_and_changes_nothing(
    key: str, value: Any, error: type[Exception]
) -> None:
    index = CaseIndex()
    index.add(_entry(1, "a/b"))
    with pytest.raises(error):
        index.add({**_entry(2, "b/c"), key: value})
    for number, case_id in ((3, "c/c"), (4, "b/d")):
        index.add({**_entry(number, case_id), "family": case_id})
    assert list(index) == ["a/b", "c/c", "b/d"]
    assert index.get("b/d") == {**_entry(4, "b/d"), "family": "b/d"}


@given(st.lists(st.binary(max_size=20)), st.integers(0, 60))
def test_bytes_are_read_back_from_where_they_were_put(pieces: list[bytes], most: int) -> None:
    kept, whole = SpilledBytes(most), b""
    begins = []
    for piece in pieces:
        begins.append(kept.append(piece))
        whole += piece
    assert len(kept) == len(whole)
    for begin, piece in zip(begins, pieces, strict=True):
        assert kept.read(begin, len(piece)) == piece
        assert kept.read(begin, len(whole)) == whole[begin:]


def test_where_no_file_can_be_made_bytes_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> None:
        raise OSError("no room")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    kept = SpilledBytes(4)
    assert [kept.append(each) for each in (b"abc", b"def", b"ghi")] == [0, 3, 6]
    assert kept.read(2, 5) == b"cdefg"
