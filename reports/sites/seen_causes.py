"""The causes of the failures of one run, each by what stays of it in other runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.judging.kept_diagnosis import FILE, read_diagnosis
from conformance.judging.known_causes import KnownCause
from conformance.judging.refusals import sentence
from conformance.judging.verdicts import REJECTED_VALID, WORST_FIRST, worst_verdict
from conformance.recording.records import Record
from conformance.recording.rows import Result
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import CaseId, OperatorName
from reports.causes.class_words import headline, remarks
from reports.causes.failure_class import FailureClass
from reports.causes.failure_classes import find_classes
from reports.results.case_results import CaseResult, Results
from reports.results.features import CONSTRAINT
from reports.sites.cause_examples import CauseExample, bare_example, full_example
from reports.sites.cause_keys import CauseKey, key_of

_LONGEST_TITLE = 360
_READ = 8192
_SIGNATURE = re.compile(r'\s*:\s*\("[^()]*(?:\(\w+\)[^()]*)*\)\s*->\s*\("[^()]*(?:\(\w+\)[^()]*)*\)\s*')
"""How ONNX Runtime writes out a node: its inputs with their types, and its outputs."""


@dataclass(frozen=True)
class SeenCause:
    """A cause in one run: in words, with its failing cases and the smallest of them.

    `open` says that it blames nobody: the document is wrong there, may be read so, or allows the answer.
    `tier` says what it costs, `group` is the heading under which it stands in the order to fix.
    """

    key: CauseKey
    title: str
    tier: str
    group: str
    verdict: str
    open: bool
    known: KnownCause | None
    remarks: tuple[str, ...]
    operators: tuple[OperatorName, ...]
    cases: tuple[str, ...]
    example: CauseExample


def causes_of(results: Results, runtime: str) -> tuple[SeenCause, ...]:
    """The causes of a run whose suite is at hand, in the order to fix them."""
    footer = results.record.footer or {}
    diagnosis = read_diagnosis(
        results.record.path.with_name(FILE), results.suite.digest, footer.get("digest")
    )
    classes = find_classes(results.cases, results.known, diagnosis, suspected=results.suspected)
    return _seen(classes, runtime, results)


def causes_of_record(record: Record, runtime: str) -> tuple[SeenCause, ...]:
    """The causes of a run of which only the record is there, by what was said and what rule is broken.

    Raises ValueError where a row has no case's name.
    """
    return _seen(find_classes(_bare_cases(record.results)), runtime, None)


def _bare_cases(rows: Iterable[Result]) -> list[CaseResult]:
    """Cases as far as a record tells of them: their levels, not their inputs."""
    found: dict[str, list[Result]] = {}
    for each in rows:
        found.setdefault(each.case, []).append(each)
    cases = []
    for name, own in found.items():
        verdict = worst_verdict(each.verdict for each in own)
        row = next(each for each in own if each.verdict == verdict)
        rule = {CONSTRAINT: row.constraint} if row.constraint else {}
        features = {**rule, **{str(each): str(level) for each, level in row.levels.items()}}
        told = (row.element_type, "", row.constraint, features, (0, 0, 0), verdict, row, tuple(own))
        cases.append(CaseResult(CaseId.parse(name), *told))
    return cases


def _seen(classes: Sequence[FailureClass], runtime: str, results: Results | None) -> tuple[SeenCause, ...]:
    found: dict[CauseKey, list[FailureClass]] = {}
    for each in classes:
        found.setdefault(key_of(each, runtime), []).append(each)
    return tuple(_of_classes(key, own, results) for key, own in found.items())


def _title(found: FailureClass) -> str:
    """What tells a cause; of a refusal what was said, without the element types of the one call."""
    row = found.smallest.row
    if found.told != "message" or found.kind != REJECTED_VALID or row is None or not row.message:
        return headline(found)
    return f"{found.verb}: {sentence(_SIGNATURE.sub(' ', row.message[:_READ]))}"


def _of_classes(key: CauseKey, classes: Sequence[FailureClass], results: Results | None) -> SeenCause:
    """One cause of the classes that have its key: of several those without a cause, of one operator."""
    first = classes[0]
    examples = [each.smallest for each in classes]
    shown = [bare_example(each) if results is None else full_example(results, each) for each in examples]
    known = first.known
    told = f"{first.verb}, cause not found" if key.told == "unexplained" else _title(first)
    if key.told == "unexplained":
        conditions = [headline(each) for each in classes if each.conditions]
    else:
        conditions = remarks(first) if known is None else []
    return SeenCause(
        key,
        one_line(told, _LONGEST_TITLE),
        first.tier.heading,
        first.group.heading,
        min({case.verdict for each in classes for case in each.cases}, key=WORST_FIRST.index),
        not first.fails,
        known,
        tuple(one_line(each, _LONGEST_TITLE * 2) for each in conditions),
        tuple(sorted({operator for each in classes for operator in each.operators})),
        tuple(sorted(str(case.id) for each in classes for case in each.cases)),
        min(shown, key=lambda each: each.rank),
    )
