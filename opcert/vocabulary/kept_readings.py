"""What is read out of many small files, kept in the user's cache by the digest of each file's bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.file_digests import digest_of
from opcert.vocabulary.user_folders import cache_folder
from opcert.vocabulary.whole_files import write_text

_MOST = 5_000
"""Files whose readings are kept; where more were read, those of this process alone."""
_LARGEST = 64 << 20


class KeptReadings:
    """Readings of one kind, each a JSON value: a file is read where none with its bytes was read before.

    `form` says what is read and how; readings that were kept in another form do not count.
    """

    def __init__(self, name: str, form: str, read: Callable[[Path], Any]) -> None:
        self._name, self._form, self._read = name, form, read
        self._kept: dict[str, Any] | None = None
        self._found: dict[str, Any] = {}
        self._is_new = False

    def of(self, path: Path) -> Any:
        """What a file holds; raises OSError where it cannot be opened, and what reading it raises."""
        digest = digest_of(path, _LARGEST)
        if digest not in self._found:
            if self._kept is None:
                self._kept = self._load()
            if digest not in self._kept:
                self._kept[digest] = self._read(path)
                self._is_new = True
            self._found[digest] = self._kept[digest]
        return self._found[digest]

    def keep(self) -> None:
        """Keep what was read for other processes; where nothing can be written, each reads again."""
        if not self._is_new:
            return
        self._is_new = False
        every = {**(self._kept or {}), **self._found}
        kept = every if len(every) <= _MOST else self._found
        with suppress(OSError, RuntimeError, OpcertError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_text(self._file, json.dumps({"form": self._form, "files": kept}))

    @property
    def _file(self) -> Path:
        return cache_folder() / f"{self._name}.json"

    def _load(self) -> dict[str, Any]:
        try:
            told = json.loads(self._file.read_text(encoding="utf-8"))
            return dict(told["files"]) if told["form"] == self._form else {}
        except (OSError, RuntimeError, ValueError, TypeError, KeyError):  # there may be no home either
            return {}
