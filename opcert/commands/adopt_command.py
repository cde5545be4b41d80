"""Make a suite of existing tests, in the layout of ONNX's backend tests."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands.output_locks import lock_file
from opcert.commands.terminal import note, say
from opcert.vocabulary.errors import ExitCode

if TYPE_CHECKING:
    from conformance.adopting.node_tests import Adoption

_SHOWN = 3


@click.command("adopt")
@click.argument("source")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The suite: a folder, or a file where it ends in .zip.",
)
def command(source: str, output: Path) -> int:
    """Make a suite of the tests in SOURCE, a folder in the layout of ONNX's backend tests.

    Every folder below SOURCE with model.onnx and test_data_set_N/input_K.pb and output_K.pb is a test;
    data.json beside the model may state rtol and atol. `onnx` is no folder but the onnx package that opcert
    is installed with, and `onnx==1.20.0` another version: of them the node tests are taken (for a folder of
    that name, write ./onnx). What cannot be carried is listed with its reason.
    """
    from conformance.adopting.node_tests import adopt_folder, adopt_package, names_package

    lock_file(output, "the suite")
    if names_package(source):
        adoption = adopt_package(source, output, note)
    else:
        folder = Path(source)
        adoption = adopt_folder(folder, output, {"folder": folder.resolve().name})
    _show_left_out(adoption)
    say(_sum_up(adoption))
    say(f"{output}\nsha256 {adoption.digest}")
    return ExitCode.HOLDS


def _sum_up(adoption: Adoption) -> str:
    from reports.text.phrasing import count, plural

    counts = adoption.counts
    parts = [f"{count(counts['node'])} of one node"]
    if counts["expanded"]:
        parts.append(f"{count(counts['expanded'])} expanded twins")
    if counts["graph"]:
        parts.append(f"{count(counts['graph'])} of whole graphs")
    text = (
        f"{plural(adoption.tests, 'test')}: {plural(adoption.cases, 'case')} "
        f"of {plural(adoption.operators, 'operator version')} ({', '.join(parts)})"
    )
    if counts["unpacked"]:
        text += f"; the sequences and optionals of {count(counts['unpacked'])} are unpacked"
    if counts["observed"]:
        text += f"; of {count(counts['observed'])} nothing is demanded but survival"
    return text + f"; {count(len(adoption.left_out))} left out"


def _show_left_out(adoption: Adoption) -> None:
    """Every reason with its number of tests, and the first names; all names are in the manifest."""
    from reports.text.phrasing import plural

    reasons = Counter(adoption.left_out.values())
    for reason, number in sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0])):
        names = [name for name, said in adoption.left_out.items() if said == reason]
        more = ", ..." if number > _SHOWN else ""
        note(f"{plural(number, 'test')} left out: {reason} ({', '.join(names[:_SHOWN])}{more})")
