"""Write the report of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.errors import ExitCode, NothingRan, UserError
from opcert.names import slug
from reports.formats import list_formats, write_format

if TYPE_CHECKING:
    from conformance.records import Record
    from reports.results import Results


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option(
    "-s",
    "--suite",
    default="default",
    show_default=True,
    help="The suite that was run: a folder, a zip, a name.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="A folder; without it, the folder of each run."
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
def command(runs: tuple[Path, ...], suite: str, output: Path | None, formats: tuple[str, ...]) -> int:
    """Write the report of each RUN, a record that `opcert run` wrote.

    With -o several runs get a folder each, named for their runtimes. Answers with 5 where nothing ran.
    """
    from conformance.records import read_record
    from opcert.commands.suite_argument import resolve_suite
    from reports.results import put_together

    records = [read_record(each) for each in runs]
    folders = _folders(records, output)
    with resolve_suite(suite, str(records[0].header.get("suite"))) as opened:
        found = [put_together(opened, each, suite) for each in records]
        for results, folder in zip(found, folders, strict=True):
            for name in formats:
                click.echo(str(write_format(name, results, folder)))
            _demand_something(results)
    return ExitCode.HOLDS


def _folders(records: list[Record], output: Path | None) -> list[Path]:
    from reports.headline import runtime_label

    if output is None:
        found = [each.path.parent for each in records]
    elif len(records) == 1:
        found = [output]
    else:
        found = [output / slug(runtime_label(each)) for each in records]
    if len(set(found)) != len(found):
        raise UserError(
            "two runs would be reported into one folder",
            got=str(next(each for each in found if found.count(each) > 1)),
            remedy="Report them one by one, each with its own -o.",
        )
    return found


def _demand_something(results: Results) -> None:
    if results.counts["not_run"] + results.counts["harness_error"] == len(results.cases):
        raise NothingRan("no case of the suite ran", got=str(results.record.path))
