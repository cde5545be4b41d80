"""Puts beside a run which arithmetic each of its operators meets: answers judged again by derived bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.judging.responses import Answered
    from conformance.suite.cases import Case
    from opcert.vocabulary.arithmetics import Arithmetic
    from opcert.vocabulary.names import OperatorName
    from reports.results.case_results import Results
    from reports.results.standing import MetArithmetic

_MOST_CASES = 12
"""So many of an operator's wrong answers are held against each arithmetic, the farthest off first."""


def with_met_arithmetics(results: Results, folders: tuple[Path, ...] = ()) -> Results:
    """The results with the most exact arithmetic that holds for all answers of each operator with floats.

    An operator whose answers are right by its suite meets the arithmetic of that. Of a suite that is of
    another one than float32 no more is asked, since what it expects is of that one.
    """
    from reports.results.standing import MetArithmetic

    found = {}
    for operator, cases in results.by_operator.items():
        wrong = [each for each in cases if each.told in ("mismatch", "inexact")]
        judged = [each for each in cases if each.told in ("pass", "mismatch", "inexact")]
        if not any(each.element_type == "float" for each in judged):
            continue
        if not wrong:
            found[operator] = MetArithmetic(results.suite.arithmetic.words, 0, 0)
        elif results.suite.arithmetic.is_own:
            found[operator] = _found(results, operator, [str(each.id) for each in wrong], folders)
        else:
            found[operator] = MetArithmetic(None, len(wrong), 0)
    return replace(results, met=found)


def _found(
    results: Results, operator: OperatorName, wrong: Sequence[str], folders: tuple[Path, ...]
) -> MetArithmetic:
    from generator.asking.other_arithmetics import NoBound, in_arithmetic
    from generator.making.operators.discovery import load_rules
    from opcert.vocabulary.errors import UserError
    from reference.registry import reference_of
    from reports.results.standing import MetArithmetic

    answers = _answers(results, wrong)
    try:
        spec = load_rules(operator, folders)
        reference = reference_of(spec)
    except UserError:  # of a suite that others made, an operator may be known to nobody here
        return MetArithmetic(None, len(wrong), 0, "no reference")
    tried, reason = 0, None

    def holds(arithmetic: Arithmetic, case: Case, response: Answered) -> bool:
        nonlocal tried, reason
        from conformance.judging.judge import judge
        from generator.asking.computed import as_run

        tried += 1
        try:
            derived = in_arithmetic(spec, reference, case, arithmetic)
        except NoBound as error:
            reason = f"no bound: {error.problem}"
            return False
        return judge(derived, as_run(derived, response)).verdict == "pass"

    # What the coarsest of either range does not excuse no other one does.
    if answers and any(holds(each, *answers[0]) for each in _ladder()[-2:]):
        for arithmetic in _ladder():
            if all(holds(arithmetic, *each) for each in answers):
                return MetArithmetic(arithmetic.words, len(wrong), len(answers))
    return MetArithmetic(None, len(wrong), len(answers), reason)


def _ladder() -> list[Arithmetic]:
    """From the most exact on; where one is finer and has a smaller range, the finer one first."""
    from opcert.vocabulary.arithmetics import FORMATS, Arithmetic

    plain = [Arithmetic(name) for name in FORMATS if name != "float32"]
    return [*plain, *(Arithmetic(name, "same") for name in ("float16", "bfloat16"))]


def _answers(results: Results, wrong: Sequence[str]) -> list[tuple[Case, Answered]]:
    """Wrong answers with their cases, the farthest off first; none where one of them is not in the record."""
    from conformance.judging.responses import Answered
    from conformance.judging.verdicts import FAILING
    from opcert.vocabulary.errors import UserError
    from reports.certificates.rejudging import DigestsAlone, RecordedOutputs

    recorded, named = RecordedOutputs(results.record), set(wrong)
    rows = [
        row
        for row in results.record.results
        if row.case in named and row.response == "answered" and row.verdict in {*FAILING, "inexact"}
    ]
    rows.sort(key=lambda row: -float((row.worst or {}).get("ratio") or 1e300))
    found = []
    for row in rows[:_MOST_CASES]:
        case = results.suite.case(row.case)
        try:
            outputs = recorded.restore(case, row)
        except (DigestsAlone, UserError):
            return []
        found.append((case, Answered(outputs, row.seconds, row.answer, row.touched)))
    return found
