"""What failures resemble, as the file beside the record says; nothing where there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from conformance.judging.kept_explanations import FILE, Explanation, read_explanations
from reports.results.case_results import CaseResult, Results


@lru_cache(maxsize=16)
def _explanations(results: Results) -> tuple[Explanation, ...]:
    digest = (results.record.footer or {}).get("digest")
    return read_explanations(results.record.path.with_name(FILE), results.suite.digest, digest)


@lru_cache(maxsize=16)
def _by_case(results: Results) -> Mapping[str, str]:
    found = {}
    for each in _explanations(results):
        if each.sentence is not None:
            found.update(dict.fromkeys(each.explained, each.sentence))
        for part in each.parts:
            sentence = f"The result equals the expected output with {part.change.text}."
            found.update(dict.fromkeys(part.cases, sentence))
    return found


@lru_cache(maxsize=16)
def _by_cases(results: Results) -> Mapping[frozenset[str], str]:
    found: dict[frozenset[str], str] = {}
    for each in _explanations(results):
        if each.sentence is not None:
            found.setdefault(frozenset(each.cases), each.sentence)
    return found


def class_sentence(results: Results, cases: Sequence[CaseResult]) -> str:
    """What the results of exactly these cases equal, in a sentence; empty where nothing is known."""
    return _by_cases(results).get(frozenset(str(each.id) for each in cases), "")


def class_equals(results: Results, cases: Sequence[CaseResult]) -> str:
    """The same, where all of these cases were compared and one change alone gives each answer."""
    names = frozenset(str(each.id) for each in cases)
    whole = (
        each.sentence
        for each in _explanations(results)
        if each.change is not None and each.compared == len(names) and names == set(each.cases)
    )
    return next(whole, None) or ""


def case_sentence(results: Results, found: CaseResult) -> str:
    """What the result of a case equals, as of the class that it was explained in; empty where nothing is."""
    return _by_case(results).get(str(found.id), "")
