"""What a worker may take: time, memory, and whether it may reach the network."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of one worker: seconds to start and for each case, resident bytes, and bytes of an answer.

    Without `network` it is cut off from every network where the system makes that possible.
    """

    start_seconds: float = 120.0
    case_seconds: float = 20.0
    resident_bytes: int = 4 << 30
    answer_bytes: int = 1 << 30
    network: bool = False
