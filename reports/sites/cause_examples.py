"""The smallest call that shows a cause, in words: what is asked, what must come, what came."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.judging.verdicts import word
from opcert.vocabulary.harmless import for_shell, one_line
from reports.causes.failure_class import smallness
from reports.results.case_results import CaseResult, Results
from reports.results.recorded_answers import read_outputs
from reports.single_cases.case_views import view_case
from reports.single_cases.passages_shown import ShownPassage
from reports.text.phrasing import ratio_text
from reports.text.view_parts import ViewedValue

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
    got = tuple(ViewedValue(f"got {each.name}", each.values, each.type) for each in outputs)
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
