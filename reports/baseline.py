"""Baselines: the failures of a runtime that its people know, so that a gate fails on new ones alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field

from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.yaml_files import MOST_BYTES, load_bytes
from opcert.vocabulary.yaml_schemas import validate
from reports.case_results import Results
from reports.class_words import headline
from reports.failure_classes import classes_of
from reports.files import write_text
from reports.followed_readings import fault_name
from reports.yaml_types import Date, Listed, Strict

LASTS = timedelta(days=90)
"""How long an entry holds that `--update-baseline` writes."""
_HEAD = """\
# Failures that are known. Each entry: the cases (or faults of a whole run) and the verdict that they have,
# the reason, a link to where it is dealt with, and the day after which they count as new again.
"""


class Known(Strict):
    """Cases that fail, with the verdict that they are known to have, why, where, and until when."""

    verdict: Literal["crash", "timeout", "mismatch", "rejected_valid", "accepted_invalid", "fault"]
    reason: str = Field(min_length=1)
    link: str = ""
    expires: Date
    cases: Listed[str] = Field(min_length=1)


class Baseline(Strict):
    """A baseline as its file states it."""

    known: Listed[Known] = ()


@dataclass(frozen=True)
class BaselineResult:
    """A run beside a baseline: case ids, and faults of the whole run by names of their own.

    `new` fail and are not known, or not with this verdict; `expired` are known by an entry that no longer
    holds; `known` fail as they are known to; `passing` are known, ran, and fail no more. `unlinked` counts
    entries without a link.
    """

    new: tuple[str, ...]
    expired: tuple[str, ...]
    known: tuple[str, ...]
    passing: tuple[str, ...]
    unlinked: int

    @property
    def holds(self) -> bool:
        return not self.new and not self.expired


def failures_of(results: Results) -> dict[str, str]:
    """Everything in a run that fails, by name: cases with their verdicts, faults as `fault`."""
    found = {str(each.id): each.verdict for each in results.cases if each.fails}
    found.update((fault_name(each), "fault") for each in results.record.faults)
    return found


def hold_against(baseline: Baseline, results: Results, on: date) -> BaselineResult:
    """Hold a run against a baseline, on a day."""
    failing = failures_of(results)
    entries: dict[tuple[str, str], Known] = {
        (case, each.verdict): each for each in baseline.known for case in each.cases
    }
    new: list[str] = []
    expired: list[str] = []
    known: list[str] = []
    for name, verdict in failing.items():
        entry = entries.get((name, verdict))
        if entry is None:
            new.append(name)
        else:
            (expired if entry.expires < on else known).append(name)
    ran = _ran(results)
    passing = dict.fromkeys(case for case, _ in entries if case in ran and case not in failing)
    unlinked = sum(not each.link for each in baseline.known)
    return BaselineResult(tuple(new), tuple(expired), tuple(known), tuple(passing), unlinked)


def updated(baseline: Baseline, results: Results, on: date) -> Baseline:
    """The baseline that a run meets: what passes is dropped, what is new is added, by failure class.

    What did not run stays as it is known; so does an entry's reason, link and expiry, unless that is over.
    """
    failing, ran = failures_of(results), _ran(results)
    entries = []
    kept: set[str] = set()
    for each in baseline.known:
        cases = tuple(case for case in each.cases if case not in ran or failing.get(case) == each.verdict)
        if cases:
            expires = max(each.expires, on + LASTS) if each.expires < on else each.expires
            entries.append(each.model_copy(update={"cases": cases, "expires": expires}))
            kept.update(cases)
    new = {name: verdict for name, verdict in failing.items() if name not in kept}
    return Baseline(known=(*entries, *_new_entries(results, new, on + LASTS)))


def _new_entries(results: Results, new: Mapping[str, str], expires: date) -> Iterable[Known]:
    for found in classes_of(results):
        by_verdict: dict[str, list[str]] = {}
        for each in found.cases:
            if str(each.id) in new:
                by_verdict.setdefault(each.verdict, []).append(str(each.id))
        for verdict, cases in by_verdict.items():
            entry = {"verdict": verdict, "reason": headline(found), "expires": expires, "cases": tuple(cases)}
            yield Known.model_validate(entry)
    faults = tuple(name for name, verdict in new.items() if verdict == "fault")
    if faults:
        yield Known(verdict="fault", reason="what the whole run shows", expires=expires, cases=faults)


def _ran(results: Results) -> set[str]:
    """The names of what could have failed: cases that ran, and every fault."""
    found = {str(each.id) for each in results.cases if each.verdict not in ("not_run", "harness_error")}
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
    plain: dict[str, Any] = baseline.model_dump(mode="json")
    return write_text(path, _HEAD + yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=110))
