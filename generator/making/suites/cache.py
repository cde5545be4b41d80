"""Generated suites in the user's cache."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from conformance.clusters.cluster import Cluster
from conformance.suite.kept_suites import keep_suite, one_at_a_time, remember_sources, suite_of_sources
from generator.making.operators.named_suites import operators_named, suite_names
from generator.making.operators.opsets import default_operators
from generator.making.operators.sources import sources_digest
from generator.making.operators.workshop import Options
from generator.making.suites.lock import read_lock
from generator.making.suites.suite_making import Progress, write_generated
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName

PROCESSES = min(2, os.cpu_count() or 1)


def cached_suite(
    operators: Sequence[OperatorName],
    options: Options,
    progress: Progress,
    folders: Sequence[Path] = (),
    cluster: Cluster | None = None,
    *,
    to_stay: bool = False,
) -> Path:
    """Generate a suite into the cache and return its folder; raises UserError where it cannot be written.

    One that is not `to_stay` is made for this process alone where the cache may only be read. `folders` hold
    specs that come before those that ship with opcert. What is not kept from before a `cluster` makes, if
    there is one.
    """

    def write(made: Path) -> str:
        return write_generated(
            made, operators, options, folders, PROCESSES, progress, keep=True, cluster=cluster
        )

    return keep_suite(write, to_stay=to_stay)


def default_suite(progress: Progress, folders: Sequence[Path] = (), cluster: Cluster | None = None) -> Path:
    """The folder of the default suite of the specs and the code that are there now, generated if need be.

    With folders of specs it is the suite of their operators. Otherwise it says so where the suite was put
    together anew and is not the one that `specs/suite.lock` names.
    """
    made, is_new = current_suite(progress, folders, cluster)
    if folders or not is_new:
        return made
    locked = read_lock().digest
    if made.name != locked:
        progress(
            f"the suite generated here ({made.name[:12]}) is not that of specs/suite.lock ({locked[:12]}); "
            "`opcert generate --check` says what changed"
        )
    return made


def named_suite(name: str, progress: Progress, cluster: Cluster | None = None) -> Path:
    """The folder of the suite with that name (`first-operators`, `opset-22`), generated if need be.

    Raises UserError where the name is no suite's, and for an opset of which nothing is known.
    """
    operators = operators_named(name)
    if operators is None:
        raise UserError("no suite has this name", got=repr(name), expected=", ".join(suite_names()))
    if operators == default_operators():
        return default_suite(progress, cluster=cluster)
    told = f"generating cases of {len(operators)} operators: at first this takes minutes, later what changed"
    sources = sources_digest(operators=operators)
    return _made_once(sources, progress, told, f"the suite {name}", operators, cluster=cluster)[0]


def current_suite(
    progress: Progress, folders: Sequence[Path] = (), cluster: Cluster | None = None
) -> tuple[Path, bool]:
    """The folder of the default suite, whatever the lock names, and whether it was put together just now."""
    told = "generating the default suite: at first this takes minutes, later what changed"
    what = f"the suite of {', '.join(map(str, folders))}" if folders else "the default suite"
    return _made_once(sources_digest(folders), progress, "" if folders else told, what, (), folders, cluster)


def _made_once(
    sources: str,
    progress: Progress,
    told: str,
    what: str,
    operators: Sequence[OperatorName],
    folders: Sequence[Path] = (),
    cluster: Cluster | None = None,
) -> tuple[Path, bool]:
    """The folder of the suite that sources make, and whether it was put together just now.

    `told` is said before it is made; `what` names it to other processes that wait.
    """
    # Which suite these sources make is remembered beside the suites: a lock may be older than they are.
    kept = suite_of_sources(sources)
    if kept is not None:
        return kept, False
    with one_at_a_time(what, progress):
        # Somebody else may have made it while this process waited.
        kept = suite_of_sources(sources)
        if kept is not None:
            return kept, False
        if told:
            progress(told)
        made = cached_suite(operators, Options(), progress, folders, cluster)
        remember_sources(sources, made.name)
    return made, True
