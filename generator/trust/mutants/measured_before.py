"""What was measured before of the same cases with the same code: in the user's cache, by its digest.

So a long measurement that was interrupted goes on where it was, and one that is asked for again is quick. Of
an operator under way the sets of mutants are kept that have come.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path

from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.kept_suites import suites_folder
from generator.making.operators.source_files import digest_of
from generator.making.operators.sources import ROOT
from generator.measured.kept import MeasuredOperator, kept_json, parse_kept
from generator.measured.measured_files import DAMAGED
from generator.measured.outcomes import MutantOutcome, SetAnswer
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.whole_files import write_text
from specs.files.spec_folders import OWN_FOLDER, room_of

_SET = ".set"
_PACKAGES = ("generator", "specs", "conformance", "opcert", "reference")
MOST_KEPT = 4
"""Of each operator version so many measurements stay, those that were used last."""


def measurement_key(operator: OperatorName, cases: str, node_tests: bool) -> str:
    """The digest of all that a measurement depends on: cases, code, and what the operator's room says."""
    room = room_of(operator, OWN_FOLDER)
    own = [*sorted(room.glob("*.yaml")), *sorted(OWN_FOLDER.glob("*.yaml"))]
    return sha256(canonical_json([str(operator), cases, node_tests, _code(), digest_of(own)]))


def find_measured(operator: OperatorName, key: str) -> MeasuredOperator | None:
    """What was measured before; None where nothing was, or where the file is damaged."""
    try:
        path = _folder(operator) / f"{key}.json"
        found = parse_kept(path.read_text(encoding="utf-8"))
        path.touch()
    except DAMAGED:
        return None
    return found


def keep_measured(operator: OperatorName, key: str, kept: MeasuredOperator) -> None:
    """Keep a measurement; a cache that cannot be written keeps nothing."""
    folder = _folder(operator)
    try:
        write_text(folder / f"{key}.json", kept_json(kept))
        files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for each in files[MOST_KEPT:]:
            each.unlink()
        for each in folder.glob(f"*{_SET}"):
            each.unlink()
    except (OSError, UserError):
        return


def find_sets(operator: OperatorName, key: str) -> dict[int, SetAnswer]:
    """The sets of mutants that are known of a measurement under way, by their numbers; no damaged ones."""
    found = {}
    for path in sorted(_folder(operator).glob(f"{key}-*{_SET}")):
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            number, sets = int(raw["number"]), int(raw["sets"])
            outcomes = [MutantOutcome(**{**each, "diff": tuple(each["diff"])}) for each in raw["outcomes"]]
        except DAMAGED:
            continue
        found[number] = SetAnswer(sets, outcomes)
    return found if len({each.sets for each in found.values()}) == 1 else {}


def keep_set(operator: OperatorName, key: str, number: int, answer: SetAnswer) -> None:
    """Keep what became of a set; a cache that cannot be written keeps nothing."""
    outcomes = [asdict(each) for each in answer.outcomes]
    text = json.dumps({"number": number, "sets": answer.sets, "outcomes": outcomes})
    with suppress(UserError):
        write_text(_folder(operator) / f"{key}-{number}{_SET}", text)


def _folder(operator: OperatorName) -> Path:
    return suites_folder().with_name("adequacy") / operator.domain / operator.short


@cache
def _code() -> str:
    return digest_of(sorted(path for name in _PACKAGES for path in (ROOT / name).rglob("*.py")))
