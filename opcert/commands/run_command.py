"""Run a suite on a runtime, each case in a process that may crash, and record what happened."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.processes.hidden_files import files_with_answers
from conformance.processes.worker_limits import Limits
from opcert.commands import baseline_options, shared_options, verbosity
from opcert.commands.output_locks import lock_record
from opcert.commands.terminal import say

if TYPE_CHECKING:
    from reports.results.case_results import Results


@click.command("run", help=__doc__)
@click.argument("runtime")
@shared_options.suite
@shared_options.specs
@shared_options.pattern
@shared_options.jobs
@shared_options.scheduler
@shared_options.forms
@click.option("--repeat", type=click.IntRange(1, 1000), default=1, help="Run every case so many times.")
@shared_options.timeout
@shared_options.start_timeout
@click.option(
    "--memory",
    type=click.FloatRange(0.01, 4096),
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
def command(
    runtime: str,
    suite_name: str,
    folders: tuple[Path, ...],
    pattern: str | None,
    jobs: int | None,
    scheduler: shared_options.Scheduler | None,
    forms: str | None,
    repeat: int,
    timeout: float,
    start_timeout: float,
    memory: float,
    network: bool,
    known_files: tuple[Path, ...],
    beside_paths: tuple[Path, ...],
    diagnose_seconds: float | None,
    max_failures: int | None,
    shard: str | None,
    resume: bool,
    identify: bool,
    baseline: Path | None,
    update_baseline: bool,
    python: str | None,
    upgrade: bool,
    output: Path | None,
) -> int:
    # Imported here, so that --help does not wait for them.
    from conformance.running.first_worker import first_worker
    from opcert.commands.cluster_argument import chosen_cluster, runtime_for, seconds_of_experiments
    from opcert.commands.runtime_argument import forms_to_run

    baseline_options.check_usage(baseline, update_baseline)
    tested = runtime_for(runtime, python, upgrade, scheduler)
    path = output or Path("out") / tested.slug / "run.jsonl"
    hidden = files_with_answers(Path(suite_name), *folders, path)
    limits = Limits(start_timeout, timeout, int(memory * (1 << 30)), network=network, hidden=hidden)
    lock_record(path)
    begun = first_worker(tested, limits) if scheduler is None else nullcontext()
    with chosen_cluster(scheduler) as cluster, begun as first:
        # Imported here, because the runtime starts in the meantime.
        from conformance.running.resuming import RecordPlace
        from conformance.running.run_options import RunOptions, RunRequest
        from conformance.suite.shards import Shard
        from opcert.commands.cause_finding import with_experiments, with_known_causes, with_others
        from opcert.commands.run_summary import MOST_LINES, exit_code, run_error, state_error, summarise
        from opcert.commands.running import record_run
        from opcert.commands.suite_argument import resolve_suite, suite_name_for_commands

        part = None if shard is None else Shard.parse(shard)
        chosen = forms_to_run(forms, tested)
        options = RunOptions(
            pattern, jobs, chosen, repeat, limits, max_failures, shard=part, identify=identify
        )
        with resolve_suite(suite_name, folders=folders, cluster=cluster) as suite:
            request, place = RunRequest(suite, tested, options), RecordPlace(path, resume)
            record = record_run(
                request, place, ours=output is None, first=first, cluster=cluster, python=python
            )
            name = suite_name_for_commands(suite_name, suite, folders)

            def causes(found: Results) -> Results:
                explained = with_others(with_known_causes(found, folders, known_files), beside_paths)
                seconds = seconds_of_experiments(diagnose_seconds, scheduler)
                return with_experiments(
                    explained, tested, limits, folders, seconds, resume, files=known_files
                )

            say(summarise(suite, record, name, causes, most=None if verbosity.is_verbose() else MOST_LINES))
            answer = exit_code(record)
            if run_error(record) is not None:
                say(state_error(record), error=True)
            elif baseline is not None:
                from reports.results.case_results import put_together

                results = with_known_causes(put_together(suite, record, name), folders, known_files)
                answer = baseline_options.apply_baseline(results, baseline, update_baseline)
    say(f"record: {path}")
    return int(answer)
