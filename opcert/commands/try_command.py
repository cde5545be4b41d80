"""Try an operator's declaration: are its calls valid ONNX, and do runtimes take them?"""

from __future__ import annotations

from pathlib import Path

import click

from opcert.commands import shared_options
from opcert.commands.terminal import say
from opcert.vocabulary.errors import ExitCode, UserError, raise_together


@click.command("try")
@click.argument("operators", nargs=-1, required=True, metavar="OPERATOR...")
@click.option(
    "--runtime",
    "runtimes",
    multiple=True,
    metavar="RUNTIME",
    help="Ask this runtime; may be given again. Default: onnx and onnxruntime where they are installed. "
    "none: ONNX's shape inference and checker alone.",
)
@click.option("--all-versions", is_flag=True, help="Of a bare name every modelled version, not the newest.")
@click.option(
    "--strength", type=click.IntRange(1, 2), default=2, show_default=True, help="Levels covered together."
)
@shared_options.specs
def command(
    operators: tuple[str, ...],
    runtimes: tuple[str, ...],
    all_versions: bool,
    strength: int,
    folders: tuple[Path, ...],
) -> int:
    """Try a declared operator: are its calls valid ONNX, and do checkers and runtimes take them?

    OPERATOR is a name like Concat (its newest version) or Concat-13. Strict shape inference, the
    checker and runtimes, in processes of their own, get the calls that its declaration makes. Rejections are
    grouped by their messages; disagreements.yaml in the operator's room explains them. The exit code is 1
    where something is unexplained, and 2 where the declaration has a level that no call has, or a rule that
    no call breaks alone.
    """
    # Imported here, so that --help does not wait for them.
    from generator.calls.declared.modelled import choose_modelled
    from opcert.commands.truth_trying import choose_witnesses, find_faults, summarise_truth, try_operator

    chosen = {each: None for text in operators for each in choose_modelled(text, folders, every=all_versions)}
    witnesses = choose_witnesses(runtimes)
    unexplained = 0
    faults: list[UserError] = []
    for operator in chosen:
        table = try_operator(operator, witnesses, strength, folders)
        unexplained += table.unexplained
        say(summarise_truth(table))
        faults += find_faults(operator, folders)
    raise_together(faults)
    return ExitCode.DOES_NOT_HOLD if unexplained else ExitCode.HOLDS
