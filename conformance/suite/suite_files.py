"""The files of a suite, in a folder or in a zip file; neither ever reads outside it."""

from __future__ import annotations

import hashlib
import os
import struct
import threading
import zipfile
import zlib
from pathlib import Path
from typing import IO, Protocol

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.regular_files import open_regular

_MOST_FILES = 20_000
_MOST_OPEN = 128
"""Files that stay open; a suite has one for each operator version, and a process may have 1024."""
_LARGEST_FILE = 4 << 30
_LARGEST_SUITE = 16 << 30
_SUSPICIOUS = 16 << 20
_MOST_RATIO = 200
"""A file of more than 16 MiB that is compressed to less than this part of it was made to fill memory."""
_LARGEST_DIRECTORY = 8 << 20
_MOST_WHOLE = 4
"""So many entries are decompressed whole, and held, none larger than what `write_zip` compresses."""
_DAMAGED = (OSError, EOFError, KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error)
_END = b"PK\x05\x06"
_END_BYTES = 22
_END_64 = b"PK\x06\x07"
_END_64_BYTES = 20
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)
_LEVEL = 6
MANIFEST = "manifest.json"
_REMEDY = "Generate the suite again, or fetch it whole."


class SuiteFiles(Protocol):
    """Reads the files of a suite by their names in it; UserError where one is missing or cannot be read."""

    def size(self, name: str) -> int: ...

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

    def size(self, name: str) -> int:
        try:
            with self._lock:
                return os.fstat(self._descriptor(name)).st_size
        except OSError as error:
            raise _unreadable(self._folder / name, error) from error

    def read(self, name: str, offset: int, length: int) -> bytes:
        try:
            # Under the lock: another thread may close what was used longest ago.
            with self._lock:
                return os.pread(self._descriptor(name), length, offset)
        except (OSError, OverflowError) as error:
            raise _unreadable(self._folder / name, error) from error

    def digest(self, name: str) -> str:
        try:
            with open_regular(self._path(name), _LARGEST_FILE) as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise _unreadable(self._folder / name, error) from error

    def close(self) -> None:
        while self._open:
            os.close(self._open.popitem()[1])

    def _descriptor(self, name: str) -> int:
        """An open descriptor of a file; of many files those that were used last stay open."""
        found = self._open.pop(name, None)
        if found is None:
            if len(self._open) >= _MOST_OPEN:
                os.close(self._open.pop(next(iter(self._open))))
            with open_regular(self._path(name), _LARGEST_FILE) as file:
                found = os.dup(file.fileno())
        self._open[name] = found
        return found

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
        self._whole: dict[str, bytes] = {}
        try:
            self._file = open_regular(path)
            _check_directory(self._file)
            self._zip = zipfile.ZipFile(self._file)
            _check_entries(self._zip)
        except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
            raise UserError(
                "this is no zip file that holds a suite",
                got=str(error),
                where=Place(str(path)),
                remedy=_REMEDY,
            ) from error

    def size(self, name: str) -> int:
        try:
            return self._zip.getinfo(name).file_size
        except KeyError as error:
            raise _unreadable(self._path / name, error) from error

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
            except _DAMAGED as error:
                raise _unreadable(self._path / name, error) from error

    def _read(self, name: str, offset: int, length: int) -> bytes:
        try:
            if name in self._whole or self._zip.getinfo(name).file_size <= _SUSPICIOUS:
                return self._entry(name)[offset : offset + length]
            # A large entry stays open: reading in suite order only ever goes forward.
            if self._open is None or self._open[0] != name:
                self._close_entry()
                self._open = (name, self._zip.open(name))
            self._open[1].seek(offset)
            return self._open[1].read(length)
        except _DAMAGED as error:
            raise _unreadable(self._path / name, error) from error

    def _entry(self, name: str) -> bytes:
        """All of an entry: cases are read in several orders, and each step back would decompress it anew."""
        if name not in self._whole:
            while len(self._whole) >= _MOST_WHOLE:
                del self._whole[next(iter(self._whole))]
            self._whole[name] = self._zip.read(name)
        return self._whole[name]

    def _close_entry(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def close(self) -> None:
        self._close_entry()
        self._zip.close()
        self._file.close()


def _check_directory(file: IO[bytes]) -> None:
    """Raise BadZipFile where a zip file's directory is none, or longer than that of any suite."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - (1 << 16) - _END_BYTES - _END_64_BYTES, 0))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise zipfile.BadZipFile("File is not a zip file")
    entries, length = struct.unpack_from("<HI", tail, at + 10)
    if (
        _END_64 in tail[max(at - _END_64_BYTES, 0) : at]
        or entries > _MOST_FILES
        or length > _LARGEST_DIRECTORY
    ):
        raise zipfile.BadZipFile(f"it has too many files; at most {_MOST_FILES} are expected")


def _check_entries(archive: zipfile.ZipFile) -> None:
    """Raise BadZipFile where what is compressed in a zip file would be too much in memory or on a disk."""
    entries = archive.infolist()
    total = sum(entry.file_size for entry in entries)
    if total > _LARGEST_SUITE:
        raise zipfile.BadZipFile(f"its files have {total} bytes; at most {_LARGEST_SUITE} are expected")
    for entry in entries:
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise zipfile.BadZipFile(f"{entry.filename!r} is compressed in a way that is not read here")
        if entry.file_size > max(_SUSPICIOUS, _MOST_RATIO * entry.compress_size):
            raise zipfile.BadZipFile(
                f"{entry.filename!r} has {entry.file_size} bytes in {entry.compress_size}: "
                f"compressed to less than a {_MOST_RATIO}th"
            )


def write_zip(folder: Path, path: Path) -> None:
    """Put every file of a folder into a zip file, in order and without times.

    The files in it have the same bytes on every machine; how they are compressed differs between builds of
    zlib. A file so large that a reader would ask how far it was compressed is not.
    """
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), _FIXED_DATE)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            data = file.read_bytes()
            way = zipfile.ZIP_DEFLATED if len(data) <= _SUSPICIOUS else zipfile.ZIP_STORED
            archive.writestr(entry, data, way, _LEVEL)


def _unreadable(path: Path, error: Exception) -> UserError:
    missing = isinstance(error, FileNotFoundError | KeyError)
    if missing and path.name == MANIFEST:
        return UserError(
            "there is no suite here, or its manifest is missing",
            where=Place(str(path)),
            remedy=f"Name a folder or a zip file that holds one. {_REMEDY}",
        )
    return UserError(
        "a file of the suite is missing" if missing else "a file of the suite cannot be read",
        got=None if missing else str(error),
        where=Place(str(path)),
        remedy=_REMEDY,
    )
