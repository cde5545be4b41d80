"""Baselines: the failures that people know of a runtime, so that a gate fails on new ones; and excuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field, field_validator, model_validator

from conformance.judging.verdicts import ACCEPTED_INVALID, NOT_JUDGED, FailingVerdict
from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.whole_files import write_text
from opcert.vocabulary.yaml_files import MOST_BYTES, load_bytes
from opcert.vocabulary.yaml_schemas import validate
from reports.causes.class_words import headline
from reports.causes.failure_class import FailureClass
from reports.causes.failure_classes import class_of, classes_of
from reports.causes.followed_readings import fault_name
from reports.causes.spoken_failures import check_message, fits_message, is_telling, said_form
from reports.gates.profile_evaluation import evaluate
from reports.gates.profiles import Date, Listed, Profile, Strict
from reports.results.case_results import CaseResult, Results
from reports.results.excuses import Excuse, Excuses


class NamedCause(Strict):
    """A cause, by exactly one of `known`, `message`, `factors` and `rule`.

    `known` is the id of an entry of known causes, `message` what the runtime says (`fits_message`), `rule`
    the rule that calls break which are answered. `factors` are what an experiment showed that failing needs,
    each with values that fail. `operators` (`ai.onnx::Resize`) narrow it; where there are none, it is of any.
    """

    known: str = ""
    message: str = ""
    factors: dict[str, Listed[str]] = Field(default_factory=dict)
    rule: str = ""
    operators: Listed[str] = ()

    @field_validator("message")
    @classmethod
    def _check_message(cls, value: str) -> str:
        return check_message(value) if value else value

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        given = [each for each in ("known", "message", "factors", "rule") if getattr(self, each)]
        if len(given) != 1:
            raise ValueError(
                f"a cause is named by one of known, message, factors and rule, not by {given or 'none'}"
            )
        return self

    def fits(self, case: CaseResult, found: FailureClass | None) -> bool:
        """Whether a failing case has this cause; `found` is the class that it is in."""
        if self.operators and case.operator.unversioned not in self.operators:
            return False
        if self.message:
            return fits_message(self.message, case)
        if self.rule:
            return case.verdict == ACCEPTED_INVALID and case.constraint == self.rule
        if found is None:
            return False
        if self.known:
            return found.known is not None and found.known.id == self.known
        return self._factors_fit(found)

    def _factors_fit(self, found: FailureClass) -> bool:
        """Whether experiments showed the same factors, and none right with what fails here."""
        if found.told != "experiment" or found.shown is None:
            return False
        needed = {each.factor: each for each in found.shown.needed}
        return needed.keys() == self.factors.keys() and all(
            not set(values) & set(needed[name].cures) for name, values in self.factors.items()
        )


def name_cause(found: FailureClass) -> NamedCause | None:
    """The name of a class's cause; None where it is known by association or by nothing, which do not last."""
    operators = tuple(dict.fromkeys(operator.unversioned for operator in found.operators))
    if found.known is not None:
        return NamedCause(known=found.known.id)
    if found.told == "message":
        said = said_form(found.smallest)
        named = is_telling(said)
        return NamedCause(message=said, operators=operators) if named else None
    if found.told == "experiment" and found.shown is not None and found.shown.needed:
        factors = {
            needed.factor: tuple(dict.fromkeys((needed.value, *needed.fails)))
            for needed in found.shown.needed
        }
        return NamedCause(factors=factors, operators=operators)
    rule = found.smallest.constraint
    return NamedCause(rule=rule, operators=operators) if found.told == "rule" and rule else None


LASTS = timedelta(days=90)
"""How long an entry holds that `--update-baseline` writes."""
_SUITE_DIGITS = 16
_HEAD = f"""\
# Failures that are known. Each entry: the cases (or faults of a whole run) and the verdict that they have,
# the reason, a link to where it is dealt with, and the day after which they count as new again:
# {LASTS.days} days after --update-baseline wrote it, unless you write another one.
# In the suite that an entry names its cases alone are known; in any other suite whatever has its cause.
"""


class BaselineEntry(Strict):
    """Failures, with the verdict that they are known to have, why, where, and until when.

    `cases` are known by their ids. `cause` makes known whatever has it: in every suite but `suite`, whose
    cases are listed (the first digits of its digest).
    """

    verdict: Literal[FailingVerdict, "fault"]
    reason: str = Field(min_length=1)
    link: str = ""
    expires: Date
    cause: NamedCause | None = None
    suite: str = ""
    cases: Listed[str] = ()

    @model_validator(mode="after")
    def _check_named(self) -> Self:
        if not self.cases and self.cause is None:
            raise ValueError("an entry needs cases, or a cause")
        return self

    def lists(self, suite: str) -> bool:
        """Whether the cases of a suite are known by their ids alone."""
        return self.cause is None or bool(self.suite and self.suite == suite)


class Baseline(Strict):
    """A baseline as its file states it."""

    known: Listed[BaselineEntry] = ()


@dataclass(frozen=True)
class BaselineResult:
    """A run beside a baseline: case ids, and faults of the whole run by names of their own.

    `new` fail and are not known, or not with this verdict; `expired` are known by an entry that no longer
    holds; `known` fail as they are known to, those of `by_cause` by their cause alone; `passing` are known,
    ran, and fail no more; of `mended` causes nothing fails in a whole run. `unlinked` counts entries without
    a link.
    """

    new: tuple[str, ...]
    expired: tuple[str, ...]
    known: tuple[str, ...]
    passing: tuple[str, ...]
    unlinked: int
    by_cause: tuple[str, ...] = ()
    mended: tuple[BaselineEntry, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.new and not self.expired


@lru_cache(maxsize=4)
def failures_of(results: Results) -> Mapping[str, str]:
    """Everything in a run that fails, by name: cases with their verdicts, faults as `fault`."""
    found = {str(each.id): each.verdict for each in results.cases if each.fails}
    found.update((fault_name(fault), "fault") for fault in results.record.faults)
    return found


def known_failures(entry: BaselineEntry, results: Results) -> tuple[str, ...]:
    """The failures of a run that an entry is about, by their names: those that it lists first."""
    failing, listed = failures_of(results), set(entry.cases)
    found = [each for each in entry.cases if failing.get(each) == entry.verdict]
    if entry.cause is not None and not entry.lists(_suite(results)):
        found += [
            name
            for case in results.cases
            if case.verdict == entry.verdict
            and (name := str(case.id)) not in listed
            and entry.cause.fits(case, class_of(results, case))
        ]
    return tuple(found)


def hold_against(baseline: Baseline, results: Results, on: date) -> BaselineResult:
    """Hold a run against a baseline, on a day. What several entries know is known as long as one holds."""
    failing, ran = failures_of(results), _ran(results)
    entries: dict[str, BaselineEntry] = {}
    mended = []
    for baseline_entry in baseline.known:
        names = known_failures(baseline_entry, results)
        if not names and _is_over(baseline_entry, results):
            mended.append(baseline_entry)
        for name in names:
            if name not in entries or entries[name].expires < on:
                entries[name] = baseline_entry
    new = tuple(name for name in failing if name not in entries)
    expired = tuple(name for name in failing if name in entries and entries[name].expires < on)
    known = tuple(name for name in failing if name in entries and entries[name].expires >= on)
    listed = dict.fromkeys(case for baseline_entry in baseline.known for case in baseline_entry.cases)
    passing = tuple(case for case in listed if case in ran and case not in failing)
    by_cause = tuple(name for name in known if name not in entries[name].cases)
    unlinked = sum(not baseline_entry.link for baseline_entry in baseline.known)
    return BaselineResult(new, expired, known, passing, unlinked, by_cause, tuple(mended))


def updated(baseline: Baseline, results: Results, on: date) -> Baseline:
    """The baseline that a run meets: what passes is dropped, what is new is added, by failure class.

    What did not run stays as it is known; so does an entry's reason, link and expiry, unless that is over.
    What an entry of another suite knows in a whole run is listed in it from now on.
    """
    entries = []
    settled: set[str] = set()
    for baseline_entry in baseline.known:
        found = tuple(name for name in known_failures(baseline_entry, results) if name not in settled)
        kept = _kept(baseline_entry, found, results)
        if kept is not None:
            over = baseline_entry.expires < on
            entries.append(kept.model_copy(update={"expires": on + LASTS} if over else {}))
            settled.update(found)
    new = {name: verdict for name, verdict in failures_of(results).items() if name not in settled}
    return Baseline(known=(*entries, *_new_entries(results, new, on + LASTS)))


def _kept(entry: BaselineEntry, found: tuple[str, ...], results: Results) -> BaselineEntry | None:
    """What is left of an entry after a run in which it knows these failures; None where nothing is."""
    failing, ran, suite = failures_of(results), _ran(results), _suite(results)
    if entry.suite and not entry.lists(suite) and results.complete:
        return entry.model_copy(update={"cases": found, "suite": suite}) if found else None
    cases = tuple(case for case in entry.cases if case not in ran or failing.get(case) == entry.verdict)
    stays = bool(cases) if entry.lists(suite) else bool(found) or not _is_over(entry, results)
    return entry.model_copy(update={"cases": cases}) if stays else None


def _is_over(entry: BaselineEntry, results: Results) -> bool:
    """Whether a cause of which nothing fails would have shown: the whole suite ran, and has its operators."""
    cause = entry.cause
    if cause is None or entry.lists(_suite(results)) or not results.complete:
        return False
    operators = {operator.unversioned for operator in results.by_operator}
    return operators >= set(cause.operators)


def _suite(results: Results) -> str:
    return results.suite.digest[:_SUITE_DIGITS]


def _new_entries(results: Results, new: Mapping[str, str], expires: date) -> Iterable[BaselineEntry]:
    for found in classes_of(results):
        by_verdict: dict[str, list[str]] = {}
        for result in found.cases:
            if str(result.id) in new:
                by_verdict.setdefault(result.verdict, []).append(str(result.id))
        for verdict, cases in by_verdict.items():
            cause = name_cause(found)
            named = {} if cause is None else {"cause": cause, "suite": _suite(results)}
            thread = found.known.thread if found.known is not None else None
            entry = {"verdict": verdict, "reason": headline(found), "expires": expires, "cases": tuple(cases)}
            yield BaselineEntry.model_validate({**entry, **named, "link": thread or ""})
    faults = tuple(name for name, verdict in new.items() if verdict == "fault")
    if faults:
        yield BaselineEntry(verdict="fault", reason="what the whole run shows", expires=expires, cases=faults)


def _ran(results: Results) -> set[str]:
    """The names of what could have failed: cases that ran, and every fault."""
    found = {str(result.id) for result in results.cases if result.verdict not in NOT_JUDGED}
    faults = {f"fault/{kind}/{operator}" for kind in _FAULTS for operator in ("", *results.by_operator)}
    return found | faults


_FAULTS: Sequence[str] = (
    "inconsistent_reading",
    "unstable",
    "repeats_differ",
    "threads_differ",
    "forms_differ",
    "unload_crash",
)


def read_baseline(path: Path) -> Baseline:
    """Read a baseline; raises UserError, or SeveralErrors with every mistake by line and key."""
    try:
        documents = load_bytes(read_regular(path, MOST_BYTES), str(path))
    except OSError as error:
        raise unreadable("the baseline", path, error, "Write one with --update-baseline.") from error
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise UserError(
            "not a baseline", expected="one mapping with the key known", where=Place(str(path), 1)
        )
    return validate(Baseline, documents[0])


def write_baseline(baseline: Baseline, path: Path) -> Path:
    """Write a baseline by rename; raises UserError where that cannot be done."""
    plain = {"known": [_plain(baseline_entry) for baseline_entry in baseline.known]}
    return write_text(path, _HEAD + yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=110))


def _plain(entry: BaselineEntry) -> dict[str, Any]:
    """An entry for its file: a link that lacks is to be seen, other keys that say nothing are left out."""
    plain: dict[str, Any] = entry.model_dump(mode="json")
    if entry.cause is not None:
        plain["cause"] = {name: each for name, each in plain["cause"].items() if each}
    return {name: each for name, each in plain.items() if each or name == "link"}


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
    for baseline_entry in baseline.known if baseline is not None else ():
        made = Excuse(
            "baseline",
            baseline_entry.reason,
            baseline_entry.link,
            baseline_entry.expires,
            baseline_entry.expires < on,
        )
        yield from ((name, made) for name in known_failures(baseline_entry, results))
