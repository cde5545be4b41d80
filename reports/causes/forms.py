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
    "inputs": "every input given at run time, its dimensions known before",
    "initializers": "inputs as constants of the model, which runtimes fold",
    "dynamic": "dimensions not known before the run",
    "strided": "the first input behind a Transpose, not contiguous",
    "again": "a model run again behind a call of other dimensions",
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
    forms = [text(item) for item in items(mapping(results.record.header.get("options")).get("forms"))]
    if len(forms) < 2:
        return ()
    first, *others = forms
    several = [result for result in results.cases if len(result.rows) > 1]
    found = (_compare(several, first, other) for other in others)
    return tuple(form_result for form_result in found if form_result.cases)


def _compare(several: Sequence[CaseResult], first: str, form: str) -> FormResult:
    cases, here, there = 0, [], []
    for result in several:
        rows = [_fails(result, first), _fails(result, form)]
        if None in rows:
            continue
        cases += 1
        if rows == [False, True]:
            here.append(str(result.id))
        elif rows == [True, False]:
            there.append(str(result.id))
    return FormResult(form, first, cases, tuple(here), tuple(there))


def _fails(case: CaseResult, form: str) -> bool | None:
    """Whether a case fails in a form; None where it was not run in it."""
    rows: list[Result] = [row for row in case.rows if row.form == form and row.response != "none"]
    return any(row.verdict in FAILING for row in rows) if rows else None


def untried_forms(results: Results) -> tuple[str, ...]:
    """The forms that the runtime takes and no case was run in, with what they mean."""
    header = results.record.header
    offered = {
        text(item) for item in items(mapping(mapping(header.get("runtime")).get("offer")).get("forms"))
    }
    ran = {row.form for case in results.cases for row in case.rows}
    return tuple(f"{form} ({MEANINGS[form]})" for form in FORMS if form in offered - ran)


def form_sentence(results: Results) -> str | None:
    """That forms make a difference, in a sentence; which cases they are, each form's line says beside it."""
    found = [compared for compared in compare_forms(results) if compared.here_alone]
    if not found:
        return None
    number = len({case for form in found for case in form.here_alone})
    verb = "fails" if number == 1 else "fail"
    return f"{plural(number, 'case')} {verb} in another form alone: {listed([form.form for form in found])}."
