"""How long cases took: typical, tail and slowest for each operator version. No part of any verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.judging.verdicts import UNCOUNTED, WORST_FIRST
from reports.pages.run_page import RunPage
from reports.results.case_results import CaseResult
from reports.results.told_facts import short_names
from reports.text.links import case_link
from reports.text.phrasing import duration, plural

SLOWEST = 8
_LEFT, _RIGHT, _WIDTH, _HEIGHT = 250, 340, 1180, 30
_LEAST, _MOST = 1e-5, 100.0
_ENDED = frozenset(WORST_FIRST) - {"timeout", *UNCOUNTED}


@dataclass(frozen=True)
class TimeRow:
    """One operator version, with places on the logarithmic axis."""

    operator: str
    y: int
    least: float
    low: float
    median: float
    high: float
    most: float
    said: str

    @property
    def top(self) -> int:
        """Where its slice of the plot begins."""
        return self.y - 16


@dataclass(frozen=True)
class SlowCase:
    id: str
    link: str
    time: str
    element_type: str


@dataclass(frozen=True)
class Times:
    rows: tuple[TimeRow, ...]
    width: int
    height: int
    ticks: tuple[tuple[float, str], ...]
    slowest: tuple[SlowCase, ...]
    row: int = _HEIGHT


def measure_times(page: RunPage) -> Times:
    """The times of a run's cases; those that were ended at a time limit are counted, not measured."""
    rows: list[TimeRow] = []
    ended: list[tuple[float, CaseResult]] = []
    for operator, cases in page.results.by_operator.items():
        # A case that the runtime does not offer was not sent, and took no time.
        own = [
            (each.row.seconds, each)
            for each in cases
            if each.row and each.row.seconds > 0 and each.verdict in _ENDED
        ]
        late = sum(each.verdict == "timeout" for each in cases)
        ended += own
        if own:
            times = sorted(seconds for seconds, _ in own)
            rows.append(_row(short_names([operator]), times, late, len(rows)))
    slowest = sorted(ended, key=lambda pair: (-pair[0], str(pair[1].id)))[:SLOWEST]
    return Times(
        tuple(rows),
        _WIDTH,
        len(rows) * _HEIGHT + 34,
        tuple((_x(each), duration(each)) for each in (1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0)),
        tuple(
            SlowCase(str(each.id), case_link(each.id, of=page.of), duration(seconds), each.element_type)
            for seconds, each in slowest
        ),
    )


def _row(operator: str, times: Sequence[float], late: int, place: int) -> TimeRow:
    def quantile(share: float) -> float:
        return times[min(len(times) - 1, int(len(times) * share))]

    median, tail = quantile(0.5), quantile(0.99)
    said = f"{duration(median)}, {duration(tail)}, {duration(times[-1])}"
    if late:
        said += f"; {plural(late, 'case')} ended at the limit"
    least, low, high, most = times[0], quantile(0.05), quantile(0.95), times[-1]
    y = place * _HEIGHT + 16
    return TimeRow(operator, y, _x(least), _x(low), _x(median), _x(high), _x(most), said)


def _x(seconds: float) -> float:
    """A place on the axis; what lies beyond its ends is drawn at them."""
    seconds = min(max(seconds, _LEAST), _MOST)
    share = math.log(seconds / _LEAST) / math.log(_MOST / _LEAST)  # may differ: a place in a drawing
    return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)
