"""Python's search for cycles of objects, which has little to find in a run and much to look through."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLD = 50_000
"""So many objects may come to be before the youngest are looked through; it is 700 by default."""


@contextmanager
def few_collections() -> Iterator[None]:
    """Search seldom, and not through what is there already, for as long as the context lasts."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
