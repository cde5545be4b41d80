"""Read operator documents into specs, and report what is wrong in them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands import shared_options
from opcert.commands.output_locks import lock_folder
from opcert.commands.terminal import say
from opcert.vocabulary.errors import ExitCode

if TYPE_CHECKING:
    from opcert.vocabulary.names import OperatorName
    from specs.importing.importing import Drift


@click.command(name="import")
@click.argument("documents", nargs=-1, type=click.Path(path_type=Path))
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
@shared_options.dialect
@click.option(
    "--from-package",
    "packages",
    multiple=True,
    metavar="PACKAGE",
    help="Read an installed package, too: onnx, onnxruntime, openvino or tensorflow; or with its version, "
    "onnx==1.20.0.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 where the specs differ.")
@click.option(
    "--keep-declared",
    is_flag=True,
    help="Add no document to versions that a spec.yaml speaks of; those that they have are read again.",
)
@click.option(
    "--fill",
    is_flag=True,
    help="Add no document to operators that have a spec; those that they have are read again.",
)
@click.option(
    "--propose",
    is_flag=True,
    help="Write a spec.yaml, too, where an operator has none: what its documents say of its calls.",
)
@click.option(
    "--only",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Take only operators whose name fits, for example 'com.microsoft::*'; given again, one of several.",
)
@click.option(
    "--template",
    is_flag=False,
    flag_value="org.example::MyOperator-1",
    metavar="OPERATOR",
    help="Print a page of this operator to fill in, in the dialect onnx-markdown, and read nothing.",
)
@click.option("--each", is_flag=True, help="A row for each operator version, however many they are.")
@shared_options.processes
def command(
    documents: tuple[Path, ...],
    folder: Path | None,
    assertions: tuple[str, ...],
    dialect: str | None,
    packages: tuple[str, ...],
    check: bool,
    keep_declared: bool,
    fill: bool,
    propose: bool,
    patterns: tuple[str, ...],
    template: str | None,
    each: bool,
    processes: int | None,
) -> int:
    """Read DOCUMENTS (files, folders, patterns such as 'docs/**/*.md') and write files of facts.

    A file named here that is no operator page is an error; one inside a folder, or that a pattern fits, is
    listed and skipped. Operators that earlier imports asserted for a fragment are remembered by the folder of
    specs. A page with many operators is taken whole, unless --operator names the ones to take.
    """
    from opcert.commands.command_progress import import_progress
    from opcert.commands.import_table import print_tables
    from specs.files.spec_folders import OWN_FOLDER
    from specs.importing import importing, reading

    if template is not None:
        return _print_template(template, documents)
    if not documents and not packages:
        raise click.UsageError("Missing documents: name files or folders, or a package with --from-package.")
    if propose and check:
        raise click.UsageError("--check writes nothing: leave --propose out.")
    if packages:
        from opcert.commands.packages import package_document

        announce = partial(say, error=True)
        documents = (*documents, *(package_document(package, announce) for package in packages))
    target = folder or (OWN_FOLDER if check else Path("out") / "specs")
    if not check:
        lock_folder(target, "the spec")
    asserted = [importing.Assertion.parse(assertion) for assertion in assertions]
    remembered = importing.remembered_assertions(target)
    with import_progress() as progress:
        result = importing.read_documents(
            documents, asserted, dialect, remembered, processes or reading.PROCESSES, progress
        )
    if patterns:
        result = importing.select(result, patterns)
    plan = importing.plan_files(result, target, keep_declared, fill)
    print_tables(result, each)
    if check:
        return _report_drift(importing.find_drift(result, plan, target), len(plan), target)
    return _write(plan, target, propose=propose)


def _write(plan: Mapping[OperatorName, str], target: Path, *, propose: bool) -> int:
    from reports.text.phrasing import plural
    from specs.importing import importing

    written = importing.write_files(plan, target)
    versions, files = plural(len(plan), "operator version"), plural(len(written), "file")
    say(f"{versions} in {target}, {files} written", error=True)
    if propose:
        proposed = importing.propose_declarations(plan, target)
        say(f"{plural(len(proposed), 'spec.yaml', 'spec.yaml')} proposed", error=True)
    return int(ExitCode.HOLDS if plan else ExitCode.NOTHING_RAN)


def _print_template(operator: str, documents: tuple[Path, ...]) -> int:
    from opcert.vocabulary.names import OperatorName
    from specs.documents.text.page_template import write_template

    if documents:
        raise click.UsageError("--template writes a page and reads none: name no documents beside it.")
    say(write_template(OperatorName.parse(operator)), end=False)
    return int(ExitCode.HOLDS)


def _report_drift(drifts: list[Drift], count: int, target: Path) -> int:
    from reports.text.phrasing import plural

    for drift in drifts:
        say(f"{drift.operator}: {drift.reason}")
    if drifts:
        say(
            f"{plural(len(drifts), 'spec')} not as the documents say: run `opcert import` with -o {target} "
            "and look at the changes"
        )
        return int(ExitCode.DOES_NOT_HOLD)
    if not count:
        return int(ExitCode.NOTHING_RAN)
    say(f"{plural(count, 'operator version')} in {target}: as the documents say")
    return int(ExitCode.HOLDS)
