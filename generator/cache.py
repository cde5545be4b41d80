"""Generated suites in the user's cache."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from conformance.kept_suites import keep_suite, one_at_a_time, remember_sources, suite_of_sources
from generator.lock import read_lock
from generator.sources import sources_digest
from generator.suites import Progress, write_generated
from generator.workshop import Options
from opcert.names import OperatorName

PROCESSES = min(2, os.cpu_count() or 1)


def cached_suite(
    operators: Sequence[OperatorName], options: Options, progress: Progress, folders: Sequence[Path] = ()
) -> Path:
    """Generate a suite into the cache and return its folder; raises UserError where it cannot be written.

    `folders` hold specs that come before those that ship with opcert.
    """
    return keep_suite(lambda made: write_generated(made, operators, options, folders, PROCESSES, progress))


def default_suite(progress: Progress, folders: Sequence[Path] = ()) -> Path:
    """The folder of the default suite of the specs and the code that are there now, generated if need be.

    With folders of specs it is the suite of their operators. Otherwise it says so where the suite is not the
    one that `specs/suite.lock` names.
    """
    # Which suite these sources make is remembered beside the suites: a lock may be older than they are.
    sources = sources_digest(folders)
    kept = suite_of_sources(sources)
    if kept is not None:
        return kept
    with one_at_a_time():
        # Somebody else may have made it while this process waited.
        kept = suite_of_sources(sources)
        if kept is not None:
            return kept
        if not folders:
            progress("generating the default suite (once; this takes about a minute)")
        made = cached_suite((), Options(), progress, folders)
        remember_sources(sources, made.name)
    if folders:
        return made
    locked = read_lock().digest
    if made.name != locked:
        progress(
            f"the suite generated here ({made.name[:12]}) is not that of specs/suite.lock ({locked[:12]}); "
            "`opcert generate --check` says what changed"
        )
    return made
