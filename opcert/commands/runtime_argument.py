"""What RUNTIME names on the command line. Nothing here takes time to import."""

from __future__ import annotations

from conformance.runtimes.runtimes import Runtime, find_runtime, upgraded


def choose_runtime(text: str, python: str | None, upgrade: bool) -> Runtime:
    """The runtime of a name; raises UserError where there is none, or where there is nothing to upgrade."""
    found = find_runtime(text, python)
    return upgraded(found) if upgrade else found
