"""Write a runtime's bugs as issues ready to paste, each with a script that reproduces it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands import shared_options
from opcert.commands.output_locks import lock_file, lock_folder
from opcert.commands.terminal import note, say
from opcert.vocabulary.errors import ExitCode, UserError
from opcert.vocabulary.harmless import one_line

if TYPE_CHECKING:
    from conformance.runtimes.runtimes import Runtime
    from opcert.commands.experiments import Smaller
    from opcert.commands.reproduced_issues import Bareground, NotShown
    from reports.causes.failure_class import FailureClass
    from reports.results.case_results import Results
    from reports.upstream.issues import Issue

_CASE_SECONDS = 5.0
_SHRINKING_SECONDS = 5.0


@click.command("upstream")
@click.argument("runtimes", nargs=-1, required=True, metavar="RUNTIME [CAUSE]")
@shared_options.suite_that_was_run
@click.option(
    "--run",
    "record_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The record of the run. Default: out/RUNTIME/run.jsonl.",
)
@click.option(
    "--records",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="A folder with the record of each RUNTIME, RUNTIME.jsonl.",
)
@shared_options.specs
@shared_options.known
@shared_options.beside
@click.option(
    "--table",
    is_flag=True,
    help="Of several RUNTIMEs, a table of the fifty causes that matter most instead of issues.",
)
@click.option(
    "--most",
    type=click.IntRange(1),
    help="So many causes of a runtime, those that matter most. Default: all.",
)
@click.option(
    "--seconds",
    type=shared_options.NumberRange(0),
    default=_SHRINKING_SECONDS,
    show_default=True,
    help="So long the call of each cause is made smaller on the runtime.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A folder for the issues. Without it, one CAUSE goes to the terminal, and a table does.",
)
def command(
    runtimes: tuple[str, ...],
    suite: str,
    record_path: Path | None,
    records: Path | None,
    folders: tuple[Path, ...],
    known_files: tuple[Path, ...],
    beside_paths: tuple[Path, ...],
    table: bool,
    most: int | None,
    seconds: float,
    output: Path | None,
) -> int:
    """Write issues, one a cause, of what RUNTIME does wrong in a run, ready to paste.

    CAUSE is the number of a cause in the report of the run, or the id of its entry. Each issue has a script
    that needs numpy, onnx and the runtime alone. It is run before it is written, in an environment of the
    newest release unless RUNTIME names a version: an issue whose script does not reproduce the bug is
    left out, with a note. What the documents leave open is no issue. The exit code is 1 where nothing could
    be written.
    """
    from opcert.commands.reproduced_issues import Bareground

    tested, cause = _asked(runtimes, table)
    if output is None and not table and cause is None:
        raise UserError(
            "issues need a folder",
            expected="-o FOLDER, or one CAUSE",
            remedy="Name a folder with -o, or a cause: its number in the report, or the id of its entry.",
        )
    if output is not None:
        if table:
            lock_file(output, "the table")
        else:
            lock_folder(output, "the issues")
    loaded = [
        _results(runtime, suite, record_path, records, folders, known_files, beside_paths)
        for runtime in tested
    ]
    if table:
        return _write_table(list(zip(tested, loaded, strict=True)), output, runtimes)
    (runtime,), (results,) = tested, loaded
    classes, ground = _chosen(results, cause)[:most], Bareground(runtime, note)
    with _shrinking(runtime, seconds, results, folders, known_files) as smaller:
        return _write_issues(ground, results, classes, output, smaller)


def _write_issues(
    ground: Bareground,
    results: Results,
    classes: Sequence[FailureClass],
    output: Path | None,
    smaller: Smaller | None,
) -> int:
    """Write the issue of each cause that its script reproduces into a folder, or print the first."""
    from opcert.commands.reproduced_issues import NotShown, issues_of
    from opcert.vocabulary.whole_files import write_text

    issues: list[Issue] = []
    for made in issues_of(results, classes, ground, smaller):
        if isinstance(made, NotShown):
            _tell(made, ground.runtime)
            continue
        issues.append(made)
        if output is not None:
            say(str(write_text(output / made.file, made.render())))
    if output is None and issues:
        say(issues[0].render(), end=False)
    return int(ExitCode.HOLDS if issues else ExitCode.DOES_NOT_HOLD)


def _asked(words: tuple[str, ...], table: bool) -> tuple[list[Runtime], str | None]:
    """The runtimes, and the cause that is named behind one; UserError of more than that."""
    from conformance.runtimes.runtimes import find_runtime

    if table:
        return [find_runtime(word) for word in words], None
    if len(words) > 2:
        raise UserError(
            "one runtime is told at a time, and one cause or all",
            got=" ".join(words),
            expected="RUNTIME [CAUSE]",
        )
    return [find_runtime(words[0])], words[1] if len(words) == 2 else None


def _results(
    runtime: Runtime,
    suite: str,
    record_path: Path | None,
    records: Path | None,
    folders: tuple[Path, ...],
    known_files: tuple[Path, ...],
    beside_paths: tuple[Path, ...],
) -> Results:
    from conformance.recording.records import read_record
    from opcert.commands.cause_finding import with_known_causes, with_others
    from opcert.commands.suite_argument import suite_name_for_commands, suite_of_record
    from reports.results.case_results import put_together

    path = record_path or Path("out") / runtime.slug / "run.jsonl"
    if records is not None:
        path = records / f"{runtime.slug}.jsonl"
    if not path.is_file():
        raise UserError(
            "there is no record of a run of this runtime",
            got=str(path),
            remedy=f"Run `opcert run {runtime.text}` first, or name a record with --run.",
        )
    record = read_record(path)
    opened = suite_of_record(record, suite, folders)
    results = put_together(opened, record, suite_name_for_commands(suite, opened, folders))
    name = str((record.header.get("runtime") or {}).get("name"))
    if name != runtime.adapter.name:
        raise UserError("the record is of another runtime", got=name, expected=runtime.adapter.name)
    return with_others(with_known_causes(results, folders, known_files), beside_paths)


def _chosen(results: Results, cause: str | None) -> Sequence[FailureClass]:
    """The causes that can be sent, or the one that is named."""
    from opcert.vocabulary.near_names import near_names
    from reports.causes.failure_classes import classes_of
    from reports.upstream.issues import may_be_sent

    classes = classes_of(results)
    if cause is None:
        return [found for found in classes if may_be_sent(found)]
    for found in classes:
        if cause and cause in (str(found.number), found.entry):
            return [found]
    known = [found.known.id for found in classes if found.known is not None]
    near = near_names(cause, known)
    raise UserError(
        "no failure of the run has this cause",
        got=repr(cause),
        expected=f"a number from 1 to {len(classes)}, or the id of an entry"
        if classes
        else "a run with failures",
        remedy=f"Did you mean {' or '.join(near)}?" if near else None,
    )


@contextmanager
def _shrinking(
    runtime: Runtime,
    seconds: float,
    results: Results,
    folders: tuple[Path, ...],
    known_files: tuple[Path, ...],
) -> Iterator[Smaller | None]:
    """What makes a call smaller on the runtime; None where there is no time."""
    from conformance.processes.worker_limits import Limits
    from generator.exploring.fuzzing.workers import RunningRuntime
    from opcert.commands.cause_finding import known_entries
    from opcert.commands.experiments import smaller_on

    if not seconds:
        yield None
        return
    limits = Limits(case_seconds=_CASE_SECONDS)
    with RunningRuntime(runtime, limits, lambda line: say(line, error=True)) as running:
        yield smaller_on(running, seconds, folders, known_entries(results, folders, known_files))


def _tell(made: NotShown, runtime: Runtime) -> None:
    from reports.causes.titles import title

    said = one_line(title(made.found, runtime.adapter.name), 160)
    note(f"not written: {made.found.number}. {said}: {one_line(made.why, 300)}")


def _write_table(loaded: Sequence[tuple[Runtime, Results]], output: Path | None, words: Sequence[str]) -> int:
    """The causes of all runtimes that have an entry in one order, each once, as many as the table has."""
    from opcert.commands.reproduced_issues import Bareground, NotShown, issues_of
    from opcert.vocabulary.harmless import for_shell
    from opcert.vocabulary.whole_files import write_text
    from reference.readings.disagreements import load_disagreements
    from reports.causes.failure_classes import fixing_order
    from reports.overview.headline import runtime_label
    from reports.upstream.issues import MOST, key_of_cause, table_of

    same = {
        disagreement.id: disagreement.same_as
        for disagreement in load_disagreements()
        if disagreement.same_as is not None
    }
    counts: dict[str, int] = {}
    holders: dict[str, dict[str, None]] = {}
    waiting: list[tuple[FailureClass, Runtime, Results, str]] = []
    for runtime, results in loaded:
        classes, label = _chosen(results, None), runtime_label(results.record)
        counts[label] = len(classes)
        for failures in classes:
            key = key_of_cause(failures, label, same)
            holders.setdefault(key, {})[label] = None
            if failures.known is None:
                continue  # its number is another one in the next run
            waiting.append((failures, runtime, results, key))
    waiting.sort(key=lambda one: fixing_order(one[0]))
    grounds: dict[str, Bareground] = {}
    issues: dict[str, Issue] = {}
    for failures, runtime, results, key in waiting:
        if key in issues:
            continue
        if len(issues) == MOST:
            break
        if runtime.text not in grounds:
            grounds[runtime.text] = Bareground(runtime, note)
        (made,) = issues_of(results, [failures], grounds[runtime.text])
        if isinstance(made, NotShown):
            _tell(made, runtime)
        else:
            also = tuple(label for label in holders[key] if label != runtime_label(results.record))
            issues[key] = replace(made, also=also)
    told = table_of(list(issues.values()), counts, for_shell(["opcert", "upstream", "--table", *words]))
    if output is None:
        say(told, end=False)
    else:
        say(str(write_text(output, told)))
    return int(ExitCode.HOLDS if issues else ExitCode.DOES_NOT_HOLD)
