"""Write a folder that reproduces one case."""

from __future__ import annotations

from pathlib import Path

import click

from opcert.errors import ExitCode
from opcert.names import CaseId


@click.command("repro")
@click.argument("case")
@click.option("-s", "--suite", default="default", show_default=True, help="A folder, a zip, or a name.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="A folder; without it, repro/<operator>-<case>."
)
def command(case: str, suite: str, output: Path | None) -> int:
    """Write a folder that reproduces CASE, a case id, with numpy, onnx and the runtime alone.

    It holds the model, the inputs, what is expected, and reproduce.py.
    """
    from opcert.commands.suite_argument import resolve_suite
    from reports.reproduction import write_reproduction

    found = CaseId.parse(case)
    word = f"{found.word}-" if found.word else ""
    folder = output or Path("repro") / f"{found.operator.short}-{word}{found.digest}"
    with resolve_suite(suite) as opened:
        script = write_reproduction(opened, str(found), folder)
    click.echo(str(folder))
    click.echo(f"python {script}    # in the runtime's environment; --runtime chooses another one", err=True)
    return ExitCode.HOLDS
