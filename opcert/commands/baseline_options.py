"""The options of commands that hold a run against a baseline of known failures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands.output_locks import lock_file
from opcert.commands.terminal import say
from opcert.vocabulary.errors import ExitCode, UserError
from opcert.vocabulary.harmless import one_line
from reports.text.phrasing import plural

if TYPE_CHECKING:
    from reports.gates.baseline import BaselineResult
    from reports.results.case_results import Results

_SHOWN = 20
_LONGEST = 400

baseline = click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file of known failures: only new ones, and those that expired, make the exit code 1.",
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
    from reports.gates.baseline import read_baseline

    if updating:
        lock_file(path, "the baseline")
    if path.exists() or not updating:
        read_baseline(path)


def apply_baseline(results: Results, path: Path, updating: bool) -> ExitCode:
    """Hold a run against a baseline, say what differs, and write it anew where that is asked for."""
    from datetime import UTC, datetime

    from reports.gates.baseline import Baseline, hold_against, read_baseline, updated, write_baseline

    today = datetime.now(UTC).date()
    known = read_baseline(path) if path.exists() else Baseline()
    found = hold_against(known, results, today)
    _print(found, results, path)
    if updating:
        write_baseline(updated(known, results, today), path)
        say(f"baseline: {path} is written; give each new entry its reason and link")
        return ExitCode.HOLDS
    return ExitCode.HOLDS if found.holds else ExitCode.DOES_NOT_HOLD


def _print(found: BaselineResult, results: Results, path: Path) -> None:
    _list(_new_by_cause(found.new, results))
    for words, names in (
        ("known failure whose entry expired", found.expired),
        ("known failure that fails no more", found.passing),
        (
            "known cause of which nothing fails any more",
            [baseline_entry.reason for baseline_entry in found.mended],
        ),
    ):
        _list([f"{words}: {name}" for name in names])
    say(
        f"baseline: {path}: {len(found.new)} new, {len(found.expired)} expired, {len(found.known)} known, "
        f"{len(found.passing)} that fail no more"
    )
    if found.by_cause:
        say(
            f"baseline: {len(found.by_cause)} of them known by their cause alone, in a suite that was "
            "not the baseline's; --update-baseline lists them"
        )
    if found.unlinked:
        say(f"baseline: {found.unlinked} entries have no link yet")


def _list(lines: Sequence[str]) -> None:
    for line in lines[:_SHOWN]:
        say(f"baseline: {one_line(line, _LONGEST)}")
    if len(lines) > _SHOWN:
        say(f"baseline: and {len(lines) - _SHOWN} more")


def _new_by_cause(new: Sequence[str], results: Results) -> list[str]:
    """New failures, those of one cause in one line, with one of its cases."""
    from reports.causes.class_words import headline
    from reports.causes.failure_classes import classes_of

    left = dict.fromkeys(new)
    lines = []
    for failures in classes_of(results):
        names = [name for case in failures.cases if (name := str(case.id)) in left]
        for name in names:
            del left[name]
        if names:
            lines.append(
                f"new failure: {plural(len(names), 'case')}, such as {names[0]}: {headline(failures)}"
            )
    return [*lines, *(f"new failure: {name}" for name in left)]
