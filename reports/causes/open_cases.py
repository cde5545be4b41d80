"""Cases that are no fault of the runtime by what is known of them: they are open in the documents."""

from __future__ import annotations

from dataclasses import replace

from reports.causes.failure_classes import diagnosis_of
from reports.results.case_results import Results


def with_open_cases(results: Results) -> Results:
    """The results in which failing cases that entries or experiments put to the document have its verdict.

    The rows stay as the judge left them, and so does a certificate, which is of these alone.
    """
    diagnosis = diagnosis_of(results)
    blameless = set(() if diagnosis is None else diagnosis.allowed)
    blameless.update(case for each in results.known if not each.blames for case in each.cases)
    if not blameless:
        return results
    cases = tuple(
        replace(each, verdict="document") if each.fails and str(each.id) in blameless else each
        for each in results.cases
    )
    return replace(results, cases=cases)


def as_judged(results: Results) -> Results:
    """The results in which every case has the verdict that its rows have."""
    cases = tuple(
        replace(each, verdict=each.told) if each.told != each.verdict else each for each in results.cases
    )
    return replace(results, cases=cases)
