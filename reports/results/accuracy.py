"""How close to their limits answers come: the worst error of each judged case over the error allowed.

Beside it in units in the last place, whatever is allowed: the classes that accuracy is stated in elsewhere.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from conformance.judging.verdicts import COMPARED
from reports.results.case_results import CaseResult, Results
from reports.results.told_facts import short_names

LIMITS = (0.0, 1 / 64, 1 / 16, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 16.0)
HEADS = ("0", "≤ 1/64", "≤ 1/16", "≤ 1/4", "≤ 1/2", "≤ 1", "≤ 2", "≤ 4", "≤ 16", "> 16", "not equal", "shape")
WITHIN = 6
"""How many of the columns are within the allowed error."""
CLASSES = ("equal", "≤ 1 ulp", "≤ 4 ulp", "≤ 64 ulp", "absolute only")
"""Of right answers, by the element that is farthest off in steps of its type; the last are right by an error
that is allowed in absolute terms, as beside zero or where terms cancel."""
_STEPS = (0, 1, 4, 64)
_NOT_EQUAL, _SHAPE = 10, 11
_LEFT, _WIDTH, _HEIGHT, _GAP = 250, 74, 46, 22
_HEAD = 44


@dataclass(frozen=True)
class Bar:
    """A column of the plot of one operator version, in units of the drawing."""

    x: int
    y: float
    height: float
    number: int
    within: bool


@dataclass(frozen=True)
class AccuracyRow:
    operator: str
    numbers: tuple[int, ...]
    baseline: int
    bars: tuple[Bar, ...]
    classes: tuple[int, ...] = (0,) * len(CLASSES)

    @property
    def top(self) -> int:
        """Where its slice of the plot begins."""
        return self.baseline - _HEIGHT + 8

    @property
    def judged(self) -> int:
        return sum(self.numbers)

    @property
    def right(self) -> int:
        return sum(self.classes)


@dataclass(frozen=True)
class Accuracy:
    """The distribution for each operator version of which an answer was judged, and the plot's measures."""

    rows: tuple[AccuracyRow, ...]
    left: int
    width: int
    height: int
    limit_x: int
    heads: tuple[tuple[int, str], ...]
    classes: tuple[str, ...] = CLASSES
    head: int = _HEAD
    row: int = _HEIGHT


def measure_accuracy(results: Results) -> Accuracy:
    """Count the judged answers of each operator version by error over allowed error."""
    rows: list[AccuracyRow] = []
    for operator, cases in results.by_operator.items():
        columns = Counter(map(accuracy_column, cases))
        numbers = [columns[place] for place in range(len(HEADS))]
        if any(numbers):
            row = _row(short_names([operator]), numbers, len(rows))
            rows.append(replace(row, classes=count_classes(cases)))
    return Accuracy(
        tuple(rows),
        _LEFT,
        _x(len(HEADS)) + 10,
        _HEAD + _HEIGHT * len(rows) + 40,
        _x(WITHIN),
        tuple((_x(column) + 4, head) for column, head in enumerate(HEADS)),
    )


def accuracy_column(case: CaseResult) -> int | None:
    """In which column of `HEADS` a case counts; None where no answer of it was judged."""
    if case.demand != "answer" or case.verdict not in COMPARED:
        return None
    if case.verdict == "pass":
        return bisect.bisect_left(LIMITS, min(case.ratio or 0.0, 1.0))
    if case.wrong_shape:
        return _SHAPE
    if case.ratio is None:
        return _NOT_EQUAL
    return bisect.bisect_left(LIMITS, max(case.ratio, math.nextafter(1.0, 2.0)))


def count_classes(cases: Iterable[CaseResult]) -> tuple[int, ...]:
    """How many right answers fall in each of `CLASSES`."""
    found = Counter(map(accuracy_class, cases))
    return tuple(found[place] for place in range(len(CLASSES)))


def accuracy_class(case: CaseResult) -> int | None:
    """In which of `CLASSES` a right answer is; None of any other case."""
    if case.demand != "answer" or case.verdict != "pass" or case.row is None:
        return None
    return bisect.bisect_left(_STEPS, case.row.ulps or 0)


def _row(operator: str, numbers: list[int], place: int) -> AccuracyRow:
    """Bar heights are square roots, so that one case in hundreds stays visible."""
    baseline = _HEAD + place * _HEIGHT + _HEIGHT - 8
    most = max(numbers)
    bars = []
    for column, number in enumerate(numbers):
        if number:
            height = max(2.0, round(math.sqrt(number / most) * (_HEIGHT - 22), 1))
            bars.append(Bar(_x(column) + 4, round(baseline - height, 1), height, number, column < WITHIN))
    return AccuracyRow(operator, tuple(numbers), baseline, tuple(bars))


def _x(column: int) -> int:
    return _LEFT + column * _WIDTH + (_GAP if column >= _NOT_EQUAL else 0)
