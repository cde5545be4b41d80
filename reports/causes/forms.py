"""What the forms in which inputs arrive do differently: the preferred one, and the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conformance.judging.verdicts import FAILING
from conformance.models.case_models import FORMS
from conformance.recording.rows import Result
from reports.results.case_results import CaseResult, Results
from reports.results.told_facts import items, mapping, text
from reports.text.phrasing import count, listed, plural

MEANINGS: Mapping[str, str] = {
    "inputs": "every input given at run time, its extents known before",
    "initializers": "inputs as constants of the model, which runtimes fold",
    "dynamic": "extents not known before the run",
    "strided": "the first input behind a Transpose, not contiguous",
    "again": "a model run again behind a call of other extents",
    "untouched": "a run leaves its inputs and what it has given out alone",
    "threads": "with each number of threads",
}


@dataclass(frozen=True)
class FormResult:
    """A form beside the preferred one: how many cases were run in both, and which fail in one alone."""

    form: str
    preferred: str
    cases: int
    here_alone: tuple[str, ...]
    there_alone: tuple[str, ...]

    @property
    def text(self) -> str:
        """One line: `630 cases, 3 fail that do not as inputs, such as ...`."""
        parts = [plural(self.cases, "case")]
        for cases, what in (
            (self.here_alone, f"that {{}} not as {self.preferred}"),
            (self.there_alone, f"as {self.preferred} and not so"),
        ):
            if cases:
                verb, does = ("fails", "does") if len(cases) == 1 else ("fail", "do")
                parts.append(f"{count(len(cases))} {verb} {what.format(does)}, such as {cases[0]}")
        return ", ".join(parts if len(parts) > 1 else [*parts, f"all do as {self.preferred} do"])


def compare_forms(results: Results) -> tuple[FormResult, ...]:
    """Every form that cases were run in beside the first, in order."""
    forms = [text(each) for each in items(mapping(results.record.header.get("options")).get("forms"))]
    if len(forms) < 2:
        return ()
    first, *others = forms
    several = [each for each in results.cases if len(each.rows) > 1]
    found = (_compare(several, first, each) for each in others)
    return tuple(each for each in found if each.cases)


def _compare(several: Sequence[CaseResult], first: str, form: str) -> FormResult:
    cases, here, there = 0, [], []
    for each in several:
        rows = [_fails(each, first), _fails(each, form)]
        if None in rows:
            continue
        cases += 1
        if rows == [False, True]:
            here.append(str(each.id))
        elif rows == [True, False]:
            there.append(str(each.id))
    return FormResult(form, first, cases, tuple(here), tuple(there))


def _fails(case: CaseResult, form: str) -> bool | None:
    """Whether a case fails in a form; None where it was not run in it."""
    rows: list[Result] = [each for each in case.rows if each.form == form and each.response != "none"]
    return any(each.verdict in FAILING for each in rows) if rows else None


def untried_forms(results: Results) -> tuple[str, ...]:
    """The forms that the runtime takes and no case was run in, with what they mean."""
    header = results.record.header
    offered = {
        text(each) for each in items(mapping(mapping(header.get("runtime")).get("offer")).get("forms"))
    }
    ran = {row.form for case in results.cases for row in case.rows}
    return tuple(f"{each} ({MEANINGS[each]})" for each in FORMS if each in offered - ran)


def form_sentence(results: Results) -> str | None:
    """That forms make a difference, in a sentence; which cases they are, each form's line says beside it."""
    found = [each for each in compare_forms(results) if each.here_alone]
    if not found:
        return None
    number = len({case for each in found for case in each.here_alone})
    verb = "fails" if number == 1 else "fail"
    return f"{plural(number, 'case')} {verb} in another form alone: {listed([each.form for each in found])}."
