"""Test a runtime against the operators' specs: run the suite, write report and certificate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.processes.confinement import files_with_answers
from conformance.processes.worker_limits import Limits
from opcert.commands import baseline_options, shared_options, verbosity
from opcert.commands.operator_completion import complete_suites
from opcert.commands.output_locks import check_record, lock_folder, lock_record
from opcert.commands.suite_argument import HELP
from opcert.commands.terminal import note, say
from opcert.vocabulary.errors import ExitCode

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from conformance.clusters.cluster import Cluster
    from conformance.recording.records import Record
    from conformance.runtimes.runtimes import Runtime
    from conformance.suite.suites import Suite
    from opcert.vocabulary.arithmetics import Arithmetic
    from reports.certificates.certificate import Certificate, Recorded
    from reports.gates.profiles import Profile
    from reports.results.case_results import Results
    from reports.results.standing import SuiteStanding


_MOST_REASONS = 5
"""So many reasons why a profile is not met are told without -v."""


@dataclass(frozen=True, kw_only=True)
class _Asked(shared_options.RunWords):
    """What the command line says."""

    operators: tuple[str, ...]
    suite_name: str | None
    opset: int | None
    profile_name: str | None
    key_path: Path | None
    record_path: Path | None
    again: bool


@click.command("certify")
@click.argument("runtime")
@click.argument("operators", nargs=-1, metavar="[OPERATOR]...", shell_complete=complete_suites)
@click.option("-s", "--suite", "suite_name", help=HELP)
@click.option(
    "--opset", type=int, help="ONNX's operators in the versions of this opset, instead of the newest taken."
)
@shared_options.specs
@shared_options.pattern
@shared_options.forms
@shared_options.arithmetic
@shared_options.profile
@click.option(
    "--key",
    "key_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A PEM file with an Ed25519 private key to sign the certificate with.",
)
@click.option(
    "--run",
    "record_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Certify this record, as `opcert run` or `opcert merge` wrote it, instead of running.",
)
@shared_options.known
@shared_options.beside
@shared_options.diagnose
@baseline_options.baseline
@baseline_options.update
@shared_options.jobs
@shared_options.scheduler
@click.option("--resume", is_flag=True, help="Go on with the run that has a record there already.")
@click.option(
    "--again", is_flag=True, help="Run again, even where the whole record of the same run is there."
)
@verbosity.verbose
@shared_options.timeout
@shared_options.python
@shared_options.upgrade
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Default: out/RUNTIME."
)
def command(**said: Any) -> int:
    """Certify RUNTIME: run a suite on it and write the report, JUnit and a certificate.

    RUNTIME is a built-in one (`opcert list runtimes`; `onnxruntime==1.20.1` for a version of it),
    `module:Backend`, a class with ONNX's Backend interface, or `exec:COMMAND`, a worker of your own. The
    suite is that of the newest opset that the runtime supports: every operator that has a reference. With
    OPERATOR (`Resize`, `Resize-18`) the run tests these operators alone.

    Without a profile the certificate states the results, and the exit code is 0. With a profile the exit
    code is 1 where the runtime does not meet it. A record given with --run is judged again first; where it
    does not hold, or is not whole, opcert writes no certificate and exits with 1. The certificate says where
    the suite has local changes.
    """
    job = _prepare(_Asked(**said))
    with job.open_suite() as opened:
        if opened.standing.kind == "changed":
            note(f"{opened.standing.text} The certificate states it.")
        results = job.find_results(opened)
        certificate = job.certificate_of(results, opened.standing)
        if isinstance(certificate, ExitCode):
            return int(certificate)
        report = _write_all(results, certificate, job.folder, job.key, job.asked.folders)
        known = ExitCode.HOLDS
        if job.asked.baseline is not None:
            known = baseline_options.apply_baseline(results, job.asked.baseline, job.asked.update_baseline)
    say(_state(certificate, opened.standing))
    say(f"report: {report}")
    say(f"record: {job.path}; beside the report certificate.json, certificate.html and its badge")
    return int(ExitCode.HOLDS if certificate.holds and known is ExitCode.HOLDS else ExitCode.DOES_NOT_HOLD)


@dataclass(frozen=True)
class _Opened:
    """The suite that is certified, how commands name it, whose it is, and the cluster that runs it."""

    suite: Suite
    named: str
    standing: SuiteStanding
    cluster: Cluster | None


@dataclass(frozen=True)
class _Job:
    """What is to be certified, by what, and where that is written; `given` is a record that is there."""

    asked: _Asked
    runtime: Runtime
    profile: Profile | None
    key: Ed25519PrivateKey | None
    folder: Path
    path: Path
    limits: Limits
    given: Record | None

    @property
    def arithmetic(self) -> Arithmetic | None:
        """What is asked for, or else what the profile demands."""
        if self.asked.arithmetic is not None or self.profile is None:
            return self.asked.arithmetic
        return self.profile.demanded_arithmetic

    @contextmanager
    def open_suite(self) -> Iterator[_Opened]:
        """The suite, and where one runs it the cluster, for as long as the context lasts."""
        from opcert.commands.first_look import FirstLook
        from opcert.commands.runtime_argument import chosen_cluster
        from opcert.commands.suite_argument import SuiteRequest, open_certified
        from opcert.commands.suite_standing import find_standing

        asked = self.asked
        digest = str(self.given.header.get("suite")) if self.given else ""
        looked_at = self.given is None and self.arithmetic is None
        # A record that is given was run before, and nothing is left for a cluster.
        with chosen_cluster(asked.scheduler if self.given is None else None) as cluster:
            request = SuiteRequest(
                asked.suite_name,
                asked.operators,
                asked.opset,
                asked.pattern,
                self.profile,
                asked.folders,
                cluster,
                asked.python,
                FirstLook(self.runtime, self.limits) if looked_at else None,
                self.arithmetic,
            )
            suite, named = open_certified(self.runtime, request, digest)
            with suite:
                yield _Opened(suite, named, find_standing(suite), cluster)

    def run(self, opened: _Opened) -> Record:
        """Run the suite, or go on with a run of it."""
        from conformance.running.resuming import RecordPlace, WrittenRecords
        from conformance.running.run_options import RunOptions, RunRequest
        from opcert.commands.running import record_run
        from opcert.commands.runtime_argument import forms_to_run

        asked = self.asked
        chosen = forms_to_run(asked.forms, self.runtime)
        options = RunOptions(jobs=asked.jobs, forms=chosen, limits=self.limits, identify=True)
        place = RecordPlace(self.path, asked.resume, written=WrittenRecords(self.runtime, again=asked.again))
        request = RunRequest(opened.suite, self.runtime, options)
        return record_run(request, place, ours=True, cluster=opened.cluster, python=asked.python)

    def find_results(self, opened: _Opened) -> Results:
        """The results of the run, or of the record that is given, with everything that is known of them."""
        from opcert.commands.cause_finding import with_experiments, with_known_causes, with_others
        from opcert.commands.met_arithmetics import with_met_arithmetics
        from opcert.commands.operator_facts import with_operator_facts
        from opcert.commands.run_summary import run_error
        from opcert.commands.runtime_argument import seconds_of_experiments
        from reports.gates.baseline import excuse, read_baseline
        from reports.results.case_results import put_together

        asked, folders, files = self.asked, self.asked.folders, self.asked.known_files
        record = self.run(opened) if self.given is None else self.given
        known_before = None
        if asked.baseline is not None and asked.baseline.exists():
            known_before = read_baseline(asked.baseline)
        results = with_operator_facts(put_together(opened.suite, record, opened.named), folders)
        results = with_met_arithmetics(results, folders)
        results = with_others(with_known_causes(results, folders, files), asked.beside_paths)
        if self.given is None and run_error(record) is None:
            seconds = seconds_of_experiments(asked.diagnose_seconds, asked.scheduler)
            results = with_experiments(results, self.runtime, self.limits, folders, seconds, files=files)
        return excuse(results, self.profile, known_before)

    def certificate_of(self, results: Results, standing: SuiteStanding) -> Certificate | ExitCode:
        """The certificate, with the summary said; where there can be none why not, and what to answer."""
        from opcert.commands.run_summary import MOST_LINES, format_summary, run_error, state_error
        from reports.certificates.certificate import make_certificate

        most = None if verbosity.is_verbose() else MOST_LINES
        broken = run_error(results.record)
        if self.given is None or broken is not None:
            say(format_summary(results, most))
        if broken is not None:
            told = f"{state_error(results.record)}\nno certificate is written; record: {self.path}"
            say(told, error=True)
            return broken
        recorded: Recorded = "here" if self.given is None else "elsewhere"
        certificate = make_certificate(results, self.profile, standing=standing, recorded=recorded)
        if self.given is not None:
            if _refuse_false(results):
                return ExitCode.DOES_NOT_HOLD
            say(format_summary(results, most))
        return certificate


def _prepare(asked: _Asked) -> _Job:
    """Look at everything that the command line names, and lock what is written; raises UserError."""
    from opcert.commands.cause_finding import check_named
    from opcert.commands.profile_argument import demanded_profile
    from opcert.commands.runtime_argument import runtime_for
    from reports.certificates.certificate_files import load_private_key

    _check_usage(asked)
    check_named(asked.known_files, asked.beside_paths)
    profile = demanded_profile(asked.profile_name, asked.folders)
    key = load_private_key(asked.key_path) if asked.key_path is not None else None
    baseline_options.check_usage(asked.baseline, asked.update_baseline)
    runtime = runtime_for(asked.runtime, asked.python, asked.upgrade, asked.scheduler)
    folder = asked.output or Path("out") / runtime.slug
    lock_folder(folder, "the record")
    if asked.record_path is not None:
        lock_record(asked.record_path)
    path = asked.record_path or folder / "run.jsonl"
    check_record(path)
    hidden = files_with_answers(
        Path(asked.suite_name) if asked.suite_name else None, *asked.folders, folder, path
    )
    limits = Limits(case_seconds=asked.timeout, hidden=hidden)
    given = _read_given(asked.record_path, runtime)
    return _Job(asked, runtime, profile, key, folder, path, limits, given)


def _check_usage(asked: _Asked) -> None:
    """Raise UserError where options contradict each other."""
    from opcert.vocabulary.errors import UserError

    if asked.resume and asked.again:
        raise UserError("--resume goes on with a run, and --again runs anew", expected="one of them")
    given = {"-k": asked.pattern, "--forms": asked.forms, "--resume": asked.resume, "--again": asked.again}
    idle = [name for name, value in given.items() if value]
    if asked.record_path is not None and idle:
        raise UserError(
            "a record that is given is not run again",
            got=f"--run with {', '.join(idle)}",
            expected="--run alone, or no --run",
        )


def _write_all(
    results: Results,
    certificate: Certificate,
    folder: Path,
    key: Ed25519PrivateKey | None,
    folders: tuple[Path, ...],
) -> Path:
    """Write the report, JUnit and the certificate with its page and badge; the report's place."""
    from conformance.judging.kept_diagnosis import FILE as DIAGNOSIS
    from opcert.commands.derived_files import remove_derived
    from opcert.commands.explaining import explain_run
    from reports.certificates.badges import write_certificate_badge
    from reports.certificates.certificate_files import key_id, write_certificate
    from reports.certificates.certificate_page import write_certificate_page
    from reports.formats import write_format

    if any(result.fails for result in results.cases):
        note("looking for what the failures resemble")
    remove_derived(folder, ours=True, but=(DIAGNOSIS,))
    explain_run(results, folders)
    report = write_format("html", results, folder)
    write_format("junit", results, folder)
    write_certificate(certificate, folder / "certificate.json", key)
    write_certificate_page(certificate, folder, key_id(key.public_key()) if key else None)
    write_certificate_badge(certificate, folder)
    return report


def _read_given(path: Path | None, runtime: Runtime) -> Record | None:
    """The record that is to be certified; UserError where it is of another runtime."""
    from conformance.recording.records import read_record
    from opcert.vocabulary.errors import Place, UserError
    from reports.certificates.record_shape import check_shape
    from reports.results.told_facts import mapping, text

    if path is None:
        return None
    record = read_record(path)
    if record.footer is not None:  # what has none is refused as partial, with every other reason
        check_shape(record)
    source = text(mapping(record.header.get("runtime")).get("source"))
    if source != runtime.text:
        raise UserError(
            "the record is of another runtime", got=source, expected=runtime.text, where=Place(str(path))
        )
    return record


def _refuse_false(results: Results) -> bool:
    """Whether a record that was given is not what its own outputs show; each difference is printed."""
    from conformance.recording.records import day_to_come
    from opcert.vocabulary.harmless import one_line
    from reports.certificates.record_shape import find_odd_lines, find_wrong_days
    from reports.certificates.rejudging import judge_again

    record = results.record
    problems = [*find_odd_lines(record), *find_wrong_days(record), *judge_again(results).problems]
    day = day_to_come(str((record.footer or {}).get("finished")))
    if day:
        told = f"the run ended on {day}, which is not yet by this machine's clock"
        problems.append(f"{told}: set it right, or run again where the clock was wrong that the run had")
    for problem in problems:
        say(one_line(f"does not hold: {problem}", 600), error=True)
    if problems:
        say(f"the record {record.path} does not hold: nothing is certified", error=True)
    return bool(problems)


def _state(certificate: Certificate, standing: SuiteStanding) -> str:
    """What the certificate says of the profile, in lines, and of a suite with local changes."""
    result = certificate.profile
    if result is None:
        lines = ["certificate: states what holds; no profile was demanded"]
    elif result.met:
        lines = [f"certificate: profile {result.profile.profile} is met"]
    else:
        lines = [f"certificate: profile {result.profile.profile} is not met"]
        told = result.reasons if verbosity.is_verbose() else result.reasons[:_MOST_REASONS]
        lines += [f"  {each}" for each in told]
        if len(told) < len(result.reasons):
            lines.append(f"  and {len(result.reasons) - len(told)} more, which certificate.html has")
    return "\n".join([*lines, f"suite: {standing.text}"] if standing.kind == "changed" else lines)
