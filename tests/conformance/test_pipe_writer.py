"""What is put for a pipe comes out of it whole and in order, however little it takes at a time."""

from __future__ import annotations

import fcntl
import os

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.processes.worker_streams import PipeWriter

_LEAST = 4096


@settings(max_examples=50, deadline=None)
@given(
    pieces=st.lists(st.integers(0, 3 * _LEAST), max_size=150),
    reads=st.lists(st.integers(1, 2 * _LEAST), min_size=1, max_size=20),
)
def test_nothing_is_lost_or_moved(pieces: list[int], reads: list[int]) -> None:
    reading, writing = os.pipe()
    try:
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _LEAST)
        writer = PipeWriter(writing)
        wanted = b""
        for number, size in enumerate(pieces):
            piece = bytes([number % 251]) * size
            writer.put(piece)
            wanted += piece
        found = b""
        turn = 0
        while not writer.write():
            found += os.read(reading, reads[turn % len(reads)])
            turn += 1
        while len(found) < len(wanted):
            found += os.read(reading, 1 << 16)
        assert found == wanted
    finally:
        os.close(reading)
        os.close(writing)


def test_what_is_put_for_a_reader_that_has_gone_is_forgotten() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    writer = PipeWriter(writing)
    writer.put(b"for nobody")
    os.close(reading)
    assert writer.write()
    assert writer.write()
    os.close(writing)
