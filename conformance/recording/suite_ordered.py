"""The rows of records that are too long for memory, read from their files; and cases in suite order."""

from __future__ import annotations

import json
import os
import weakref
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any, overload

from conformance.judging.verdicts import VERDICTS, Verdict, worst_verdict
from conformance.recording.rows import Result
from conformance.suite.suite_parts import suite_order
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import CaseId


class RecordRows(Sequence[Result]):
    """Rows by where they begin and end in a file, which is known to hold them.

    `descriptor` is of the file, and closed with the last use of this object; the file may be moved or removed
    until then. `offsets` has one number more than there are rows. `in_order` says that the cases stand in
    suite order, each with its rows together.
    """

    def __init__(self, descriptor: int, offsets: array[int], *, in_order: bool) -> None:
        self.in_order = in_order
        self._descriptor = descriptor
        self._offsets = offsets
        weakref.finalize(self, os.close, descriptor)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, position: int) -> Result: ...

    @overload
    def __getitem__(self, position: slice) -> tuple[Result, ...]: ...

    def __getitem__(self, position: int | slice) -> Result | tuple[Result, ...]:
        if isinstance(position, slice):
            return tuple(self._row(each) for each in range(*position.indices(len(self))))
        if not -len(self) <= position < len(self):
            raise IndexError(position)
        return self._row(position % len(self))

    def __iter__(self) -> Iterator[Result]:
        return map(self._row, range(len(self)))

    def _row(self, position: int) -> Result:
        begin, end = self._offsets[position], self._offsets[position + 1]
        return Result.from_json(json.loads(os.pread(self._descriptor, end - begin, begin)))


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
        return {verdict: self._counted[verdict] for verdict in VERDICTS}

    def _end(self) -> None:
        if self._case is not None:
            self._counted[self._verdict] += 1


def cases_in_order(results: Sequence[Result]) -> Iterator[tuple[Key, list[Result]]]:
    """Each case's key and rows, in suite order; of rows that stand otherwise keys are held, to sort them."""
    if isinstance(results, RecordRows) and results.in_order:
        rows: Iterable[Result] = results
    else:
        keys = [order_key(result.case) for result in results]
        rows = (results[each] for each in sorted(range(len(keys)), key=keys.__getitem__))
    for case, own in groupby(rows, key=lambda row: row.case):
        yield order_key(case), list(own)


def merged_cases(records: Sequence[Sequence[Result]]) -> Iterator[list[tuple[int, list[Result]]]]:
    """Each case of several records, in suite order: which of them have it, the first first, with its rows."""
    streams = (_numbered(number, record) for number, record in enumerate(records))
    for _, same in groupby(merge(*streams, key=itemgetter(0, 1)), key=itemgetter(0)):
        yield [(number, rows) for _, number, rows in same]


def _numbered(number: int, results: Sequence[Result]) -> Iterator[tuple[Key, int, list[Result]]]:
    for key, rows in cases_in_order(results):
        yield key, number, rows
