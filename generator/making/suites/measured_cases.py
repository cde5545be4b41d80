"""What is known of an operator version's cases beside what they are: what they notice, how far to trust them.

It is read whenever somebody asks, and stands in no suite: measuring anew makes no other suite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from generator.making.suites.lock import read_lock
from generator.measured.kept import (
    Agreed,
    adequacy_facts,
    adequacy_folder,
    cases_digest,
    read_agreed,
    read_kept,
)
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from specs.files.spec_folders import OWN_FOLDER

Trust = Literal["imported", "declared", "referenced", "reviewed"]
"""`imported`: facts of its document alone. `declared`: calls are made from a declaration, which the truth
test holds against ONNX's checker. `referenced`: expectations come from a reference that witnesses agree with.
`reviewed`: its cases notice planted mistakes as they are meant to, and every case that fails on the runtimes
that were asked is explained."""
TrustOfCases = Literal["referenced", "reviewed"]
"""What operators come to that have a reference."""
AIM = 0.97
"""The share of planted mistakes that are not equivalent which the cases of a reviewed operator notice."""


def trust_of_cases(
    measured: Mapping[str, Any] | None, agreed: Agreed | None, expectations: Mapping[str, str]
) -> TrustOfCases:
    """What cases of an operator version with a reference are worth: `reviewed` where they were, as they are.

    `measured` is what they are known to notice (`generator.measured.kept.adequacy_facts`), `agreed` what
    runtimes made of cases when they were last asked, and `expectations` the cases and what they expect.
    """
    if measured is None or agreed is None or measured["mutants"]["score"] < AIM:
        return "referenced"
    same = agreed.cases == cases_digest(expectations)
    return "reviewed" if same and agreed.explained else "referenced"


def trust_as_locked(
    locked: str | None, agreed: Agreed | None, expectations: Mapping[str, str]
) -> TrustOfCases:
    """What cases are worth of which the lock says this: no longer `reviewed` where they are others now.

    They are those that runtimes made of what `agreed` says, or nobody has reviewed them as they are.
    """
    if locked != "reviewed" or agreed is None or not agreed.explained:
        return "referenced"
    return "reviewed" if agreed.cases == cases_digest(expectations) else "referenced"


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
