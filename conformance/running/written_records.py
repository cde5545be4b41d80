"""Records that stand for another run: the same build of a runtime was asked the same suite, here."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from conformance.processes.loaded_files import LARGEST
from conformance.recording.moments import day_to_come
from conformance.recording.outputs import outputs_folder
from conformance.recording.records import Record, read_record
from conformance.runtimes.environment_state import environment_state
from conformance.runtimes.runtimes import Runtime
from conformance.suite.kept_work import KeptWork
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.file_digests import digest_of

_OF_THE_TIME = ("started", "resumed")


class WrittenRecords:
    """What is known, in the user's cache, of the records that whole runs of a runtime have written.

    A record stands for another run where it is byte for byte the one that was written here, with the outputs
    beside it, its header says the same of suite, runtime, options and machine, opcert's own files are the
    same, and so is each library that the runtime ran code from and each file of its environment, its modules
    among them (`environment_state`). Only of a runtime that opcert installed: one that somebody works on is
    asked again each time. With `again` no record stands for a run.
    """

    def __init__(self, runtime: Runtime, *, again: bool = False) -> None:
        self._work = KeptWork("records")
        self._runtime, self._again = runtime, again
        # Before anything of it is loaded, where it is there already.
        self._state = None if runtime.upgrade else environment_state(runtime)

    def find(self, path: Path, header: Mapping[str, Any]) -> Record | None:
        """The record at a place, where it stands for the run that would have this header; or else None."""
        self._state = self._state or environment_state(self._runtime)
        if self._again or self._state is None or not path.is_file():
            return None
        kept = self._work.find(self._key(header))
        with suppress(OpcertError, OSError, KeyError, TypeError, AttributeError):
            files: Mapping[str, str] = kept["files"]
            same = [digest_of(path), _outputs(path)] == [kept["record"], kept["outputs"]]
            if same and all(digest_of(Path(name), LARGEST) == digest for name, digest in files.items()):
                found = read_record(path)
                # Of a clock that was set back since, nothing can be certified today.
                return None if day_to_come(str((found.footer or {}).get("finished"))) else found
        return None

    def keep(
        self, record: Record, header: Mapping[str, Any], loaded: Mapping[Path, Mapping[str, Any]]
    ) -> None:
        """Remember the record of a run, and what its workers ran code from; none of an ended run."""
        footer = record.footer
        if footer is None or "stopped" in footer:
            return
        if self._state is None or self._state != environment_state(self._runtime):
            return  # nobody knows which of its files were changed before they were read
        with suppress(OSError):
            files = {str(path): each["sha256"] for path, each in loaded.items()}
            if files:
                content = {"record": digest_of(record.path), "outputs": _outputs(record.path), "files": files}
                self._work.keep(self._key(header), content)

    def _key(self, header: Mapping[str, Any]) -> str:
        stated = {name: each for name, each in header.items() if name not in _OF_THE_TIME}
        return self._work.key(stated, self._state)


def _outputs(path: Path) -> list[str]:
    """The names of the files of outputs beside a record; each says what is in it."""
    folder = outputs_folder(path)
    return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
