"""Which cases of a report its list has one by one: all, or of very many some; the others are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reports.causes.failure_class import shown_order
from reports.pages.run_page import RunPage
from reports.results.features import CONSTRAINT, ELEMENT_TYPE

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
