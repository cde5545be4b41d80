"""The rows of records case by case in suite order, without holding them: as they stand in their files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any

from conformance.judging.verdicts import VERDICTS, Verdict, worst_verdict
from conformance.recording.record_rows import RecordRows
from conformance.recording.rows import Result
from conformance.suite.suite_parts import suite_order
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CaseId

Key = tuple[Any, ...]
"""Puts cases into suite order, those behind the others that have no name of one."""


def order_key(case: str) -> Key:
    """The key of a case."""
    try:
        return 0, *suite_order(CaseId.parse(case))
    except (UserError, TypeError):  # a record may come from anywhere
        return 1, str(case)


class OrderedCounts:
    """Sees the rows of a record one by one: whether its cases are in suite order, and their verdicts counted.

    The counts are right where the cases are in order, each with its rows together.
    """

    def __init__(self) -> None:
        self.in_order = True
        self._case: str | None = None
        self._key: Key = ()
        self._verdict: Verdict = "pass"
        self._counted: Counter[Verdict] = Counter()

    def see(self, result: Result) -> None:
        """Let a row count."""
        if not self.in_order:
            return
        if result.case == self._case:
            self._verdict = worst_verdict((self._verdict, result.verdict))
            return
        self._end()
        key = order_key(result.case)
        self.in_order = key > self._key
        self._case, self._key, self._verdict = result.case, key, result.verdict

    def counts(self) -> dict[Verdict, int]:
        """Cases by verdict; to be asked behind the last row."""
        self._end()
        self._case = None
        return {each: self._counted[each] for each in VERDICTS}

    def _end(self) -> None:
        if self._case is not None:
            self._counted[self._verdict] += 1


def cases_in_order(results: Sequence[Result]) -> Iterator[tuple[Key, list[Result]]]:
    """Each case's key and rows, in suite order; of rows that stand otherwise keys are held, to sort them."""
    if isinstance(results, RecordRows) and results.in_order:
        rows: Iterable[Result] = results
    else:
        keys = [order_key(each.case) for each in results]
        rows = (results[each] for each in sorted(range(len(keys)), key=keys.__getitem__))
    for case, own in groupby(rows, key=lambda each: each.case):
        yield order_key(case), list(own)


def merged_cases(records: Sequence[Sequence[Result]]) -> Iterator[list[tuple[int, list[Result]]]]:
    """Each case of several records, in suite order: which of them have it, the first first, with its rows."""
    streams = (_numbered(number, each) for number, each in enumerate(records))
    for _, same in groupby(merge(*streams, key=itemgetter(0, 1)), key=itemgetter(0)):
        yield [(number, rows) for _, number, rows in same]


def _numbered(number: int, results: Sequence[Result]) -> Iterator[tuple[Key, int, list[Result]]]:
    for key, rows in cases_in_order(results):
        yield key, number, rows
