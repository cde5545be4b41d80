"""Measure a suite: its coverage, and how many mistakes planted in the references it notices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands import shared_options
from opcert.commands.operator_completion import complete_suites
from opcert.commands.output_locks import lock_file, lock_folder
from opcert.commands.terminal import say
from opcert.vocabulary.errors import ExitCode, UserError
from opcert.vocabulary.names import DEFAULT_SUITE

if TYPE_CHECKING:
    from conformance.clusters.cluster import Cluster
    from conformance.suite.suites import Suite
    from generator.measured.kept import MeasuredOperator
    from opcert.vocabulary.names import OperatorName


@click.command("adequacy")
@click.argument("operators", nargs=-1, metavar="[OPERATOR]...", shell_complete=complete_suites)
@shared_options.suite
@shared_options.specs
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder for adequacy.md and adequacy.json; without it the page goes to standard output.",
)
@click.option("-j", "--jobs", "processes", type=click.IntRange(1), help="Processes that try mutants.")
@shared_options.scheduler
@click.option(
    "--slack",
    is_flag=True,
    help="List the plain faults that the cases accept in right outputs, on ordinary data; takes seconds.",
)
@click.option("--kept", is_flag=True, help="Show what was measured last, and measure nothing.")
@click.option(
    "--update",
    is_flag=True,
    help="Keep what was found in the folder `measured` beside the specs, for reports and size small.",
)
def command(
    operators: tuple[str, ...],
    suite_name: str,
    folders: tuple[Path, ...],
    output: Path | None,
    processes: int | None,
    scheduler: shared_options.Scheduler | None,
    slack: bool,
    kept: bool,
    update: bool,
) -> int:
    """Measure what a suite covers, and how many mistakes made in the reference on purpose it notices.

    OPERATOR is a name like ai.onnx::Resize-18, Resize-18 or Resize; without one, every operator is taken.
    This takes minutes for an operator that computes, seconds for one that moves data.
    """
    # Imported here and below, so that --help does not wait for them.
    from generator.making.operators.discovery import select_operators
    from generator.making.suites.lock import LOCK_FILE
    from generator.measured.kept import adequacy_folder, read_all, read_measured
    from generator.trust.mutants.adequacy_page import adequacy_json, write_page

    _check_usage(scheduler, slack=slack, kept=kept, update=update)
    chosen = select_operators(operators, folders)
    if output is not None:
        lock_folder(output, "the page")
    if slack:
        return _tell_slack(suite_name, folders, chosen, scheduler, output)
    if update:
        lock_folder(adequacy_folder(folders), "what was measured")
        if not folders:
            lock_file(LOCK_FILE, "the lock of the suite")
    missing: list[OperatorName] = []
    if kept and operators:
        found = read_all(chosen, adequacy_folder(folders))
    elif kept:
        found, missing = read_measured(chosen, adequacy_folder(folders))
    else:
        found = _measure(suite_name, folders, chosen, processes, scheduler, update=update)
    page = write_page(found, missing)
    if output is None:
        say(page, end=False)
        return ExitCode.HOLDS
    from opcert.vocabulary.whole_files import write_text

    write_text(output / "adequacy.md", page)
    write_text(output / "adequacy.json", adequacy_json(found))
    say(str(output / "adequacy.md"))
    return ExitCode.HOLDS


def _check_usage(
    scheduler: shared_options.Scheduler | None, *, slack: bool, kept: bool, update: bool
) -> None:
    if slack and (kept or update):
        raise UserError("nothing is kept of slack", expected="--slack without --kept and --update")
    for other, named in ((update, "--update"), (scheduler is not None, "--scheduler")):
        if kept and other:
            raise UserError("nothing is measured with --kept", expected=f"--kept or {named}, not both")


def _tell_slack(
    suite_name: str,
    folders: tuple[Path, ...],
    operators: list[OperatorName],
    scheduler: shared_options.Scheduler | None,
    output: Path | None,
) -> ExitCode:
    """Print the table, or write it as slack.md; it does not hold where a case accepts too much."""
    from generator.measured.slack import read_allowed, slack_of, unexcused, write_page
    from opcert.commands.runtime_argument import chosen_cluster
    from opcert.vocabulary.whole_files import write_text

    with (
        chosen_cluster(scheduler) as cluster,
        _suite_with(operators, suite_name, folders, cluster) as suite,
    ):
        found = list(slack_of(suite, map(str, operators)))
    allowed = read_allowed()
    page = write_page(found, allowed)
    if output is None:
        say(page, end=False)
    else:
        say(str(write_text(output / "slack.md", page)))
    return ExitCode.DOES_NOT_HOLD if unexcused(found, allowed) else ExitCode.HOLDS


def _measure(
    suite_name: str,
    folders: tuple[Path, ...],
    operators: list[OperatorName],
    processes: int | None,
    scheduler: shared_options.Scheduler | None,
    *,
    update: bool,
) -> list[MeasuredOperator]:
    from generator.making.operators.selections import write_selection
    from generator.making.suites.cache import PROCESSES
    from generator.measured.kept import adequacy_folder, write_kept
    from generator.trust.mutants.jobs import measure_suite
    from opcert.commands.runtime_argument import chosen_cluster

    found = []
    with (
        chosen_cluster(scheduler) as cluster,
        _suite_with(operators, suite_name, folders, cluster) as suite,
    ):
        many = processes or PROCESSES
        jobs = measure_suite(
            suite.path, operators, folders, many, lambda line: say(line, error=True), cluster
        )
        for kept in jobs:
            found.append(kept)
            if update:
                write_kept(kept, adequacy_folder(folders))
                if not folders:
                    write_selection(kept)
        if update and not folders:
            _renew_trust(suite, operators)
    places = {str(operator): place for place, operator in enumerate(operators)}
    return sorted(found, key=lambda kept: places[kept.operator])


def _suite_with(
    operators: list[OperatorName], suite_name: str, folders: tuple[Path, ...], cluster: Cluster | None
) -> Suite:
    """The suite that is named, if it has cases of all operators; of the default one, theirs alone."""
    from generator.making.operators.discovery import select_operators
    from opcert.commands.suite_argument import made_of, resolve_suite

    if suite_name == DEFAULT_SUITE and set(operators) != set(select_operators((), folders)):
        return made_of(operators, folders, cluster)
    suite = resolve_suite(suite_name, folders=folders, cluster=cluster)
    missing = [
        str(operator) for operator in operators if str(operator) not in suite.facts.get("operators", {})
    ]
    if missing:
        raise UserError("the suite was not generated with cases of some operators", got=", ".join(missing))
    return suite


def _renew_trust(suite: Suite, operators: list[OperatorName]) -> None:
    """Say in the lock how far cases that it names are trusted now; it names the same suites."""
    from generator.making.suites.lock import LOCK_FILE, read_lock, write_lock
    from generator.making.suites.lock_making import expectations_by_operator, lock_of
    from generator.making.suites.measured_cases import trust_now

    lock, now, expected = read_lock(LOCK_FILE), lock_of(suite).versions, expectations_by_operator(suite)
    found = {
        str(operator): trust_now(operator, expected[operator])
        for operator in operators
        if str(operator) in now and lock.versions.get(str(operator)) == now[str(operator)]
    }
    changed = {name: trust for name, trust in found.items() if lock.versions[name].trust != trust}
    if changed:
        write_lock(lock.trusted_as(changed), LOCK_FILE)
        told = ", ".join(f"{name} is {trust}" for name, trust in changed.items())
        say(f"{LOCK_FILE.name}: {told}", error=True)
