"""What entries claim of a run's failures, by the recorded answers and by trials, and what nobody claims."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.judging.kept_diagnosis import EntryTrial
from conformance.judging.verdicts import REJECTED_VALID
from conformance.recording.outputs import restore_output
from conformance.recording.records import Record
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.store import KeptWork
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.strict_json import read_plain
from reports.causes.kept_findings import with_open_cases

if TYPE_CHECKING:
    from conformance.suite.cases import Case
    from generator.exploring.diagnosis.claims import Pointing
    from generator.exploring.diagnosis.explainer import Pointed
    from reports.results.case_results import Followed, Results


def claimed(
    results: Results, pointing: Pointing, trials: Iterable[EntryTrial], folders: tuple[Path, ...]
) -> Results:
    """The results with what entries explain by the recorded answers and by these trials."""
    by_answers = trials_by_answers(results.suite, results.record, pointing, keep=not folders)
    found = pointing.claims([*by_answers, *trials])
    return with_open_cases(
        replace(
            results,
            known=found.explaining,
            mended=found.mended,
            suspected=found.suspected,
            followed=followed_options(),
        )
    )


@cache
def followed_options() -> Followed:
    """Which options of the readings of operators that ship runtimes followed when they were last asked."""
    from reference.readings.followed import load_all_followed

    found: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {}
    for measured in load_all_followed():
        for operator, readings in measured.followed.items():
            for reading, options in readings.items():
                told = found.setdefault(operator, {}).setdefault(reading, {})
                for option in options:
                    told[option] = (*told.get(option, ()), measured.runtime)
    return found


def trials_by_answers(suite: Suite, record: Record, pointing: Pointing, *, keep: bool) -> list[EntryTrial]:
    """What the recorded answers say of the entries that state what is computed instead.

    Of an answer that the record does not hold it says nothing. With `keep` what was found of the same answers
    before comes from the user's cache.
    """
    stating = [pointed for pointed in pointing.pointed if pointed.with_formula]
    if not stating:
        return []
    from generator.exploring.diagnosis.explainer import digest_of

    work = KeptWork("entries") if keep else None
    hangs_on = [
        (pointed.row.case, pointed.row.outputs, [digest_of(entry) for entry in pointed.with_formula])
        for pointed in stating
    ]
    key = "" if work is None else work.key(suite.digest, sha256(canonical_json(hangs_on)))
    with suppress(TypeError, ValueError):
        if work is not None:
            return [read_plain(EntryTrial, trial) for trial in work.find(key)]
    found = [trial for pointed in stating for trial in _by_answer(suite, record, pointed)]
    if work is not None:
        work.keep(key, [asdict(entry_trial) for entry_trial in found])
    return found


def _by_answer(suite: Suite, record: Record, pointed: Pointed) -> list[EntryTrial]:
    from generator.exploring.diagnosis.change_trials import FailingCase
    from generator.exploring.diagnosis.entry_formulas import formula_trials

    case = suite.case(pointed.row.case)
    try:
        outputs = [
            restore_output(entry, position, case, record.path)
            for position, entry in enumerate(pointed.row.outputs)
        ]
    except (UserError, IndexError):
        return []
    held = tuple(output for output in outputs if output is not None)
    if not held or len(held) < len(outputs):
        return []
    return formula_trials(pointed.with_formula, FailingCase(case, held))


def failures_to_ask_about(results: Results) -> tuple[list[Case], list[list[Case]]]:
    """The wrong answers whose cause nobody told, and the cases of each cause that was told."""
    from reports.causes.failure_classes import find_classes

    wrong, told = [], []
    # As they were without experiments, so that those that go on take the same way.
    for failures in find_classes(results.cases, results.known, None, results.others, results.suspected):
        cases = [results.suite.case(str(case.id)) for case in failures.cases if _may_be_asked(case.verdict)]
        if failures.told == "suspected":
            continue  # first it is to be seen whose they are
        if failures.told in ("entry", "message", "either", "together"):
            told.append(cases)
        else:
            wrong += cases
    return wrong, [each for each in told if each]


def _may_be_asked(verdict: str) -> bool:
    # Each lost process costs a start, and rules that are not checked have nothing that could be changed.
    return verdict in ("mismatch", REJECTED_VALID)
