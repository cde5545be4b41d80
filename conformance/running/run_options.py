"""What a run is asked to do."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.models.case_models import Form
from conformance.processes.worker_limits import Limits
from conformance.running.requests import Offer
from conformance.running.tasks import RunPlan
from conformance.runtimes.runtimes import Runtime
from conformance.suite.case_selection import Shard, nothing_selected
from conformance.suite.form_sample import CASES
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import NothingRan, Place, UserError

SAMPLE = "sample"
"""Every case in the preferred form, and some of each operator version in the others too."""
MOST_WORKERS = 4
_CASES_THAT_PAY = 250
"""Workers at a time where nobody says how many: for each processor one, and for so many cases."""


@dataclass(frozen=True)
class RunOptions:
    """Options of a run.

    `pattern` selects cases (see `Suite.select`). `jobs` are the workers at a time, None for as many as a run
    on this machine gains by (see `lanes`). `forms` is `preferred` (the one that the runtime names first),
    `sample` (that, and some cases of each operator version in the others too), `all`, or names of forms with
    commas between. `shard` leaves the other parts of the suite to other machines. `max_failures`
    ends the run after so many failing cases, None never. `max_deaths` is how many workers may be lost in a
    row before the runtime counts as one that never survives. With `identify` the record's footer holds the
    digests of the files that the workers ran code from, for a certificate. `most_lost` is how many cases of
    one call with other values (those whose ids differ in their digest alone) may lose their worker before the
    others of that call are left out, None for all.
    """

    pattern: str | None = None
    jobs: int | None = 1
    forms: str = "preferred"
    repeat: int = 1
    limits: Limits = field(default_factory=Limits)
    max_failures: int | None = None
    max_deaths: int = 10
    shard: Shard | None = None
    identify: bool = False
    most_lost: int | None = None

    def lanes(self, cases: int) -> int:
        """How many workers at a time run so many cases: no more than there are cases.

        A worker costs its start, and this process keeps only a few of them busy.
        """
        wanted = self.jobs or min(MOST_WORKERS, os.cpu_count() or 1, 1 + cases // _CASES_THAT_PAY)
        return max(1, min(wanted, cases))

    def to_json(self) -> dict[str, Any]:
        """The options as a record's header states them."""
        return {
            "pattern": self.pattern,
            "jobs": self.jobs or 1,
            "forms": self.forms,
            "repeat": self.repeat,
            "timeout": self.limits.case_seconds,
            "start_timeout": self.limits.start_seconds,
            "memory": self.limits.resident_bytes,
            "network": self.limits.network,
            "max_failures": self.max_failures,
            "shard": None if self.shard is None else str(self.shard),
            **({} if self.most_lost is None else {"most_lost": self.most_lost}),
        }


@dataclass(frozen=True)
class RunRequest:
    """What is asked of whom: cases of a suite, of a runtime.

    With `only` no case runs that is not in it; a case that `own_forms` has runs in these of the forms alone.
    """

    suite: Suite
    runtime: Runtime
    options: RunOptions = RunOptions()
    only: Container[str] | None = None
    own_forms: Mapping[str, Sequence[str]] | None = None

    def selected(self) -> Sequence[str]:
        """The cases that a run is of, in suite order; NothingRan where there are none."""
        found = self.suite.select(self.options.pattern)
        if not found:
            raise nothing_selected(self.options.pattern, self.suite.case_ids, str(self.suite.path))
        if self.options.shard is not None:
            found = tuple(filter(self.options.shard.holds, found))
        if self.only is not None:
            found = tuple(case_id for case_id in found if case_id in self.only)
        if not found:
            told = "no case is left to run: what is selected lies in other parts"
            raise NothingRan(told, where=Place(str(self.suite.path)))
        return found

    def plan(self, selected: Sequence[str], forms: Sequence[Form]) -> RunPlan:
        """The rows of the selected cases in these forms."""
        sampled = _sampled(self.options, forms)
        own = self.own_forms or {}
        return RunPlan(self.suite, selected, forms, self.options.repeat, sampled=sampled, own_forms=own)

    def told_forms(self) -> dict[str, Any]:
        """What a record's header says, beside the options, of cases that go in forms of their own."""
        return {} if self.own_forms is None else {"own_forms": True}


def told_options(options: RunOptions, forms: Sequence[str]) -> dict[str, Any]:
    """Options as a record's header states them, with the forms that cases go in."""
    return {**options.to_json(), "forms": list(forms), "sampled": _sampled(options, forms)}


def _sampled(options: RunOptions, forms: Sequence[str]) -> int | None:
    """How many cases of each operator version go in all of these forms; None where every case does."""
    return CASES if options.forms == SAMPLE and len(forms) > 1 else None


def choose_forms(asked: str, offer: Offer) -> Sequence[Form]:
    """The forms to run in; raises UserError where one is asked for that the runtime does not take."""
    if asked == "preferred":
        return offer.forms[:1]
    if asked in ("all", SAMPLE):
        return offer.forms
    wanted = [each.strip() for each in asked.split(",")]
    chosen = [each for each in offer.forms if each in wanted]
    missing = [each for each in wanted if each not in chosen]
    if missing or len(wanted) != len(set(wanted)):
        raise UserError(
            f"{offer.name} does not run cases in this form" if missing else "a form is named twice",
            got=asked,
            expected=f"all, sample, preferred, or some of {', '.join(offer.forms)}",
        )
    return chosen
