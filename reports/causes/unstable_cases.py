"""Cases that lose their worker in one call and not in the next: said wherever such a case is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reports.results.case_results import CaseResult
from reports.text.phrasing import count, listed, plural

_LOST = ("crashed", "timed out")
_WORDS = {"none": "not asked", "not offered": "not asked"}


def calls_of(case: CaseResult) -> tuple[str, ...]:
    """What the calls of a case in the form of its worst one came to; empty where it is not unstable."""
    row = case.row
    if row is None:
        return ()
    alike = [each for each in case.rows if each.form == row.form]
    found = tuple(response for each in alike for response in (each.response, *each.again))
    lost = sum(each in _LOST for each in found)
    return found if 0 < lost < len(found) else ()


def case_text(case: CaseResult) -> str:
    """`Unstable: 4 calls of it crashed (3) and answered (1).`; empty where it is not."""
    found = Counter(_WORDS.get(each, each) for each in calls_of(case))
    if not found:
        return ""
    told = listed([f"{each} ({count(number)})" for each, number in found.most_common()])
    return f"Unstable: {plural(found.total(), 'call')} of it {told}."


def class_text(cases: Sequence[CaseResult]) -> str:
    """How many cases of a cause are unstable; empty where none is."""
    found = sum(bool(calls_of(each)) for each in cases)
    if not found:
        return ""
    whole = "unstable" if found == len(cases) == 1 else f"unstable in {plural(found, 'case')}"
    return f"{whole}: the worker was lost in one call and not in the next"
