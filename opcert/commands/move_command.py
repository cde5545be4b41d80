"""Move a folder of specs of your own into the form of now: a room for each operator."""

from __future__ import annotations

from pathlib import Path

import click

from opcert.commands.output_locks import lock_folder
from opcert.commands.terminal import say


@click.command("move")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--dry-run", is_flag=True, help="Say what would be moved, and move nothing.")
def command(folder: Path, dry_run: bool) -> None:
    """Move FOLDER, which has a folder for each version of an operator, into a room for each operator.

    Facts become <domain>/<Name>/imported-<version>.yaml; what people added to the versions, each in a
    curated.yaml, becomes one spec.yaml in which what is the same stands once. Before anything is moved, every
    spec is held against what it was. Where a file stands at a target, nothing is moved.
    """
    from specs.moving import check_moves, make_moves, plan_moves

    if not dry_run:
        lock_folder(folder, "the specs")
    moves = plan_moves(folder)
    if not moves.versions and not moves.files:
        say(f"nothing in {folder} has the form of before")
        return
    check_moves(folder, moves)
    for source, target in sorted(moves.files.items()):
        say(f"{source} -> {target}")
    for target in sorted(moves.texts):
        say(f"written: {target}")
    if dry_run:
        say("nothing was moved: this was a dry run")
        return
    make_moves(moves)
    say(f"{len(moves.files)} files moved, {len(moves.texts)} written")
