"""What a worker may take: time, memory, and whether it may reach the network; and what surrounds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CONFINED = {
    "network": ("reachable", "cut off"),
    "files": ("as the caller", "written in its own folder alone"),
    "processes": ("as the caller", "its own alone"),
    "expected": ("could be read", "hidden"),
}
CONFINED = tuple(_CONFINED)
"""What a worker is kept from: a network, files that are not its own, foreign processes, what is expected."""


@dataclass(frozen=True)
class Limits:
    """Limits of one worker: seconds to start and for each case, resident bytes, and bytes of an answer.

    A model may take `load_seconds` to load, which compiles it maybe, without them as long as a run.

    Without `network` it is cut off from every network where the system makes that possible, and so it is from
    the files and folders of `hidden`, besides those that are hidden from every worker (`confinement.py`).
    """

    start_seconds: float = 120.0
    case_seconds: float = 20.0
    resident_bytes: int = 4 << 30
    answer_bytes: int = 1 << 30
    network: bool = False
    hidden: tuple[Path, ...] = ()
    load_seconds: float | None = None

    @property
    def to_load(self) -> float:
        """Seconds for a model to load."""
        return self.case_seconds if self.load_seconds is None else self.load_seconds


def describe_confinement(limits: Limits, lacking: Mapping[str, str]) -> dict[str, Any]:
    """What a record says of what surrounds its workers.

    `lacking` says what of CONFINED a worker could not be kept from, with the reasons.
    """
    reasons = dict(lacking)
    if limits.network:
        reasons["network"] = "it was asked for"
    told: dict[str, Any] = {}
    for what, (open_to_it, kept) in _CONFINED.items():
        told[what] = open_to_it if what in reasons else kept
        told["reason" if what == "network" else f"{what}_reason"] = reasons.get(what)
    return told
