"""How a run shows its progress on standard error: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys

from conformance.running.progress import Progress
from opcert.commands.plain_progress import PlainProgress


def choose_progress() -> Progress:
    """The progress that suits standard error."""
    if not sys.stderr.isatty():
        return PlainProgress()
    # Imported here, because a log does without it.
    from opcert.commands.terminal_progress import TerminalProgress

    return TerminalProgress()
