"""Run a suite on a runtime, each test case in a process that may crash, and record the verdicts."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.processes.confinement import files_with_answers
from conformance.processes.worker_limits import Limits
from opcert.commands import baseline_options, shared_options, verbosity
from opcert.commands.output_locks import lock_record
from opcert.commands.terminal import say

if TYPE_CHECKING:
    from conformance.recording.records import Record
    from conformance.running.run_options import RunOptions, RunRequest
    from conformance.runtimes.runtimes import Runtime
    from opcert.vocabulary.errors import ExitCode
    from reports.results.case_results import Results


@dataclass(frozen=True, kw_only=True)
class _Asked(shared_options.RunWords):
    """What the command line says."""

    suite_name: str
    repeat: int
    load_timeout: float | None
    start_timeout: float
    memory: float
    network: bool
    max_failures: int | None
    shard: str | None
    identify: bool


@click.command("run", help=__doc__)
@click.argument("runtime")
@shared_options.suite
@shared_options.specs
@shared_options.pattern
@shared_options.jobs
@shared_options.scheduler
@shared_options.forms
@click.option("--repeat", type=click.IntRange(1, 1000), default=1, help="Run every case so many times.")
@shared_options.arithmetic
@shared_options.timeout
@shared_options.load_timeout
@shared_options.start_timeout
@click.option(
    "--memory",
    type=shared_options.NumberRange(0.01, 4096),
    default=Limits.resident_bytes / (1 << 30),
    help="GiB of resident memory for each worker.",
)
@shared_options.network
@shared_options.known
@shared_options.beside
@shared_options.diagnose
@click.option("--max-failures", type=click.IntRange(1), help="End the run after so many failing cases.")
@click.option("--shard", metavar="I/N", help="Run part I of N alone; `opcert merge` puts the parts together.")
@click.option(
    "--resume",
    is_flag=True,
    help="Go on with the run whose record is there already, and with experiments that came to no end.",
)
@click.option("--identify", is_flag=True, help="Record which files the runtime loads, for a certificate.")
@baseline_options.baseline
@baseline_options.update
@verbosity.verbose
@shared_options.python
@shared_options.upgrade
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The record. Default: out/RUNTIME/run.jsonl.",
)
def command(**said: Any) -> int:
    # Imported here, so that --help does not wait for them.
    from conformance.running.first_worker import first_worker
    from opcert.commands.cause_finding import check_named
    from opcert.commands.runtime_argument import chosen_cluster, runtime_for

    asked = _Asked(**said)
    baseline_options.check_usage(asked.baseline, asked.update_baseline)
    check_named(asked.known_files, asked.beside_paths)
    tested = runtime_for(asked.runtime, asked.python, asked.upgrade, asked.scheduler)
    path = asked.output or Path("out") / tested.slug / "run.jsonl"
    hidden = files_with_answers(Path(asked.suite_name), *asked.folders, path)
    resident = int(asked.memory * (1 << 30))
    limits = Limits(
        asked.start_timeout,
        asked.timeout,
        resident,
        network=asked.network,
        hidden=hidden,
        load_seconds=asked.load_timeout,
    )
    lock_record(path)
    begun = first_worker(tested, limits) if asked.scheduler is None else nullcontext()
    with chosen_cluster(asked.scheduler) as cluster, begun as first:
        # Imported here, because the runtime starts in the meantime.
        from conformance.running.resuming import RecordPlace
        from conformance.running.run_options import RunRequest
        from opcert.commands.first_look import FirstLook
        from opcert.commands.running import record_run
        from opcert.commands.suite_argument import for_arithmetic, resolve_suite

        options = _options(asked, tested, limits)
        look = FirstLook(tested, limits) if asked.arithmetic is None else None
        folders, pattern = asked.folders, asked.pattern
        given = resolve_suite(asked.suite_name, folders=folders, cluster=cluster, look=look, pattern=pattern)
        with for_arithmetic(given, asked.arithmetic, folders, pattern) as suite:
            request, place = RunRequest(suite, tested, options), RecordPlace(path, asked.resume)
            ours = asked.output is None
            record = record_run(request, place, ours=ours, first=first, cluster=cluster, python=asked.python)
            answer = _tell(asked, request, record)
    say(f"record: {path}")
    return int(answer)


def _options(asked: _Asked, tested: Runtime, limits: Limits) -> RunOptions:
    from conformance.running.run_options import RunOptions
    from conformance.suite.case_selection import Shard
    from opcert.commands.runtime_argument import forms_to_run

    return RunOptions(
        asked.pattern,
        asked.jobs,
        forms_to_run(asked.forms, tested),
        asked.repeat,
        limits,
        asked.max_failures,
        shard=None if asked.shard is None else Shard.parse(asked.shard),
        identify=asked.identify,
    )


def _tell(asked: _Asked, request: RunRequest, record: Record) -> ExitCode:
    """Look for causes, say what the run showed, and hold it against the baseline; what to answer."""
    from opcert.commands.cause_finding import with_experiments, with_known_causes, with_others
    from opcert.commands.run_summary import MOST_LINES, exit_code, run_error, state_error, summarise
    from opcert.commands.runtime_argument import seconds_of_experiments
    from opcert.commands.suite_argument import suite_name_for_commands
    from reports.results.case_results import put_together

    suite, folders, files = request.suite, asked.folders, asked.known_files
    name = suite_name_for_commands(asked.suite_name, suite, folders)

    def causes(found: Results) -> Results:
        explained = with_others(with_known_causes(found, folders, files), asked.beside_paths)
        seconds = seconds_of_experiments(asked.diagnose_seconds, asked.scheduler)
        limits = request.options.limits
        return with_experiments(
            explained, request.runtime, limits, folders, seconds, asked.resume, files=files
        )

    say(summarise(suite, record, name, causes, most=None if verbosity.is_verbose() else MOST_LINES))
    if run_error(record) is not None:
        say(state_error(record), error=True)
    elif asked.baseline is not None:
        results = with_known_causes(put_together(suite, record, name), folders, files)
        return baseline_options.apply_baseline(results, asked.baseline, asked.update_baseline)
    return exit_code(record)
