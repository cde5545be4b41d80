"""The call that is shown of a cause: its smallest case, made smaller on the runtime itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from conformance.judging.kept_diagnosis import SmallerCall
from conformance.running.responses import Answered, Refused, Response
from conformance.suite.cases import Case
from opcert.commands.terminal import say
from opcert.vocabulary.errors import RuntimeUnavailable
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.tensors import Tensor
from reports.causes.failure_class import FailureClass
from reports.results.case_results import Results
from reports.single_cases.case_views import view_case
from reports.single_cases.value_text import shape_text, values_text

if TYPE_CHECKING:
    from generator.fuzzing.workers import RunningRuntime

Smaller = Callable[[FailureClass, Case], Case]
"""Makes the case of a cause smaller; one that cannot be made smaller is given back as it is."""
SECONDS = 3.0
"""So long the call of one cause is made smaller; on the runtimes that ship nearly all take less than one."""
_LONGEST = 500


def smaller_on(
    running: RunningRuntime, seconds: float, folders: tuple[Path, ...], known_files: tuple[Path, ...]
) -> Smaller:
    """What makes calls smaller on a runtime, each for so many seconds.

    Raises UserError where a file of known causes cannot be read.
    """
    from generator.diagnosis.smallest_calls import SmallestCalls
    from reference.disagreements import load_disagreements, read_disagreements

    entries = [entry for file in known_files for entry in read_disagreements(file)]
    entries += load_disagreements()
    first = running.offer.forms[0]
    calls = SmallestCalls(running.ask, running.name, entries, seconds, folders)

    def smaller(found: FailureClass, case: Case) -> Case:
        row = found.smallest.row
        if row is None or row.form != first or str(case.id) != row.case:
            return case
        known = found.known.id if found.known is not None else None
        try:
            return calls.of(case, row.verdict, row.reason or "", known, found.smallest.shows)
        except RuntimeUnavailable as error:
            say(f"opcert: {error}", error=True)
            return case

    return smaller


def smaller_calls(
    results: Results,
    classes: tuple[FailureClass, ...],
    running: RunningRuntime,
    seconds: float,
    folders: tuple[Path, ...],
    known_files: tuple[Path, ...],
    before: Iterable[SmallerCall] = (),
) -> Iterator[SmallerCall]:
    """The calls to show of causes, in their order, as many as there is time for; those of `before` stay."""
    kept = {(each.case, each.cause): each for each in before}
    smaller, until = smaller_on(running, min(SECONDS, seconds), folders, known_files), monotonic() + seconds
    for found in classes:
        if monotonic() >= until:
            return
        case, cause = results.suite.case(str(found.smallest.id)), found.known.id if found.known else ""
        if (str(case.id), cause) in kept:
            yield kept[str(case.id), cause]
            continue
        small = smaller(found, case) if found.fails else case
        if small is case:
            continue
        try:
            got = _got(running.ask(small))
        except RuntimeUnavailable:
            return
        if got:
            view = view_case(results, replace(small, id=case.id))
            yield SmallerCall(
                str(case.id),
                cause,
                tuple((each.name, each.values) for each in view.attributes),
                tuple((each.name, each.type, each.values) for each in view.inputs),
                view.demand,
                got,
            )


def _got(response: Response) -> str:
    """What the runtime made of a call, in words; empty where it made nothing that can be shown."""
    match response:
        case Answered():
            outputs = (
                f"{shape_text(each)} {values_text(each)}"
                if isinstance(each, Tensor)
                else f"no tensor but a {each.kind}: {each.text}"
                for each in response.outputs
            )
            return "; ".join(outputs)
        case Refused():
            return one_line(f"{response.kind}: {response.message}", _LONGEST)
    return ""
