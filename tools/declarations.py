"""What declarations cost and cover: `python -m tools.declarations [OPERATOR...]`.

For the newest version of each declared operator: lines of `spec.yaml` without comments, factors, kept cores,
calls and milliseconds a call, and how many pairs of levels its calls cover of those that the cores leave.
Then medians and sums.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from time import process_time

from generator.calls.declared.modelled import kept_cores_of
from generator.calls.rows.cores import model_with_cores
from generator.calls.rows.covering_rows import make_rows, space_model
from generator.calls.rows.feasibility import FREE, Level, Model, Solver
from generator.calls.space.space import CallSpace, open_space
from opcert.vocabulary.names import OperatorName
from specs.files.declarations import declaration_path
from specs.files.library import OWN_FOLDER, list_operators, load_spec
from tools.asked import exit_code_of, operators_asked
from tools.searched import modelled_versions

Pair = tuple[str, Level, str, Level]


@dataclass(frozen=True)
class Line:
    """One operator's numbers; `possible` counts the pairs of levels that the cores leave."""

    name: str
    versions: int
    lines: int
    factors: int
    cores: int
    calls: int
    seconds: float
    covered: int
    possible: int


def main(words: Sequence[str]) -> int:
    """Print a line for each operator, and the sums; 1 where a pair that the cores leave has no call."""
    found = []
    names = operators_asked(__doc__, words)
    for versions in modelled_versions([each for each in list_operators() if each.name in names]):
        line = _measure(versions)
        found.append(line)
        each_call = line.seconds / max(line.calls, 1) * 1000
        print(
            f"{line.name}: {line.versions} versions, {line.lines} lines, {line.factors} factors, "
            f"{line.cores} cores, {line.calls} calls, {each_call:.1f} ms a call, "
            f"{line.covered} of {line.possible} pairs",
            flush=True,
        )
    lines = [each.lines for each in found]
    calls, seconds = sum(each.calls for each in found), sum(each.seconds for each in found)
    covered, possible = sum(each.covered for each in found), sum(each.possible for each in found)
    print(
        f"{len(found)} operators in {sum(each.versions for each in found)} versions: "
        f"lines of spec.yaml {median(lines):g} in the median, {max(lines)} at most, {sum(lines)} in all; "
        f"{calls} calls, {seconds / max(calls, 1) * 1000:.1f} ms a call; {covered} of {possible} pairs"
    )
    return 0 if covered == possible else 1


def _measure(versions: Sequence[OperatorName]) -> Line:
    newest = versions[0]
    space, cores = open_space(load_spec(newest)), kept_cores_of(newest)
    started = process_time()
    rows = make_rows(space, cores)
    seconds = process_time() - started
    covered = {pair for row in rows for pair in _pairs(_in_order(space, row.levels))}
    possible = set(_possible(model_with_cores(space_model(space), cores)))
    return Line(
        newest.name,
        len(versions),
        lines_of(newest),
        len(space.factors),
        len(cores),
        len(rows),
        seconds,
        len(covered & possible),
        len(possible),
    )


def lines_of(operator: OperatorName) -> int:
    """The lines of an operator's declaration, without comments and empty ones."""
    text = declaration_path(operator, OWN_FOLDER).read_text(encoding="utf-8")
    return sum(1 for each in text.splitlines() if each.strip() and not each.strip().startswith("#"))


def _in_order(space: CallSpace, levels: Mapping[str, Level]) -> dict[str, Level]:
    return {name: levels[name] for name in space.factors if name in levels}


def _pairs(levels: Mapping[str, Level]) -> Iterator[Pair]:
    for (one, left), (other, right) in combinations(levels.items(), 2):
        yield one, left, other, right


def _possible(model: Model) -> Iterator[Pair]:
    """The pairs of levels that some row has."""
    solver = Solver(model)
    for one, other in combinations(range(len(model.names)), 2):
        for left in range(model.sizes[one]):
            for right in range(model.sizes[other]):
                row = [FREE] * len(model.names)
                row[one], row[other] = left, right
                if solver.complete(row) is not None:
                    names = model.names[one], model.names[other]
                    yield names[0], model.levels[names[0]][left], names[1], model.levels[names[1]][right]


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
