"""The clearest cases of covering rows, searched for anew: `python -m tools.draws [--update] [NAME...]`.

For each operator of the default suite (or each that is named) the search draws several calls for each row,
keeps the one of which least is doubtful, and tries other rows in the place of unclear ones. What it comes to
stands in `draws.json` in the operator's room, so that the suite is made without it. Prints what is kept and
what is found, with the seconds of processor that making the cases takes with what is kept and without.
With `--update` it writes the file, without it answers with 1 where what is kept differs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import process_time

from generator.adequacy.kept import expectations_of
from generator.making.discovery import select_operators
from generator.making.operator_cases import OperatorCases, generate_operator
from generator.making.workshop import Options
from generator.rows.kept_draws import FILE_NAME, read_draws, write_draws
from generator.spaces.modelled import kept_draws_of
from opcert.vocabulary.names import OperatorName
from specs.spec_folders import OWN_FOLDER, room_of
from tools.asked import exit_code_of, parser_of


def main(words: Sequence[str]) -> int:
    """Search for the draws of the named operators, or all; 1 where what is kept differs."""
    parser = parser_of(__doc__)
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    parser.add_argument("--update", action="store_true")
    asked = parser.parse_args(words)
    differs = 0
    for operator in select_operators(tuple(asked.operators)):
        made, without = _made(operator, afresh=True)
        kept = kept_draws_of(operator)
        if asked.update and made.draws is not None:
            path = room_of(operator, OWN_FOLDER) / FILE_NAME
            write_draws(path, {**read_draws(path), operator.since_version: made.draws})
        again, with_kept = _made(operator, afresh=False)
        same = kept == made.draws
        differs += not (same or asked.update) or expectations_of(again.cases) != expectations_of(made.cases)
        told = "as kept" if same else "nothing kept" if kept is None else "others than kept"
        print(f"{operator!s:36} {told:16} {without:6.2f} s, with what is kept {with_kept:6.2f} s", flush=True)
    return 1 if differs else 0


def _made(operator: OperatorName, *, afresh: bool) -> tuple[OperatorCases, float]:
    started = process_time()
    made = generate_operator(operator, Options(), afresh=afresh)
    return made, process_time() - started


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
