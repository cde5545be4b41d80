"""The causes of the failures of one run, each by what stays of it in other runs, and the smallest call."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.judging.kept_diagnosis import FILE, read_diagnosis
from conformance.judging.known_causes import KnownCause
from conformance.judging.refusals import sentence
from conformance.judging.verdicts import REJECTED_VALID, WORST_FIRST, word, worst_verdict
from conformance.recording.records import Record
from conformance.recording.rows import Result
from opcert.vocabulary.harmless import for_shell, one_line
from opcert.vocabulary.names import CaseId, OperatorName, slug
from reports.causes.class_words import headline, remarks
from reports.causes.failure_class import FailureClass, smallness
from reports.causes.failure_classes import find_classes
from reports.causes.spoken_failures import is_telling, said_form
from reports.results.case_facts import CONSTRAINT
from reports.results.case_results import CaseResult, Results
from reports.single_cases.answer_views import read_outputs
from reports.single_cases.case_views import view_case
from reports.single_cases.passages_shown import ShownPassage
from reports.text.phrasing import ratio_text
from reports.text.value_text import ViewedValue

_LONGEST = 600
Rank = tuple[bool, tuple[int, int, int], tuple[int, int, int], str]


@dataclass(frozen=True)
class CauseExample:
    """A case of a cause as one run saw it; `rank` orders examples, those of a call that is shown first.

    `call` and `expected` are empty where the suite was not at hand.
    """

    rank: Rank
    case: str
    call: tuple[ViewedValue, ...]
    expected: tuple[ViewedValue, ...]
    got: tuple[ViewedValue, ...]
    passages: tuple[ShownPassage, ...]
    command: str


def bare_example(found: CaseResult) -> CauseExample:
    """What the record alone says of a case."""
    rank = (True, *smallness(found))
    command = for_shell(["opcert", "repro", str(found.id)])
    return CauseExample(rank, str(found.id), (), (), (_got_in_words(found),), (), command)


def full_example(results: Results, found: CaseResult) -> CauseExample:
    """A case with its call and the passages that it rests on."""
    case = results.suite.case(str(found.id))
    view = view_case(results, case)
    outputs = read_outputs(results.record, case, found.row)
    got = tuple(ViewedValue(f"got {output.name}", output.values, output.type) for output in outputs)
    return CauseExample(
        (False, *smallness(found)),
        str(found.id),
        (*view.inputs, *view.attributes),
        (*view.expected, *view.rules),
        (*(got or (_got_in_words(found),)), *_error(found)),
        view.passages,
        view.command,
    )


def _got_in_words(found: CaseResult) -> ViewedValue:
    row = found.row
    said = (row.message or row.reason) if row is not None else ""
    return ViewedValue(
        "got", one_line(f"{word(found.verdict)}: {said}" if said else word(found.verdict), _LONGEST)
    )


def _error(found: CaseResult) -> tuple[ViewedValue, ...]:
    if found.verdict not in ("mismatch", "inexact") or found.wrong_shape or found.ratio is None:
        return ()
    return (ViewedValue("error ÷ allowed", ratio_text(found.ratio)),)


_MOST_LETTERS = 60
_TENSOR = re.compile(r"\w*tensor\([\w#]+\)")
_TYPES = re.compile(r"\([#:,\s]*\)")
_SEVERAL = re.compile(r"#(?:[\s,:>-]*#)+")


@dataclass(frozen=True, order=True)
class CauseKey:
    """A cause by how it is known (`entry`, `message`, `experiment`, `rule`, `documents`, `unexplained`), and
    the words that name it there."""

    told: str
    words: tuple[str, ...]

    @property
    def file(self) -> str:
        """The name of its page without the ending; a cause keeps it, whatever else is in the site."""
        digest = hashlib.sha256("\0".join((self.told, *self.words)).encode("utf-8", "backslashreplace"))
        named = slug(self.words[0])[:_MOST_LETTERS] if self.told == "entry" else self.told
        return f"{named}-{digest.hexdigest()[:10]}"


def key_of(found: FailureClass, runtime: str) -> CauseKey:
    """The key of a class of failures of a runtime.

    Entries, rules and what a runtime says in a refusal are the same in all runtimes. What goes by
    experiments, signals or associations is a runtime's own; without a cause, cases of an operator that fail
    in one way stand together, for conditions that separate them do not last.
    """
    operators = tuple(dict.fromkeys(operator.unversioned for operator in found.operators))
    if found.known is not None:
        return CauseKey("entry", (found.known.id,))
    if found.told == "message":
        said = _without_types(said_form(found.smallest))
        if found.kind == REJECTED_VALID and is_telling(said):
            return CauseKey("message", (said,))
        return CauseKey("message", (runtime, found.kind, *operators, said))
    if found.told == "experiment" and found.shown is not None and found.shown.needed:
        needed = sorted(f"{each.factor}={each.value}" for each in found.shown.needed)
        return CauseKey("experiment", (runtime, *operators, *needed))
    if found.told == "rule" and found.smallest.constraint:
        return CauseKey("rule", (*operators, found.smallest.constraint))
    if found.told == "allowed":
        return CauseKey("documents", (runtime, *operators))
    return CauseKey("unexplained", (runtime, *operators, found.kind))


def _without_types(said: str) -> str:
    """A message without the element types that a call has: one check is made of all."""
    return _SEVERAL.sub("#", _TYPES.sub("#", _TENSOR.sub("#", said)))


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
    for result in rows:
        found.setdefault(result.case, []).append(result)
    cases = []
    for name, own in found.items():
        verdict = worst_verdict(result.verdict for result in own)
        row = next(result for result in own if result.verdict == verdict)
        rule = {CONSTRAINT: row.constraint} if row.constraint else {}
        features = {**rule, **{str(each): str(level) for each, level in row.levels.items()}}
        told = (row.element_type, "", row.constraint, features, (0, 0, 0), verdict, row, tuple(own))
        cases.append(CaseResult(CaseId.parse(name), *told))
    return cases


def _seen(classes: Sequence[FailureClass], runtime: str, results: Results | None) -> tuple[SeenCause, ...]:
    found: dict[CauseKey, list[FailureClass]] = {}
    for failures in classes:
        found.setdefault(key_of(failures, runtime), []).append(failures)
    return tuple(_of_classes(key, own, results) for key, own in found.items())


def _title(found: FailureClass) -> str:
    """What one sees of a cause, as its entry says; of a refusal what was said, without the call's types."""
    if found.known is not None and found.known.short:
        return found.known.short
    row = found.smallest.row
    if found.told != "message" or found.kind != REJECTED_VALID or row is None or not row.message:
        return headline(found)
    return f"{found.verb}: {sentence(_SIGNATURE.sub(' ', row.message[:_READ]))}"


def _of_classes(key: CauseKey, classes: Sequence[FailureClass], results: Results | None) -> SeenCause:
    """One cause of the classes that have its key: of several those without a cause, of one operator."""
    first = classes[0]
    examples = [failures.smallest for failures in classes]
    shown = [
        bare_example(example) if results is None else full_example(results, example) for example in examples
    ]
    known = first.known
    told = f"{first.verb}, cause not found" if key.told == "unexplained" else _title(first)
    if key.told == "unexplained":
        conditions = [headline(failures) for failures in classes if failures.conditions]
    else:
        conditions = remarks(first) if known is None else []
    return SeenCause(
        key,
        one_line(told, _LONGEST_TITLE),
        first.tier.heading,
        first.group.heading,
        min({case.verdict for failures in classes for case in failures.cases}, key=WORST_FIRST.index),
        not first.fails,
        known,
        tuple(one_line(condition, _LONGEST_TITLE * 2) for condition in conditions),
        tuple(sorted({operator for failures in classes for operator in failures.operators})),
        tuple(sorted(str(case.id) for failures in classes for case in failures.cases)),
        min(shown, key=lambda cause_example: cause_example.rank),
    )
