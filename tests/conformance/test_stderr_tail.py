"""What is kept of standard error: the end, and what an exception or a panic said."""

import os

import pytest

from conformance.judging.signatures import crash_signature
from conformance.processes.worker_streams import StderrTail

STACK = "".join(f"  {number}: 0x{number:012x} - frame_{number}\n" for number in range(60))
PANIC = "thread 'main' (7) panicked at core/src/slice.rs:12:5:\nindex -3 is out of range\nstack backtrace:\n"
OLDER = "thread 'main' panicked at 'index -3 is out of range', core/src/slice.rs:12:5\n"
CAUGHT = "terminate called after throwing\n  what():  no such axis\n"


def kept(text: str) -> str:
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    os.set_blocking(reading, False)
    tail = StderrTail(reading)
    while tail.read():
        pass
    os.close(reading)
    return tail.last_lines()


@pytest.mark.parametrize(
    ("said", "told"), [(PANIC, "out of range"), (OLDER, "out of range"), (CAUGHT, "no such axis")]
)
def test_the_reason_is_kept_before_a_stack_that_is_longer_than_what_is_kept(said: str, told: str) -> None:
    found = kept(said + STACK)
    assert told in found.splitlines()[0] + found.splitlines()[1]
    assert "frame_59" in found
    assert len(found) <= 2000
    assert told in crash_signature("SIGABRT", "killed", found)


def test_what_is_short_is_kept_as_it_is() -> None:
    assert kept(PANIC + "end\n") == (PANIC + "end")
    assert kept(STACK).splitlines() == STACK.splitlines()[-20:]
    assert len(kept("x" * 5000)) == 2000


def test_panics_at_one_place_are_one_however_the_numbers_are() -> None:
    others = PANIC.replace("-3", "17").replace("(7)", "(9)")
    told = crash_signature("SIGABRT", "killed", kept(PANIC + STACK))
    assert told == crash_signature("SIGABRT", "killed", kept(others + STACK))
    assert told == "SIGABRT: slice.rs: index # is out of range"
    assert told == crash_signature("SIGABRT", "killed", kept(OLDER + STACK))
    assert told != crash_signature("SIGABRT", "killed", kept(PANIC.replace("out of range", "odd") + STACK))
