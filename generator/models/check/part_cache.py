"""What was made of parts of models, in the user's cache: by what was asked and what it is made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from conformance.clusters.plain_values import read_value, write_value
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.store import Store
from generator.making.operators.sources import SourceReader, code_files, digest_of_many
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.user_folders import cache_folder

Kept = TypeVar("Kept")
MOST_KEPT = 4_000
"""So many entries stay in a folder, those that were used last."""
_LARGEST = 1 << 28


class PartCache(Generic[Kept]):
    """A folder beside the suites with values of one type, made with the code and the declarations of now."""

    def __init__(self, folder: str, kind: type[Kept]) -> None:
        self._store = Store(cache_folder() / folder, MOST_KEPT, largest=_LARGEST, sealed=True)
        self._kind = kind
        self._reader = SourceReader()
        self._code: str | None = None

    def _read(self, key: str | None) -> Kept | None:
        """What was kept; None where nothing was, or where it is not what was written."""
        try:
            raw = None if key is None else self._store.find(key)
            found: Kept | None = None if raw is None else read_value(raw, self._kind)
        except (OSError, ValueError):
            return None
        return found

    def _write(self, key: str, kept: Kept) -> None:
        self._store.keep(key, write_value(kept, self._kind))

    def _key(self, operators: Sequence[OperatorName], said: Sequence[Any]) -> str | None:
        """The key of what was said about operators; None where it can be kept nowhere."""
        try:
            sources = [self._reader.spec_digests(each) for each in operators]
        except Exception:  # noqa: BLE001 - an operator without a spec: there is nothing to keep
            return None
        if self._code is None:
            self._code = digest_of_many(code_files())
        return sha256(canonical_json([*said, self._code, sources]))
