"""What the suite itself could have missed: coverage, and planted faults that its cases find or do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opcert.vocabulary.names import OperatorName
from reports.results.case_results import Results
from reports.results.standing import Trust
from reports.results.told_facts import items, mapping, short_names, text
from reports.text.phrasing import count, plural


def trust_of(results: Results, operator: OperatorName) -> Trust | None:
    """`reviewed` or `referenced`; None where nobody said."""
    found = results.measured.get(operator)
    return None if found is None else found.trust


def unreviewed(results: Results) -> str | None:
    """Which operator versions have cases that were not reviewed, in a sentence; None where all were."""
    found = [operator for operator in results.by_operator if trust_of(results, operator) == "referenced"]
    if not found:
        return None
    return (
        f"The cases of {plural(len(found), 'operator version')} are not reviewed: their expectations agree "
        "with independent witnesses, but what they miss was not measured, or a case that fails on a runtime "
        f"is not explained yet ({short_names(found)})."
    )


WHY_BELIEVE = "docs/why-believe.md"
"""The page that says what the expected outputs are verified by, and how anybody checks it."""


def verified_by(results: Results) -> tuple[str, ...]:
    """What the released suite is verified by: planted faults, witnesses, bytes; a sentence each.

    Figures are of the operator versions of the run.
    """
    operators = results.by_operator
    names = ("made", "equivalent", "killed")
    known = [
        mapping(found.adequacy.get("mutants")) for found in map(results.measured.get, operators) if found
    ]
    scores = [each for each in known if all(type(each.get(name)) is int for name in names)]
    lacking = len(operators) - len(scores)
    told = "Mutation scores were not measured here."
    if scores:
        left = sum(each["made"] - each["equivalent"] for each in scores)
        killed = sum(each["killed"] for each in scores)
        versions = plural(len(scores), "operator version")
        told = f"Of {plural(left, 'mistake')} planted in the references of {versions} that change an output, "
        told += f"the cases notice {count(killed)}"
        told += f"; of {count(lacking)} more this was not measured here." if lacking else "."
    trusted = Counter(trust_of(results, operator) for operator in operators)
    agree = trusted["referenced"] + trusted["reviewed"]
    return (
        told,
        f"The expected outputs of {count(agree)} of {plural(len(operators), 'operator version')} agree with "
        f"independent witnesses; reviewed: {count(trusted['reviewed'])}.",
        "The suite has the digest that opcert carries: made again, it has the same bytes on every machine.",
    )


@dataclass(frozen=True)
class Survivor:
    """A planted fault that no case finds: where it was put, what it does, and why it lives, where known."""

    operator: str
    mutant: str
    place: str
    diff: str
    why: str


@dataclass(frozen=True)
class AdequacyRow:
    """One operator version; texts are `a of b, c %`, empty where nothing was measured.

    `factor` is the largest factor on right answers that some case accepts, `element` how far one element may
    be off in the sharpest case, by the greatest of its output: both of cases on ordinary float32 data.
    """

    operator: str
    cases: int
    factors: int
    tuples: str
    rules: str
    mutants: str
    node_tests: str
    factor: str
    element: str
    trust: str


@dataclass(frozen=True)
class MutationScore:
    rows: tuple[AdequacyRow, ...]
    survivors: tuple[Survivor, ...]
    measured: bool
    unreviewed: str | None


def find_adequacy(results: Results) -> MutationScore:
    """What suite and measurements say of its adequacy; `measured` is false where no faults were planted."""
    rows, survivors = [], []
    for operator in results.by_operator:
        found = results.measured.get(operator)
        own = {} if found is None else found.adequacy
        rows.append(_row(results, operator, own))
        survivors += [_survivor(operator, mapping(item)) for item in items(own.get("survivors"))]
    return MutationScore(tuple(rows), tuple(survivors), any(row.mutants for row in rows), unreviewed(results))


def share_text(part: object, whole: object) -> str:
    """`97 of 100, 97.0 %`; 100 % only where it is all, and never below what it is."""
    if not isinstance(part, int) or not isinstance(whole, int) or whole <= 0:
        return ""
    if part == whole:
        return f"{count(part)} of {count(whole)}, 100 %"
    return f"{count(part)} of {count(whole)}, {min(part * 1000 // whole, 999) / 10:.1f} %"


def _row(results: Results, operator: OperatorName, told: Mapping[str, Any]) -> AdequacyRow:
    facts = results.operator_facts(operator)
    cases = results.by_operator[operator]
    coverage = mapping(facts.get("coverage"))
    rules = mapping(facts.get("constraints"))
    tried = {result.constraint for result in cases if result.constraint is not None}
    mutants = mapping(told.get("mutants"))
    made, equivalent = mutants.get("made"), mutants.get("equivalent")
    left = made - equivalent if isinstance(made, int) and isinstance(equivalent, int) else None
    node_tests = mapping(told.get("node_tests"))
    refusable = [name for name, rule in rules.items() if mapping(rule).get("otherwise") is not None]
    return AdequacyRow(
        short_names([operator]),
        len(cases),
        len(mapping(facts.get("factors"))),
        share_text(coverage.get("covered"), coverage.get("feasible")),
        share_text(len(tried.intersection(refusable)), len(refusable)),
        share_text(mutants.get("killed"), left),
        share_text(node_tests.get("killed"), left),
        *_slack(mapping(facts.get("slack"))),
        trust_of(results, operator) or "",
    )


def _slack(told: Mapping[str, Any]) -> tuple[str, str]:
    """The two figures of slack; nothing where no case is on ordinary float32 data."""
    if not told.get("cases"):
        return "", ""
    one, every, single = text(told.get("by_one")), text(told.get("by_all")), told.get("single")
    factor = f"{one}; by all {every}" if every else one
    if single is None:
        return factor or "none", "anything"
    return factor or "none", f"{single:.1e}" if isinstance(single, int | float) and single else "nothing"


def _survivor(operator: OperatorName, told: Mapping[str, Any]) -> Survivor:
    file, line = text(told.get("file")), text(told.get("line"))
    return Survivor(
        short_names([operator]),
        text(told.get("mutant")),
        f"{file}:{line}" if line else file,
        text(told.get("diff")),
        text(told.get("why")),
    )
