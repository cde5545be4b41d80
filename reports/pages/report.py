"""The report of one run, or of several of one suite side by side: what its pages say."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version

from conformance.judging.verdicts import COMPARED, UNCOUNTED, WORST_FIRST
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import slug
from reports.causes.followed_readings import ReadingFollowed, find_readings, untold_of_doubles
from reports.overview.headline import runtime_label
from reports.overview.matrix import MOST_ROWS
from reports.overview.untested import Untested, find_untested
from reports.pages.case_table import counted_values, listed_positions
from reports.pages.run_page import RunPage
from reports.results.adequacy import MutationScore, find_adequacy
from reports.results.case_facts import CONSTRAINT, ELEMENT_TYPE
from reports.results.case_results import CaseResult, Results
from reports.results.told_facts import ToldDocument, ToldFinding, list_documents, list_findings, short_names
from reports.text.links import case_link
from reports.text.phrasing import duration, plural

LIMITS = (0.0, 1 / 64, 1 / 16, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 16.0)
HEADS = ("0", "≤ 1/64", "≤ 1/16", "≤ 1/4", "≤ 1/2", "≤ 1", "≤ 2", "≤ 4", "≤ 16", "> 16", "not equal", "shape")
WITHIN = 6
"""How many of the columns are within the allowed error."""
CLASSES = ("equal", "≤ 1 ulp", "≤ 4 ulp", "≤ 64 ulp", "absolute only")
"""Of right answers, by the element that is farthest off in steps of its type; the last are right by an error
that is allowed in absolute terms, as beside zero or where terms cancel."""
_STEPS = (0, 1, 4, 64)
_NOT_EQUAL, _SHAPE = 10, 11
_COLUMN, _PLOT_HEIGHT, _GAP, _HEAD = 74, 46, 22, 44


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
    classes: tuple[int, ...]

    @property
    def top(self) -> int:
        """Where its slice of the plot begins."""
        return self.baseline - _PLOT_HEIGHT + 8

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
    row: int = _PLOT_HEIGHT


def measure_accuracy(results: Results) -> Accuracy:
    """Count the judged answers of each operator version by error over allowed error."""
    rows: list[AccuracyRow] = []
    for operator, cases in results.by_operator.items():
        columns = Counter(map(accuracy_column, cases))
        numbers = [columns[place] for place in range(len(HEADS))]
        if any(numbers):
            classes = count_classes(cases)
            rows.append(_accuracy_row(short_names([operator]), numbers, classes, len(rows)))
    return Accuracy(
        tuple(rows),
        _LEFT,
        _column_x(len(HEADS)) + 10,
        _HEAD + _PLOT_HEIGHT * len(rows) + 40,
        _column_x(WITHIN),
        tuple((_column_x(column) + 4, head) for column, head in enumerate(HEADS)),
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


def _accuracy_row(operator: str, numbers: list[int], classes: tuple[int, ...], place: int) -> AccuracyRow:
    """Bar heights are square roots, so that one case in hundreds stays visible."""
    baseline = _HEAD + place * _PLOT_HEIGHT + _PLOT_HEIGHT - 8
    most = max(numbers)
    bars = []
    for column, number in enumerate(numbers):
        if number:
            height = max(2.0, round(math.sqrt(number / most) * (_PLOT_HEIGHT - 22), 1))
            bars.append(
                Bar(_column_x(column) + 4, round(baseline - height, 1), height, number, column < WITHIN)
            )
    return AccuracyRow(operator, tuple(numbers), baseline, tuple(bars), classes)


def _column_x(column: int) -> int:
    return _LEFT + column * _COLUMN + (_GAP if column >= _NOT_EQUAL else 0)


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
            (result.row.seconds, result)
            for result in cases
            if result.row and result.row.seconds > 0 and result.verdict in _ENDED
        ]
        late = sum(result.verdict == "timeout" for result in cases)
        ended += own
        if own:
            times = sorted(seconds for seconds, _ in own)
            rows.append(_row(short_names([operator]), times, late, len(rows)))
    slowest = sorted(ended, key=lambda pair: (-pair[0], str(pair[1].id)))[:SLOWEST]
    return Times(
        tuple(rows),
        _WIDTH,
        len(rows) * _HEIGHT + 34,
        tuple((_x(number), duration(number)) for number in (1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0)),
        tuple(
            SlowCase(str(result.id), case_link(result.id, of=page.of), duration(seconds), result.element_type)
            for seconds, result in slowest
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


@dataclass(frozen=True)
class ReadingOfRuns:
    """One open question of an operator version, as each run answers it."""

    first: ReadingFollowed
    followed: tuple[ReadingFollowed, ...]


@dataclass(frozen=True)
class OperatorReadings:
    """The open questions of an operator version, and what its cases cannot tell because of them."""

    operator: str
    readings: tuple[ReadingOfRuns, ...]
    untold: str = ""


class Report:
    """What a report says; each section is put together when it is asked for.

    Raises UserError where there is no run, or where the runs are not of one suite.
    """

    def __init__(self, runs: Sequence[Results]) -> None:
        if not runs:
            raise UserError("a report needs a run")
        for run in runs:
            if run.suite.digest != runs[0].suite.digest:
                raise UserError(
                    "runs of different suites do not stand side by side",
                    got=f"{run.record.path}: {run.suite.digest}",
                    expected=runs[0].suite.digest,
                    remedy="Report them one by one, or hold them against each other with `opcert compare`.",
                )
        self.version = version("opcert")
        labels = [runtime_label(run.record) for run in runs]
        keys = run_keys(labels)
        twice = {label for label in labels if labels.count(label) > 1}
        self.pages = tuple(
            RunPage(each, place, key, f"{label} ({place + 1})" if label in twice else label)
            for place, (each, key, label) in enumerate(zip(runs, keys, labels, strict=True))
        )

    @property
    def first(self) -> RunPage:
        """The run that a reader sees before choosing another."""
        return self.pages[0]

    @property
    def runs(self) -> tuple[Results, ...]:
        return tuple(page.results for page in self.pages)

    @cached_property
    def title(self) -> str:
        return ", ".join(page.runtime for page in self.pages)

    @property
    def most_rows(self) -> int:
        """So many operator versions stand in the tables of its further pages."""
        return MOST_ROWS

    @cached_property
    def listed(self) -> Sequence[int]:
        """The positions of the cases that the list has one by one; the others are counted."""
        return listed_positions(self.pages)

    @property
    def whole(self) -> bool:
        """Whether every case is in the list."""
        return len(self.listed) == self.first.total

    @cached_property
    def features(self) -> tuple[str, ...]:
        """The attributes, levels and other features in which cases differ, by which a matrix may be cut."""
        seen: dict[str, set[str]] = {}
        if self.whole:
            for each in self.runs[0].cases:
                for name, value in each.features.items():
                    seen.setdefault(name, set()).add(value)
        else:
            seen = {name: set(values) for name, values in counted_values(self.pages).items()}
        names = [name for name, values in seen.items() if len(values) > 1]
        told = [name for name in names if name not in (CONSTRAINT, ELEMENT_TYPE)]
        return tuple(sorted(told, key=lambda name: ("(" in name, name)))

    @cached_property
    def readings(self) -> tuple[OperatorReadings, ...]:
        found = []
        for operator in self.runs[0].by_operator:
            columns = zip(*(find_readings(run, operator) for run in self.runs), strict=True)
            readings = tuple(ReadingOfRuns(column[0], column) for column in columns)
            untold = untold_of_doubles(self.runs[0].operator_facts(operator))
            if readings or untold:
                found.append(OperatorReadings(str(operator), readings, untold))
        return tuple(found)

    @cached_property
    def findings(self) -> tuple[ToldFinding, ...]:
        return list_findings(self.runs[0])

    @cached_property
    def documents(self) -> tuple[ToldDocument, ...]:
        return list_documents(self.runs[0])

    @cached_property
    def untested(self) -> tuple[tuple[RunPage, tuple[Untested, ...]], ...]:
        """For each run what it, or the suite, did not test."""
        return tuple((page, find_untested(page.results, page.of)) for page in self.pages)

    @cached_property
    def adequacy(self) -> MutationScore:
        return find_adequacy(self.runs[0])

    @cached_property
    def accuracy(self) -> tuple[tuple[RunPage, Accuracy], ...]:
        return tuple((page, measure_accuracy(page.results)) for page in self.pages)

    @cached_property
    def times(self) -> tuple[tuple[RunPage, Times], ...]:
        return tuple((page, measure_times(page)) for page in self.pages)


def run_keys(labels: Sequence[str]) -> list[str]:
    """A word for each run that a search can begin with: its name; with the version where names are equal."""
    words = [slug(label).lower() for label in labels]
    names = [slug(label.split(" ")[0]).lower() for label in labels]
    twice = Counter(names)
    found = [name if twice[name] == 1 else word for name, word in zip(names, words, strict=True)]
    counts = Counter(found)
    seen: Counter[str] = Counter()
    for place, each in enumerate(found):
        seen[each] += 1
        if counts[each] > 1:
            found[place] = f"{each}-{seen[each]}"
    return found
