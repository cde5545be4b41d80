"""The options of commands that hold a run against a baseline of known failures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands.output_locks import lock_file
from opcert.commands.terminal import say
from opcert.vocabulary.errors import ExitCode, UserError

if TYPE_CHECKING:
    from reports.baseline import BaselineResult
    from reports.case_results import Results

_SHOWN = 20

baseline = click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file of known failures: only others, and those that expired, make the answer 1.",
)
update = click.option(
    "--update-baseline",
    is_flag=True,
    help="Write what fails now into the file of --baseline: new failures are added, gone ones dropped.",
)


def check_usage(path: Path | None, updating: bool) -> None:
    """Before anything runs: a baseline that is wanted must be there and be one."""
    if path is None:
        if updating:
            raise UserError("there is no baseline to update", expected="--baseline FILE")
        return
    # Imported here, because most runs have no baseline and want to start.
    from reports.baseline import read_baseline

    if updating:
        lock_file(path, "the baseline")
    if path.exists() or not updating:
        read_baseline(path)


def apply_baseline(results: Results, path: Path, updating: bool) -> ExitCode:
    """Hold a run against a baseline, say what differs, and write it anew where that is asked for."""
    from datetime import UTC, datetime

    from reports.baseline import Baseline, hold_against, read_baseline, updated, write_baseline

    today = datetime.now(UTC).date()
    known = read_baseline(path) if path.exists() else Baseline()
    found = hold_against(known, results, today)
    _print(found, path)
    if updating:
        write_baseline(updated(known, results, today), path)
        say(f"baseline: {path} is written; give each new entry its reason and link")
        return ExitCode.HOLDS
    return ExitCode.HOLDS if found.holds else ExitCode.DOES_NOT_HOLD


def _print(found: BaselineResult, path: Path) -> None:
    for words, names in (
        ("new failure", found.new),
        ("known failure whose entry expired", found.expired),
        ("known failure that fails no more", found.passing),
    ):
        for each in names[:_SHOWN]:
            say(f"baseline: {words}: {each}")
        if len(names) > _SHOWN:
            say(f"baseline: and {len(names) - _SHOWN} more")
    say(
        f"baseline: {path}: {len(found.new)} new, {len(found.expired)} expired, {len(found.known)} known, "
        f"{len(found.passing)} that fail no more"
    )
    if found.unlinked:
        say(f"baseline: {found.unlinked} entries have no link yet")
