"""Generated suites in the user's cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from conformance.clusters.cluster import Cluster
from conformance.suite.kept_suites import keep_suite, suite_made_of
from generator.making.operators.named_suites import operators_named, suite_names
from generator.making.operators.opsets import default_operators
from generator.making.operators.sources import sources_digest
from generator.making.operators.workshop import Options
from generator.making.suites.lock import read_lock
from generator.making.suites.suite_making import Progress, write_generated
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName

PROCESSES = min(2, os.cpu_count() or 1)
_AT_FIRST = "at first this takes minutes, later what changed"


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
    return keep_suite(_writer(operators, options, progress, folders, cluster), to_stay=to_stay)


def _writer(
    operators: Sequence[OperatorName],
    options: Options,
    progress: Progress,
    folders: Sequence[Path],
    cluster: Cluster | None,
) -> Callable[[Path], str]:
    """Writes the suite of operators to a path; what was made before of the same is taken from the cache."""
    return lambda made: write_generated(
        made, operators, options, folders, PROCESSES, progress, keep=True, cluster=cluster
    )


def default_suite(progress: Progress, folders: Sequence[Path] = (), cluster: Cluster | None = None) -> Path:
    """The folder of the default suite of the specs and the code that are there now, generated if need be.

    With folders of specs it is the suite of their operators. Otherwise it says so where the suite was put
    together anew and is not the one that `specs/suite.lock` names.
    """
    write = _writer((), Options(), progress, folders, cluster)
    what = f"the suite of {', '.join(map(str, folders))}" if folders else "the default suite"
    told = "" if folders else f"generating the default suite: {_AT_FIRST}"
    # Which suite these sources make is remembered beside the suites: a lock may be older than they are.
    made, is_new = suite_made_of(sources_digest(folders), what, told, progress, write)
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
    write = _writer(operators, Options(), progress, (), cluster)
    told = f"generating cases of {len(operators)} operators: {_AT_FIRST}"
    sources = sources_digest(operators=operators)
    return suite_made_of(sources, f"the suite {name}", told, progress, write)[0]
