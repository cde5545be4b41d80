"""Check a model: does each runtime compute its nodes as the operators' specs say?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from opcert.commands import baseline_options, shared_options
from opcert.commands.output_locks import lock_folder
from opcert.commands.terminal import note, say
from opcert.vocabulary.errors import ExitCode, NothingRan, UserError, unwritable
from opcert.vocabulary.names import slug

if TYPE_CHECKING:
    from conformance.clusters.cluster import Cluster
    from conformance.processes.worker_limits import Limits
    from conformance.running.first_worker import FirstWorker
    from conformance.runtimes.runtimes import Runtime
    from conformance.suite.suites import Suite
    from opcert.commands.asked_runtimes import RuntimeRuns
    from opcert.commands.checked_model import CheckedModel
    from reports.checked_models.model_check import ModelCheck
    from reports.gates.profiles import Profile

FORMATS = ("html", "json", "sarif", "markdown", "junit")
_WRITTEN = {
    "index.html": rb'<span class="brand">opcert check</span>',
    "check.json": rb'"format": "opcert-check/',
    "check.sarif": rb'"id": "opcert check/',
    "check.md": rb" nodes? makes? \S+ distinct calls? of ",
    "junit.xml": rb'<testsuites name="opcert check ',
}
"""The files that `check` writes, and what ours of that name hold."""


@dataclass(frozen=True)
class _Asked:
    """What the command line says."""

    model: Path
    runtimes: tuple[str, ...]
    inputs: str | None
    chains: bool
    require_coverage: bool
    profile_name: str | None
    known_files: tuple[Path, ...]
    diagnose_seconds: float | None
    baseline: Path | None
    update_baseline: bool
    jobs: int
    scheduler: shared_options.Scheduler | None
    timeout: float
    python: str | None
    upgrade: bool
    formats: tuple[str, ...]
    output: Path | None

    @property
    def folder(self) -> Path:
        return self.output or Path("out") / "check" / slug(self.model.stem)


@click.command("check")
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--on",
    "runtimes",
    multiple=True,
    metavar="RUNTIME",
    help="A runtime to check, such as onnxruntime; may be given several times.  [required]",
)
@click.option(
    "--inputs",
    "inputs",
    metavar="FOLDER|random",
    help="Run the model itself, too, with the values in a folder (NAME.npy, inputs.npz, input_N.pb) or with "
    "random ones, and judge what each node gives for what it took.",
)
@click.option(
    "--chains/--no-chains",
    default=True,
    help="Test nodes in a row as well, which runtimes fuse.  [default: chains]",
)
@click.option(
    "--require-coverage",
    is_flag=True,
    help="Exit with 1, too, where not all of the model could be checked.",
)
@shared_options.profile
@shared_options.known
@shared_options.diagnose
@baseline_options.baseline
@baseline_options.update
@shared_options.jobs_of_calls
@shared_options.scheduler
@shared_options.timeout
@shared_options.python
@shared_options.upgrade
@shared_options.formats(FORMATS, "html", "json")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Default: out/check/MODEL."
)
def command(**said: Any) -> int:
    """Say for each node of MODEL, an ONNX file, whether runtimes compute what the operators' specs say.

    opcert loads the model on each runtime, and runs it only with --inputs. For each distinct call of its
    nodes (operator version, attributes, dtypes, ranks, constants) it generates test cases with exact
    expected outputs, and one case for nodes in a row. Every runtime runs them, with and without its own
    optimisation where that can be switched off. The result for each node: conformant, wrong, rejected, or
    crashes the runtime; or not covered, with the reason.

    The exit code is 0 where the model loads and nothing speaks against it on any runtime (the last line says
    whether all of it was checked); with a profile, where that is met; with a baseline, where only known
    cases fail. With --scheduler a cluster generates and runs the cases, with the same results; chains are
    made here.
    """
    # Imported here, so that --help does not wait for them.
    from conformance.processes.worker_limits import Limits
    from conformance.running.first_worker import first_worker
    from opcert.commands.profile_argument import demanded_profile
    from opcert.commands.runtime_argument import chosen_cluster

    asked = _Asked(**said)
    profile = demanded_profile(asked.profile_name)
    baseline_options.check_usage(asked.baseline, asked.update_baseline)
    chosen = _runtimes(asked)
    limits = Limits(case_seconds=asked.timeout)
    begun = first_worker(chosen[0], limits) if asked.scheduler is None else nullcontext()
    with chosen_cluster(asked.scheduler) as cluster, begun as first:
        # Imported here, because the runtime starts in the meantime.
        from conformance.checked_models.model_reading import read_model
        from generator.models.check.whole_model import check_inputs
        from opcert.commands.asked_runtimes import load_on, source_of
        from opcert.commands.checked_model import make_checked, open_suite_of
        from reports.checked_models.check_summary import model_line

        facts = read_model(asked.model)
        note(model_line(facts))
        if asked.inputs is not None:
            check_inputs(facts, asked.model, source_of(asked.inputs))
        # On a cluster the model itself is not loaded.
        whole = chosen if cluster is None else ()
        loads = [load_on(runtime, facts, asked.model, asked.timeout) for runtime in whole]
        checked = make_checked(facts, chains=asked.chains, cluster=cluster)
        lock_folder(asked.folder, "the check")
        _remove_check(asked.folder)
        with open_suite_of(checked, asked.folder / "suite") as suite:
            every = _ask(asked, chosen, checked, suite, limits, cluster, first)
            every = [replace(runs, load=load) for runs, load in zip_longest(every, loads)]
            return _tell(asked, checked, every, profile)


def _runtimes(asked: _Asked) -> list[Runtime]:
    """The runtimes to ask; raises UserError where what is asked of them contradicts itself."""
    from opcert.commands.failures import program
    from opcert.commands.runtime_argument import runtime_for

    if not asked.runtimes:
        raise UserError(
            "no runtime is named that is to load and run the model",
            expected="at least one --on RUNTIME",
            remedy=f"For example: {program()} check {shlex.quote(str(asked.model))} --on onnxruntime "
            "(`opcert list runtimes` names them all).",
        )
    if asked.scheduler is not None and asked.inputs is not None:
        raise UserError(
            "--inputs runs the model itself, which no cluster is given",
            expected="--scheduler or --inputs, not both",
        )
    names = dict.fromkeys(asked.runtimes)
    chosen = [runtime_for(name, asked.python, asked.upgrade, asked.scheduler) for name in names]
    if asked.baseline is not None and len(chosen) > 1:
        raise UserError("a baseline is of one runtime", got=f"{len(chosen)} with --on", expected="one")
    return chosen


def _ask(
    asked: _Asked,
    chosen: Sequence[Runtime],
    checked: CheckedModel,
    suite: Suite | None,
    limits: Limits,
    cluster: Cluster | None,
    first: FirstWorker | None,
) -> list[RuntimeRuns]:
    """Let each runtime answer the cases of the model's calls, and where that is due run the model."""
    from opcert.commands.asked_runtimes import (
        RANDOM,
        Asking,
        ask_runtime,
        beside_each_other,
        with_causes,
        with_numbers,
    )
    from opcert.commands.runtime_argument import seconds_of_experiments

    facts, model, timeout = checked.facts, asked.model, asked.timeout
    seconds = seconds_of_experiments(asked.diagnose_seconds, asked.scheduler)
    asking = Asking(asked.folder, asked.jobs, limits, asked.known_files, seconds, cluster, asked.python)
    every = [
        ask_runtime(runtime, suite, checked.forms, asking, None if number else first)
        for number, runtime in enumerate(chosen)
    ]
    every = with_causes(every, asking)
    # A model of which nothing is known is run nonetheless: what runtimes say may differ.
    unknown = not checked.forms and cluster is None
    if asked.inputs is None and not unknown:
        return every
    given, owed = (RANDOM, False) if asked.inputs is None else (asked.inputs, True)
    every = [with_numbers(runs, facts, model, given, timeout, owed=owed) for runs in every]
    return beside_each_other(every)


def _tell(asked: _Asked, checked: CheckedModel, every: Sequence[RuntimeRuns], profile: Profile | None) -> int:
    """Write and say what the runtimes make of the model; the exit code."""
    from opcert.commands.asked_runtimes import answers_of
    from opcert.commands.failures import program
    from reports.checked_models.check_files import write_check
    from reports.checked_models.check_summary import format_check
    from reports.checked_models.model_check import ModelCheck, coverage_line, coverage_of

    rows = checked.chains
    answers = tuple(answers_of(checked.calls, runs, rows.chains) for runs in every)
    check = ModelCheck(checked.facts, checked.calls, answers, rows.chains, rows.cut)
    files = write_check(check, asked.formats, asked.folder)
    say(format_check(check, program()))
    for name, path in files.items():
        say(f"{'report' if name == 'html' else name}: {path}")
    coverage = coverage_of(check)
    try:
        code = _answer(check, every, profile, asked.baseline, asked.update_baseline)
    finally:
        say(coverage_line(coverage))
    incomplete = asked.require_coverage and not coverage.complete
    return int(ExitCode.DOES_NOT_HOLD) if code == ExitCode.HOLDS and incomplete else code


def _answer(
    check: ModelCheck,
    every: Sequence[RuntimeRuns],
    profile: Profile | None,
    baseline: Path | None,
    updating: bool,
) -> int:
    from reports.checked_models.model_check import nothing_known

    errors = [runs.error for runs in every if runs.error is not None]
    if errors:
        return int(ExitCode.INTERNAL if ExitCode.INTERNAL in errors else ExitCode.RUNTIME_UNAVAILABLE)
    if nothing_known(check):
        raise NothingRan(
            "nothing is known of any node of this model",
            remedy="The answer above says why.",
        )
    holds = check.holds
    if profile is not None:
        # Imported here, because most checks have no profile.
        from opcert.commands.profile_argument import meets

        met = [meets(profile, runs.results) for runs in every if runs.results is not None]
        holds = all(met)
    elif baseline is not None and every[0].results is not None:
        found = baseline_options.apply_baseline(every[0].results, baseline, updating)
        holds = found is ExitCode.HOLDS
    return int(ExitCode.HOLDS if holds else ExitCode.DOES_NOT_HOLD)


def _remove_check(folder: Path) -> None:
    """Remove the files of an earlier check, so that none speaks of another run; what is not ours stays.

    Raises UserError where that cannot be done.
    """
    for name, mark in _WRITTEN.items():
        path = folder / name
        try:
            if path.is_file() and not path.is_symlink() and re.search(mark, path.read_bytes()):
                path.unlink()
        except OSError as error:
            raise unwritable("what was made from an earlier check", path, error) from error
