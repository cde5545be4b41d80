"""The call that is shown of a cause: its smallest case, made smaller on the runtime itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from conformance.judging.kept_diagnosis import SmallerCall
from conformance.judging.responses import Answered, Refused, Response
from conformance.suite.cases import Case
from opcert.commands.terminal import note
from opcert.vocabulary.errors import RuntimeUnavailable
from opcert.vocabulary.harmless import one_line
from reports.causes.failure_class import FailureClass
from reports.results.case_results import Results
from reports.single_cases.answer_views import in_words, output_name
from reports.single_cases.case_views import view_case

if TYPE_CHECKING:
    from generator.exploring.fuzzing.workers import RunningRuntime
    from reference.readings.disagreements import Disagreement

Smaller = Callable[[FailureClass, Case], Case]
"""Makes the case of a cause smaller; one that cannot be made smaller is given back as it is."""
SECONDS = 3.0
"""So long the call of one cause is made smaller; on the runtimes that ship nearly all take less than one."""
_LONGEST = 500


def smaller_on(
    running: RunningRuntime, seconds: float, folders: tuple[Path, ...], entries: Sequence[Disagreement]
) -> Smaller:
    """What makes calls smaller on a runtime, each for so many seconds; `entries` say of what causes are."""
    from generator.exploring.diagnosis.smallest_calls import SmallestCalls

    first = running.offer.forms[0]
    calls = SmallestCalls(running.ask, running.name, entries, seconds, folders)

    def smaller(found: FailureClass, case: Case) -> Case:
        row = found.smallest.row
        if row is None or row.form != first or str(case.id) != row.case:
            return case
        try:
            return calls.of(case, row.verdict, row.reason or "", found.entry, found.smallest.shows)
        except RuntimeUnavailable as error:
            note(error)
            return case

    return smaller


def smaller_calls(
    results: Results,
    classes: tuple[FailureClass, ...],
    running: RunningRuntime,
    seconds: float,
    folders: tuple[Path, ...],
    entries: Sequence[Disagreement],
    before: Iterable[SmallerCall] = (),
) -> Iterator[SmallerCall]:
    """The calls to show of causes, in their order, as many as there is time for; those of `before` stay."""
    kept = {(each.case, each.cause): each for each in before}
    smaller, until = smaller_on(running, min(SECONDS, seconds), folders, entries), monotonic() + seconds
    for found in filter(lambda each: each.fails, classes):
        if monotonic() >= until:
            return
        name = str(found.smallest.id)
        if (name, found.entry) in kept:
            yield kept[name, found.entry]
            continue
        case = results.suite.case(name)
        small = smaller(found, case)
        if small is case:
            continue
        try:
            got = _got(running.ask(small), small)
        except RuntimeUnavailable:
            return
        if got:
            view = view_case(results, replace(small, id=case.id))
            yield SmallerCall(
                name,
                found.entry,
                tuple((each.name, each.values) for each in view.attributes),
                tuple((each.name, each.type, each.values) for each in view.inputs),
                view.demand,
                got,
            )


def _got(response: Response, case: Case) -> str:
    """What the runtime made of a call, in words; empty where it made nothing that can be shown."""
    match response:
        case Answered():
            return "; ".join(
                in_words(output_name(case, position), each).line
                for position, each in enumerate(response.outputs)
            )
        case Refused():
            return one_line(f"{response.kind}: {response.message}", _LONGEST)
    return ""
