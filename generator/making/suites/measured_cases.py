"""What is known of an operator version's cases beside what they are: what they notice, how far to trust them.

It is read whenever somebody asks, and stands in no suite: measuring anew makes no other suite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.making.suites.lock import read_lock
from generator.measured.agreed import read_agreed
from generator.measured.kept import adequacy_facts, adequacy_folder, read_kept
from generator.measured.trust import TrustOfCases, trust_as_locked, trust_of_cases
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from specs.files.spec_folders import OWN_FOLDER


@dataclass(frozen=True)
class MeasuredCases:
    """What was measured of cases, None where that is not known or no longer so, and what they are worth.

    `facts` name under `cases` the digest of the cases that were measured
    (`generator.measured.kept.cases_digest`).
    """

    facts: Mapping[str, Any] | None
    trust: TrustOfCases


def measured_cases(
    operator: OperatorName,
    expectations: Mapping[str, str],
    folders: Sequence[Path] = (),
    locked: Mapping[str, str] | None = None,
) -> MeasuredCases:
    """What is known of cases that expect this (`generator.measured.kept.expectations_in`).

    How far cases of operators that ship are trusted says the lock (`locked`, read where it is None), as long
    as they are those that runtimes were asked about. Raises UserError where a file of what was measured is
    damaged.
    """
    if folders:
        return _worked_out(operator, expectations, adequacy_folder(folders), folders[0])
    facts = adequacy_facts(read_kept(operator, adequacy_folder(())), expectations)
    told = locked_trust() if locked is None else locked
    return MeasuredCases(facts, trust_as_locked(told.get(str(operator)), read_agreed(operator), expectations))


def trust_now(operator: OperatorName, expectations: Mapping[str, str]) -> TrustOfCases:
    """What cases of an operator that ships are worth by what was measured of them last: for the lock."""
    return _worked_out(operator, expectations, adequacy_folder(()), OWN_FOLDER).trust


def locked_trust() -> dict[str, str]:
    """How far the lock says that cases are trusted; nothing where it cannot be read."""
    try:
        versions = read_lock().versions
    except UserError:
        return {}
    return {name: line.trust for name, line in versions.items()}


def _worked_out(
    operator: OperatorName, expectations: Mapping[str, str], measured: Path, agreed: Path
) -> MeasuredCases:
    facts = adequacy_facts(read_kept(operator, measured), expectations)
    return MeasuredCases(facts, trust_of_cases(facts, read_agreed(operator, agreed), expectations))
