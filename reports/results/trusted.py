"""How far the cases of an operator version are trusted, as the suite says, and what that leaves open."""

from __future__ import annotations

from opcert.vocabulary.names import OperatorName
from reports.page_making.phrasing import plural
from reports.results.case_results import Results
from reports.results.told_facts import mapping, short_names

LEVELS = ("referenced", "reviewed")
"""What a suite says of an operator version whose cases it has; docs/operators.md has their meaning."""


def trust_of(results: Results, operator: OperatorName) -> str | None:
    """`reviewed` or `referenced`; None where the suite does not say."""
    told = mapping(results.suite.facts.get("trust")).get(str(operator))
    return told if isinstance(told, str) and told in LEVELS else None


def unreviewed(results: Results) -> str | None:
    """Which operator versions have cases that were not reviewed, in a sentence; None where all were."""
    found = [each for each in results.by_operator if trust_of(results, each) == "referenced"]
    if not found:
        return None
    return (
        f"The cases of {plural(len(found), 'operator version')} are not reviewed: their expectations agree "
        "with independent witnesses, but what they miss was not measured, or a case that fails on a runtime "
        f"is not explained yet ({short_names(found)})."
    )
