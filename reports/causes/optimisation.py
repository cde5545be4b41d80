"""What fails only where a runtime optimises: the same cases pass in a run of it that optimises less."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from conformance.recording.records import Record
from reports.results.case_results import CaseResult
from reports.results.others import OtherRun
from reports.results.told_facts import mapping, text

OPTION = "optimization"
"""The option of runtimes that says how much they optimise."""
LEVELS = ("none", "basic", "extended", "all")
"""Its values, from least to most; the last is what a runtime does that is told nothing."""


def level_of(record: Record) -> str:
    """How much the runtime of a record optimised, as its options say."""
    options = mapping(mapping(record.header.get("runtime")).get("options"))
    return text(options[OPTION]) if OPTION in options else LEVELS[-1]


def optimises_less(other: Record, own: Record) -> bool:
    """Whether another record is of the same runtime in the same version, which optimised less."""
    told = [mapping(record.header.get("runtime")) for record in (other, own)]
    if any(told[0].get(each) != told[1].get(each) for each in ("name", "version")):
        return False
    levels = level_of(other), level_of(own)
    if any(level not in LEVELS for level in levels):
        return False
    rest = [
        {name: each for name, each in mapping(one.get("options")).items() if name != OPTION} for one in told
    ]
    return rest[0] == rest[1] and LEVELS.index(levels[0]) < LEVELS.index(levels[1])


def fails_optimised_alone(case: str, less: Mapping[str, str]) -> bool:
    """Whether a failing case passes in a run that optimises less, of which these are the verdicts by case."""
    return less.get(case) == "pass"


def passing_without(cases: Sequence[CaseResult], runs: Sequence[OtherRun]) -> str:
    """What a run is called that optimises less and passes all of these cases; empty where there is none."""
    for run in runs:
        if run.optimises_less and all(
            fails_optimised_alone(str(result.id), run.verdicts) for result in cases
        ):
            return run.label
    return ""


def by_optimisation(
    wrong: Mapping[str, CaseResult], runs: Sequence[OtherRun]
) -> Iterator[tuple[str, tuple[CaseResult, ...]]]:
    """Wrong cases that pass with less optimisation, and what that run is called.

    Those of the same operators in a row are together, for what is fused wrongly are these.
    """
    groups: dict[tuple[str, str], list[CaseResult]] = defaultdict(list)
    for result in wrong.values():
        label = passing_without([result], runs)
        if label:
            groups[label, chain_of(result)].append(result)
    for (label, _), members in groups.items():
        yield label, tuple(members)


def chain_of(case: CaseResult) -> str:
    """The operators of a case in a row: `Transpose > MatMul`; of a case of one node, its name."""
    levels = case.row.levels if case.row is not None else {}
    if "chain" in levels:
        return levels["chain"]
    if "producer" in levels and "consumer" in levels:
        return f"{levels['producer']} > {levels['consumer']}"
    return case.operator.name
