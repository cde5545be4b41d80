"""The versions whose calls an older one takes over, one from the other: newer ones with its reference."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

from generator.asking.named_operators import known_operators, reference_modules
from opcert.vocabulary.names import OperatorName


def newer_versions(operator: OperatorName, folders: Sequence[Path] = ()) -> list[OperatorName]:
    """The newer versions that cases can be made of, from where the operator is, the next one first.

    A version with a reference that is its alone has none: its calls are made for itself.
    """
    if operator in reference_modules():
        return []
    own = known_operators(folders)
    known = own if operator in own else known_operators()
    since = attrgetter("since_version")
    return sorted((each for each in known if _is_newer(each, operator)), key=since)


def _is_newer(other: OperatorName, operator: OperatorName) -> bool:
    return other.unversioned == operator.unversioned and other.since_version > operator.since_version
