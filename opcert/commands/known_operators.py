"""What there is for an operator beside its spec: a reference, and cases in the default suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from generator.lock import read_lock
from generator.named_operators import known_operators
from generator.opsets import referenced_operators
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from reports.phrasing import plural


@dataclass(frozen=True)
class Known:
    """The operators that have a reference, and the number of cases that each has in the default suite."""

    reference: frozenset[OperatorName]
    cases: Mapping[str, int]

    def words(self, operator: OperatorName) -> list[str]:
        """What there is, in words; nothing where there is the spec alone."""
        found = ["reference"] if operator in self.reference else []
        count = self.cases.get(str(operator), 0)
        return [*found, f"suite of {plural(count, 'case')}"] if count else found


def load_known(folders: Sequence[Path] = ()) -> Known:
    """Read what there is, in folders of specs too; without a locked suite, no operator has one."""
    try:
        versions = read_lock().versions
    except UserError:
        versions = {}
    return Known(
        frozenset({*known_operators(folders), *referenced_operators()}),
        {name: each.cases for name, each in versions.items()},
    )
