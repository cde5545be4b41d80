"""What a run has come to so far, in one line."""

from __future__ import annotations

from collections import Counter

from conformance.judging.verdicts import count_failing
from conformance.recording.rows import Result


class VerdictTally:
    """Rows seen so far: how many, and how many of each verdict."""

    def __init__(self) -> None:
        self.rows = 0
        self.verdicts: Counter[str] = Counter()

    def add(self, result: Result) -> None:
        self.rows += 1
        self.verdicts[result.verdict] += 1

    def __str__(self) -> str:
        passed = self.verdicts["pass"]
        failing = count_failing(self.verdicts)
        return f"{passed} pass, {failing} failing, {self.rows - passed - failing} other"
