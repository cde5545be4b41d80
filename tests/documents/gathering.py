"""Documents that tests and tools read: found by their names, read where they have their digests."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import yaml

from opcert.vocabulary.errors import Place, UserError

VARIABLE = "OPCERT_DOCUMENTS"
SOURCES = Path(__file__).with_name("sources.yaml")
DIGESTS = Path(__file__).with_name("SHA256SUMS")


@dataclass(frozen=True)
class Source:
    """Where some documents come from, and how that is known: an entry of sources.yaml."""

    documents: str
    origin: str
    get: str
    compared: str
    licence: str


class AbsentDocuments(UserError):
    """Documents of the list that are not there; `what` names them shortly."""

    def __init__(self, what: str, *, where: Place | None, remedy: str) -> None:
        super().__init__(f"{what} is absent", where=where, remedy=remedy)
        self.what = what


@cache
def read_sources() -> tuple[Source, ...]:
    """The entries of sources.yaml."""
    return tuple(Source(**each) for each in yaml.safe_load(SOURCES.read_text(encoding="utf-8"))["sources"])


def read_digests() -> dict[str, str]:
    """The SHA-256 of each document, by the place that it has in the list."""
    rows = (line.split("  ", 1) for line in DIGESTS.read_text(encoding="utf-8").splitlines())
    return {place: digest for digest, place in rows}


def source_of(place: str) -> Source:
    """Where a document of the list comes from."""
    (found,) = (source for source in read_sources() if fnmatchcase(place, source.documents))
    return found


def named_folder() -> Path | None:
    """The folder that OPCERT_DOCUMENTS names. UserError where there is none of that name."""
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    folder = Path(text).resolve()
    if not folder.is_dir():
        raise UserError(f"{VARIABLE} names no folder", got=repr(text), expected="a folder that has documents")
    return folder


class Documents:
    """The documents of the list below `folder`, in whatever order they lie there.

    What is asked for is copied to `gathered`, as the list names it, so that a folder has the list's documents
    and no others. `folder` is None where nobody named one.
    """

    def __init__(self, folder: Path | None, gathered: Path) -> None:
        self.folder = folder
        self._gathered = gathered
        self._digests = read_digests()

    def find(self, place: str) -> Path:
        """A document of the list, or a folder of it; `.` is the whole list.

        Raises AbsentDocuments where one lacks, UserError where one is there with another digest alone, and
        KeyError for what the list does not have.
        """
        wanted = [digest for digest in self._digests if self._is_in(digest, place)]
        if not wanted:
            raise KeyError(f"{place} is not in {DIGESTS.name}")
        lacking = [each for each in wanted if not self._gather(each)]
        if lacking:
            raise self._absent(lacking)
        return self._gathered / place

    def state(self, place: str) -> UserError | None:
        """What is wrong with a document of the list, if anything is."""
        try:
            self.find(place)
        except UserError as error:
            return error
        return None

    @staticmethod
    def _is_in(document: str, place: str) -> bool:
        return place == "." or document == place or document.startswith(f"{place}/")

    def _gather(self, place: str) -> bool:
        """Copy a document to its place, once; False where no file has its name."""
        target = self._gathered / place
        if target.exists():
            return True
        named = self._by_name.get(target.name, [])
        found = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in named}
        right = next((path for path, digest in found.items() if digest == self._digests[place]), None)
        if found and right is None:
            path, digest = next(iter(found.items()))
            raise UserError(
                "not the document that is meant",
                got=f"SHA-256 {digest}",
                expected=f"{self._digests[place]}, of {source_of(place).origin}",
                where=Place(str(path)),
                remedy=f"To have it: {source_of(place).get}.",
            )
        if right is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(right, target)
        return right is not None

    @cached_property
    def _by_name(self) -> dict[str, list[Path]]:
        """The files below the folder whose names are on the list, those of hidden folders left out."""
        names = {PurePosixPath(digest).name for digest in self._digests}
        found: dict[str, list[Path]] = {}
        for at, folders, files in os.walk(self.folder) if self.folder is not None else ():
            folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
            for name in names.intersection(files):
                found.setdefault(name, []).append(Path(at, name))
        return found

    def _absent(self, places: list[str]) -> AbsentDocuments:
        if self.folder is None:
            return AbsentDocuments(
                "any document",
                where=None,
                remedy=f"{VARIABLE} names a folder of them; tests/documents/{SOURCES.name} says where from.",
            )
        source = source_of(places[0])
        return AbsentDocuments(
            f"document {places[0]}",
            where=Place(str(self.folder)),
            remedy=f"It is of {source.origin}; to have it: {source.get}.",
        )


def gather(gathered: Path) -> Documents:
    """The documents below the folder that OPCERT_DOCUMENTS names; see `Documents`."""
    return Documents(named_folder(), gathered)


@contextmanager
def passing_documents() -> Iterator[Documents]:
    """The same, with their copies gone afterwards: for programs. What is wrong with them ends the program."""
    with TemporaryDirectory() as folder:
        try:
            yield gather(Path(folder))
        except UserError as error:
            raise SystemExit(str(error)) from error
