"""Make static pages of runs kept in folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands import shared_options
from opcert.commands.output_locks import lock_folder
from opcert.commands.suite_argument import HELP
from opcert.commands.terminal import say

if TYPE_CHECKING:
    from reports.sites.kept_runs import KeptRuns


@click.command("site")
@click.argument("folders", type=click.Path(path_type=Path), metavar="DIR...", nargs=-1, required=True)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Where to write. Default: DIR."
)
@click.option(
    "-s",
    "--suite",
    "suite_names",
    multiple=True,
    help=f"{HELP} One that runs are of; those that are kept are found. May be given several times.",
)
@shared_options.known
@click.option("--address", default="", help="Where the site is published, for the feed: https://example.org/")
def command(
    folders: tuple[Path, ...],
    output: Path | None,
    suite_names: tuple[str, ...],
    known_files: tuple[Path, ...],
    address: str,
) -> None:
    """Make static pages of DIR, a folder of runs, or of several: operators by runtime, each in its newest
    version, a page for each operator, runtime and cause, what changed between versions, and a feed of that.

    Every record below DIR is shown, whatever its name; what holds no run is left out and named. Causes are
    told as reports tell them where the suite of a run is kept or named with -s, else by what runtimes say.
    The pages need no server and no network. Answers with 5 where no folder holds a run.
    """
    # Imported here, so that --help does not wait for it.
    from opcert.commands.suites_at_hand import SuitesAtHand
    from reports.sites.site import write_site

    if output is not None or folders[0].is_dir():
        lock_folder(output or folders[0], "the site")
    with SuitesAtHand(suite_names, known_files) as suites:
        index, runs = write_site(folders, output, suites.results_of, address)
    _tell(runs)
    say(str(index))


def _tell(runs: KeptRuns) -> None:
    """How many runs there are, and on standard error what is not in the site as it could be."""
    from reports.text.phrasing import plural

    for path, why in runs.left_out:
        say(f"left out: {path}: {why}", error=True)
    for suite in sorted({each.suite for each in runs.all if not each.explained}):
        number = sum(each.suite == suite for each in runs.all)
        left = f"opcert: {plural(number, 'run')} of the suite {suite[:16]}, which is not kept here"
        say(f"{left}: causes are told by what was said alone; name the suite with -s", error=True)
    say(f"{plural(len(runs.all), 'run')} of {plural(len(runs.series), 'runtime')}")
