"""Write a suite in the layout of ONNX's backend tests."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from opcert.commands.output_locks import lock_folder
from opcert.commands.terminal import say
from opcert.vocabulary.errors import ExitCode


@click.command("export")
@click.argument("suite")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="A folder.")
def command(suite: str, output: Path) -> int:
    """Write every case of SUITE (a folder, a zip, or a name) as a folder named by its id.

    Each has model.onnx, test_data_set_0/input_N.pb and output_N.pb, as ONNX's backend tests have them, and
    case.json with what that layout cannot hold: what must happen, the error allowed to each element, further
    readings. Operators that cannot stand in an ONNX model have no model.onnx.
    """
    from opcert.commands.suite_argument import resolve_suite
    from reports.single_cases.case_folder import export_suite
    from reports.text.phrasing import plural

    lock_folder(output, "the suite")
    beyond: Counter[str] = Counter()
    number = 0
    with resolve_suite(suite) as opened:
        for each in export_suite(opened, output):
            number += 1
            beyond.update(each.beyond)
    say(f"{plural(number, 'case')} in {output}")
    for what, cases in sorted(beyond.items()):
        say(f"  {plural(cases, 'case')}: {what} (see case.json)")
    return ExitCode.HOLDS
