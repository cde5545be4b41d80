"""How work grows with what it is done on: calls counted, or processor time of n beside that of 4n."""

from __future__ import annotations

import gc
import math
import sys
import time
from collections.abc import Callable
from types import FrameType

LINEAR = 3.0
"""Twice the input makes twice the work where it grows in proportion, four times where with the square."""
_ROUNDS = 8
_FEWEST_ROUNDS = 2
"""One round of the smaller work that something else made longer looks like work that grows less."""


def count_calls(work: Callable[[], object]) -> int:
    """How many functions are called, Python's own and built-in ones: the same for the same work always."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def growth(work: Callable[[int], Callable[[], object]], size: int) -> float:
    """How many times more processor time `work` takes of twice the size, as a mean from `size` to `4 * size`.

    Two doublings leave room for what two measurements of the same work differ by on a busy machine. Neither
    making the work counts, nor what is done but the first time, nor the collector of garbage. The shortest of
    several rounds count, and behind the fewest no more are made than it takes to see a growth of `LINEAR` at
    most: what else the machine does makes a round longer, never shorter.
    """
    once, twice_twice = work(size), work(4 * size)
    once()
    shorter = longer = float("inf")
    # Once: where many objects live, a collection takes longer than the work.
    gc.collect()
    gc.disable()
    try:
        for number in range(1, _ROUNDS + 1):
            shorter, longer = min(shorter, _seconds(once)), min(longer, _seconds(twice_twice))
            if number >= _FEWEST_ROUNDS and longer <= LINEAR**2 * shorter:
                break
    finally:
        gc.enable()
    return math.sqrt(longer / shorter)


def _seconds(work: Callable[[], object]) -> float:
    begun = time.thread_time()
    work()
    return time.thread_time() - begun
