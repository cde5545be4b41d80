"""What a worker may take: time, memory, and whether it may reach the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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


def describe_confinement(limits: Limits, reason: str | None) -> dict[str, Any]:
    """What a record says of the network; `reason` is why a worker could not be cut off, None where it is."""
    if limits.network:
        return {"network": "reachable", "reason": "it was asked for"}
    if reason is not None:
        return {"network": "reachable", "reason": f"no user namespace can be had: {reason}"}
    return {"network": "cut off", "reason": None}
