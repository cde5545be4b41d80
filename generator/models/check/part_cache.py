"""Cases of models in the user's cache: parts, each named by what was asked and what it is made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.store import Store
from conformance.suite.suite_parts import SuitePart, part_bytes, read_part
from generator.making.operators.sources import SourceReader, code_files, digest_of_many
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.user_folders import cache_folder

Found = TypeVar("Found")
MOST_KEPT = 4_000
"""So many parts stay in a folder, those that were used last."""
_LARGEST = 1 << 28


class PartCache:
    """A folder beside the suites, with parts of the code and the declarations of now."""

    def __init__(self, folder: str) -> None:
        self._store = Store(cache_folder() / folder, MOST_KEPT, largest=_LARGEST)
        self._reader = SourceReader()
        self._code: str | None = None

    def _read(self, key: str | None, take: Callable[[SuitePart], Found]) -> Found | None:
        """What is taken from a part; None where it is not kept, or is not what was written."""
        if key is None:
            return None
        try:
            raw = self._store.find(key)
            return None if raw is None else take(read_part(raw))
        except Exception:  # noqa: BLE001 - whatever is in a file, it is made again
            return None

    def _write(self, key: str, part: SuitePart) -> None:
        self._store.keep(key, part_bytes(part))

    def _key(self, operators: Sequence[OperatorName], said: Sequence[Any]) -> str | None:
        """The key of the part of what was said about operators; None where it can be kept nowhere."""
        try:
            sources = [self._reader.spec_digests(each) for each in operators]
        except Exception:  # noqa: BLE001 - an operator without a spec: there is nothing to keep
            return None
        if self._code is None:
            self._code = digest_of_many(code_files())
        return sha256(canonical_json([*said, self._code, sources]))
