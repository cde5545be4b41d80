"""Check a worker against the protocol, and list what its runtime supports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from conformance.processes.worker_limits import Limits
from opcert.commands import shared_options
from opcert.commands.terminal import say
from opcert.vocabulary.errors import ExitCode
from opcert.vocabulary.harmless import one_line

if TYPE_CHECKING:
    from conformance.doctor.examination import WorkerExamination
    from conformance.doctor.patient import Abilities
    from conformance.running.requests import Offer
    from conformance.suite.cases import Case

_LONGEST = 2_000
_MARKS = {True: "ok", False: "FAILS", None: "not looked"}


@click.command("doctor", help=__doc__)
@click.argument("runtime")
@click.option(
    "-s", "--suite", "suite_name", help="Where to find a case for a runtime that does not take Identity."
)
@shared_options.python
@shared_options.start_timeout
@shared_options.timeout
@shared_options.network
def command(
    runtime: str,
    suite_name: str | None,
    python: str | None,
    start_timeout: float,
    timeout: float,
    network: bool,
) -> int:
    # Imported here, so that --help does not wait for them.
    from conformance.doctor.examination import examine
    from opcert.commands.command_progress import choose_progress
    from opcert.commands.runtime_argument import choose_runtime

    limits = Limits(start_seconds=start_timeout, case_seconds=timeout, network=network)
    found = examine(
        choose_runtime(runtime, python, False), limits, partial(_cases, suite_name), choose_progress()
    )
    say(describe_diagnosis(found))
    if not found.sound:
        say("\nWhat a worker promises: docs/reference.md, The worker protocol")
    return int(ExitCode.HOLDS if found.sound else ExitCode.RUNTIME_UNAVAILABLE)


def _cases(suite_name: str | None, offer: Offer) -> Iterator[Case]:
    """Cases to try a worker with: of the suite, or of the operators that it offers, made one by one."""
    from conformance.doctor.examination import one_of_each_type
    from opcert.commands.suite_argument import resolve_suite

    if suite_name is not None:
        with resolve_suite(suite_name) as suite:
            yield from one_of_each_type(suite.cases())
        return
    from generator.asking.named_operators import referenced_operators
    from generator.making.operators.opsets import default_operators, newest_versions
    from generator.making.operators.workshop import Options
    from generator.making.suites.operator_cases import generate_operator

    for operator in dict.fromkeys((*default_operators(), *newest_versions(referenced_operators()))):
        if offer.takes_operator_as(operator) is not None:
            yield from one_of_each_type(generate_operator(operator, Options.of("small")).cases)


def _abilities(found: Abilities) -> list[tuple[str, str]]:
    """What calls of Identity showed, in rows; none for a runtime that takes no ONNX model."""
    rows = []
    if found.carried:
        rows.append(("carries", ", ".join(found.carried)))
    if found.lost:
        rows.append(("does not carry", ", ".join(found.lost)))
    if found.opsets:
        oldest, newest = found.opsets
        rows.append(("ai.onnx opsets", f"{oldest} to {newest}"))
    return rows


def _surroundings(confinement: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the worker reaches, writes and sees, in rows, with the reason where that is more than wanted."""
    rows = []
    for name, key in (
        ("network", "reason"),
        ("files", "files_reason"),
        ("processes", "processes_reason"),
        ("expected", "expected_reason"),
    ):
        reason = confinement[key]
        rows.append((name, str(confinement[name]) + (f": {reason}" if reason else "")))
    return rows


def describe_diagnosis(found: WorkerExamination) -> str:
    """What the doctor found, in lines."""
    offer = found.offer
    types = "all" if offer.element_types is None else ", ".join(sorted(offer.element_types))
    rows = [
        ("runtime", f"{offer.name} {offer.version}"),
        ("starts in", f"{found.seconds_to_start:.2f} s"),
        ("domains", ", ".join(f"{name} as {how}" for name, how in offer.domains.items())),
        ("forms", ", ".join(offer.forms)),
        ("devices", ", ".join(map(str, offer.facts.get("devices", ()))) or "not said"),
        ("element types", types),
        *_abilities(found.abilities),
        *_surroundings(found.confinement),
    ]
    platform = {**(offer.facts.get("platform") or {}), **found.environment}
    rows += [(one_line(name), str(value)) for name, value in sorted(platform.items()) if name != "packages"]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name.ljust(width)}  {one_line(value, _LONGEST)}" for name, value in rows] + [""]
    for check in found.checks:
        detail = f" ({one_line(check.detail, _LONGEST)})" if check.detail else ""
        lines.append(f"{_MARKS[check.ok].ljust(10)}  {check.name}{detail}")
    return "\n".join(lines)
