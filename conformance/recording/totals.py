"""The arithmetic of totals: every case has exactly one verdict, and every count adds up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from conformance.judging.verdicts import NOT_JUDGED, VERDICTS, Verdict, worst_verdict
from conformance.recording.rows import Result


def case_verdicts(results: Iterable[Result]) -> dict[str, Verdict]:
    """Each case's verdict, the worst of its rows, in the order in which cases first appear."""
    found: dict[str, Verdict] = {}
    for row in results:
        before = found.get(row.case)
        found[row.case] = row.verdict if before is None else worst_verdict((before, row.verdict))
    return found


class CaseVerdicts:
    """The verdicts of cases that are known by their numbers, a byte for each."""

    def __init__(self) -> None:
        self._codes = bytearray()

    def add(self, number: int, verdict: Verdict) -> tuple[Verdict | None, Verdict]:
        """Let a row count: the case's verdict before, None where this is its first row, and now."""
        if number >= len(self._codes):
            self._codes.extend(bytes(number + 1 - len(self._codes)))
        code = self._codes[number]
        before = VERDICTS[code - 1] if code else None
        now = verdict if before is None else worst_verdict((before, verdict))
        self._codes[number] = VERDICTS.index(now) + 1
        return before, now

    def __iter__(self) -> Iterator[Verdict]:
        return (VERDICTS[code - 1] for code in self._codes if code)


def count_verdicts(verdicts: Iterable[Verdict]) -> dict[Verdict, int]:
    """How many there are of each verdict, those of which there is none included."""
    counted = Counter(verdicts)
    return {each: counted[each] for each in VERDICTS}


def ran(counts: Mapping[Verdict, int]) -> int:
    """How many cases tell something about the runtime: it was asked, and did not say that it cannot."""
    return sum(count for verdict, count in counts.items() if verdict not in ("unsupported", *NOT_JUDGED))
