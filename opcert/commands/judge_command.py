"""Judge output files that a device computed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands import shared_options, verbosity
from opcert.commands.output_locks import lock_record
from opcert.commands.terminal import note, say
from opcert.vocabulary.errors import ExitCode

if TYPE_CHECKING:
    from conformance.running.returned_files import ReturnedFiles
    from opcert.vocabulary.arithmetics import Arithmetic

_MOST_NAMED = 3


@click.command("judge")
@click.argument("suite", metavar="SUITE")
@click.argument("outputs", type=click.Path(path_type=Path))
@click.option("--runtime", "name", default="device", show_default=True, help="What computed them, as a name.")
@click.option("--version", "release", default="unknown", show_default=True, help="And its version.")
@click.option(
    "--index",
    "index_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The index.json of the export that the device was given: the cases that it lists are judged.",
)
@shared_options.specs
@shared_options.pattern
@shared_options.arithmetic
@shared_options.known
@shared_options.beside
@verbosity.verbose
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The record. Default: out/files-NAME/run.jsonl.",
)
def command(
    suite: str,
    outputs: Path,
    name: str,
    release: str,
    index_path: Path | None,
    folders: tuple[Path, ...],
    pattern: str | None,
    arithmetic: Arithmetic | None,
    known_files: tuple[Path, ...],
    beside_paths: tuple[Path, ...],
    output: Path | None,
) -> int:
    """Judge OUTPUTS, a folder that a device filled, by SUITE (a folder, a zip, or a name).

    `opcert export SUITE --layout flat` writes what the device needs. OUTPUTS has a folder for each case, with
    output_0.npy and so on, or .pb (TensorProto), or outputs.npz; a status.json may say that the device does
    not support the call, rejects it, crashed or ran out of time. A case without outputs is not run. The
    record is one as `opcert run` writes it, for `opcert report`, and for `opcert certify --run`.
    """
    # Imported here, so that --help does not wait for them.
    from conformance.processes.worker_limits import Limits
    from conformance.running.resuming import RecordPlace
    from conformance.running.returned_files import Device, ReturnedFiles, judge_files, read_index
    from conformance.running.run_options import RunOptions, RunRequest
    from conformance.runtimes.runtimes import find_runtime
    from opcert.commands.cause_finding import with_known_causes, with_others
    from opcert.commands.command_progress import choose_progress
    from opcert.commands.run_summary import MOST_LINES, exit_code, run_error, state_error, summarise
    from opcert.commands.suite_argument import for_arithmetic, resolve_suite, suite_name_for_commands
    from reports.results.case_results import Results

    limits = Limits()
    runtime = find_runtime(f"files:{name}")
    path = output or Path("out") / runtime.slug / "run.jsonl"
    lock_record(path)
    given = resolve_suite(suite, folders=folders)
    # The index that the device was given is of the suite that was exported.
    index = None if index_path is None else read_index(index_path, given.digest)
    files = ReturnedFiles.at(outputs, limits.case_seconds, index.batched if index else None)
    known = given.case_ids
    with for_arithmetic(given, arithmetic, folders, pattern) as opened:
        listed = frozenset(each for each in index.cases if each in opened) if index else None
        request = RunRequest(opened, runtime, RunOptions(pattern, limits=limits), only=listed)
        record = judge_files(request, files, Device(name, release), RecordPlace(path), choose_progress())
        foreign = files.foreign(known)
        _tell_folders(files, foreign)

        def causes(found: Results) -> Results:
            return with_others(with_known_causes(found, folders, known_files), beside_paths)

        most = None if verbosity.is_verbose() else MOST_LINES
        say(summarise(opened, record, suite_name_for_commands(suite, opened, folders), causes, most=most))
    if run_error(record) is not None:
        say(state_error(record), error=True)
    say(f"record: {path}")
    answer = exit_code(record)
    return int(ExitCode.DOES_NOT_HOLD if foreign and answer is ExitCode.HOLDS else answer)


def _tell_folders(files: ReturnedFiles, foreign: Sequence[str]) -> None:
    """Say which folders are of no case, and which of batches that were not computed."""
    from conformance.running.returned_files import BATCH
    from reports.text.phrasing import plural

    if foreign:
        told = ", ".join(foreign[:_MOST_NAMED])
        note(f"{plural(len(foreign), 'folder')} of outputs belong to no case of the suite: {told}")
    if not files.batched and any(each.startswith(BATCH) for each in foreign):
        note("folders of batches are read with the index of the export: name it with --index")
    for folder, said in files.refused_batches():
        note(f"no case of {folder} was run: {said}; export its cases with models of their own")
