"""The report of one run, or of several of one suite side by side: what its pages say."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

from conformance.judging.verdicts import UNCOUNTED, WORST_FIRST
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import slug
from reports.causes.failure_class import shown_order
from reports.causes.followed_readings import ReadingFollowed, find_readings, untold_of_doubles
from reports.overview.headline import runtime_label
from reports.overview.matrix import MOST_ROWS
from reports.overview.untested import Untested, find_untested
from reports.pages.run_page import RunPage
from reports.results.accuracy import Accuracy, measure_accuracy
from reports.results.adequacy import MutationScore, find_adequacy
from reports.results.case_facts import CONSTRAINT, ELEMENT_TYPE
from reports.results.case_results import CaseResult, Results
from reports.results.told_facts import ToldDocument, ToldFinding, list_documents, list_findings, short_names
from reports.text.links import case_link
from reports.text.phrasing import duration, plural

MOST_LISTED = 64_000
"""So many cases a page can search at once, as of all versions; of more it lists about so many."""
FAILING_PART = 0.4
"""Of these so many are failing ones, as long as there are more: each has a page of its own."""
MOST_VALUES = 64
"""A feature of more values in all cases is none by which cases are counted that are not listed."""

Counted = Mapping[str, Mapping[int, Sequence[Sequence[int]]]]
"""By what is counted (nothing, `type`, `family`, a feature) and the number of its value, the cases of one
operator version: for each run verdict and note, and last how many cases have just these."""


def listed_positions(pages: Sequence[RunPage]) -> Sequence[int]:
    """The positions in suite order of the cases that the list has.

    Of more than `MOST_LISTED` these are of every cause the cases to show first, of each about as many as of
    every other one, and some of each verdict of every operator version.
    """
    total, failing = pages[0].total, int(MOST_LISTED * FAILING_PART)
    if total <= MOST_LISTED:
        return range(total)
    places = {id(each): position for page in pages for position, each in enumerate(page.results.cases)}
    causes = [
        [places[id(case)] for case in sorted(each.cases, key=shown_order)]
        for page in pages
        for each in page.classes
    ]
    chosen = set(_evenly(causes, failing))
    others: dict[tuple[Any, ...], list[int]] = {}
    for position, cases in enumerate(zip(*(each.results.cases for each in pages), strict=True)):
        if not any(each.deviates for each in cases):
            group = (cases[0].operator, *(each.verdict for each in cases))
            others.setdefault(group, []).append(position)
    chosen.update(_evenly(others.values(), MOST_LISTED - len(chosen)))
    return sorted(chosen)


def _evenly(groups: Iterable[Sequence[int]], most: int) -> list[int]:
    """The first of each group, of each as many, about `most` in all; at least one of each."""
    sizes = Counter(map(len, groups := list(groups)))
    each, left, number = 0, most, len(groups)
    for size, groups_of_it in sorted(sizes.items()):
        if number * (size - each) > left:
            each += left // number
            break
        left -= number * (size - each)
        each, number = size, number - groups_of_it
    return [position for own in groups for position in own[: max(each, 1)]]


def count_others(
    pages: Sequence[RunPage],
    listed: Sequence[int],
    numbers: Mapping[str, Mapping[str, int]],
    verdicts: Mapping[str, int],
) -> dict[str, Counted]:
    """The cases that are not listed, counted, by operator version.

    `numbers` are those of the values of `type`, `family` and each feature, `verdicts` the places of verdicts.
    """
    notes = [{id(case): each.number for each in page.classes for case in each.cases} for page in pages]
    there = set(listed)
    found: dict[str, dict[str, dict[int, Counter[tuple[int, ...]]]]] = {}
    for position, cases in enumerate(zip(*(each.results.cases for each in pages), strict=True)):
        if position in there:
            continue
        told = [
            (verdicts[each.verdict], own.get(id(each), 0)) for each, own in zip(cases, notes, strict=True)
        ]
        entry = tuple(number for pair in told for number in pair)
        first = cases[0]
        values = {"type": first.element_type, "family": first.id.family, **_counted(first.features)}
        keys = found.setdefault(str(first.operator), {})
        keys.setdefault("", {}).setdefault(0, Counter())[entry] += 1
        for name, value in values.items():
            if name in numbers:
                keys.setdefault(name, {}).setdefault(numbers[name][value], Counter())[entry] += 1
    return {
        operator: {
            name: {value: [[*entry, number] for entry, number in told.items()] for value, told in by.items()}
            for name, by in keys.items()
        }
        for operator, keys in found.items()
    }


def _counted(features: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in features.items() if name not in (CONSTRAINT, ELEMENT_TYPE)}


def counted_values(pages: Sequence[RunPage]) -> dict[str, list[str]]:
    """The features by which cases are counted that are not listed, with all their values as they come."""
    found: dict[str, dict[str, None]] = {}
    for each in pages[0].results.cases:
        for name, value in _counted(each.features).items():
            own = found.setdefault(name, {})
            if len(own) <= MOST_VALUES:
                own[value] = None
    return {name: list(values) for name, values in found.items() if len(values) <= MOST_VALUES}


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
        for each in runs:
            if each.suite.digest != runs[0].suite.digest:
                raise UserError(
                    "runs of different suites do not stand side by side",
                    got=f"{each.record.path}: {each.suite.digest}",
                    expected=runs[0].suite.digest,
                    remedy="Report them one by one, or hold them against each other with `opcert compare`.",
                )
        self.version = version("opcert")
        labels = [runtime_label(each.record) for each in runs]
        keys = run_keys(labels)
        twice = {each for each in labels if labels.count(each) > 1}
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
        return tuple(each.results for each in self.pages)

    @cached_property
    def title(self) -> str:
        return ", ".join(each.runtime for each in self.pages)

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
        told = [each for each in names if each not in (CONSTRAINT, ELEMENT_TYPE)]
        return tuple(sorted(told, key=lambda name: ("(" in name, name)))

    @cached_property
    def readings(self) -> tuple[OperatorReadings, ...]:
        found = []
        for operator in self.runs[0].by_operator:
            columns = zip(*(find_readings(each, operator) for each in self.runs), strict=True)
            readings = tuple(ReadingOfRuns(each[0], each) for each in columns)
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
        return tuple((each, find_untested(each.results, each.of)) for each in self.pages)

    @cached_property
    def adequacy(self) -> MutationScore:
        return find_adequacy(self.runs[0])

    @cached_property
    def accuracy(self) -> tuple[tuple[RunPage, Accuracy], ...]:
        return tuple((each, measure_accuracy(each.results)) for each in self.pages)

    @cached_property
    def times(self) -> tuple[tuple[RunPage, Times], ...]:
        return tuple((each, measure_times(each)) for each in self.pages)


def run_keys(labels: Sequence[str]) -> list[str]:
    """A word for each run that a search can begin with: its name; with the version where names are equal."""
    words = [slug(each).lower() for each in labels]
    names = [slug(each.split(" ")[0]).lower() for each in labels]
    twice = Counter(names)
    found = [name if twice[name] == 1 else word for name, word in zip(names, words, strict=True)]
    counts = Counter(found)
    seen: Counter[str] = Counter()
    for place, each in enumerate(found):
        seen[each] += 1
        if counts[each] > 1:
            found[place] = f"{each}-{seen[each]}"
    return found
