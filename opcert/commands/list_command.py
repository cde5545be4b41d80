"""List the operators, runtimes or profiles that are known."""

from __future__ import annotations

from pathlib import Path

import click

import conformance
from conformance.adapter import list_adapters, load_adapter


@click.command("list", help=__doc__)
@click.argument("what", type=click.Choice(["operators", "runtimes", "profiles"]), default="operators")
def command(what: str) -> None:
    for line in {"operators": _operators, "runtimes": _runtimes, "profiles": _profiles}[what]():
        click.echo(line)


def _operators() -> list[str]:
    from specs.library import list_operators

    return [str(each) for each in list_operators()]


def _runtimes() -> list[str]:
    adapters = [load_adapter(name) for name in list_adapters()]
    width = max(len(each.name) for each in adapters)
    lines = []
    for each in adapters:
        options = ", ".join(f"{name}={'|'.join(values)}" for name, values in each.options.items() if values)
        lines.append(f"{each.name.ljust(width)}  {each.first_line}" + (f" [{options}]" if options else ""))
    return lines


def _profiles() -> list[str]:
    folder = Path(conformance.__file__).parent / "profiles"
    return sorted(each.stem for each in folder.glob("*.yaml"))
