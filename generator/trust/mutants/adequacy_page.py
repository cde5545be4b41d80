"""The page on the adequacy of a suite, and the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field, RootModel

from generator.measured.kept import NOT_HERE, MeasuredOperator
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.files.schemas import Entry
from specs.files.spec_folders import OWN_FOLDER, room_of

FILE_NAME = "survivors.yaml"


class Reason(Entry):
    """Why a mutant is left, or all whose ids begin alike."""

    mutant: str = Field(min_length=1)
    why: str = Field(min_length=1)


class _File(RootModel[tuple[Reason, ...]]):
    pass


def read_reasons(operator: OperatorName) -> tuple[Reason, ...]:
    """What an operator's room says of survivors; UserError or SeveralErrors where the file is damaged."""
    path = room_of(operator, OWN_FOLDER) / FILE_NAME
    if not path.is_file():
        return ()
    (document, *more) = load_file(path)
    if more:
        raise UserError("not one YAML document", got=f"{1 + len(more)} documents", where=Place(str(path)))
    return tuple(validate(_File, document).root)


def reason_of(survivor: Mapping[str, Any], reasons: Sequence[Reason]) -> str | None:
    """Why a survivor is left; None where nobody has said."""
    return next((reason.why for reason in reasons if str(survivor["mutant"]).startswith(reason.mutant)), None)


_INTRODUCTION = """\
# What the suite notices

Made by `opcert adequacy --kept` from what `opcert adequacy --update` measured (`adequacy-*.json` in the
folder `measured` beside the specs, which list every survivor and every equivalent one). A mutant is the
reference with one mistake. Either a node of its syntax tree is exchanged (comparison, rounding, constant,
off by one, swapped arguments, dropped clamp or term, ignored attribute, wrong default, axis order, another
branch, a neighbour of a function: `generator/trust/mutants/mutations.py`). Or the runtime misreads every
call: by what the operator's kinds bring (misreading: `generator/calls/edits`), or by what follows from types,
shapes and attributes, for every operator alike (`generator/trust/mutants/mistakes_of_calls.py`). Each runs in
process against the cases, small ones first, through the judge of a run; it is killed by the first that fails.
What runs out of time is killed only where the right code takes far less. It counts as equivalent only where
random calls that it can matter to, from the levels and from small variations beyond them, get an answer that
the judge accepts: 2000 of them, the fewest of an operator's stand below. Only cases and calls are asked that
run the statement of the mistake. A score is the share killed of those that are not equivalent, rounded down.
Code that serves the allowed error or the speed has no mutants (`unmutated.yaml` in the operator's room says
which, and why), nor has what only an unchosen reading comes by. Why a survivor is left says `survivors.yaml`
in the room. ONNX's own node tests meet the same mutants with their own tolerance; an older version of an
operator those of them that its reference passes.
"""
_MOST_UNCOVERED = 20


def adequacy_json(kept: Sequence[MeasuredOperator]) -> str:
    """Everything that is known, by operator."""
    found = {measured.operator: {"cases": measured.cases, **measured.found} for measured in kept}
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


def write_page(kept: Sequence[MeasuredOperator], missing: Sequence[OperatorName] = ()) -> str:
    """Tables of all operators and all kinds of mistakes, survivors, and what is equivalent or not covered.

    `missing` are the operators of which nothing was measured.
    """
    parts = (_overview(kept), _kinds(kept), _survivors(kept), _uncovered(kept), _equivalents(kept))
    return "\n".join([_INTRODUCTION, *_missing(missing), *(line for part in parts for line in part)])


def _missing(operators: Sequence[OperatorName]) -> Iterator[str]:
    if operators:
        yield f"{NOT_HERE.capitalize()}: {', '.join(f'`{operator}`' for operator in operators)}."
        yield ""


def percent(part: int, whole: int) -> str:
    """A share in percent, rounded down: what is not all is never 100 %."""
    return f"{(1000 * part // whole) / 10:g} %" if whole else "-"


def _overview(kept: Sequence[MeasuredOperator]) -> Iterator[str]:
    yield "| operator | combinations | mutants | equivalent | killed | survived | score | ONNX's tests |"
    yield "|---|---|---|---|---|---|---|---|"
    for measured in kept:
        mutants, tests, covered = (
            measured.found["mutants"],
            measured.found["node_tests"],
            measured.found["coverage"],
        )
        counted = mutants["made"] - mutants["equivalent"]
        row = [
            f"`{measured.operator}`",
            f"{covered['covered']} of {covered['feasible']} ({covered['strength']}-way)",
            mutants["made"],
            mutants["equivalent"],
            mutants["killed"],
            mutants["survived"],
            percent(mutants["killed"], counted),
            f"{percent(tests['killed'], counted)} ({tests['cases']} tests)" if tests else "none",
        ]
        yield f"| {' | '.join(map(str, row))} |"
    mutants = [measured.found["mutants"] for measured in kept]
    made, equivalent, killed, survived = (
        sum(mutant[name] for mutant in mutants) for name in ("made", "equivalent", "killed", "survived")
    )
    tested = [measured.found for measured in kept if measured.found["node_tests"]]
    noticed = sum(each["node_tests"]["killed"] for each in tested)
    asked = sum(each["mutants"]["made"] - each["mutants"]["equivalent"] for each in tested)
    score = f"{percent(killed, made - equivalent)} | {percent(noticed, asked)} where there are any"
    yield f"| all {len(kept)} | | {made} | {equivalent} | {killed} | {survived} | {score} |"
    yield ""


def _kinds(kept: Sequence[MeasuredOperator]) -> Iterator[str]:
    """The kinds of mistakes, over all operators; ONNX's tests beside the suite where both were asked."""
    yield "| mistake | made | equivalent | killed | score | where ONNX has tests: suite | ONNX's tests |"
    yield "|---|---|---|---|---|---|---|"
    for kind in sorted({kind for measured in kept for kind in measured.found["kinds"]}):
        every, asked = (
            _sum(kept, kind),
            _sum([measured for measured in kept if measured.found["node_tests"]], kind),
        )
        counted, both = every["made"] - every["equivalent"], asked["made"] - asked["equivalent"]
        row = [
            kind,
            every["made"],
            every["equivalent"],
            every["killed"],
            percent(every["killed"], counted),
            percent(asked["killed"], both),
            percent(asked["by_node_tests"], both),
        ]
        yield f"| {' | '.join(map(str, row))} |"
    yield ""


def _sum(kept: Sequence[MeasuredOperator], kind: str) -> dict[str, int]:
    names = ("made", "equivalent", "killed", "by_node_tests")
    return {
        name: sum(measured.found["kinds"].get(kind, {}).get(name, 0) for measured in kept) for name in names
    }


def _survivors(kept: Sequence[MeasuredOperator]) -> Iterator[str]:
    yield "## Survivors"
    yield ""
    if not any(measured.found["survivors"] for measured in kept):
        yield "Survivors: none."
        yield ""
    for measured in kept:
        if not measured.found["survivors"]:
            continue
        reasons = read_reasons(OperatorName.parse(measured.operator))
        yield f"`{measured.operator}` ({len(measured.found['survivors'])}):"
        yield ""
        yield "```diff"
        for survivor in measured.found["survivors"]:
            yield f"# {survivor['kind']}, {survivor['file']}:{survivor['line']}"
            yield from survivor["diff"]
            if survivor["call"]:
                yield f"# a call that tells it: {survivor['call']}"
            yield f"# {reason_of(survivor, reasons) or 'not looked at'}"
        yield "```"
        yield ""


def _uncovered(kept: Sequence[MeasuredOperator]) -> Iterator[str]:
    for measured in kept:
        uncovered = measured.found["coverage"]["uncovered"]
        if uncovered:
            yield f"Combinations that no case of `{measured.operator}` covers ({len(uncovered)}):"
            yield ""
            for levels in uncovered[:_MOST_UNCOVERED]:
                yield "- " + ", ".join(f"{name}={level}" for name, level in levels.items())
            yield ""


def _equivalents(kept: Sequence[MeasuredOperator]) -> Iterator[str]:
    """Counted by kind; the files have them one by one."""
    yield "## Equivalent mutants"
    yield ""
    yield "So many random calls that the mistake can matter to agree at least. Not reached: lines that no"
    yield "call comes by under the chosen readings."
    yield ""
    yield "<details><summary>By operator</summary>"
    yield ""
    yield "| operator | equivalent | calls | not reached |"
    yield "|---|---|---|---|"
    for measured in kept:
        counts = {kind: counted["equivalent"] for kind, counted in measured.found["kinds"].items()}
        said = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()) if count)
        calls = measured.found["calls"] if said else ""
        unreached = ", ".join(measured.found["unreached"])
        yield f"| `{measured.operator}` | {said or 'none'} | {calls} | {unreached} |"
    yield ""
    yield "</details>"
    yield ""
