"""The files of a suite, in a folder or in a zip file; neither ever reads outside it."""

from __future__ import annotations

import hashlib
import os
import threading
import zipfile
from pathlib import Path
from typing import IO, Protocol

from opcert.errors import Place, UserError

_MAX_MANIFEST = 1 << 30
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)
_REMEDY = "Generate the suite again, or fetch it whole."


class SuiteFiles(Protocol):
    """Reads the files of a suite by their names in it; UserError where one is missing or cannot be read."""

    def read_whole(self, name: str) -> bytes: ...

    def read(self, name: str, offset: int, length: int) -> bytes: ...

    def digest(self, name: str) -> str: ...

    def close(self) -> None: ...


class FolderFiles:
    """A suite's files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._inside = folder.resolve()
        self._open: dict[str, int] = {}
        self._lock = threading.Lock()

    def read_whole(self, name: str) -> bytes:
        try:
            return self._path(name).read_bytes()
        except OSError as error:
            raise _unreadable(self._folder / name, error) from error

    def read(self, name: str, offset: int, length: int) -> bytes:
        try:
            with self._lock:
                if name not in self._open:
                    self._open[name] = os.open(self._path(name), os.O_RDONLY)
            return os.pread(self._open[name], length, offset)
        except OSError as error:
            raise _unreadable(self._folder / name, error) from error

    def digest(self, name: str) -> str:
        try:
            with self._path(name).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise _unreadable(self._folder / name, error) from error

    def close(self) -> None:
        while self._open:
            os.close(self._open.popitem()[1])

    def _path(self, name: str) -> Path:
        found = (self._folder / name).resolve()
        if not found.is_relative_to(self._inside):
            raise UserError("a file of the suite lies outside it", where=Place(str(self._folder / name)))
        return found


class ZipFiles:
    """A suite's files in one zip file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._open: tuple[str, IO[bytes]] | None = None
        try:
            self._zip = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile) as error:
            raise UserError(
                "this is no zip file that holds a suite",
                got=str(error),
                where=Place(str(path)),
                remedy=_REMEDY,
            ) from error

    def read_whole(self, name: str) -> bytes:
        with self._lock:
            return self._read(name, 0, _MAX_MANIFEST)

    def read(self, name: str, offset: int, length: int) -> bytes:
        with self._lock:
            return self._read(name, offset, length)

    def digest(self, name: str) -> str:
        with self._lock:
            try:
                with self._zip.open(name) as file:
                    digest = hashlib.sha256()
                    while chunk := file.read(1 << 20):
                        digest.update(chunk)
                    return digest.hexdigest()
            except (OSError, KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
                raise _unreadable(self._path / name, error) from error

    def _read(self, name: str, offset: int, length: int) -> bytes:
        # The entry stays open: reading in suite order only ever goes forward.
        try:
            if self._open is None or self._open[0] != name:
                self._close_entry()
                self._open = (name, self._zip.open(name))
            self._open[1].seek(offset)
            return self._open[1].read(length)
        except (OSError, KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise _unreadable(self._path / name, error) from error

    def _close_entry(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def close(self) -> None:
        self._close_entry()
        self._zip.close()


def write_zip(folder: Path, path: Path) -> None:
    """Put every file of a folder into a zip file, with the same bytes on every machine.

    Nothing is compressed: compressed bytes differ between versions of zlib.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), _FIXED_DATE)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, file.read_bytes())


def _unreadable(path: Path, error: Exception) -> UserError:
    missing = isinstance(error, FileNotFoundError | KeyError)
    return UserError(
        "a file of the suite is missing" if missing else "a file of the suite cannot be read",
        got=None if missing else str(error),
        where=Place(str(path)),
        remedy=_REMEDY,
    )
