"""How far the cases of an operator version are trusted, and what that leaves open."""

from __future__ import annotations

from opcert.vocabulary.names import OperatorName
from reports.results.case_results import Results
from reports.results.measured import Trust
from reports.results.told_facts import short_names
from reports.text.phrasing import plural


def trust_of(results: Results, operator: OperatorName) -> Trust | None:
    """`reviewed` or `referenced`; None where nobody said."""
    found = results.measured.get(operator)
    return None if found is None else found.trust


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
