"""What there is for an operator beside its spec: how far it is trusted, and cases in the suites that ship."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from generator.asking.named_operators import declared_versions, known_operators, why_not_declared
from generator.making.suites.lock import LockedVersion, read_lock
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from reports.text.phrasing import plural


@dataclass(frozen=True)
class DeclaredOperators:
    """The operators that are declared, those that have a reference, and what the lock says of their cases."""

    declared: frozenset[OperatorName]
    reference: frozenset[OperatorName]
    locked: Mapping[str, LockedVersion]

    def words(self, operator: OperatorName) -> list[str]:
        """How far its spec or its cases are trusted (`trust`), and how many cases there are."""
        if operator not in self.reference:
            return ["declared" if operator in self.declared else "imported", "no cases"]
        line = self.locked.get(str(operator))
        if line is None:
            return ["referenced"]
        return [line.trust or "referenced", plural(line.cases, "case")]

    def why(self, operator: OperatorName) -> str:
        """Why there are no cases of an operator; nothing where there are some."""
        if operator in self.reference:
            return ""
        reason = (
            "no reference says what is right" if operator in self.declared else why_not_declared(operator)
        )
        return f": {reason}"


def load_known(folders: Sequence[Path] = ()) -> DeclaredOperators:
    """Read what there is, in folders of specs too; without a lock, there are no cases of any operator."""
    try:
        versions = read_lock().versions
    except UserError:
        versions = {}
    return DeclaredOperators(
        frozenset(declared_versions()),
        frozenset({*known_operators(folders), *known_operators()}),
        versions,
    )
