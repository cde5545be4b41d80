"""What a run did not test, as plainly as what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.judging.verdicts import NOT_RUN
from opcert.vocabulary.names import FAMILIES, OperatorName
from reports.causes.forms import untried_forms
from reports.results.case_results import Results
from reports.results.told_facts import items, mapping, short_names, text
from reports.text.links import cases_link, operator_words, token
from reports.text.phrasing import count, listed, plural


@dataclass(frozen=True)
class Untested:
    """One thing that was not tested; `link` leads to its cases where there are any."""

    text: str
    link: str | None = None


def find_untested(results: Results, of: str = "") -> tuple[Untested, ...]:
    """What the record leaves out of the suite, and the suite of its operators; `of` names the run."""
    found = [*_not_run(results, of), *_never_supported(results, of), *_one_form(results)]
    by_operator = results.by_operator
    for family in FAMILIES:
        without = [
            operator
            for operator, cases in by_operator.items()
            if all(case.id.family != family for case in cases)
        ]
        if without:
            named = "every operator version" if len(without) == len(by_operator) else short_names(without)
            found.append(Untested(f"No case of the family {family} ({_MEANING[family]}): {named}."))
    for operator in by_operator:
        facts = results.operator_facts(operator)
        found += _uncovered(operator, mapping(facts.get("coverage")))
        found += _without_bound(operator, mapping(facts.get("no_bound")), results)
    return tuple(found)


_MEANING: Mapping[str, str] = {
    "example": "worked examples that the document prints whole",
    "boundary": "sizes 0 and 1, extremes, special values",
    "cover": "combinations of levels",
    "inert": "attributes changed where they must not matter",
    "pair": "nodes beside each other, which optimisers fuse",
    "invalid": "calls that must be rejected",
    "survival": "calls that the documents leave undefined",
}


def _not_run(results: Results, of: str) -> list[Untested]:
    number = results.counts[NOT_RUN]
    if not number:
        return []
    why = "the record is partial" if results.record.partial else "the run left them out"
    verb = "was" if number == 1 else "were"
    return [Untested(f"{plural(number, 'case')} {verb} not run: {why}.", cases_link("status:not_run", of=of))]


def _never_supported(results: Results, of: str) -> list[Untested]:
    """What the runtime says that it does not offer, so that nothing was learnt about it."""
    found = []
    words = operator_words(results.by_operator)
    for operator, cases in results.by_operator.items():
        counts = Counter(result.verdict for result in cases)
        if counts["unsupported"]:
            whole = counts["unsupported"] == len(cases)
            types: dict[str, set[str]] = {}
            for result in cases:
                types.setdefault(result.element_type, set()).add(result.verdict)
            never = [name for name, verdicts in types.items() if verdicts == {"unsupported"}]
            number = plural(counts["unsupported"], "case")
            said = f"{number} of {operator}, which the runtime says it cannot do"
            if whole:
                said = f"{operator} as a whole ({number}): the runtime says it cannot do it"
            elif never:
                said += f"; every case of {listed(never)}"
            link = cases_link(token("op", words[operator]), "status:unsupported", of=of)
            found.append(Untested(f"{said}.", link))
    return found


def _one_form(results: Results) -> list[Untested]:
    forms = {row.form for case in results.cases for row in case.rows}
    most = max((len({row.repeat for row in case.rows}) for case in results.cases), default=0)
    found = []
    if len(forms) == 1:
        untried = untried_forms(results)
        told = f"; not run: {'; '.join(untried)} (--forms sample or all)" if untried else ""
        found.append(Untested(f"Every case was run in one form only: {next(iter(forms))}{told}."))
    sampled = mapping(results.record.header.get("options")).get("sampled")
    if isinstance(sampled, int) and len(forms) > 1:
        told = "A sample of each operator version was run in more than one form"
        found.append(Untested(f"{told} (--forms all runs every case in each)."))
    if most == 1:
        found.append(Untested("Every case was run once: an answer that changes from run to run is not seen."))
    return found


def _without_bound(operator: OperatorName, reasons: Mapping[str, Any], results: Results) -> list[Untested]:
    """Cases that were left out where the suite was derived for another arithmetic."""
    own = {why: number for why, number in reasons.items() if isinstance(number, int)}
    return [
        Untested(
            f"{operator}: no bound for {results.suite.arithmetic}, and {plural(number, 'case')} left "
            f"out: {text(why)}."
        )
        for why, number in own.items()
    ]


def _uncovered(operator: OperatorName, coverage: Mapping[str, Any]) -> list[Untested]:
    feasible, covered = coverage.get("feasible"), coverage.get("covered")
    if not isinstance(feasible, int) or not isinstance(covered, int) or feasible <= covered:
        return []
    strength = coverage.get("strength")
    what = {2: "pairs", 3: "triples"}.get(strength if isinstance(strength, int) else 0, "combinations")
    examples = [
        " and ".join(f"{name}={text(level)}" for name, level in mapping(item).items())
        for item in items(coverage.get("uncovered"))[:3]
    ]
    shown = f", for example {'; '.join(examples)}" if examples else ""
    missing = feasible - covered
    return [Untested(f"{operator}: {count(missing)} of {count(feasible)} feasible {what} of levels{shown}.")]
