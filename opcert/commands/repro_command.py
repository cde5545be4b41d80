"""Write a folder that reproduces one test case without opcert."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands import shared_options
from opcert.commands.output_locks import lock_folder
from opcert.commands.terminal import say
from opcert.vocabulary.errors import ExitCode
from opcert.vocabulary.harmless import for_shell
from opcert.vocabulary.names import DEFAULT_SUITE, CaseId, OperatorName

if TYPE_CHECKING:
    from conformance.suite.suites import Suite

_FORMS = ("inputs", "initializers", "dynamic", "strided", "again", "untouched", "threads")


@click.command("repro")
@click.argument("case")
@shared_options.suite
@shared_options.specs
@click.option(
    "--form",
    type=click.Choice(_FORMS),
    help="The form in which it fails, where it does not in the runtime's first one.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="A folder; without it, repro/<operator>-<case>."
)
def command(
    case: str, suite_name: str, folders: tuple[Path, ...], form: str | None, output: Path | None
) -> int:
    """Write a folder that reproduces CASE, a case id, with numpy, onnx and the runtime alone.

    It holds the model in each form of a run, the inputs, what is expected, and reproduce.py, which ends in
    1 where the failure reproduces, in 0 where the runtime does what must happen, and in 2 where it cannot
    be tried or the runtime says that it does not offer it. Unless a suite is named, the case is
    one of those that are made of its operator version.
    """
    from reports.single_cases.case_folder import write_reproduction

    found = CaseId.parse(case)
    word = f"{found.word}-" if found.word else ""
    folder = output or Path("repro") / f"{found.operator.short}-{word}{found.digest}"
    lock_folder(folder, "the case")
    with _open_suite(found.operator, suite_name, folders) as opened:
        script = write_reproduction(opened, str(found), folder, form)
    say(str(folder))
    say(f"To run it: {_command(folder, script)}", error=True)
    say(f"or, where the runtime is installed: python {script} [--runtime NAME] [--form FORM]", error=True)
    return ExitCode.HOLDS


def _open_suite(operator: OperatorName, suite_name: str, folders: tuple[Path, ...]) -> Suite:
    """The suite that is named; of one with a name the operator alone, of the default one any version."""
    from generator.asking.named_operators import known_operators
    from opcert.commands.suite_argument import made_of, resolve_suite

    if suite_name == DEFAULT_SUITE and not folders and operator in known_operators():
        return made_of([operator])
    return resolve_suite(suite_name, folders=folders, pattern=str(operator))


def _command(folder: Path, script: Path) -> str:
    """What runs the script in an environment made for it alone."""
    from conformance.runtimes.adapter import load_adapter

    runtime = json.loads((folder / "case.json").read_text(encoding="utf-8"))["runtime"]
    packages = dict.fromkeys(("numpy", "onnx", *load_adapter(runtime).requirements))
    wanted = " ".join(f"--with {package}" for package in packages)
    return f"uv run --isolated --no-project {wanted} python {for_shell([str(script)])}"
