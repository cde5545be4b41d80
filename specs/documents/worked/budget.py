"""How much is read of one example at most."""

from __future__ import annotations

MOST_STEPS = 500_000
"""The most expressions that are read of one example."""


class TooLong(ValueError):
    """An example makes more steps than are read."""


class Budget:
    """How much may still be read of one example; reading beyond it raises TooLong."""

    def __init__(self, steps: int = MOST_STEPS) -> None:
        self._steps = steps

    def spend(self, steps: int = 1) -> None:
        """Take steps."""
        self._steps -= steps
        if self._steps < 0:
            raise TooLong("the example is too long")
