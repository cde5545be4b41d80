"""Compare two runs: what was fixed, and what regressed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands.output_locks import lock_file
from opcert.commands.suite_argument import HELP
from opcert.commands.terminal import note, say
from opcert.vocabulary.errors import ExitCode
from opcert.vocabulary.names import DEFAULT_SUITE

if TYPE_CHECKING:
    from conformance.recording.records import Record
    from reports.comparisons.run_comparison import RunComparison


@click.command("compare")
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("head", type=click.Path(path_type=Path))
@click.option(
    "-s", "--suite", "suite_name", default=DEFAULT_SUITE, show_default=True, help=f"{HELP} That of HEAD."
)
@click.option("--base-suite", help="The suite of BASE, where that is another one. Default: that of -s.")
@click.option(
    "--common",
    is_flag=True,
    help="Compare only the cases that both ran: a part of a run beside a whole one.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "html", "json"]),
    default="text",
    show_default=True,
    help="Lines for a terminal, Markdown for the page of a CI step, a page, or JSON for programs.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file; without it, the terminal.",
)
def command(
    base: Path,
    head: Path,
    suite_name: str,
    base_suite: str | None,
    common: bool,
    form: str,
    output: Path | None,
) -> int:
    """Compare the records BASE and HEAD case by case, over the cases that both ran.

    A case regressed where it fails and did not, loses its process and did not, or is no longer supported;
    then the exit code is 1, as where the whole run shows a new fault, and where HEAD lacks cases that BASE
    passed. Cases of which the two suites expect different outputs are listed apart and are no regressions.
    """
    # Imported here, so that --help does not wait for them.
    from conformance.recording.records import read_record
    from opcert.vocabulary.whole_files import is_stream, write_text
    from reports.comparisons.run_comparison import compare_runs

    if output is not None:
        lock_file(output, "the comparison")
    before, after = read_record(base), read_record(head)
    changed = _changed_expectations(before, after, base_suite or suite_name, suite_name)
    found = compare_runs(before, after, changed, common)
    rendered = _render(found, form, suite_name)
    if output is None:
        say(rendered, end=False)
    else:
        streamed = is_stream(output)
        write_text(output, rendered)
        if not streamed:
            say(str(output))
    if found.lost and not common:
        note("with --common only the cases count that both ran: a part of a run beside a whole one")
    return int(ExitCode.HOLDS if found.holds else ExitCode.DOES_NOT_HOLD)


def _changed_expectations(base: Record, head: Record, base_suite: str, head_suite: str) -> list[str]:
    """The cases of which the suites of two records expect different things; of one suite, none."""
    if base.header.get("suite") == head.header.get("suite"):
        return []
    expected = [_expectations(base, base_suite, "--base-suite"), _expectations(head, head_suite, "-s")]
    return [each for each, digest in expected[0].items() if expected[1].get(each, digest) != digest]


def _expectations(record: Record, name: str, option: str) -> dict[str, str]:
    """The digest of what the suite of a record expects, by case; UserError where it is another suite."""
    from opcert.commands.suite_argument import suite_of_record
    from opcert.vocabulary.errors import Place, UserError

    digest = str(record.header.get("suite"))
    with suite_of_record(record, name) as suite:
        if suite.digest != digest:
            raise UserError(
                "the record is of another suite",
                got=digest,
                expected=suite.digest,
                where=Place(str(record.path)),
                remedy=f"Name the suite that was run with {option}.",
            )
        return {case_id: str(suite.entry(case_id)["expectation"]) for case_id in suite.case_ids}


def _render(found: RunComparison, form: str, suite_name: str) -> str:
    from opcert.commands.failures import program
    from reports.comparisons.comparison_text import (
        render_comparison,
        render_json,
        render_markdown,
        render_text,
    )

    if form == "json":
        return render_json(found)
    if form == "html":
        return render_comparison(found, suite_name)
    if form == "markdown":
        return render_markdown(found, suite_name)
    return render_text(found, suite_name, program())
