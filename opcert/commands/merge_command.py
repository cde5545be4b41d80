"""Merge the records of shards into one."""

from __future__ import annotations

from pathlib import Path

import click

from opcert.commands.output_locks import RECORD, lock_record
from opcert.commands.terminal import say


@click.command("merge", help=__doc__)
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The record to write.",
)
@click.option("--allow-missing", is_flag=True, help="Merge although shards are missing.")
@click.option(
    "--allow-overlap", is_flag=True, help="Where two records hold a case, take the one named first."
)
def command(runs: tuple[Path, ...], output: Path, allow_missing: bool, allow_overlap: bool) -> int:
    # Imported here, so that --help does not wait for them.
    from conformance.recording.merging import merge_records
    from conformance.recording.records import read_record
    from opcert.commands.derived_files import remove_derived
    from opcert.commands.run_summary import exit_code
    from opcert.vocabulary.errors import UserError
    from reports.text.phrasing import plural

    if output.resolve() in {run.resolve() for run in runs}:
        raise UserError("the merged record would take the place of one that it is made of", got=str(output),
                        remedy="Name another file with -o.")  # fmt: skip
    lock_record(output)
    records = [read_record(run) for run in runs]
    if output.name == RECORD:
        remove_derived(output.parent, ours=False)
    merged = merge_records(records, output, allow_missing=allow_missing, allow_overlap=allow_overlap)
    say(f"{plural(sum(merged.counts.values()), 'case')} of {plural(len(records), 'record')}")
    say(f"record: {output}")
    return int(exit_code(merged))
