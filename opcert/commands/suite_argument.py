"""What `-s` names: a suite in a folder, in a zip file, or known by a name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.suites import Suite

DEFAULT = "default"
HELP = "The suite: a folder, a zip file, or `default`, which is generated where it is not kept yet."


def resolve_suite(text: str, digest: str = "") -> Suite:
    """Open the suite that `-s` names; raises UserError where there is none.

    `digest` is of the suite that a record is of: where that one is kept, it is the one that `default` means.
    """
    # Imported here, so that --help does not wait for it.
    from conformance.suites import open_suite

    if text != DEFAULT:
        return open_suite(Path(text))
    # Imported here, because a ready-made suite has no use for the generator.
    from generator.cache import default_suite, kept_suite
    from opcert.commands.generation_progress import generation_progress

    kept = kept_suite(digest)
    if kept is not None:
        return open_suite(kept)
    with generation_progress() as progress:
        made = default_suite(progress)
    return open_suite(made)
