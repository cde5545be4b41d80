"""Certify a runtime: generate if needed, run, report and state what holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.limits import Limits
from opcert.commands import shared_options
from opcert.errors import ExitCode

if TYPE_CHECKING:
    from reports.certificate import Certificate


@click.command("certify")
@click.argument("runtime")
@shared_options.suite
@click.option("--profile", "profile_name", help="What to demand: a profile's name, or its YAML file.")
@shared_options.jobs
@shared_options.timeout
@shared_options.python
@shared_options.upgrade
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Default: out/RUNTIME."
)
def command(
    runtime: str,
    suite_name: str,
    profile_name: str | None,
    jobs: int,
    timeout: float,
    python: str | None,
    upgrade: bool,
    output: Path | None,
) -> int:
    """Certify RUNTIME: run the suite on it and write the report, JUnit and a certificate.

    RUNTIME is a built-in one (`onnxruntime`, `onnx`, `openvino`, `tensorflow`; `onnxruntime==1.20.1` for a
    version of it) or `module:Backend`, a class with ONNX's Backend interface. Without a profile the
    certificate states what holds, and the answer is 0; with one it demands it, and the answer is 1 where it
    is not met.
    """
    # Imported here, so that --help does not wait for them.
    from conformance.run_options import RunOptions
    from opcert.commands.explaining import explain_run
    from opcert.commands.run_summary import format_summary, run_error, state_error
    from opcert.commands.running import REPORTS, choose_runtime, record_run
    from opcert.commands.suite_argument import resolve_suite
    from reports.certificate import make_certificate, write_certificate
    from reports.formats import write_format
    from reports.profiles import load_profile
    from reports.results import put_together

    profile = load_profile(profile_name) if profile_name is not None else None
    found = choose_runtime(runtime, python, upgrade)
    folder = output or Path("out") / found.slug
    path = folder / "run.jsonl"
    options = RunOptions(jobs=jobs, limits=Limits(case_seconds=timeout))
    with resolve_suite(suite_name) as suite:
        record = record_run(suite, found, path, options, [folder / each for each in REPORTS])
        results = put_together(suite, record, suite_name)
        click.echo(format_summary(results))
        broken = run_error(record)
        if broken is not None:
            click.echo(f"{state_error(record)}\nno certificate is written; record: {path}", err=True)
            return int(broken)
        if any(each.fails for each in results.cases):
            click.echo("opcert: looking for what the failures resemble", err=True)
        explain_run(results)
        report = write_format("html", results, folder)
        write_format("junit", results, folder)
        certificate = make_certificate(results, profile)
        write_certificate(certificate, folder / "certificate.json")
    click.echo(_state(certificate))
    click.echo(f"report: {report}")
    return int(ExitCode.HOLDS if certificate.holds else ExitCode.DOES_NOT_HOLD)


def _state(certificate: Certificate) -> str:
    """What the certificate says of the profile, in lines."""
    result = certificate.profile
    if result is None:
        return "certificate: states what holds; no profile was demanded"
    if result.met:
        return f"certificate: profile {result.profile.profile} is met"
    return "\n".join(
        [
            f"certificate: profile {result.profile.profile} is not met",
            *(f"  {each}" for each in result.reasons),
        ]
    )
