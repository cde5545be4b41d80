"""Read operator documents into specs, and say what is wrong with them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.errors import ExitCode
from opcert.names import OperatorName

if TYPE_CHECKING:
    from specs.importing import Drift, Import

_HEADINGS = ("operator", "documents", "facts", "attributes", "inputs", "outputs", "examples", "findings")


@click.command(name="import")
@click.argument("documents", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="SPECS",
    help="The folder of specs: out/specs when writing, the specs that ship with opcert when checking.",
)
@click.option(
    "--operator",
    "assertions",
    multiple=True,
    metavar="FILE=OPERATOR",
    help="The operator that a fragment describes, where it does not say so itself; of a page with many, the "
    "one to take (given again, the ones).",
)
@click.option("--dialect", help="Read every document as this dialect instead of recognising it.")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 where the specs differ.")
def command(
    documents: tuple[Path, ...],
    folder: Path | None,
    assertions: tuple[str, ...],
    dialect: str | None,
    check: bool,
) -> int:
    """Read DOCUMENTS (files, or folders of them) and write each operator version's imported.yaml.

    A file named here that is no operator page is an error; one inside a folder is listed and skipped.
    Operators that earlier imports asserted for a fragment are remembered by the folder of specs. A page with
    many operators is taken whole, unless --operator names the ones to take.
    """
    from specs import importing
    from specs.library import OWN_FOLDER

    target = folder or (OWN_FOLDER if check else Path("out") / "specs")
    asserted = [importing.Assertion.parse(each) for each in assertions]
    remembered = importing.remembered_assertions(target)
    result = importing.read_documents(documents, asserted, dialect, remembered)
    plan = importing.plan_files(result, target)
    _print_table(result)
    if check:
        return _report_drift(importing.find_drift(result, plan, target), len(plan), target)
    from reports.text import plural

    written = importing.write_files(plan, target)
    versions, files = plural(len(plan), "operator version"), plural(len(written), "file")
    click.echo(f"{versions} in {target}, {files} written", err=True)
    return int(ExitCode.HOLDS if plan else ExitCode.NOTHING_RAN)


def _report_drift(drifts: list[Drift], count: int, target: Path) -> int:
    from reports.text import plural

    for drift in drifts:
        click.echo(f"{drift.operator}: {drift.reason}")
    if drifts:
        click.echo(
            f"{plural(len(drifts), 'spec')} not as the documents say: run `opcert import` with -o {target} "
            "and look at the changes"
        )
        return int(ExitCode.DOES_NOT_HOLD)
    if not count:
        return int(ExitCode.NOTHING_RAN)
    click.echo(f"{plural(count, 'operator version')} in {target}: as the documents say")
    return int(ExitCode.HOLDS)


def _print_table(result: Import) -> None:
    """One row for each operator version, then what could not be read."""
    rows = [_row(result, name) for name in sorted(result.layers)]
    if sys.stdout.isatty():
        _print_rich(rows)
    else:
        widths = [max(len(row[column]) for row in [_HEADINGS, *rows]) for column in range(len(_HEADINGS))]
        for row in [_HEADINGS, *rows]:
            cells = [each.ljust(width) for each, width in zip(row, widths, strict=True)]
            click.echo("  ".join(cells).rstrip())
    for unread in result.unread:
        click.echo(f"not read: {unread.file}: {unread.reason}")


def _row(result: Import, name: OperatorName) -> tuple[str, ...]:
    from specs.facts import list_facts
    from specs.layers import merge_layers

    layers = result.layers[name]
    spec = merge_layers(layers)
    printed = sum(example.printed for example in spec.examples)
    examples = f"{len(spec.examples)} ({printed} with outputs)"
    counts = (len(layers), len(list_facts(spec)), len(spec.attributes), len(spec.inputs), len(spec.outputs))
    return (str(name), *map(str, counts), examples, str(len(spec.findings)))


def _print_rich(rows: list[tuple[str, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*_HEADINGS)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
