"""List the operators, runtimes or profiles that are known."""

from __future__ import annotations

from pathlib import Path

import click

from opcert.commands import shared_options
from opcert.commands.terminal import say


@click.command("list", help=__doc__)
@click.argument("what", type=click.Choice(["operators", "runtimes", "profiles"]), default="operators")
@shared_options.specs
def command(what: str, folders: tuple[Path, ...]) -> None:
    lines = (
        _operators(folders) if what == "operators" else {"runtimes": _runtimes, "profiles": _profiles}[what]()
    )
    for line in lines:
        say(line)


def _operators(folders: tuple[Path, ...]) -> list[str]:
    """Every operator version with a spec, then what else there is for it."""
    from opcert.commands.known_operators import load_known
    from specs.spec_folders import list_operators

    known = load_known(folders)
    found = {str(each): ", ".join(known.words(each)) for each in list_operators(folders)}
    width = max(map(len, found), default=0)
    return [f"{name.ljust(width)}  {words}".rstrip() for name, words in found.items()]


def _runtimes() -> list[str]:
    from conformance.runtimes.adapter import list_adapters, load_adapter
    from conformance.runtimes.runtimes import list_runtimes

    named = list_runtimes()
    rows = []
    for each in map(load_adapter, list_adapters()):
        if each.name not in named:
            # What is reached by a form of words and not by a name is listed by that form.
            form, _, about = each.first_line.partition(", ")
            rows.append((form, about))
            continue
        options = ", ".join(f"{name}={'|'.join(values) or 'TEXT'}" for name, values in each.options.items())
        rows.append((each.name, each.first_line + (f" [{options}]" if options else "")))
    width = max(len(name) for name, _ in rows)
    return [f"{name.ljust(width)}  {about}" for name, about in rows]


def _profiles() -> list[str]:
    from reports.profiles import list_profiles

    return list_profiles()
