"""Cases of models in the user's cache: parts, each named by what was asked and what it is made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from conformance.processes.scratch_folders import scratch_folder
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.kept_suites import suites_folder
from conformance.suite.suite_parts import SuitePart, part_bytes, read_part
from generator.making.operators.sources import SourceReader, code_files, digest_of_many
from opcert.vocabulary.kept_files import remove_oldest
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.whole_files import place_bytes

Found = TypeVar("Found")
MOST_KEPT = 4_000
"""So many parts stay in a folder, those that were made last."""
_LARGEST = 1 << 28


class PartCache:
    """A folder beside the suites, with parts of the code and the declarations of now."""

    def __init__(self, folder: str) -> None:
        self._name = folder
        self._reader = SourceReader()
        self._code: str | None = None

    def trim(self) -> None:
        """Remove the oldest of more parts than are kept."""
        with suppress(OSError):
            remove_oldest((each for each in self._folder().iterdir() if each.is_file()), MOST_KEPT)

    def _read(self, path: Path | None, take: Callable[[SuitePart], Found]) -> Found | None:
        """What is taken from a part; None where it is not kept, or is not what was written."""
        if path is None:
            return None
        try:
            return take(read_part(read_regular(path, _LARGEST)))
        except Exception:  # noqa: BLE001 - whatever is in a file, it is made again
            return None

    def _write(self, path: Path, part: SuitePart) -> None:
        """Keep a part; a cache that cannot be written keeps nothing."""
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with scratch_folder("part", path.parent) as making:
                place_bytes(path, part_bytes(part), making)

    def _path(self, operators: Sequence[OperatorName], said: Sequence[Any]) -> Path | None:
        """Where the part of what was said about operators lies; None where it can be kept nowhere."""
        try:
            sources = [self._reader.spec_digests(each) for each in operators]
        except Exception:  # noqa: BLE001 - an operator without a spec: there is nothing to keep
            return None
        if self._code is None:
            self._code = digest_of_many(code_files())
        return self._folder() / sha256(canonical_json([*said, self._code, sources]))

    def _folder(self) -> Path:
        return suites_folder().with_name(self._name)
