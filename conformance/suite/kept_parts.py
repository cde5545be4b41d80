"""Parts of suites in the user's cache, each by the digest of what it was made from."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

from conformance.suite.store import Store
from conformance.suite.suite_parts import SuitePart, part_bytes, read_part
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.user_folders import cache_folder

MOST_KEPT = 8
"""Of each operator version so many parts stay, those that were used last."""


class DamagedPart(ValueError):
    """A kept part is not what was written; says what is wrong with it."""


def parts_of(operator: OperatorName) -> Store:
    """Where the parts of an operator version are kept. Each has its own digest, so that caches may travel."""
    return Store(cache_folder() / "parts" / operator.domain / operator.short, MOST_KEPT)


def kept_part(operator: OperatorName, key: str) -> SuitePart | None:
    """The part that was made before of what the key stands for; None where it is not kept.

    Raises DamagedPart where it is, and is not what was written.
    """
    store = parts_of(operator)
    try:
        raw = store.find(key)
    except OSError as error:
        raise DamagedPart(f"{store.folder / key} cannot be read: {error.strerror}") from error
    if raw is None:
        return None
    try:
        found = read_part(raw)
        if found.operator != operator:
            raise ValueError(f"it is of {found.operator}")
    except Exception as error:  # whatever is in a file, it is made again
        raise DamagedPart(f"{store.folder / key}: {error}") from error
    return found


def part_of_digest(operator: OperatorName, digest: str) -> SuitePart | None:
    """The kept part of an operator version with a digest, whatever it was made of; None where none has it."""
    for raw in parts_of(operator).contents():
        with suppress(Exception):  # damaged: whoever asks for it by its key is told
            part = read_part(raw)
            if part.operator == operator and part.digest == digest:
                return part
    return None


def keep_part(part: SuitePart, key: str) -> None:
    """Keep a part, in the place of one that may be there."""
    parts_of(part.operator).keep(key, part_bytes(part))


def _tell(text: str) -> None:
    logging.getLogger("opcert").warning("opcert: %s", text)


def one_maker(
    operator: OperatorName, key: str, tell: Callable[[str], object] = _tell
) -> AbstractContextManager[None]:
    """Make a part one process at a time, as `Store.one_maker` says."""
    return parts_of(operator).one_maker(key, f"the cases of {operator}", tell)
