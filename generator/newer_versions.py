"""The version whose calls an older one takes over: the next newer one with the same reference."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

from generator.named_operators import known_operators, reference_modules
from opcert.vocabulary.names import OperatorName


def newer_version(operator: OperatorName, folders: Sequence[Path] = ()) -> OperatorName | None:
    """The next newer version that cases can be made of, from where the operator is; None where none is.

    A version with a reference that is its alone has none: its calls are made for itself.
    """
    if operator in reference_modules():
        return None
    own = known_operators(folders)
    known = own if operator in own else known_operators()
    newer = (each for each in known if _is_newer(each, operator))
    return min(newer, key=attrgetter("since_version"), default=None)


def _is_newer(other: OperatorName, operator: OperatorName) -> bool:
    same = (other.domain, other.name) == (operator.domain, operator.name)
    return same and other.since_version > operator.since_version
