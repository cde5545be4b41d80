"""Finding the excuses of failing cases in a profile and a baseline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime

from reports.gates.baseline import Baseline, known_failures
from reports.gates.profile_evaluation import evaluate
from reports.gates.profiles import Profile
from reports.results.case_results import Results
from reports.results.excuses import Excuse, Excuses


def excuse(
    results: Results, profile: Profile | None, baseline: Baseline | None, on: date | None = None
) -> Results:
    """The same results with the excuses that hold, or held, on a day (default: today).

    A case with several has the first that holds: a waiver before an entry of a baseline.
    """
    if profile is None and baseline is None:
        return results
    today = on or datetime.now(UTC).date()
    found: dict[str, Excuse] = {}
    named = [*_waived(profile, results, today), *_known(baseline, results, today)]
    for name, each in sorted(named, key=lambda pair: pair[1].expired):
        found.setdefault(name, each)
    against = [] if profile is None else [f"profile {profile.profile}"]
    if baseline is not None:
        against.append("a baseline of known failures")
    return replace(results, excuses=Excuses(tuple(against), found))


def _waived(profile: Profile | None, results: Results, on: date) -> Iterator[tuple[str, Excuse]]:
    for use in evaluate(profile, results, on).waivers if profile is not None else ():
        each = use.waiver
        made = Excuse("waiver", each.reason, each.link, each.expires, use.expired)
        yield from ((case, made) for case in use.cases)


def _known(baseline: Baseline | None, results: Results, on: date) -> Iterator[tuple[str, Excuse]]:
    for each in baseline.known if baseline is not None else ():
        made = Excuse("baseline", each.reason, each.link, each.expires, each.expires < on)
        yield from ((name, made) for name in known_failures(each, results))
