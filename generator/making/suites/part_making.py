"""The part of one operator: taken from the user's cache where it was made of the same before, else made."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.cases import Case
from conformance.suite.kept_parts import DamagedPart, keep_part, kept_part, one_maker
from conformance.suite.suite_parts import FORMAT, SuitePart, cases_in, make_part
from generator.making.operators.discovery import newer_versions
from generator.making.operators.selections import selections_digest
from generator.making.operators.sources import SourceReader, code_files
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.vocabulary.names import OperatorName

_BEGUN_NS, _COUNTED_NS = time.time_ns(), time.monotonic_ns()
"""When this process began: code that changed since may be loaded as it was."""
_MOST_SLEWED_NS = 10**9


@dataclass(frozen=True, eq=False)
class MadePart:
    """A part, the seconds that it took, whether it was kept before, and what is to be told about it."""

    part: SuitePart
    seconds: float
    kept: bool = False
    told: str | None = None


def part_key(
    operator: OperatorName, options: Options, folders: Sequence[Path] = (), reader: SourceReader | None = None
) -> str:
    """The digest of all that an operator's part depends on: its sources, the options, the form of parts.

    At size small also of the files that its selection is taken from, and those of the newer versions whose
    calls it takes over. Raises UserError where the operator has no spec.
    """
    small = options.size == "small"
    versions = (operator, *newer_versions(operator, folders)) if small else ()
    return sha256(
        canonical_json(
            {
                "form": FORMAT,
                "operator": str(operator),
                "options": asdict(options),
                "selection": selections_digest(versions, folders) if small else None,
                "sources": (reader or SourceReader(folders)).sources_of(operator).digest,
            }
        )
    )


def find_part(operator: OperatorName, key: str) -> tuple[SuitePart | None, str | None]:
    """A kept part, or None; and a line where one is there that is damaged."""
    try:
        return kept_part(operator, key), None
    except DamagedPart as error:
        return None, f"the kept cases of {operator} are damaged and are made again: {error}"


def make_part_anew(
    operator: OperatorName,
    options: Options,
    folders: Sequence[Path] = (),
    cases_of: Callable[[OperatorName], Sequence[Case]] | None = None,
) -> MadePart:
    """Make an operator's part, whatever is kept; `cases_of` and errors as of `generate_operator`."""
    made = generate_operator(operator, options, folders, cases_of)
    return MadePart(make_part(operator, made.cases, made.facts), made.seconds)


def make_part_once(operator: OperatorName, options: Options, folders: Sequence[Path] = ()) -> MadePart:
    """Take an operator's part from the cache, or make and keep it; raises as `make_part_anew` does."""
    key = part_key(operator, options, folders)
    with one_maker(operator, key):
        # Somebody else may have made it while this process waited.
        part, told = find_part(operator, key)
        if part is not None:
            return MadePart(part, 0.0, kept=True)
        made = make_part_anew(operator, options, folders, partial(_kept_cases, options, folders))
        # What changed meanwhile may be in it or not, so that no digest stands for it.
        if _code_is_as_loaded(operator, folders) and part_key(operator, options, folders) == key:
            keep_part(made.part, key)
    return MadePart(made.part, made.seconds, told=told)


def _kept_cases(options: Options, folders: Sequence[Path], operator: OperatorName) -> Sequence[Case]:
    """The cases of an operator, of the part that is kept, or made and kept now."""
    return list(cases_in(make_part_once(operator, options, folders).part))


def _code_is_as_loaded(operator: OperatorName, folders: Sequence[Path]) -> bool:
    code = [*code_files(), *SourceReader(folders).own_code(operator)]
    now, passed = time.time_ns(), time.monotonic_ns() - _COUNTED_NS
    if abs(now - _BEGUN_NS - passed) > _MOST_SLEWED_NS:
        return False  # the clock was set meanwhile: when a file was written says nothing
    # What is yet to come is of a clock that was set back, before this process began.
    return not any(_BEGUN_NS <= path.stat().st_mtime_ns <= now for path in code)
