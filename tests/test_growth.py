"""What the tests hold work to: growth told from growth of another kind, calls that are the same always."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest

from tests.growth import LINEAR, count_calls, growth

pytestmark = pytest.mark.slow


def _sum(size: int) -> int:
    return sum(each % 7 for each in range(size))


def _pairs(size: int) -> int:
    return sum(left ^ right for left in range(size) for right in range(size))


@pytest.mark.parametrize(
    ("work", "size"),
    [(lambda n: partial(_sum, n), 200_000), (lambda n: partial(("a" * n).count, "b"), 10**7)],
)
def test_work_in_proportion(work: Callable[[int], Callable[[], object]], size: int) -> None:
    assert growth(work, size) <= LINEAR


@pytest.mark.parametrize(
    ("work", "size"),
    [(lambda n: partial(_pairs, n), 60), (lambda n: partial(re.search, "a*b", "a" * n), 600)],
)
def test_work_with_the_square_is_told_from_it(work: Callable[[int], Callable[[], object]], size: int) -> None:
    """The second one is spent in one built-in function, where no calls can be counted."""
    assert growth(work, size) > LINEAR


def test_one_round_that_was_held_up_does_not_hide_a_square(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([5.0, 32.0, *[2.0, 32.0] * 20])
    monkeypatch.setattr("tests.growth._seconds", lambda _: next(seconds))
    assert growth(lambda _: lambda: None, 1) == 4


def test_calls_are_counted() -> None:
    assert count_calls(lambda: [abs(each) for each in range(100)]) in range(100, 110)
    assert count_calls(lambda: _sum(1000)) == count_calls(lambda: _sum(1000)) > 1000
