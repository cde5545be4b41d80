"""What `opcert check` asks about: a model's calls, with the cases that are made for them as a suite."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

from opcert.commands.checked_chains import MadeChains, make_chains
from opcert.commands.node_test_evidence import with_node_tests
from opcert.commands.terminal import note, open_console
from reports.checked_models.call_evidence import CheckedCall

if TYPE_CHECKING:
    from conformance.checked_models.model_calls import ModelFacts
    from conformance.clusters.cluster import Cluster
    from conformance.models.case_models import Form
    from conformance.suite.suites import Suite
    from generator.models.check.call_cases import CallCases

_MOST_PROCESSES = 8
_SECONDS_BETWEEN_LINES = 5.0


@dataclass(frozen=True, eq=False)
class CheckedModel:
    """A model, its distinct calls with their evidence and cases, its chains, and the forms of each case."""

    facts: ModelFacts
    calls: tuple[CheckedCall, ...]
    made: tuple[CallCases, ...]
    forms: Mapping[str, Sequence[Form]]
    chains: MadeChains = field(default_factory=MadeChains)


def make_checked(path: Path, *, chains: bool = True, cluster: Cluster | None = None) -> CheckedModel:
    """Read a model and make the cases of each of its calls and `chains`, with progress on standard error.

    A `cluster` makes those of the calls, if there is one. Raises UserError where the file is no model that
    can be read.
    """
    from conformance.checked_models.model_reading import read_model
    from generator.models.check.model_cases import cases_of_calls

    facts = read_model(path)
    done = 0
    with _call_progress(len(facts.calls)) as tell:

        def told(_: CallCases) -> None:
            nonlocal done
            done += 1
            tell(done)

        processes = min(os.cpu_count() or 1, _MOST_PROCESSES)
        made = cases_of_calls(facts.calls, processes=processes, told=told, cluster=cluster)
    found = put_to_calls(facts, with_node_tests(made))
    return with_chains(found, make_chains(facts)) if chains else found


def with_chains(checked: CheckedModel, chains: MadeChains) -> CheckedModel:
    """The same with chains, whose weights are constants and whose other inputs come with each run."""
    own: dict[str, Sequence[Form]] = {str(each.id): ("inputs",) for each in chains.cases}
    return replace(checked, forms={**checked.forms, **own}, chains=chains)


def put_to_calls(facts: ModelFacts, made: Sequence[CallCases]) -> CheckedModel:
    """The calls of a model with the cases that were made for each, in the same order."""
    calls: list[CheckedCall] = []
    forms: dict[str, list[Form]] = {}
    for number, each in enumerate(made, 1):
        own = each.cases or each.node_tests
        for case in own:
            wanted = forms.setdefault(str(case.id), [])
            wanted += [form for form in (nearest_form(each.forms),) if form not in wanted]
        left = each.not_covered
        calls.append(
            CheckedCall(
                number,
                each.call,
                "reference" if each.cases else "node_tests" if own else "none",
                tuple(dict.fromkeys(str(case.id) for case in own)),
                "" if left is None else left.why,
                "" if left is None else left.text,
                each.varied,
                each.given_up,
            )
        )
    return CheckedModel(facts, tuple(calls), tuple(made), forms)


def nearest_form(forms: Sequence[Form]) -> Form:
    """The form in which alone a call is asked: the nearest to the model, in others it may fail where the
    model does not.

    So it may with open extents: a case has a name for each, of which the model says that some are one.
    """
    return next((each for each in forms if each != "dynamic"), "inputs")


@contextmanager
def open_suite_of(checked: CheckedModel, place: Path) -> Iterator[Suite | None]:
    """The cases of a model as a suite, written to a place; None where there are none.

    Raises UserError where it cannot be written.
    """
    from conformance.suite.suites import open_suite
    from generator.models.check.model_suite import write_model_suite

    if not checked.forms:
        yield None
        return
    # Node tests stand in for cases alone.
    made = [replace(each, node_tests=()) if each.cases else each for each in checked.made]
    options = {"size": "calls", "model": checked.facts.sha256}
    write_model_suite(place, made, options, checked.chains.cases)
    with open_suite(place) as suite:
        yield suite


@contextmanager
def _call_progress(total: int) -> Iterator[Callable[[int], None]]:
    """What to tell of each call whose cases are made: how many calls are through."""
    if not sys.stderr.isatty():
        told = time.monotonic()

        def tell(done: int) -> None:
            nonlocal told
            now = time.monotonic()
            if now - told >= _SECONDS_BETWEEN_LINES and done < total:
                told = now
                note(f"cases are made for {done} of {total} calls")

        yield tell
        return
    bar = RichProgress(
        TextColumn("making cases"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} calls"),
        TimeElapsedColumn(),
        console=open_console(error=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)
