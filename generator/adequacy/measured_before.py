"""What was measured before of the same cases with the same code: in the user's cache, by its digest.

So a long measurement that was interrupted goes on where it was, and one that is asked for again is quick.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.kept_suites import suites_folder
from generator.adequacy.kept import Kept, kept_json, parse_kept
from generator.making.source_files import digest_of
from generator.making.sources import ROOT
from generator.witnessed.measured_files import DAMAGED
from opcert.vocabulary.names import OperatorName
from specs.spec_folders import OWN_FOLDER, room_of

_PACKAGES = ("generator", "specs", "conformance", "opcert", "reference")
MOST_KEPT = 4
"""Of each operator version so many measurements stay, those that were used last."""


def measurement_key(operator: OperatorName, cases: str, node_tests: bool) -> str:
    """The digest of all that a measurement depends on: cases, code, and what the operator's room says."""
    room = room_of(operator, OWN_FOLDER)
    own = [*sorted(room.glob("*.yaml")), *sorted(OWN_FOLDER.glob("*.yaml"))]
    return sha256(canonical_json([str(operator), cases, node_tests, _code(), digest_of(own)]))


def find_measured(operator: OperatorName, key: str) -> Kept | None:
    """What was measured before; None where nothing was, or where the file is damaged."""
    try:
        path = _folder(operator) / f"{key}.json"
        found = parse_kept(path.read_text(encoding="utf-8"))
        path.touch()
    except DAMAGED:
        return None
    return found


def keep_measured(operator: OperatorName, key: str, kept: Kept) -> None:
    """Keep a measurement; a cache that cannot be written keeps nothing."""
    folder = _folder(operator)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        making = folder / f"{key}.making"
        making.write_text(kept_json(kept), encoding="utf-8", newline="\n")
        making.replace(folder / f"{key}.json")
        files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for each in files[MOST_KEPT:]:
            each.unlink()
    except OSError:
        return


def _folder(operator: OperatorName) -> Path:
    return suites_folder().with_name("adequacy") / operator.domain / operator.short


@cache
def _code() -> str:
    return digest_of(sorted(path for name in _PACKAGES for path in (ROOT / name).rglob("*.py")))
