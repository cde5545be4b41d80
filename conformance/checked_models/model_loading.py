"""What a runtime says to a model as it is, before anything is asked of its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LoadVerdict = Literal["loads", "refused", "lost", "unknown"]
"""It loads; the runtime refuses it; the runtime was lost or did not answer; nobody could ask."""


@dataclass(frozen=True)
class LoadFacts:
    """Whether a model loads; `message` is what the runtime says, whole, or why nothing is known.

    `by_run` is true where the runtime does nothing with a model before it is run, so that it was run once
    with inputs drawn by what the model declares.
    """

    verdict: LoadVerdict
    message: str = ""
    by_run: bool = False

    @property
    def fails(self) -> bool:
        """Whether the model does not load."""
        return self.verdict in ("refused", "lost")
