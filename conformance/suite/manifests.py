"""Reading a suite's manifest: its cases one by one, the rest of it whole.

A manifest is canonical JSON, so its keys are in order: the cases, of which there may be many, come first,
then the digest, then what does not grow with their number. Whatever is not written so is read whole.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.case_index import CaseIndex
from conformance.suite.cases import Demand
from conformance.suite.suite_files import MANIFEST as MANIFEST
from conformance.suite.suite_files import SuiteFiles
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.strict_json import DECODER, parse_json

FORMAT = "opcert-suite/1"
REMEDY = "Generate the suite again, or fetch it whole."
_GOLDEN = re.compile(r"goldens/[A-Za-z0-9_][A-Za-z0-9_.]*/[A-Za-z0-9_]+-[0-9]+\.pb")
_CHUNK = 1 << 18
_LARGEST = 1 << 30
"""Bytes of a canonical manifest, read piece by piece: some 260 for each case."""
_LARGEST_WHOLE = 32 << 20
"""Bytes of a manifest that is not canonical, and of what stands behind the cases of one that is."""
_LONGEST_ENTRY = 64 << 10
_MOST_KINDS = 200_000
_MOST_GOLDENS = 10_000
_LARGEST_CASE = 256 << 20
_DEMANDS = frozenset(get_args(Demand))
_BEGIN = '{"cases":['
_DIGEST = re.compile(r'\],"digest":"([0-9a-f]{64})",')


@dataclass(frozen=True, eq=False)
class Manifest:
    """A manifest that was checked; `head` is all of it but the cases."""

    head: Mapping[str, Any]
    cases: CaseIndex


def manifest_digest(manifest: Mapping[str, Any]) -> str:
    """The suite's digest: SHA-256 of the canonical manifest without its `digest`.

    The manifest holds the digest of every golden file, so this one covers every byte of the suite.
    """
    return sha256(canonical_json({key: value for key, value in manifest.items() if key != "digest"}))


def read_manifest(path: Path, files: SuiteFiles) -> Manifest:
    """The manifest of a suite at a path; raises UserError where it is missing, damaged, or none at all."""
    size = files.size(MANIFEST)
    if size > _LARGEST:
        raise _damaged(path, f"{size} bytes; at most {_LARGEST} are expected")
    try:
        stream = _Stream(files)
        cases = CaseIndex()
        for entry in stream.cases():
            cases.add(entry)
        head = stream.head()
    except (ValueError, KeyError, TypeError, OverflowError, AttributeError, RecursionError):
        return _read_whole(path, files)
    if stream.found_digest != head["digest"] or head.get("format") != FORMAT:
        return _read_whole(path, files)
    _check(path, head, cases)
    return Manifest(head, cases)


class _Stream:
    """A canonical manifest, read from its begin to its end. Raises ValueError where it is written otherwise.

    `found_digest` is the digest of what was read.
    """

    def __init__(self, files: SuiteFiles) -> None:
        self._files = files
        self._offset = 0
        self._text = ""
        self._at = 0
        self._hash = hashlib.sha256()
        self.found_digest = ""

    def cases(self) -> Iterator[Any]:
        """Each entry of a case."""
        decode = DECODER.raw_decode
        self._read()
        if not self._text.startswith(_BEGIN):
            raise ValueError("no canonical manifest")
        self._at = len(_BEGIN)
        while not self._text.startswith("]", self._at):
            try:
                entry, end = decode(self._text, self._at)
                more = self._text[end] == ","
            except (ValueError, IndexError):
                # An entry that goes on in the next piece; one that would be read again and again is none.
                if len(self._text) - self._at > _LONGEST_ENTRY or not self._read():
                    raise ValueError("no canonical manifest") from None
                continue
            self._at = end + more
            yield entry

    def head(self) -> dict[str, Any]:
        """What stands behind the cases."""
        while self._read():
            if len(self._text) - self._at > _LARGEST_WHOLE:
                raise ValueError("no canonical manifest")
        match = _DIGEST.match(self._text)
        if match is None or not self._text.endswith("}\n"):
            raise ValueError("no canonical manifest")
        rest = self._text[match.end() :]
        self._hash.update(f"],{rest[:-1]}".encode("ascii"))
        self.found_digest = self._hash.hexdigest()
        return {**parse_json("{" + rest), "digest": match[1]}

    def _read(self) -> bool:
        """Put away what was taken and read on; whether there was more."""
        self._hash.update(self._text[: self._at].encode("ascii"))
        raw = self._files.read(MANIFEST, self._offset, _CHUNK)
        self._offset += len(raw)
        self._text = self._text[self._at :] + raw.decode("ascii")
        self._at = 0
        return bool(raw)


def _read_whole(path: Path, files: SuiteFiles) -> Manifest:
    """Read a manifest in whatever order its keys are, and say what is wrong with it."""
    place = Place(str(path / MANIFEST))
    if files.size(MANIFEST) > _LARGEST_WHOLE:
        raise _damaged(path, f"more than {_LARGEST_WHOLE} bytes that are no canonical JSON")
    try:
        manifest = parse_json(files.read(MANIFEST, 0, _LARGEST_WHOLE))
    except ValueError as error:
        raise UserError("the manifest is not JSON", got=str(error), where=place, remedy=REMEDY) from error
    found = manifest.get("format") if isinstance(manifest, dict) else type(manifest).__name__
    if found != FORMAT:
        said = "not a suite's manifest"
        raise UserError(said, got=repr(found), expected=FORMAT, where=place, remedy=REMEDY)
    cases = manifest.pop("cases", None)
    index = _index(path, cases)
    _check(path, manifest, index)
    digest = manifest_digest({**manifest, "cases": cases})
    if digest != manifest["digest"]:
        raise UserError(
            "the manifest does not fit its own digest",
            got=digest,
            expected=manifest["digest"],
            where=place,
            remedy=REMEDY,
        )
    return Manifest(manifest, index)


def check_goldens(path: Path, manifest: Mapping[str, Any], files: SuiteFiles) -> None:
    """Raise UserError where a golden file has not the digest that the manifest states."""
    for name, golden in manifest["goldens"].items():
        checks: tuple[tuple[str, Callable[[str], object], object], ...] = (
            ("it has not the bytes that the manifest states", files.size, golden["bytes"]),
            ("its digest is not the manifest's", files.digest, golden.get("sha256")),
        )
        for problem, look, stated in checks:
            found = look(name)
            if found != stated:
                told = f"a golden file is damaged: {problem}"
                place = Place(str(path / name))
                raise UserError(told, got=str(found), expected=str(stated), where=place, remedy=REMEDY)


def _index(path: Path, cases: Any) -> CaseIndex:
    if not isinstance(cases, list):
        raise _damaged(path, "no goldens or no cases")
    index = CaseIndex()
    for position, entry in enumerate(cases):
        try:
            index.add(entry)
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
            raise _damaged(path, f"the entry of case number {position}") from None
    return index


def _check(path: Path, head: Mapping[str, Any], cases: CaseIndex) -> None:
    """Raise UserError where something is not as it must be; cases must lie inside their files."""
    goldens = head.get("goldens")
    if not isinstance(head.get("digest"), str) or not isinstance(head.get("facts"), dict):
        raise _damaged(path, "no digest or no facts")
    if not isinstance(goldens, dict) or len(goldens) > _MOST_GOLDENS or cases.kinds > _MOST_KINDS:
        raise _damaged(path, "no goldens or no cases")
    for name, golden in goldens.items():
        if _GOLDEN.fullmatch(name) is None or ".." in name:
            raise _damaged(path, f"the file name {name[:200]!r}")
        if not isinstance(golden, dict) or type(golden.get("bytes")) is not int:
            raise _damaged(path, f"the entry of {name}")
    for position, case_id in enumerate(cases):
        entry = cases.get(case_id) or {}
        try:
            fits = CaseId.parse(case_id).family == entry["family"] and entry["demand"] in _DEMANDS
            fits = fits and entry["element_type"] in ELEMENT_TYPES
            fits = fits and entry["length"] <= _LARGEST_CASE
            fits = fits and entry["offset"] + entry["length"] <= goldens[entry["file"]]["bytes"]
        except (KeyError, TypeError, UserError):
            fits = False
        if not fits:
            raise _damaged(path, f"the entry of case number {position}")


def _damaged(path: Path, problem: str) -> UserError:
    return UserError("the manifest is damaged", got=problem, where=Place(str(path / MANIFEST)), remedy=REMEDY)
