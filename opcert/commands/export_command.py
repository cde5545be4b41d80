"""Write a suite as folders: in ONNX's backend-test layout, or as plain files for a device."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands import shared_options
from opcert.commands.output_locks import lock_folder
from opcert.commands.terminal import say
from opcert.vocabulary.errors import ExitCode, UserError

if TYPE_CHECKING:
    from conformance.suite.suites import Suite
    from reports.single_cases.device_folder import Selection


@click.command("export")
@click.argument("suite")
@click.option(
    "--layout",
    type=click.Choice(["onnx", "flat"]),
    default="onnx",
    show_default=True,
    help="As ONNX's backend tests with what is expected, or models, inputs and an index alone.",
)
@shared_options.pattern
@click.option("--dtype", "element_types", multiple=True, help="Only cases of this dtype (flat).")
@click.option("--family", "families", multiple=True, help="Only cases of this family (flat).")
@click.option("--most-bytes", type=click.IntRange(1), help="Only cases of at most so many bytes (flat).")
@click.option(
    "--sample",
    type=click.IntRange(1, 12),
    help="Of each operator version at most so many cases, chosen to have every level (flat).",
)
@click.option(
    "--expected",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder of its own for what is expected, for the judges of contrib/judges (flat).",
)
@click.option(
    "--batch",
    type=click.IntRange(1, 256),
    default=1,
    help="At most so many cases in one model, where compiling is dear (flat).",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="A folder.")
def command(
    suite: str,
    layout: str,
    pattern: str | None,
    element_types: tuple[str, ...],
    families: tuple[str, ...],
    most_bytes: int | None,
    sample: int | None,
    expected: Path | None,
    batch: int,
    output: Path,
) -> int:
    """Write every case of SUITE (a folder, a zip, or a name) as a folder.

    In the layout `onnx` it is named by the case's id, and has model.onnx, test_data_set_0/input_N.pb and
    output_N.pb, as ONNX's backend tests have them, and case.json with what that layout cannot hold: what must
    happen, the error allowed to each element, further readings. Operators that cannot stand in an ONNX model
    have no model.onnx. index.json lists all cases, with the digests of their files.

    In the layout `flat` it is for a device that opcert cannot reach: model.onnx, input_N.bin, and index.json
    for all, without what is expected. `opcert judge` takes what the device gives back. With --batch a model
    holds several cases of one operator version and type, and index.json says which of its inputs and outputs
    are whose; `opcert judge` needs it then, as --index.
    """
    from opcert.commands.suite_argument import resolve_suite
    from reports.single_cases.device_folder import Selection

    selection = Selection(pattern, element_types, families, most_bytes, sample)
    if layout == "onnx" and (expected is not None or batch > 1 or selection != Selection(pattern)):
        raise UserError(
            "these options are for a device alone: --dtype, --family, --most-bytes, --sample, --batch, "
            "--expected",
            remedy="Add --layout flat, or choose cases with -k.",
        )
    if expected is not None and batch > 1:
        raise UserError(
            "the judges that read what --expected writes do not read batches",
            remedy="Leave --batch out, or judge with `opcert judge --index`.",
        )
    lock_folder(output, "the suite")
    if expected is not None:
        _check_apart(expected, output)
        lock_folder(expected, "what is expected")
    with resolve_suite(suite) as opened:
        if layout == "flat":
            return _export_flat(opened, output, selection, expected, batch)
        return _export_onnx(opened, output, pattern)


def _check_apart(expected: Path, output: Path) -> None:
    """UserError where what is expected would go to the device with the cases."""
    if expected.resolve().is_relative_to(output.resolve()):
        raise UserError(
            "what is expected would lie among the cases that the device gets",
            got=str(expected),
            remedy="Name a folder beside the cases with --expected.",
        )


def _export_flat(suite: Suite, output: Path, selection: Selection, expected: Path | None, batch: int) -> int:
    from reports.single_cases.device_folder import INDEX, export_to_device
    from reports.text.phrasing import plural

    carried = export_to_device(suite, output, selection, expected, batch)
    say(f"{plural(carried.cases, 'case')} in {output}, listed in {output / INDEX}")
    for what, cases in sorted(carried.left_out.items()):
        say(f"  {plural(cases, 'case')} left out: {what}")
    if batch > 1:
        together = carried.cases - sum(carried.alone.values())
        say(f"  {plural(together, 'case')} in {plural(carried.batches, 'model')} of up to {batch}")
        for what, cases in sorted(carried.alone.items()):
            say(f"  {plural(cases, 'case')} with a model of their own: {what}")
    if expected is not None:
        say(f"what is expected: {expected}; {plural(carried.skipped, 'case')} need more than it holds")
    return ExitCode.HOLDS


def _export_onnx(suite: Suite, output: Path, pattern: str | None) -> int:
    from reports.single_cases.case_folder import export_suite
    from reports.text.phrasing import plural

    beyond: Counter[str] = Counter()
    number = 0
    for exported in export_suite(suite, output, pattern):
        number += 1
        beyond.update(exported.beyond)
    say(f"{plural(number, 'case')} in {output}")
    for what, cases in sorted(beyond.items()):
        say(f"  {plural(cases, 'case')}: {what} (see case.json)")
    return ExitCode.HOLDS
