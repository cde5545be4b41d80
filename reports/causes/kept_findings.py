"""What the files beside a record say of its failures: what experiments showed, and what answers resemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from conformance.judging import kept_diagnosis, kept_explanations
from conformance.judging.kept_diagnosis import Diagnosis, SmallerCall, read_diagnosis
from conformance.judging.kept_explanations import Explanation, read_explanations
from reports.causes.failure_class import FailureClass
from reports.results.case_results import CaseResult, Results


@lru_cache(maxsize=16)
def _explanations(results: Results) -> tuple[Explanation, ...]:
    digest = (results.record.footer or {}).get("digest")
    return read_explanations(
        results.record.path.with_name(kept_explanations.FILE), results.suite.digest, digest
    )


@lru_cache(maxsize=16)
def _by_case(results: Results) -> Mapping[str, str]:
    found = {}
    for explanation in _explanations(results):
        if explanation.sentence is not None:
            found.update(dict.fromkeys(explanation.explained, explanation.sentence))
        for part in explanation.parts:
            sentence = f"The result equals the expected output with {part.change.text}."
            found.update(dict.fromkeys(part.cases, sentence))
    return found


@lru_cache(maxsize=16)
def _by_cases(results: Results) -> Mapping[frozenset[str], str]:
    found: dict[frozenset[str], str] = {}
    for explanation in _explanations(results):
        if explanation.sentence is not None:
            found.setdefault(frozenset(explanation.cases), explanation.sentence)
    return found


def class_sentence(results: Results, cases: Sequence[CaseResult]) -> str:
    """What the results of exactly these cases equal, in a sentence; empty where nothing is known."""
    return _by_cases(results).get(frozenset(str(result.id) for result in cases), "")


def class_equals(results: Results, cases: Sequence[CaseResult]) -> str:
    """The same, where all of these cases were compared and one change alone gives each answer."""
    names = frozenset(str(result.id) for result in cases)
    whole = (
        explanation.sentence
        for explanation in _explanations(results)
        if explanation.change is not None
        and explanation.compared == len(names)
        and names == set(explanation.cases)
    )
    return next(whole, None) or ""


def case_sentence(results: Results, found: CaseResult) -> str:
    """What the result of a case equals, as of the class that it was explained in; empty where nothing is."""
    return _by_case(results).get(str(found.id), "")


@lru_cache(maxsize=16)
def diagnosis_of(results: Results) -> Diagnosis | None:
    """What experiments showed of a run, as the file beside its record says; None where there is none."""
    digest = (results.record.footer or {}).get("digest")
    return read_diagnosis(results.record.path.with_name(kept_diagnosis.FILE), results.suite.digest, digest)


def smaller_call(results: Results, found: FailureClass) -> SmallerCall | None:
    """What the smallest case of a cause was made to on the runtime; None where nobody did that."""
    diagnosis, of = diagnosis_of(results), (str(found.smallest.id), found.entry)
    made = diagnosis.smaller if diagnosis is not None else ()
    return next((call for call in made if (call.case, call.cause) == of), None)


def with_open_cases(results: Results) -> Results:
    """The results in which failing cases that entries or experiments put to the document have its verdict.

    The rows stay as the judge left them, and so does a certificate, which is of these alone.
    """
    diagnosis = diagnosis_of(results)
    blameless = set(() if diagnosis is None else diagnosis.allowed)
    blameless.update(
        case for known_cause in results.known if not known_cause.blames for case in known_cause.cases
    )
    if not blameless:
        return results
    cases = tuple(
        replace(result, verdict="document") if result.fails and str(result.id) in blameless else result
        for result in results.cases
    )
    return replace(results, cases=cases)


def as_judged(results: Results) -> Results:
    """The results in which every case has the verdict that its rows have."""
    cases = tuple(
        replace(result, verdict=result.told) if result.told != result.verdict else result
        for result in results.cases
    )
    return replace(results, cases=cases)
