"""List operators, runtimes or profiles."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from opcert.commands import shared_options
from opcert.commands.terminal import say

_OTHERS = "{} more have a spec and no cases ({}): `opcert list operators --all` shows them"


@click.command("list", help=__doc__)
@click.argument("what", type=click.Choice(["operators", "runtimes", "profiles"]), default="operators")
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Also operators that have a spec and no cases, and why.",
)
@shared_options.specs
def command(what: str, every: bool, folders: tuple[Path, ...]) -> None:
    lines = (
        _operators(folders, every)
        if what == "operators"
        else {"runtimes": _runtimes, "profiles": _profiles}[what]()
    )
    for line in lines:
        say(line)


def _operators(folders: tuple[Path, ...], every: bool) -> list[str]:
    """The operator versions that cases can be made of, and how many others have a spec, or these too."""
    from opcert.commands.known_operators import load_known
    from specs.files.spec_folders import list_operators

    known = load_known(folders)
    found = list_operators(folders)
    others = [operator for operator in found if operator not in known.reference]
    shown = [operator for operator in found if operator in known.reference] + (others if every else [])
    width = max((len(str(operator)) for operator in shown), default=0)
    lines = [
        f"{str(operator).ljust(width)}  {', '.join(known.words(operator))}{known.why(operator)}"
        for operator in shown
    ]
    if others and not every:
        counted = Counter(known.words(other)[0] for other in others)
        kinds = ", ".join(f"{number} {word}" for word, number in sorted(counted.items()))
        lines.append(_OTHERS.format(len(others), kinds))
    return lines


def _runtimes() -> list[str]:
    from conformance.runtimes.adapter import list_adapters, load_adapter
    from conformance.runtimes.runtimes import list_runtimes

    named = list_runtimes()
    rows = []
    for adapter in map(load_adapter, list_adapters()):
        if adapter.name not in named:
            # What is reached by a form of words and not by a name is listed by that form.
            form, _, about = adapter.first_line.partition(", ")
            rows.append((form, about))
            continue
        options = ", ".join(
            f"{name}={'|'.join(values) or 'TEXT'}" for name, values in adapter.options.items()
        )
        rows.append((adapter.name, adapter.first_line + (f" [{options}]" if options else "")))
    width = max(len(name) for name, _ in rows)
    return [f"{name.ljust(width)}  {about}" for name, about in rows]


def _profiles() -> list[str]:
    from reports.gates.profiles import list_profiles

    return list_profiles()
