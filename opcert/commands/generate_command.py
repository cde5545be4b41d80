"""Generate a suite of test cases from the specs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands import shared_options
from opcert.commands.operator_completion import complete_suites
from opcert.commands.output_locks import lock_file
from opcert.commands.terminal import say
from opcert.vocabulary.errors import ExitCode, UserError
from opcert.vocabulary.names import OperatorName

if TYPE_CHECKING:
    from generator.making.suites.lock_making import LockChange


@click.command("generate")
@click.argument("operators", nargs=-1, metavar="[OPERATOR]...", shell_complete=complete_suites)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A folder, or a file ending in .zip.")
@click.option(
    "--size",
    type=click.Choice(["small", "default", "full"]),
    default="default",
    show_default=True,
    help="How many cases: small covers each level once, full covers triples of levels.",
)
@click.option(
    "--strength",
    type=click.IntRange(1, 3),
    help="Cover every combination of so many levels; this overrides what --size says of it.",
)
@click.option("--opset", type=int, help="The versions of ONNX's operators that are in force in this opset.")
@click.option(
    "--versions",
    type=click.Choice(["newest", "all"]),
    default="newest",
    show_default=True,
    help="Of an operator that is named without a version, and of all of an opset's: one, or every one.",
)
@shared_options.specs
@shared_options.scheduler
@click.option("--check", is_flag=True, help="Generate again and compare with specs/suite.lock.")
@click.option("--update", is_flag=True, help="Generate every version and write specs/suite.lock.")
def command(
    operators: tuple[str, ...],
    output: Path | None,
    size: str,
    strength: int | None,
    opset: int | None,
    versions: str,
    folders: tuple[Path, ...],
    scheduler: shared_options.Scheduler | None,
    check: bool,
    update: bool,
) -> int:
    """Generate a suite of conformance cases.

    OPERATOR is a name like ai.onnx::Resize-18, Resize-18 or Resize; without one, every operator of the
    default suite is taken, with --opset every operator of that opset that has a reference, and with
    --versions all every version that has one. Without -o the suite goes to the user's cache, into a folder
    named by its digest.
    """
    # Imported here and below, so that --help does not wait for them.
    from generator.making.operators.workshop import Options
    from generator.making.suites.cache import PROCESSES, cached_suite
    from generator.making.suites.suite_making import write_generated
    from opcert.commands.command_progress import generation_progress
    from opcert.commands.runtime_argument import chosen_cluster

    chosen = _choose(operators, opset, versions, folders)
    options = Options.of(size, strength)
    if check or update:
        own = output is not None or options != Options() or folders or scheduler is not None
        chooses = operators or opset is not None or versions == "all"
        if own or (check and update) or (update and chooses):
            raise UserError(
                "--check and --update are about the suites that ship",
                expected="one of the two, alone; --check also with operators, --opset or --versions",
            )
        return _update() if update else _check(chosen, whole=not chooses)
    if output is None:
        with chosen_cluster(scheduler) as cluster, generation_progress() as progress:
            path = cached_suite(chosen, options, progress, folders, cluster, to_stay=True)
        digest = path.name
    else:
        lock_file(output, "the suite")
        with chosen_cluster(scheduler) as cluster, generation_progress() as progress:
            digest = write_generated(
                output, chosen, options, folders, PROCESSES, progress, keep=True, cluster=cluster
            )
        path = output
    say(f"{path}\nsha256 {digest}")
    return ExitCode.HOLDS


def _choose(
    names: tuple[str, ...], opset: int | None, versions: str, folders: tuple[Path, ...]
) -> list[OperatorName]:
    """The operators that names and options mean; UserError where they mean none, or contradict each other."""
    from generator.asking.named_operators import referenced_operators
    from generator.making.operators.discovery import select_operators, select_versions
    from generator.making.operators.opsets import operators_of_opset

    if opset is None and versions == "newest":
        return select_operators(names, folders)
    if folders:
        raise UserError(
            "--opset and --versions are about the operators that ship", expected="no --specs beside them"
        )
    known: Sequence[OperatorName] = referenced_operators()
    if opset is not None:
        if versions == "all":
            raise UserError("one opset has one version of an operator", expected="--opset or --versions all")
        known = operators_of_opset(opset)
    return select_versions(names, known)


def _update() -> int:
    from generator.making.suites.lock import LOCK_FILE, read_lock, write_lock
    from generator.making.suites.lock_making import compare, make_lock
    from opcert.commands.command_progress import generation_progress

    lock_file(LOCK_FILE, "the lock of the suites")
    with generation_progress() as progress:
        lock = make_lock(progress)
    try:
        changes = compare(read_lock(LOCK_FILE), lock) if LOCK_FILE.exists() else []
    except UserError as error:  # a lock that nobody can read is what this command mends
        say(f"what changed cannot be said: {error}", error=True)
        changes = []
    _show(changes)
    write_lock(lock, LOCK_FILE)
    told = f"{lock.default.cases} cases in the default suite, {len(lock.versions)} operator versions"
    say(f"{LOCK_FILE.name}: {told}, {len(changes)} changes, sha256 {lock.digest}")
    return ExitCode.HOLDS


def _check(chosen: list[OperatorName], *, whole: bool) -> int:
    """Hold operator versions against the lock; `whole` is the default suite, and all that is said of it."""
    from generator.making.suites.lock import read_lock
    from generator.making.suites.lock_making import compare, lock_of_now
    from opcert.commands.command_progress import generation_progress

    old = read_lock()
    with generation_progress() as progress:
        lock = lock_of_now(chosen, progress)
    changes = (
        compare(old.default, lock) if whole else compare(old, lock, [str(operator) for operator in chosen])
    )
    _show(changes)
    if changes:
        say(f"{len(changes)} changes; `opcert generate --update` accepts them", error=True)
        return ExitCode.DOES_NOT_HOLD
    say("the suite is the one of specs/suite.lock")
    return ExitCode.HOLDS


def _show(changes: list[LockChange]) -> None:
    for change in changes:
        say(str(change))
