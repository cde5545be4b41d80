"""All cases of a report in columns: what a search looks at, and what a list shows; and `cases.csv`."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from conformance.judging.verdicts import COMPARED, WORST_FIRST, short_word, word
from opcert.vocabulary.harmless import for_spreadsheet, one_line
from opcert.vocabulary.names import FAMILIES
from reports.causes.failure_class import shown_order
from reports.causes.followed_readings import matched_options
from reports.causes.kept_findings import class_equals
from reports.causes.titles import symptom
from reports.overview.headline import runtime_name
from reports.pages.run_page import RunPage
from reports.results.case_facts import CONSTRAINT, ELEMENT_TYPE
from reports.results.case_results import CaseResult, Results
from reports.results.told_facts import items, mapping, text
from reports.text.links import operator_words
from reports.text.value_text import in_type_order

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
    places = {id(result): position for page in pages for position, result in enumerate(page.results.cases)}
    causes = [
        [places[id(case)] for case in sorted(failures.cases, key=shown_order)]
        for page in pages
        for failures in page.classes
    ]
    chosen = set(_evenly(causes, failing))
    others: dict[tuple[Any, ...], list[int]] = {}
    for position, cases in enumerate(zip(*(page.results.cases for page in pages), strict=True)):
        if not any(each.deviates for each in cases):
            group = (cases[0].operator, *(each.verdict for each in cases))
            others.setdefault(group, []).append(position)
    chosen.update(_evenly(others.values(), MOST_LISTED - len(chosen)))
    return sorted(chosen)


def _evenly(groups: Iterable[Sequence[int]], most: int) -> list[int]:
    """The first of each group, of each as many, about `most` in all; at least one of each."""
    sizes = Counter(map(len, groups := list(groups)))
    each, left, number = 0, most, len(groups)
    for size, alike in sorted(sizes.items()):
        if number * (size - each) > left:
            each += left // number
            break
        left -= number * (size - each)
        each, number = size, number - alike
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
    notes = [
        {id(case): failures.number for failures in page.classes for case in failures.cases} for page in pages
    ]
    there = set(listed)
    found: dict[str, dict[str, dict[int, Counter[tuple[int, ...]]]]] = {}
    for position, cases in enumerate(zip(*(page.results.cases for page in pages), strict=True)):
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
    for result in pages[0].results.cases:
        for name, value in _counted(result.features).items():
            own = found.setdefault(name, {})
            if len(own) <= MOST_VALUES:
                own[value] = None
    return {name: list(values) for name, values in found.items() if len(values) <= MOST_VALUES}


_REASON = 240
_NOT_EQUAL, _WRONG_SHAPE = -1, -2
"""What stands for a ratio where there is none: equality was asked; the output has another shape or type."""


class Words:
    """Texts by number, each once, in the order in which they came; 0 is none."""

    def __init__(self, first: Iterable[str] = ()) -> None:
        self._numbers: dict[str, int] = {each: place for place, each in enumerate(first, 1)}

    def number(self, said: str | None) -> int:
        return self._numbers.setdefault(said, len(self._numbers) + 1) if said else 0

    @property
    def all(self) -> list[str]:
        return list(self._numbers)


def build_table(pages: Sequence[RunPage], positions: Sequence[int]) -> dict[str, Any]:
    """The table as JSON holds it.

    Cases stand in suite order, those of an operator version together: those at `positions`. Of very
    many, `total` is the number of all, and `others` counts those that are not listed (`Counted`), by operator
    version in the order of `operators`. A column of an operator version is a
    list with a number a case, or one number where all are equal; numbers count the values of `features` from
    1, and 0 is absent. Of each run there is a verdict (its place in `verdicts`), the number of the failure
    class, error over allowed error, milliseconds, and the numbers of reason, readings and excuse, a case.
    """
    first, whole = pages[0].results, len(positions) == pages[0].total
    listed = [first.cases[position] for position in positions]
    names = operator_words(first.by_operator)
    types = in_type_order(result.element_type for result in first.cases)
    rules = Words()
    # Those by which others are counted have the values of these, too, in the order in which all come.
    features = (
        {} if whole else {name: Words(counted_value) for name, counted_value in counted_values(pages).items()}
    )
    operators = []
    for operator, cases in _blocks(listed):
        columns: dict[str, Any] = {}
        for name in dict.fromkeys(name for result in cases for name in result.features):
            if name not in (CONSTRAINT, ELEMENT_TYPE):
                values = features.setdefault(name, Words())
                columns[name] = _column([values.number(result.features.get(name)) for result in cases])
        operators.append(
            {
                "name": str(operator),
                "word": names[operator],
                "count": len(cases),
                "columns": columns,
                "usual": _usual(first, cases, features),
            }
        )
    there = {result.id.family for result in first.cases}
    families = [family for family in FAMILIES if family in there]
    others = {} if whole else _others(pages, positions, operators, types, families, features)
    return {
        "verdicts": [[verdict, word(verdict), short_word(verdict)] for verdict in WORST_FIRST],
        "types": types,
        "families": families,
        "operators": operators,
        "ids": [str(result.id).removeprefix(f"{result.operator.path}/") for result in listed],
        "type": _column([types.index(result.element_type) for result in listed]),
        "rule": _column([rules.number(result.constraint) for result in listed]),
        "rules": rules.all,
        "features": {name: values.all for name, values in features.items()},
        "runs": [_run(page, [page.results.cases[one] for one in positions]) for page in pages],
        **others,
    }


def _others(
    pages: Sequence[RunPage],
    positions: Sequence[int],
    operators: Sequence[Mapping[str, Any]],
    types: Sequence[str],
    families: Sequence[str],
    features: Mapping[str, Words],
) -> dict[str, Any]:
    """What the table says of the cases that are not listed; their values have numbers, too."""
    numbers = {
        name: {each: place for place, each in enumerate(of)}
        for name, of in (("type", types), ("family", families))
    }
    for name, values in counted_values(pages).items():
        numbers[name] = {value: features[name].number(value) for value in values}
    places = {verdict: place for place, verdict in enumerate(WORST_FIRST)}
    found = count_others(pages, positions, numbers, places)
    return {
        "total": pages[0].total,
        "counted": [each for each in numbers if each in features],
        "others": [found.get(operator["name"], {}) for operator in operators],
    }


def _blocks(cases: Sequence[CaseResult]) -> list[tuple[Any, list[CaseResult]]]:
    """The cases of each operator version, in suite order."""
    found: list[tuple[Any, list[CaseResult]]] = []
    for result in cases:
        if not found or found[-1][0] != result.operator:
            found.append((result.operator, []))
        found[-1][1].append(result)
    return found


def _column(numbers: list[int]) -> int | list[int]:
    return numbers[0] if numbers and len(set(numbers)) == 1 else numbers


def _usual(results: Results, cases: Sequence[CaseResult], features: Mapping[str, Words]) -> dict[str, int]:
    """The value of each feature that goes without saying: the default, the first level, the most common."""
    facts = results.operator_facts(cases[0].operator)
    attributes, factors = mapping(facts.get("attributes")), mapping(facts.get("factors"))
    found = {}
    there = {name for result in cases for name in result.features}
    for name, values in features.items():
        if name not in there:
            continue
        seen = Counter(result.features[name] for result in cases if name in result.features)
        default = text(mapping(attributes.get(name)).get("default"))
        levels = [text(item) for item in items(factors.get(name))]
        usual = next((level for level in (default, *levels[:1]) if level in seen), seen.most_common(1)[0][0])
        found[name] = values.number(usual)
    return found


def _run(page: RunPage, cases: Sequence[CaseResult]) -> dict[str, Any]:
    results, runtime = page.results, runtime_name(page.results.record)
    note_of = {str(case.id): failures.number for failures in page.classes for case in failures.cases}
    reasons, readings = Words(), Words()
    places = {verdict: place for place, verdict in enumerate(WORST_FIRST)}
    excuses = results.excuses
    named = list(dict.fromkeys(excuses.by_name.values()))
    number_of = {excuse: number for number, excuse in enumerate(named, 1)}
    return {
        "key": page.key,
        "label": page.runtime,
        "held": bool(excuses.against),
        "excuses": [
            [excuse.standing, excuse.mark, excuse.sentence, excuse.link, bool(excuse.address)]
            for excuse in named
        ],
        "excuse": [
            number_of[excuses.by_name[str(result.id)]] if str(result.id) in excuses.by_name else 0
            for result in cases
        ],
        "classes": [
            {
                "text": symptom(failures, runtime, class_equals(results, failures.cases)),
                "verb": failures.verb,
                "features": [one.feature for one in failures.conditions or ()],
                "smallest": str(failures.smallest.id),
            }
            for failures in page.classes
        ],
        "verdict": [places[result.verdict] for result in cases],
        "note": [note_of.get(str(result.id), 0) for result in cases],
        "ratio": [_ratio(result) for result in cases],
        "time": [_milliseconds(result) for result in cases],
        "reason": [
            reasons.number(one_line(result.row.reason or "", _REASON) if result.row else "")
            for result in cases
        ],
        "reasons": reasons.all,
        "reading": [readings.number(_readings(result)) for result in cases],
        "readings": readings.all,
    }


def _ratio(case: CaseResult) -> float | None:
    """Error over allowed error in four digits, never rounded over 1; None where no answer was judged."""
    if case.demand != "answer" or case.verdict not in COMPARED:
        return None
    if case.verdict == "mismatch" and case.wrong_shape:
        return _WRONG_SHAPE
    if case.ratio is None or not math.isfinite(case.ratio):
        return 0 if case.verdict == "pass" else _NOT_EQUAL
    rounded = min(float(f"{case.ratio:.4g}"), sys.float_info.max)
    return min(rounded, 1.0) if case.verdict == "pass" else max(rounded, 1.001)


def _milliseconds(case: CaseResult) -> float | None:
    """The time of a case in three digits; None where it was never sent."""
    if case.row is None or not case.row.seconds:
        return None
    return float(f"{case.row.seconds * 1000:.3g}")


def _readings(case: CaseResult) -> str:
    found = matched_options(case)
    return ";".join(f"{name}={option}" for name, options in found.items() for option in options)


CSV_FILE = "cases.csv"
"""One line a case, for a spreadsheet."""
CSV_COLUMNS = (
    "case",
    "operator",
    "family",
    "element_type",
    "verdict",
    "error_over_allowed",
    "seconds",
    "rule_broken",
    "reason",
    "reproduce",
)


def render_csv(results: Results) -> str:
    """The whole file, in suite order. Text that a spreadsheet would compute gets an apostrophe before it."""
    written = io.StringIO()
    lines = csv.writer(written)
    lines.writerow(CSV_COLUMNS)
    for result in results.cases:
        lines.writerow(for_spreadsheet(cell) for cell in _csv_cells(results, result))
    return written.getvalue()


def _csv_cells(results: Results, case: CaseResult) -> tuple[str, ...]:
    seconds = math.fsum(row.seconds for row in case.rows)
    reason = (case.row.reason if case.row is not None else None) or ""
    return (
        str(case.id),
        str(case.operator),
        case.id.family,
        case.element_type,
        case.verdict,
        "" if case.ratio is None else f"{case.ratio:.6g}",
        f"{seconds:.6f}" if case.rows else "",
        case.constraint or "",
        one_line(reason, 1000),
        results.reproduction_command(case.id) if case.fails else "",
    )
