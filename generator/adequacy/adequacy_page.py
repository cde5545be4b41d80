"""The page on the adequacy of a suite, and the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from generator.adequacy.kept import Kept

_INTRODUCTION = """\
# What the suite notices

Made by `opcert adequacy --kept` from what `opcert adequacy --update` measured (`adequacy-*.json`). A
mutant is the reference with one mistake: a node of its syntax tree exchanged (comparison, rounding,
constant, off by one, swapped arguments, dropped clamp or term, ignored attribute, wrong default, axis
order, another branch), or a call taken for another (misreading: `generator/explanations`, where people
add to them). Each runs in process against the cases, quick ones first, through the judge of a run; it is
killed by the first that fails. It counts as equivalent only where the stated number of random calls that
come by the change, from the levels and from small variations beyond them, get an answer that the judge
accepts. A score is the share killed of those that are not equivalent, rounded down. Code that serves the
allowed error or the speed has no mutants (`unmutated.yaml` in the operator's room says which, and why), nor
has what only an unchosen reading comes by. ONNX's own node tests meet the same mutants with their own
tolerance; an older version of an operator those of them that its reference passes.
"""
_MOST_UNCOVERED = 20


def adequacy_json(kept: Sequence[Kept]) -> str:
    """Everything that is known, by operator."""
    found = {each.operator: {"cases": each.cases, **each.found} for each in kept}
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


def write_page(kept: Sequence[Kept]) -> str:
    """A table of all operators, then each one's survivors, equivalents, and what is not covered."""
    return "\n".join([_INTRODUCTION, *_overview(kept), *_kinds(kept), *_operators(kept)])


def percent(part: int, whole: int) -> str:
    """A share in percent, rounded down: what is not all is never 100 %."""
    return f"{(1000 * part // whole) / 10:g} %" if whole else "-"


def _overview(kept: Sequence[Kept]) -> Iterator[str]:
    yield "| operator | combinations | mutants | equivalent | killed | survived | score | ONNX's tests |"
    yield "|---|---|---|---|---|---|---|---|"
    for each in kept:
        mutants, tests, covered = each.found["mutants"], each.found["node_tests"], each.found["coverage"]
        counted = mutants["made"] - mutants["equivalent"]
        row = [
            f"`{each.operator}`",
            f"{covered['covered']} of {covered['feasible']} ({covered['strength']}-way)",
            mutants["made"],
            mutants["equivalent"],
            mutants["killed"],
            mutants["survived"],
            percent(mutants["killed"], counted),
            f"{percent(tests['killed'], counted)} ({tests['cases']} tests)" if tests else "none",
        ]
        yield f"| {' | '.join(map(str, row))} |"
    yield ""


def _kinds(kept: Sequence[Kept]) -> Iterator[str]:
    """The kinds of mistakes, over all operators; ONNX's tests beside the suite where both were asked."""
    yield "| mistake | made | equivalent | killed | score | where ONNX has tests: suite | ONNX's tests |"
    yield "|---|---|---|---|---|---|---|"
    for kind in sorted({kind for each in kept for kind in each.found["kinds"]}):
        every, asked = _sum(kept, kind), _sum([each for each in kept if each.found["node_tests"]], kind)
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


def _sum(kept: Sequence[Kept], kind: str) -> dict[str, int]:
    names = ("made", "equivalent", "killed", "by_node_tests")
    return {name: sum(each.found["kinds"].get(kind, {}).get(name, 0) for each in kept) for name in names}


def _operators(kept: Sequence[Kept]) -> Iterator[str]:
    for each in kept:
        yield f"## {each.operator}"
        yield ""
        yield from _listed("Survivors", each.found["survivors"])
        yield from _listed(
            f"Equivalent: {each.found['calls']} random calls that come by the change agree",
            each.found["equivalents"],
        )
        uncovered = each.found["coverage"]["uncovered"]
        if uncovered:
            yield f"Combinations that no case covers ({len(uncovered)}):"
            yield ""
            for levels in uncovered[:_MOST_UNCOVERED]:
                yield "- " + ", ".join(f"{name}={level}" for name, level in levels.items())
            yield ""
        if each.found["unreached"]:
            lines = ", ".join(each.found["unreached"])
            yield f"Lines that no call comes by under the chosen readings: {lines}."
            yield ""


def _listed(title: str, mutants: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not mutants:
        yield f"{title.partition(':')[0]}: none."
        yield ""
        return
    yield f"{title} ({len(mutants)}):"
    yield ""
    yield "```diff"
    for each in mutants:
        yield f"# {each['kind']}, {each['file']}:{each['line']}"
        yield from each["diff"]
        if each["call"]:
            yield f"# a call that tells it: {each['call']}"
    yield "```"
    yield ""
