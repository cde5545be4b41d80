"""A suite on disk: `manifest.json` and one golden file per operator, in a folder or in one zip file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.processes.scratch_folders import scratch_folder
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.case_selection import select_cases
from conformance.suite.cases import Case, CaseOutline, outline_of
from conformance.suite.goldens import read_golden
from conformance.suite.manifests import (
    FORMAT,
    MANIFEST,
    REMEDY,
    Manifest,
    check_goldens,
    manifest_digest,
    read_manifest,
)
from conformance.suite.suite_files import FolderFiles, SuiteFiles, ZipFiles, write_zip
from conformance.suite.suite_parts import SuitePart, make_parts, part_digest
from opcert.vocabulary.arithmetics import Arithmetic
from opcert.vocabulary.errors import Place, UserError, unwritable
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.strict_json import parse_json
from opcert.vocabulary.whole_files import end_of, put_in_place

KNOWN = "known.json"
KNOWN_FORMAT = "opcert-known/1"
_LARGEST_KNOWN = 16 << 20
_MOST_KEPT_BYTES = 8 << 20
"""The cases of a suite whose goldens are no larger stay in memory once they were read."""
_MOST_OUTLINED = 50_000
"""Of so many cases the outlines stay once they were read: who looks at all cases after a run has them."""


def write_suite(
    path: Path, cases: Iterable[Case], facts: Mapping[str, Any], options: Mapping[str, Any]
) -> str:
    """Write a suite to a folder, or to one file where `path` ends in `.zip`; returns its digest.

    The result appears whole or not at all; a suite that is there already is replaced, anything else is left
    alone (UserError). Raises UserError where the place cannot be written, InternalError on two cases of one
    id.
    """
    return _place_suite(path, lambda folder: _write_folder(folder, make_parts(cases), facts, options))


def write_suite_of_parts(
    path: Path,
    parts: Sequence[SuitePart],
    facts: Mapping[str, Any],
    options: Mapping[str, Any],
    known: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Write a suite that is put together of parts, one for each operator, as `write_suite` does.

    `known` are entries about causes that lie beside the manifest: they say nothing of what is right, and so
    the digest is not of them.
    """

    def write(folder: Path) -> str:
        if known:
            content = {"format": KNOWN_FORMAT, "cases": list(known)}
            (folder / KNOWN).write_bytes(canonical_json(content) + b"\n")
        return _write_folder(folder, parts, facts, options)

    return _place_suite(path, write)


def _write_folder(
    folder: Path, parts: Sequence[SuitePart], facts: Mapping[str, Any], options: Mapping[str, Any]
) -> str:
    """Write golden files and manifest into an empty folder; returns the suite's digest."""
    goldens: dict[str, Any] = {}
    ordered = sorted((part for part in parts if part.entries), key=lambda part: part.operator)
    for part in ordered:
        (folder / part.file).parent.mkdir(parents=True, exist_ok=True)
        (folder / part.file).write_bytes(part.golden)
        goldens[part.file] = {"sha256": sha256(part.golden), "bytes": len(part.golden)}
    entries = [entry for part in ordered for entry in part.entries]
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "options": options,
        "facts": facts,
        "goldens": goldens,
        "cases": entries,
    }
    digest = manifest_digest(manifest)
    (folder / MANIFEST).write_bytes(canonical_json({**manifest, "digest": digest}) + b"\n")
    return digest


def _place_suite(path: Path, write: Callable[[Path], str]) -> str:
    """Have a suite written into a folder, and put it to its place; returns its digest."""
    try:
        path = end_of(path)
        _check_replaceable(path)
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder("suite", path.absolute().parent, hidden=True) as made:
            folder = made / "suite"
            folder.mkdir()
            digest = write(folder)
            if path.suffix == ".zip":
                write_zip(folder, made / "suite.zip")
                put_in_place(made / "suite.zip", path)
            else:
                _take_place(folder, path, made / "replaced")
    except OSError as error:
        raise unwritable("the suite", path, error) from error
    return digest


def _take_place(folder: Path, path: Path, aside: Path) -> None:
    """Put a folder where another one may stand, which is put aside, or back where that fails."""
    if path.exists():
        path.rename(aside)
    try:
        folder.rename(path)
    except BaseException:
        if aside.exists():
            aside.rename(path)
        raise


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


class Suite:
    """An open suite. Use as a context manager, or call `close`; may be shared by threads.

    `manifest` is all of its manifest but the cases, of which `entry` gives one.
    """

    def __init__(self, path: Path, manifest: Manifest, files: SuiteFiles) -> None:
        self.path = path
        self.manifest = manifest.head
        self._entries = manifest.cases
        self._files = files
        size = sum(each["bytes"] for each in manifest.head["goldens"].values())
        self._kept: dict[str, Case] | None = {} if size <= _MOST_KEPT_BYTES else None
        self._outlines: dict[str, CaseOutline] = {}

    @property
    def digest(self) -> str:
        return str(self.manifest["digest"])

    @property
    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = self.manifest["facts"]
        return found

    @property
    def arithmetic(self) -> Arithmetic:
        """In what float is computed by what its cases expect; raises UserError where it says what is none."""
        options = self.manifest.get("options")
        said = options.get("arithmetic") if isinstance(options, dict) else None
        return Arithmetic() if said is None else Arithmetic.parse(str(said))

    @property
    def case_ids(self) -> Sequence[str]:
        """Every case's id, in suite order; of many they are read when they are looked at."""
        return self._entries

    def position(self, case_id: str) -> int:
        """The place of a case in suite order, from 0; KeyError where there is none."""
        return self._entries.position(case_id)

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

    def case(self, case_id: str, *, call_alone: bool = False) -> Case:
        """One case, read without the others; raises UserError where there is none, or where it is damaged.

        With `call_alone` it may be without its expectations.
        """
        kept = None if self._kept is None else self._kept.get(case_id)
        if kept is not None:
            return kept
        entry, raw = self.entry(case_id), self.golden(case_id)
        try:
            found = read_golden(raw, call_alone=call_alone)
        except UserError as error:
            raise self._damaged(entry, str(error)) from error
        if str(found.id) != case_id:
            raise self._damaged(entry, f"the case {found.id} lies there")
        if self._kept is not None and not call_alone:
            self._kept[case_id] = found
        if not call_alone and case_id not in self._outlines and len(self._outlines) < _MOST_OUTLINED:
            self._outlines[case_id] = outline_of(found)
        return found

    def outline(self, case_id: str) -> CaseOutline:
        """What is said of a case's call; raises UserError as `case` does where it has to be read for that."""
        return self._outlines.get(case_id) or outline_of(self.case(case_id, call_alone=True))

    def golden(self, case_id: str) -> bytes:
        """The bytes of a case as its golden file has them; UserError where there is none, or no file."""
        entry = self.entry(case_id)
        return self._files.read(entry["file"], entry["offset"], entry["length"])

    def part_digests(self) -> dict[OperatorName, str]:
        """By operator version the digest of all that the suite has of it, as the digest of a part."""
        facts = self.facts.get("operators")
        told = facts if isinstance(facts, dict) else {}
        entries: dict[OperatorName, list[Mapping[str, Any]]] = {}
        for each in self._entries:
            entries.setdefault(CaseId.parse(each).operator, []).append(self.entry(each))
        goldens = {name: each["sha256"] for name, each in self.manifest["goldens"].items()}
        return {
            operator: part_digest(goldens[own[0]["file"]], own, told.get(str(operator)))
            for operator, own in entries.items()
        }

    def known_entries(self) -> list[Any]:
        """The entries about causes that travel with the suite, as they were written; none where it has none.

        Raises UserError where the file that should hold them does not.
        """
        try:
            size = self._files.size(KNOWN)
        except UserError:
            return []
        place = Place(str(self.path / KNOWN))
        if size > _LARGEST_KNOWN:
            raise UserError("the known causes of a suite are too long", got=f"{size} bytes", where=place)
        try:
            content = parse_json(self._files.read(KNOWN, 0, size))
            if content["format"] != KNOWN_FORMAT or not isinstance(content["cases"], list):
                raise ValueError(f"the format {content['format']!r}")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise UserError(
                "the known causes of a suite are damaged", got=str(error), where=place, remedy=REMEDY
            ) from error
        return list(content["cases"])

    def select(self, pattern: str | None = None) -> Sequence[str]:
        """The ids that a pattern selects, in suite order (`conformance.suite.case_selection`)."""
        return self.case_ids if pattern is None else select_cases(pattern, self._entries)

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
        return UserError(f"case {entry['id']} is damaged", got=problem, where=place, remedy=REMEDY)


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
        manifest = read_manifest(path, files)
        check_goldens(path, manifest.head, files)
    except BaseException:
        files.close()
        raise
    return Suite(path, manifest, files)
