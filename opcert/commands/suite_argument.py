"""What `-s` names: a suite in a folder, in a zip file, or known by a name."""

from __future__ import annotations

from pathlib import Path

from conformance.suites import Suite, open_suite


def resolve_suite(text: str) -> Suite:
    """Open the suite that `-s` names: a folder or a zip file; raises UserError where there is none."""
    return open_suite(Path(text))
