"""Search an operator's input space at random for calls that a runtime gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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
    from generator.exploring.fuzzing.search import Find
    from generator.exploring.fuzzing.workers import RunningRuntime

_LONGEST = 2_000
"""Characters of what a worker says of its own failure."""


@click.command("fuzz")
@click.argument("runtime")
@click.argument("operator", shell_complete=complete_suites)
@click.option(
    "--time",
    "seconds",
    type=click.FloatRange(0.1, 86400),
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
def command(
    runtime: str,
    operator: str,
    seconds: float,
    most_calls: int | None,
    seed: int,
    output: Path | None,
    scheduler: shared_options.Scheduler | None,
    timeout: float,
    python: str | None,
    upgrade: bool,
    folders: tuple[Path, ...],
) -> int:
    """Search the input space of OPERATOR at random for calls that RUNTIME gets wrong.

    Each call is judged by the reference. One that fails is made as small as it gets, and kept as a file
    that `opcert run -s` and `opcert repro -s` take. The answer is 1 where something was found.

    With --scheduler all workers of a cluster search; with --calls as well they find the same, however many
    they are, though not what one machine without it finds under that seed.
    """
    # Imported here, so that --help does not wait for them.
    from conformance.processes.worker_limits import Limits
    from generator.exploring.fuzzing.finds import Finds
    from generator.exploring.fuzzing.known_failures import suite_cases
    from generator.exploring.shrinking.known_space import open_space
    from generator.making.operators.discovery import select_operators
    from opcert.commands.cluster_argument import chosen_cluster, runtime_for
    from opcert.commands.run_progress import choose_progress

    if scheduler is not None and folders:
        raise UserError(
            "a cluster has opcert and no specs of your own", expected="--scheduler or --specs, not both"
        )
    chosen = runtime_for(runtime, python, upgrade, scheduler)
    spaces = [open_space(each, folders) for each in select_operators([operator], folders)]
    folder = output or Path("out") / chosen.slug / "calls"
    lock_folder(folder, "the calls")
    note = choose_progress().note
    limits = Limits(case_seconds=timeout)
    answered, every, had = 0, 0, 0
    mistakes: list[str] = []
    failed: list[str] = []
    share = seconds / len(spaces)
    with chosen_cluster(scheduler) as cluster:
        for space in spaces:
            with _searching(chosen, limits, note, cluster, python) as running:
                note(f"searching {space.spec.operator} on {running.name} {running.version} for {share:g} s")
                finds = Finds(space, runtime, running.version, seed, folder, folders)

                def keep(find: Find, replaced: Sequence[Find], finds: Finds = finds) -> None:
                    note(finds.keep(find, replaced))

                search = running.search(space, seed, share, keep, most_calls)
                known = None
                if search.finds:
                    note("asking for the cases of the suite, which may have these already")
                    known = running.known_failures(space, suite_cases(space, folders))
                    had += sum(bool(known.like(each)) for each in search.finds)
            say(finds.describe(search, known))
            answered += search.answered
            every += len(search.finds)
            mistakes += search.mistakes
            failed += search.failed
    if every:
        words = [] if python is None else ["--python", python]
        again = f"opcert run {for_shell([runtime, *words])} {finds.suite_words}"
        new = f"{every - had} of them new" if had else "none of which the suite has"
        say(f"\n{every} found, {new}; to run {'it' if every == 1 else 'them'} again: {again}")
    if failed and not mistakes and chosen.adapter.name == "exec":
        from reports.text.phrasing import plural

        raise WorkerMistake(plural(len(failed), "call"), one_line(failed[0], _LONGEST))
    mistakes += failed
    if mistakes:
        raise InternalError("calls could not be tried", got=f"{len(mistakes)}, the first: {mistakes[0]}")
    if not answered:
        raise NothingRan("the runtime answered no call", remedy="It may not offer the operator.")
    return int(ExitCode.DOES_NOT_HOLD if every else ExitCode.HOLDS)


def _searching(
    runtime: Runtime,
    limits: Limits,
    note: Callable[[str], None],
    cluster: Cluster | None,
    python: str | None,
) -> RunningRuntime | ClusterSearch:
    """The runtime, ready to be searched: here, or on a cluster."""
    if cluster is None:
        from generator.exploring.fuzzing.workers import RunningRuntime

        return RunningRuntime(runtime, limits, note)
    from generator.exploring.fuzzing.cluster_search import ClusterSearch

    return ClusterSearch(cluster, runtime, python, limits)
