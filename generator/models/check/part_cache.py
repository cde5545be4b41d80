"""What was made for models in the user's cache, each named by what was asked and what it is made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from conformance.clusters.worker_answers import read_value, write_value
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.store import Store
from generator.making.operators.sources import SourceReader, code_files, digest_of_many
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.user_folders import cache_folder

Kept = TypeVar("Kept")
Found = TypeVar("Found")
MOST_KEPT = 4_000
"""So many values stay in a folder, those that were used last."""
_LARGEST = 1 << 28


class PartCache(Generic[Kept]):
    """A folder beside the suites, with values of one type, of the code and the declarations of now."""

    def __init__(self, folder: str, kind: type[Kept]) -> None:
        self._store = Store(cache_folder() / folder, MOST_KEPT, largest=_LARGEST, sealed=True)
        self._kind = kind
        self._reader = SourceReader()
        self._code: str | None = None

    def _read(
        self, operators: Sequence[OperatorName | None], said: str, take: Callable[[Kept], Found]
    ) -> Found | None:
        """What is taken from a value; None where it is not kept, or is not what was written."""
        key = self._key(operators, said)
        try:
            raw = None if key is None else self._store.find(key)
            return None if raw is None else take(read_value(raw, self._kind, said))
        except Exception:  # noqa: BLE001 - whatever is in a file, it is made again
            return None

    def _write(self, operators: Sequence[OperatorName | None], said: str, value: Kept) -> None:
        """Keep a value; a cache that cannot be written keeps nothing."""
        key = self._key(operators, said)
        if key is not None:
            self._store.keep(key, write_value(value, self._kind, said))

    def _key(self, operators: Sequence[OperatorName | None], said: str) -> str | None:
        """The key of what was said about operators; None where it can be kept nowhere."""
        if None in operators:
            return None
        try:
            sources = [self._reader.spec_digests(each) for each in operators if each is not None]
        except Exception:  # noqa: BLE001 - an operator without a spec: there is nothing to keep
            return None
        if self._code is None:
            self._code = digest_of_many(code_files())
        return sha256(canonical_json([said, *map(str, operators), self._code, sources]))
