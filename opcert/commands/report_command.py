"""Write the report of one run, or of several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands import shared_options
from opcert.errors import ExitCode, NothingRan
from reports.formats import list_formats

if TYPE_CHECKING:
    from reports.results import Results


SIDE_BY_SIDE = Path("out/side-by-side")


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option(
    "-s",
    "--suite",
    default="default",
    show_default=True,
    help="The suite that was run: a folder, a zip, a name.",
)
@shared_options.specs
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"A folder; default: the folder of the run, of several {SIDE_BY_SIDE}.",
)
@click.option(
    "--format",
    "formats",
    type=click.Choice(list_formats()),
    multiple=True,
    default=["html"],
    show_default=True,
    help="What to write; may be given several times.",
)
def command(
    runs: tuple[Path, ...],
    suite: str,
    folders: tuple[Path, ...],
    output: Path | None,
    formats: tuple[str, ...],
) -> int:
    """Write the report of one RUN, or of several of one suite side by side.

    A RUN is a record that `opcert run` wrote. The HTML report is one page for all runs; a format that holds
    one run gets a folder for each where there are several. Answers with 5 where nothing ran.
    """
    from conformance.records import read_record
    from opcert.commands.suite_argument import resolve_suite, suite_name_for_commands
    from reports.formats import write_together
    from reports.results import put_together

    records = [read_record(each) for each in runs]
    folder = output or (records[0].path.parent if len(records) == 1 else SIDE_BY_SIDE)
    with resolve_suite(suite, str(records[0].header.get("suite")), folders) as opened:
        named = suite_name_for_commands(suite, opened, folders)
        found = [put_together(opened, each, named) for each in records]
        for name in formats:
            for path in write_together(name, found, folder):
                click.echo(str(path))
    for results in found:
        _demand_something(results)
    return ExitCode.HOLDS


def _demand_something(results: Results) -> None:
    if results.counts["not_run"] + results.counts["harness_error"] == len(results.cases):
        raise NothingRan("no case of the suite ran", got=str(results.record.path))
