"""A suite on disk: `manifest.json` and one golden file per operator, in a folder or in one zip file."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from conformance.canonical import canonical_json, sha256
from conformance.cases import Case
from conformance.goldens import read_golden, write_golden
from conformance.suite_files import FolderFiles, SuiteFiles, ZipFiles, write_zip
from opcert.errors import InternalError, Place, UserError, unwritable
from opcert.names import FAMILIES, CaseId

FORMAT = "opcert-suite/1"
MANIFEST = "manifest.json"
_GOLDEN = re.compile(r"goldens/[A-Za-z0-9_][A-Za-z0-9_.]*/[A-Za-z0-9_]+-[0-9]+\.pb")
_REMEDY = "Generate the suite again, or fetch it whole."


@dataclass(frozen=True)
class _Spooled:
    """Where a case's bytes lie in the spool while a suite is written."""

    id: CaseId
    offset: int
    entry: dict[str, Any]


def suite_order(case_id: CaseId) -> tuple[Any, int, str]:
    """The key that puts cases into suite order: operator, family, id."""
    return case_id.operator, FAMILIES.index(case_id.family), str(case_id)


def write_suite(
    path: Path, cases: Iterable[Case], facts: Mapping[str, Any], options: Mapping[str, Any]
) -> str:
    """Write a suite to a folder, or to one file where `path` ends in `.zip`; returns its digest.

    The result appears whole or not at all; a suite that is there already is replaced, anything else is left
    alone (UserError). Raises UserError where the place cannot be written, InternalError on two cases of one
    id.
    """
    try:
        _check_replaceable(path)
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.absolute().parent) as made:
            folder = Path(made) / "suite"
            folder.mkdir()
            digest = _write_folder(folder, cases, facts, options)
            if path.suffix == ".zip":
                write_zip(folder, Path(made) / "suite.zip")
                (Path(made) / "suite.zip").replace(path)
            else:
                if path.exists():
                    path.rename(Path(made) / "replaced")
                folder.rename(path)
    except OSError as error:
        raise unwritable("the suite", path, error) from error
    return digest


def _check_replaceable(path: Path) -> None:
    if path.suffix == ".zip":
        if path.is_dir():
            raise UserError("a folder stands where the suite's file should go", where=Place(str(path)))
    elif (
        path.exists() and not (path / MANIFEST).is_file() and not (path.is_dir() and not any(path.iterdir()))
    ):
        raise UserError(
            "something that is no suite stands where the suite should go",
            where=Place(str(path)),
            remedy="Name another folder, or remove this one.",
        )


def _write_folder(
    folder: Path, cases: Iterable[Case], facts: Mapping[str, Any], options: Mapping[str, Any]
) -> str:
    with tempfile.TemporaryFile(dir=folder.parent) as spool:
        spooled = sorted(_spool(cases, spool), key=lambda each: suite_order(each.id))
        for before, after in pairwise(spooled):
            if before.id == after.id:
                raise InternalError("two cases have one id", got=str(after.id))
        goldens = _write_goldens(folder, spooled, spool)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "options": options,
        "facts": facts,
        "goldens": goldens,
        "cases": [each.entry for each in spooled],
    }
    digest = manifest_digest(manifest)
    written = canonical_json({**manifest, "digest": digest})
    (folder / MANIFEST).write_bytes(written + b"\n")
    return digest


def _spool(cases: Iterable[Case], spool: IO[bytes]) -> Iterator[_Spooled]:
    for case in cases:
        raw, expectation = write_golden(case)
        entry = {
            "id": str(case.id),
            "length": len(raw),
            "expectation": expectation,
            "family": case.family,
            "element_type": case.element_type.name,
            "demand": case.demand,
        }
        offset = spool.tell()
        spool.write(raw)
        yield _Spooled(case.id, offset, entry)


def _write_goldens(folder: Path, spooled: list[_Spooled], spool: IO[bytes]) -> dict[str, Any]:
    """Write one file per operator in suite order; fills in each entry's file and offset."""
    goldens: dict[str, Any] = {}
    begin = 0
    while begin < len(spooled):
        operator = spooled[begin].id.operator
        name = f"goldens/{operator.path}.pb"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        digest, offset = hashlib.sha256(), 0
        with (folder / name).open("wb") as file:
            while begin < len(spooled) and spooled[begin].id.operator == operator:
                each = spooled[begin]
                spool.seek(each.offset)
                raw = spool.read(each.entry["length"])
                each.entry.update(file=name, offset=offset)
                file.write(raw)
                digest.update(raw)
                offset += len(raw)
                begin += 1
        goldens[name] = {"sha256": digest.hexdigest(), "bytes": offset}
    return goldens


def manifest_digest(manifest: Mapping[str, Any]) -> str:
    """The suite's digest: SHA-256 of the canonical manifest without its `digest`.

    The manifest holds the digest of every golden file, so this one covers every byte of the suite.
    """
    return sha256(canonical_json({key: value for key, value in manifest.items() if key != "digest"}))


class Suite:
    """An open suite. Use as a context manager, or call `close`; may be shared by threads."""

    def __init__(self, path: Path, manifest: dict[str, Any], files: SuiteFiles) -> None:
        self.path = path
        self.manifest = manifest
        self._files = files
        self._entries: dict[str, dict[str, Any]] = {each["id"]: each for each in manifest["cases"]}

    @property
    def digest(self) -> str:
        return str(self.manifest["digest"])

    @property
    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = self.manifest["facts"]
        return found

    @property
    def case_ids(self) -> tuple[str, ...]:
        """Every case's id, in suite order."""
        return tuple(self._entries)

    def __contains__(self, case_id: str) -> bool:
        return case_id in self._entries

    def entry(self, case_id: str) -> Mapping[str, Any]:
        """What the manifest says of a case; raises UserError where the suite has no such case."""
        found = self._entries.get(case_id)
        if found is None:
            raise UserError(
                "no such case in this suite",
                got=repr(case_id),
                where=Place(str(self.path)),
                remedy="Name the suite that it was run from with -s.",
            )
        return found

    def case(self, case_id: str) -> Case:
        """One case, read without the others; raises UserError where there is none, or where it is damaged."""
        entry = self.entry(case_id)
        raw = self._files.read(entry["file"], entry["offset"], entry["length"])
        try:
            found = read_golden(raw)
        except UserError as error:
            raise self._damaged(entry, str(error)) from error
        if str(found.id) != case_id:
            raise self._damaged(entry, f"the case {found.id} lies there")
        return found

    def select(self, pattern: str | None = None) -> tuple[str, ...]:
        """The ids that a pattern selects, in suite order: a part of the id, or a glob if it holds a `*`."""
        if pattern is None:
            return self.case_ids
        if "*" in pattern:
            return tuple(each for each in self._entries if fnmatchcase(each, pattern))
        return tuple(each for each in self._entries if pattern in each)

    def cases(self, pattern: str | None = None) -> Iterator[Case]:
        """The selected cases in suite order, read one by one."""
        for each in self.select(pattern):
            yield self.case(each)

    def close(self) -> None:
        self._files.close()

    def __enter__(self) -> Suite:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def _damaged(self, entry: Mapping[str, Any], problem: str) -> UserError:
        place = Place(str(self.path / entry["file"]), key=f"byte {entry['offset']}")
        return UserError(f"case {entry['id']} is damaged", got=problem, where=place, remedy=_REMEDY)


def open_suite(path: Path) -> Suite:
    """Open a suite and check every byte of it against its digests.

    Raises UserError, with the place and what to do, where something is missing, damaged, or no suite at all.
    """
    files: SuiteFiles
    if path.is_dir():
        files = FolderFiles(path)
    elif path.is_file():
        files = ZipFiles(path)
    else:
        raise UserError(
            "there is no suite here",
            where=Place(str(path)),
            remedy="Make one with `opcert generate -o`, or name a folder or a zip file that holds one.",
        )
    try:
        manifest = _read_manifest(path, files)
        _check_goldens(path, manifest, files)
    except BaseException:
        files.close()
        raise
    return Suite(path, manifest, files)


def _read_manifest(path: Path, files: SuiteFiles) -> dict[str, Any]:
    place = Place(str(path / MANIFEST))
    try:
        manifest = json.loads(files.read_whole(MANIFEST).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UserError("the manifest is not JSON", got=str(error), where=place, remedy=_REMEDY) from error
    found = manifest.get("format") if isinstance(manifest, dict) else type(manifest).__name__
    if found != FORMAT:
        raise UserError("not a suite's manifest", got=repr(found), expected=FORMAT, where=place)
    wrong = _find_wrong(manifest)
    if wrong is not None:
        raise UserError("the manifest is damaged", got=wrong, where=place, remedy=_REMEDY)
    if manifest_digest(manifest) != manifest["digest"]:
        raise UserError(
            "the manifest does not fit its own digest",
            got=manifest_digest(manifest),
            expected=manifest["digest"],
            where=place,
            remedy=_REMEDY,
        )
    return manifest  # type: ignore[no-any-return] # checked above to be an object


def _find_wrong(manifest: Mapping[str, Any]) -> str | None:
    """What keeps a manifest from being used, or None; offsets and lengths must lie inside their files."""
    goldens, cases = manifest.get("goldens"), manifest.get("cases")
    if not isinstance(manifest.get("digest"), str) or not isinstance(manifest.get("facts"), dict):
        return "no digest or no facts"
    if not isinstance(goldens, dict) or not isinstance(cases, list):
        return "no goldens or no cases"
    for name, golden in goldens.items():
        if _GOLDEN.fullmatch(name) is None or ".." in name:
            return f"the file name {name!r}"
        if not isinstance(golden, dict) or not isinstance(golden.get("bytes"), int):
            return f"the entry of {name}"
    seen = set()
    for position, entry in enumerate(cases):
        try:
            size = goldens[entry["file"]]["bytes"]
            offset, length = entry["offset"], entry["length"]
            inside = type(offset) is int and type(length) is int and 0 <= offset <= offset + length <= size
            CaseId.parse(entry["id"])
        except (KeyError, TypeError, UserError):
            inside = False
        if not inside or entry["id"] in seen:
            return f"the entry of case number {position}"
        seen.add(entry["id"])
    return None


def _check_goldens(path: Path, manifest: Mapping[str, Any], files: SuiteFiles) -> None:
    for name, golden in manifest["goldens"].items():
        found = files.digest(name)
        if found != golden.get("sha256"):
            raise UserError(
                "a golden file is damaged: its digest is not the manifest's",
                got=found,
                expected=str(golden.get("sha256")),
                where=Place(str(path / name)),
                remedy=_REMEDY,
            )
