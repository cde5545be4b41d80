"""The arithmetic of totals: every case has exactly one verdict, and every count adds up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from conformance.judge import VERDICTS, Verdict, worst_verdict
from conformance.results import Result


def case_verdicts(results: Iterable[Result]) -> dict[str, Verdict]:
    """Each case's verdict, the worst of its rows, in the order in which cases first appear."""
    found: dict[str, Verdict] = {}
    for each in results:
        add_verdict(found, each)
    return found


def add_verdict(verdicts: dict[str, Verdict], result: Result) -> None:
    """Let a row count in the verdicts of cases: the worst of its rows is a case's."""
    before = verdicts.get(result.case)
    verdicts[result.case] = result.verdict if before is None else worst_verdict((before, result.verdict))


def count_verdicts(verdicts: Iterable[Verdict]) -> dict[Verdict, int]:
    """How many there are of each verdict, those of which there is none included."""
    counted = Counter(verdicts)
    return {each: counted[each] for each in VERDICTS}


def ran(counts: Mapping[Verdict, int]) -> int:
    """How many cases tell something about the runtime: it was asked, and did not say that it cannot."""
    outside = ("unsupported", "harness_error", "not_run")
    return sum(count for verdict, count in counts.items() if verdict not in outside)


def format_share(part: int, whole: int) -> str:
    """A percentage with one decimal, cut off and never rounded up: 99.96 % prints as 99.9 %.

    Anything above nothing prints as at least 0.1 %. Raises ValueError where the part exceeds the whole.
    """
    if part < 0 or part > whole:
        raise ValueError(f"{part} of {whole}")
    if whole == 0:
        return "none"
    tenths = part * 1000 // whole
    if part > 0:
        tenths = max(tenths, 1)
    return f"{tenths // 10}.{tenths % 10} %"
