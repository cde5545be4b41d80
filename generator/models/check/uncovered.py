"""What ends the making of a call's cases: why it has none."""

from __future__ import annotations

from generator.models.check.call_cases import NotCovered, Why


class Uncovered(Exception):
    """A call of a model has no cases; it never leaves `generator.models.check`."""

    def __init__(self, why: Why, text: str) -> None:
        super().__init__(text)
        self.reason = NotCovered(why, text)
