"""Search an operator's inputs at random for calls that a runtime computes wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from opcert.commands import shared_options
from opcert.commands.operator_completion import complete_suites
from opcert.commands.output_locks import lock_folder
from opcert.commands.terminal import say
from opcert.vocabulary.errors import ExitCode, InternalError, NothingRan, UserError, WorkerMistake
from opcert.vocabulary.harmless import for_shell, one_line

if TYPE_CHECKING:
    from conformance.clusters.cluster import Cluster
    from conformance.processes.worker_limits import Limits
    from conformance.runtimes.runtimes import Runtime
    from generator.exploring.fuzzing.cluster_search import ClusterSearch
    from generator.exploring.fuzzing.finds import Finds
    from generator.exploring.fuzzing.known_failures import KnownFailures
    from generator.exploring.fuzzing.search import Find, FuzzResult
    from generator.exploring.fuzzing.workers import RunningRuntime
    from generator.exploring.shrinking.known_space import CallValidity

_LONGEST = 2_000
"""Characters of what a worker says of its own failure."""


@dataclass(frozen=True)
class _Asked:
    """What the command line says."""

    runtime: str
    operator: str
    seconds: float
    most_calls: int | None
    seed: int
    output: Path | None
    scheduler: shared_options.Scheduler | None
    timeout: float
    python: str | None
    upgrade: bool
    folders: tuple[Path, ...]


@click.command("fuzz")
@click.argument("runtime")
@click.argument("operator", shell_complete=complete_suites)
@click.option(
    "--time",
    "seconds",
    type=shared_options.NumberRange(0.1, 86400),
    default=60.0,
    show_default=True,
    help="Seconds to search, shared out where OPERATOR means several versions.",
)
@click.option(
    "--calls",
    "most_calls",
    type=click.IntRange(1),
    help="End after so many calls of each version, too: then the seed alone decides what is found.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Fixes the calls tried.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the calls found. Default: out/RUNTIME/calls.",
)
@shared_options.scheduler
@shared_options.timeout
@shared_options.python
@shared_options.upgrade
@shared_options.specs
def command(**said: Any) -> int:
    """Search the input space of OPERATOR at random for calls that RUNTIME gets wrong.

    Each call is judged by the reference. One that fails is made as small as it gets, and kept as a file
    that `opcert run -s` and `opcert repro -s` take. The exit code is 1 where something was found.

    With --scheduler all workers of a cluster search; with --calls as well they find the same, however many
    they are, though not what one machine without it finds under that seed.
    """
    # Imported here, so that --help does not wait for them.
    from conformance.processes.worker_limits import Limits
    from generator.exploring.shrinking.known_space import open_space
    from generator.making.operators.discovery import select_operators
    from opcert.commands.runtime_argument import chosen_cluster, runtime_for

    asked = _Asked(**said)
    if asked.scheduler is not None and asked.folders:
        raise UserError(
            "a cluster has opcert and no specs of your own", expected="--scheduler or --specs, not both"
        )
    chosen = runtime_for(asked.runtime, asked.python, asked.upgrade, asked.scheduler)
    operators = select_operators([asked.operator], asked.folders)
    spaces = [open_space(operator, asked.folders) for operator in operators]
    folder = asked.output or Path("out") / chosen.slug / "calls"
    lock_folder(folder, "the calls")
    limits = Limits(case_seconds=asked.timeout)
    with chosen_cluster(asked.scheduler) as cluster:
        searched = []
        for space in spaces:
            with _searching(chosen, limits, cluster, asked.python) as running:
                searched.append(_search(asked, space, running, folder, asked.seconds / len(spaces)))
            say(searched[-1].finds.describe(searched[-1].search, searched[-1].known))
    _tell_finds(asked, searched)
    return int(_answer(searched, own_worker=chosen.adapter.is_of_the_user))


@dataclass(frozen=True)
class _Searched:
    """What came of the search of one operator version, and what the suite has of that."""

    finds: Finds
    search: FuzzResult
    known: KnownFailures | None


def _search(
    asked: _Asked, space: CallValidity, running: RunningRuntime | ClusterSearch, folder: Path, seconds: float
) -> _Searched:
    """Search one operator version, and ask for the cases of the suite where something was found."""
    from generator.exploring.fuzzing.finds import Finds
    from generator.exploring.fuzzing.known_failures import suite_cases
    from opcert.commands.command_progress import choose_progress

    note = choose_progress().note
    note(f"searching {space.spec.operator} on {running.name} {running.version} for {seconds:g} s")
    finds = Finds(space, asked.runtime, running.version, asked.seed, folder, asked.folders)

    def keep(find: Find, replaced: Sequence[Find]) -> None:
        note(finds.keep(find, replaced))

    search = running.search(space, asked.seed, seconds, keep, asked.most_calls)
    if not search.finds:
        return _Searched(finds, search, None)
    note("making the cases of the suite, which may have these already")
    return _Searched(finds, search, running.known_failures(space, suite_cases(space, asked.folders)))


def _tell_finds(asked: _Asked, searched: Sequence[_Searched]) -> None:
    """Say how many calls were found, how many of them the suite has, and how to run them again."""
    every = sum(len(one.search.finds) for one in searched)
    had = sum(bool(one.known.like(find)) for one in searched if one.known for find in one.search.finds)
    if every:
        words = [] if asked.python is None else ["--python", asked.python]
        again = f"opcert run {for_shell([asked.runtime, *words])} {searched[-1].finds.suite_words}"
        new = f"{every - had} of them new" if had else "none of which the suite has"
        say(f"\n{every} found, {new}; to run {'it' if every == 1 else 'them'} again: {again}")


def _answer(searched: Sequence[_Searched], *, own_worker: bool) -> ExitCode:
    """Whether calls were found; raises where they could not be tried, or none was answered."""
    mistakes = [told for one in searched for told in one.search.mistakes]
    failed = [told for one in searched for told in one.search.failed]
    if failed and not mistakes and own_worker:
        from reports.text.phrasing import plural

        raise WorkerMistake(plural(len(failed), "call"), one_line(failed[0], _LONGEST))
    mistakes += failed
    if mistakes:
        raise InternalError("calls could not be tried", got=f"{len(mistakes)}, the first: {mistakes[0]}")
    if not any(one.search.answered for one in searched):
        raise NothingRan("the runtime answered no call", remedy="It may not offer the operator.")
    return ExitCode.DOES_NOT_HOLD if any(one.search.finds for one in searched) else ExitCode.HOLDS


def _searching(
    runtime: Runtime,
    limits: Limits,
    cluster: Cluster | None,
    python: str | None,
) -> RunningRuntime | ClusterSearch:
    """The runtime, ready to be searched: here, or on a cluster."""
    if cluster is None:
        from generator.exploring.fuzzing.workers import RunningRuntime
        from opcert.commands.command_progress import choose_progress

        return RunningRuntime(runtime, limits, choose_progress().note)
    from generator.exploring.fuzzing.cluster_search import ClusterSearch

    return ClusterSearch(cluster, runtime, python, limits)
