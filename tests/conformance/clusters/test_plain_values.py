"""Values travel as bytes of known types: what is written is read, and nothing else is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.clusters import worker_answers
from conformance.clusters.worker_answers import read_value, write_value


@dataclass(frozen=True)
class Inner:
    number: int
    raw: bytes


@dataclass(frozen=True)
class Outer:
    text: str
    kind: Literal["one", "two"]
    inner: Sequence[Inner]
    by_name: Mapping[str, tuple[int, bytes]]
    either: Inner | str | None = None
    anything: Any = None
    seconds: float = 0.0
    derived: int = field(default=7, init=False)


INNER = Inner(1, b"a\nb"), Inner(-2, b"")
VALUE = Outer("\u00e9\ud800", "two", INNER, {"x": (3, b"c")}, Inner(4, b"d"), {"a": [None]}, 0.5)
PAIR = tuple[int, int]


@pytest.mark.parametrize("either", [Inner(1, b"z"), "text", None])
def test_what_is_written_is_read(either: Inner | str | None) -> None:
    value = Outer("t", "one", (), {}, either, [1, "two", 3.5, {"four": True}])
    assert read_value(write_value(value, Outer, "unit"), Outer, "unit") == value
    assert read_value(write_value(VALUE, Outer), Outer) == VALUE


@given(cut=st.integers(0, 10_000), byte=st.integers(0, 255), drop=st.booleans())
def test_other_bytes_are_refused_or_are_a_value_of_the_type(cut: int, byte: int, drop: bool) -> None:
    raw = write_value(VALUE, Outer, "unit")
    place = cut % len(raw)
    changed = raw[:place] if drop else raw[:place] + bytes([byte]) + raw[place + 1 :]
    try:
        found = read_value(changed, Outer, "unit")
    except ValueError:
        return
    assert type(found) is Outer
    assert write_value(found, Outer, "unit")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (None, "no bytes"),
        ("text", "no bytes"),
        (bytearray(b"{}\n"), "no bytes"),
        (b"", "no line at the beginning"),
        (b"x" * 100, "no line at the beginning"),
        (b"[]\n", "of another form"),
        (b'{"about":"unit","value":1,"pieces":[],"more":1}\n', "of another form"),
        (b'{"about":"other","value":1,"pieces":[]}\n', "about something else"),
        (b'{"about":"unit","value":1,"pieces":[5]}\nabc', "3 bytes of pieces"),
        (b'{"about":"unit","value":1,"pieces":[-5]}\nabc', "lengths of its pieces"),
        (b'{"about":"unit","value":1,"pieces":[true]}\na', "lengths of its pieces"),
        (b'{"about":"unit","value":true,"pieces":[]}\n', "True where int"),
        (b'{"about":"unit","value":"1","pieces":[]}\n', "'1' where int"),
        (b'{"about":"unit","value":1,"value":2,"pieces":[]}\n', "stands twice"),
        (b'{"about":"unit","value":' + b"[" * 90 + b"]" * 90 + b',"pieces":[]}\n', "nested more than"),
    ],
)
def test_what_is_no_answer_is_refused(raw: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_value(raw, int, "unit")


def test_types_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = [(1, str), (True, int), (1, float), (b"", str), ("x", Literal["y"]), ((1,), PAIR)]
    for value, kind in wrong:
        with pytest.raises((TypeError, ValueError)):
            write_value(value, kind)
    for value in (float("nan"), {1: 2}, {"a": object()}, b"bytes"):
        with pytest.raises((TypeError, ValueError)):
            write_value(value, Any)
    raw = write_value(b"x" * 1000, bytes)
    monkeypatch.setattr(worker_answers, "LARGEST", 1000)
    with pytest.raises(ValueError, match="more than 1000"):
        read_value(raw, bytes)
    with pytest.raises(ValueError, match="more than 1000"):
        write_value(b"x" * 1000, bytes)
