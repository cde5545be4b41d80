"""Make a static site of many runs: operators by runtime and version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import click

from opcert.commands import shared_options
from opcert.commands.output_locks import lock_folder
from opcert.commands.suite_argument import HELP, resolve_suite
from opcert.commands.terminal import say

if TYPE_CHECKING:
    from conformance.recording.records import Record
    from conformance.suite.suites import Suite
    from reports.results.case_results import Results
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

    Every record below DIR is shown, whatever its name; what holds no run is left out and named. Causes
    are those of reports where the suite of a run is kept or named with -s, else the messages of runtimes.
    The pages need no server and no network. The exit code is 5 where no folder holds a run.
    """
    # Imported here, so that --help does not wait for it.
    from reports.sites.site import write_site

    if output is not None or folders[0].is_dir():
        lock_folder(output or folders[0], "the site")
    with _SuitesAtHand(suite_names, known_files) as suites:
        index, runs = write_site(folders, output, suites.results_of, address)
    _tell(runs)
    say(str(index))


def _tell(runs: KeptRuns) -> None:
    """How many runs there are, and on standard error what is not in the site as it could be."""
    from reports.text.phrasing import plural

    for path, why in runs.left_out:
        say(f"left out: {path}: {why}", error=True)
    for suite in sorted({run.suite for run in runs.all if not run.explained}):
        number = sum(run.suite == suite for run in runs.all)
        left = f"opcert: {plural(number, 'run')} of the suite {suite[:16]}, which is not kept here"
        say(f"{left}: causes are told by what was said alone; name the suite with -s", error=True)
    say(f"{plural(len(runs.all), 'run')} of {plural(len(runs.series), 'runtime')}")


class _SuitesAtHand:
    """The suites that are named, and those that are kept, by their digests; a context, which closes them.

    Each is opened once, with its cases read once.
    """

    def __init__(self, names: Sequence[str] = (), known_files: tuple[Path, ...] = ()) -> None:
        self._names = [*names]
        self._known_files = known_files
        self._blank: dict[str, Results | None] = {}

    def __enter__(self) -> Self:
        for name in self._names:
            suite = resolve_suite(name)
            self._add(suite)
        return self

    def __exit__(self, *_: object) -> None:
        for results in self._blank.values():
            if results is not None:
                results.suite.close()

    def results_of(self, record: Record) -> Results | None:
        """A record beside its suite, with what entries tell of its causes; None where that is not at hand."""
        from opcert.commands.cause_finding import with_known_causes
        from reports.results.case_results import fill

        digest = str(record.header.get("suite"))
        if digest not in self._blank:
            self._find(digest)
        blank = self._blank[digest]
        if blank is None:
            return None
        return with_known_causes(fill(blank, record), (), self._known_files)

    def _find(self, digest: str) -> None:
        from conformance.suite.kept_suites import kept_suite
        from conformance.suite.suites import open_suite

        path = kept_suite(digest)
        self._blank[digest] = None
        if path is not None:
            self._add(open_suite(path))

    def _add(self, suite: Suite) -> None:
        from opcert.commands.operator_facts import with_operator_facts
        from reports.results.case_results import blank_results

        self._blank[suite.digest] = with_operator_facts(blank_results(suite))
