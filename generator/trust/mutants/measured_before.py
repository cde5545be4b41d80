"""What was measured before of the same cases with the same code: in the user's cache, by its digest.

So a long measurement that was interrupted goes on where it was, and one that is asked for again is quick. Of
an operator under way the sets of mutants are kept that have come.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache

from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.store import Store
from generator.making.operators.source_files import digest_of
from generator.making.operators.sources import ROOT
from generator.measured.kept import MeasuredOperator, kept_json, parse_kept
from generator.measured.measured_files import DAMAGED
from generator.measured.outcomes import SetAnswer
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.strict_json import read_plain
from opcert.vocabulary.user_folders import cache_folder
from specs.files.spec_folders import OWN_FOLDER, room_of

_PACKAGES = ("generator", "specs", "conformance", "opcert", "reference")
MOST_KEPT = 4
"""Of each operator version so many measurements stay, those that were used last."""
MOST_SETS = 10_000


def measurement_key(operator: OperatorName, cases: str, node_tests: bool) -> str:
    """The digest of all that a measurement depends on: cases, code, and what the operator's room says."""
    room = room_of(operator, OWN_FOLDER)
    own = [*sorted(room.glob("*.yaml")), *sorted(OWN_FOLDER.glob("*.yaml"))]
    return sha256(canonical_json([str(operator), cases, node_tests, _code(), digest_of(own)]))


def find_measured(operator: OperatorName, key: str) -> MeasuredOperator | None:
    """What was measured before; None where nothing was, or where the file is damaged."""
    try:
        raw = _measured(operator).find(key)
        return None if raw is None else parse_kept(raw.decode("utf-8"))
    except DAMAGED:
        return None


def keep_measured(operator: OperatorName, key: str, kept: MeasuredOperator) -> None:
    """Keep a measurement; a cache that cannot be written keeps nothing."""
    _measured(operator).keep(key, kept_json(kept).encode("utf-8"))
    _sets(operator, key).clear()


def find_sets(operator: OperatorName, key: str) -> dict[int, SetAnswer]:
    """The sets of mutants that are known of a measurement under way, by their numbers; no damaged ones."""
    found = {}
    for content in _sets(operator, key).contents():
        with suppress(ValueError):
            kept = read_plain(_KeptSet, json.loads(content))
            found[kept.number] = kept.answer
    return found if len({each.sets for each in found.values()}) == 1 else {}


def keep_set(operator: OperatorName, key: str, number: int, answer: SetAnswer) -> None:
    """Keep what became of a set; a cache that cannot be written keeps nothing."""
    content = canonical_json(asdict(_KeptSet(number, answer)))
    _sets(operator, key).keep(sha256(canonical_json([key, number])), content)


@dataclass(frozen=True)
class _KeptSet:
    number: int
    answer: SetAnswer


def _measured(operator: OperatorName) -> Store:
    return Store(cache_folder() / "adequacy" / operator.domain / operator.short, MOST_KEPT)


def _sets(operator: OperatorName, key: str) -> Store:
    return Store(_measured(operator).folder / f"{key}-sets", MOST_SETS)


@cache
def _code() -> str:
    return digest_of(sorted(path for name in _PACKAGES for path in (ROOT / name).rglob("*.py")))
