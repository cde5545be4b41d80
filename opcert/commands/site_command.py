"""Make static pages of a folder of runs kept over time."""

from __future__ import annotations

from pathlib import Path

import click

from opcert.commands.output_locks import lock_folder
from opcert.commands.terminal import say


@click.command("site")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Where to write. Default: DIR."
)
def command(folder: Path, output: Path | None) -> None:
    """Make static pages of DIR, a folder of runs kept over time: an overview, and each operator's history.

    Every record below DIR is shown, whatever its name; what holds no run is left out and named. The pages
    need no server and no network. Answers with 5 where DIR holds no run.
    """
    # Imported here, so that --help does not wait for it.
    from reports.comparisons.site import write_site
    from reports.page_making.phrasing import plural

    if output is not None or folder.is_dir():
        lock_folder(output or folder, "the site")
    index, runs = write_site(folder, output)
    for path, why in runs.left_out:
        say(f"left out: {path}: {why}", error=True)
    say(f"{plural(len(runs.all), 'run')} of {plural(len(runs.series), 'runtime')}")
    say(str(index))
