"""What judging a whole model may take, and where its inputs come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from conformance.processes.worker_limits import Limits


@dataclass(frozen=True)
class NumberLimits:
    """What judging may take: seconds in all, and estimated for one node.

    Of a node that would take longer a part is judged, where its operator allows that. `whole_seconds` are for
    the whole model by the references, behind that. `effects` is how many
    wrong nodes the model is run on from. `worker` are the runtime's limits; `case_seconds` of it hold for the
    whole model.
    """

    seconds: float = 300.0
    node_seconds: float = 5.0
    whole_seconds: float = 120.0
    effects: int = 3
    worker: Limits = field(default_factory=lambda: Limits(case_seconds=120.0))


@dataclass(frozen=True)
class InputSource:
    """Where a model's inputs come from: a folder of `.npy`, `.npz` or `input_N.pb` files, or a seed."""

    folder: Path | None = None
    seed: int = 0
