"""A cause of a call or of a chain, as lines of a terminal."""

from __future__ import annotations

from opcert.vocabulary.harmless import one_line
from reports.checked_models.call_answers import CallCause
from reports.page_making.phrasing import count, plural
from reports.single_cases.answer_views import view_answer
from reports.single_cases.case_views import demand_text

_MOST_REMARKS = 2
_LONGEST = 400


def cause_lines(cause: CallCause, asked: int, program: str) -> list[str]:
    """What it is, in how many of the cases that were asked, the smallest one, and how to see it."""
    fails = f"{count(len(cause.cases))} of {plural(asked, 'case')}"
    error = f", {cause.error}" if cause.error else ""
    lines = [f"   {one_line(cause.says, _LONGEST)} ({fails}{error})"]
    lines += [f"     {each}" for each in cause.remarks[:_MOST_REMARKS]]
    smallest = cause.smallest
    if smallest.verdict == "mismatch":
        case = cause.results.suite.case(str(smallest.id))
        got = view_answer(cause.results, smallest, case).answer
        lines.append(f"     expected {one_line(demand_text(case), 200)}, got {one_line(got, 200)}")
    command = cause.results.reproduction_command(smallest.id)
    return [*lines, f"     {command.replace('opcert', program, 1)}"]
