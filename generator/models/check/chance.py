"""What a whole model is fed, and which elements of its answers are looked at: no golden hangs on it."""

from __future__ import annotations

import numpy as np

Chance = np.random.Generator  # may differ: which elements are looked at


def chance_of(seed: int) -> Chance:
    """The same numbers for the same seed, as long as numpy keeps its generators."""
    return np.random.default_rng(seed)  # may differ: which elements are looked at
