"""Whether a model loads, in words and for programs."""

from __future__ import annotations

from typing import Any

from conformance.checked_models.model_loading import LoadFacts
from opcert.vocabulary.harmless import one_line

_WHOLE = 8192
"""More than a message of a worker can hold."""


def load_text(load: LoadFacts) -> str:
    """`loads`, or `does not load: ` with all that the runtime says."""
    said = one_line(load.message, _WHOLE)
    if load.verdict == "unknown":
        return f"not known whether it loads: {said}"
    if load.fails:
        return f"does not load: {said}"
    return "loads, and runs with inputs drawn by what it declares" if load.by_run else "loads"


def load_json(load: LoadFacts) -> dict[str, Any]:
    """The same for programs; a part of `check.json`."""
    return {"verdict": load.verdict, "message": load.message or None, "byRun": load.by_run}
