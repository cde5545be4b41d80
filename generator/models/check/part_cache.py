"""What was made for models in the user's cache, each named by what was asked and what it is made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from conformance.clusters.plain_values import read_value, write_value
from conformance.processes.scratch_folders import scratch_folder
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.kept_suites import suites_folder
from generator.making.operators.sources import SourceReader, code_files, digest_of_many
from opcert.vocabulary.kept_files import remove_oldest
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.whole_files import place_bytes

Kept = TypeVar("Kept")
Found = TypeVar("Found")
MOST_KEPT = 4_000
"""So many values stay in a folder, those that were made last."""
_LARGEST = 1 << 28
_DIGEST = 64


class PartCache(Generic[Kept]):
    """A folder beside the suites, with values of one type, of the code and the declarations of now."""

    def __init__(self, folder: str, kind: type[Kept]) -> None:
        self._name, self._kind = folder, kind
        self._reader = SourceReader()
        self._code: str | None = None

    def trim(self) -> None:
        """Remove the oldest of more values than are kept."""
        with suppress(OSError):
            remove_oldest((path for path in self._folder().iterdir() if path.is_file()), MOST_KEPT)

    def _read(
        self, operators: Sequence[OperatorName | None], said: str, take: Callable[[Kept], Found]
    ) -> Found | None:
        """What is taken from a value; None where it is not kept, or is not what was written."""
        path = self._path(operators, said)
        if path is None:
            return None
        try:
            raw = read_regular(path, _LARGEST)
            if sha256(raw[_DIGEST:]).encode("ascii") != raw[:_DIGEST]:
                return None
            return take(read_value(raw[_DIGEST:], self._kind, said))
        except Exception:  # noqa: BLE001 - whatever is in a file, it is made again
            return None

    def _write(self, operators: Sequence[OperatorName | None], said: str, value: Kept) -> None:
        """Keep a value; a cache that cannot be written keeps nothing."""
        path = self._path(operators, said)
        if path is None:
            return
        raw = write_value(value, self._kind, said)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with scratch_folder("part", path.parent) as making:
                place_bytes(path, sha256(raw).encode("ascii") + raw, making)

    def _path(self, operators: Sequence[OperatorName | None], said: str) -> Path | None:
        """Where what was said about operators lies; None where it can be kept nowhere."""
        if None in operators:
            return None
        try:
            sources = [self._reader.spec_digests(each) for each in operators if each is not None]
        except Exception:  # noqa: BLE001 - an operator without a spec: there is nothing to keep
            return None
        if self._code is None:
            self._code = digest_of_many(code_files())
        said_of = [said, *map(str, operators), self._code, sources]
        return self._folder() / sha256(canonical_json(said_of))

    def _folder(self) -> Path:
        return suites_folder().with_name(self._name)
