"""What is known of an operator version's cases beside what they are: what they notice, how far to trust them.

It is read from the files of its room whenever somebody asks, and stands in no suite: measuring anew makes no
other suite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.adequacy.kept import adequacy_facts, adequacy_folder, read_kept
from generator.witnessed.agreed import read_agreed
from generator.witnessed.trust import TrustOfCases, trust_of_cases
from opcert.vocabulary.names import OperatorName


@dataclass(frozen=True)
class MeasuredCases:
    """What was measured of cases, None where that is not known or no longer so, and what they are worth.

    `facts` name under `cases` the digest of the cases that were measured
    (`generator.adequacy.kept.cases_digest`).
    """

    facts: Mapping[str, Any] | None
    trust: TrustOfCases


def measured_cases(
    operator: OperatorName, expectations: Mapping[str, str], folders: Sequence[Path] = ()
) -> MeasuredCases:
    """What is known of cases that expect this (`generator.adequacy.kept.expectations_in`).

    Raises UserError where a file of what was measured is damaged.
    """
    folder = adequacy_folder(folders)
    facts = adequacy_facts(read_kept(operator, folder), expectations)
    return MeasuredCases(facts, trust_of_cases(facts, read_agreed(operator, folder), expectations))
