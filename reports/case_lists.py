"""All cases, each once: by operator version, then verdict, then element type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from opcert.names import OperatorName
from reports.anchors import case_anchor, list_anchor, operator_anchor, types_anchor
from reports.case_views import error_text
from reports.features import ELEMENT_TYPE
from reports.results import CaseResult, Results
from reports.text import duration, one_line, ratio_text
from reports.type_order import in_type_order
from reports.verdicts import WORST_FIRST, short_word, word


@dataclass(frozen=True)
class ListRow:
    """One case in a line; `anchor` leads to it in full where it failed."""

    tail: str
    anchor: str | None
    levels: tuple[str, ...]
    result: str
    time: str


@dataclass(frozen=True)
class TypePart:
    """The rows of one element type."""

    name: str
    number: int
    anchor: str
    rows: tuple[ListRow, ...]


@dataclass(frozen=True)
class VerdictPart:
    verdict: str
    word: str
    number: int
    anchor: str
    parts: tuple[TypePart, ...]


@dataclass(frozen=True)
class Count:
    """A number of cases that have something in common, and where they are listed."""

    name: str
    number: int
    anchor: str


@dataclass(frozen=True)
class TypeIndex:
    """What an element type comes to: its cases that ran, by verdict."""

    name: str
    number: int
    anchor: str
    parts: tuple[Count, ...]


@dataclass(frozen=True)
class OperatorList:
    operator: str
    number: int
    anchor: str
    types: tuple[TypeIndex, ...]
    verdicts: tuple[VerdictPart, ...]


def build_lists(results: Results) -> tuple[OperatorList, ...]:
    """A list for every operator version; every case stands in exactly one place of one list."""
    return tuple(_operator_list(operator, cases) for operator, cases in results.by_operator.items())


def _operator_list(operator: OperatorName, cases: Sequence[CaseResult]) -> OperatorList:
    types = in_type_order(each.element_type for each in cases)
    verdicts = [each for each in WORST_FIRST if any(case.verdict == each for case in cases)]
    return OperatorList(
        str(operator),
        len(cases),
        operator_anchor(operator),
        tuple(_type_index(operator, name, cases) for name in types),
        tuple(_verdict_part(operator, each, types, cases) for each in verdicts),
    )


def _type_index(operator: OperatorName, name: str, cases: Sequence[CaseResult]) -> TypeIndex:
    counts = Counter(each.verdict for each in cases if each.element_type == name)
    parts = tuple(
        Count(short_word(each), counts[each], list_anchor(operator, each, name))
        for each in WORST_FIRST
        if counts[each]
    )
    return TypeIndex(name, sum(counts.values()), types_anchor(operator, name), parts)


def _verdict_part(
    operator: OperatorName, verdict: str, types: Sequence[str], cases: Sequence[CaseResult]
) -> VerdictPart:
    own = [each for each in cases if each.verdict == verdict]
    parts = []
    for name in types:
        rows = tuple(_row(each) for each in own if each.element_type == name)
        if rows:
            parts.append(TypePart(name, len(rows), list_anchor(operator, verdict, name), rows))
    return VerdictPart(verdict, word(verdict), len(own), list_anchor(operator, verdict), tuple(parts))


def _row(case: CaseResult) -> ListRow:
    tail = str(case.id).removeprefix(f"{case.operator.path}/")
    levels = tuple(
        f"{name}={value}" for name, value in case.features.items() if "(" not in name and name != ELEMENT_TYPE
    )
    time = duration(case.row.seconds) if case.row is not None else ""
    return ListRow(tail, case_anchor(case.id) if case.fails else None, levels, _result(case), time)


def _result(case: CaseResult) -> str:
    """What there is to say in few words: how close a pass is to its limit, why another is what it is."""
    if case.verdict == "mismatch":
        return error_text(case)
    if case.verdict == "pass":
        return f"error {ratio_text(case.ratio)} of the allowed" if case.ratio else ""
    return one_line(case.row.reason or "", 120) if case.row is not None else ""
