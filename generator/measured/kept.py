"""Adequacy as it was last measured: a file for each operator version, in the folder `measured` beside specs.

Git has no such files, and a release may carry them (`hatch_build.py`). Of operators of other folders of specs
they lie in their rooms. Reports show it; `generator.making.operators.selections` is what the size `small`
takes.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.cases import Case
from conformance.suite.goldens import write_golden
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.whole_files import write_text
from specs.files.spec_folders import OWN_FOLDER, room_of

Found = TypeVar("Found")
_DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, lzma.LZMAError)
"""What reading a file raises that is missing a part, or holds something else."""


def _made_of(raw: dict[str, Any], form: str, make: Callable[[dict[str, Any]], Found]) -> Found:
    """What `make` makes of the content; one of _DAMAGED where it is not of that format, or not whole."""
    if raw.pop("format") != form:
        raise ValueError("not of this format")
    return make(raw)


def read_measured_file(
    path: Path,
    form: str,
    make: Callable[[dict[str, Any]], Found],
    what: str,
    remedy: str,
    packed: Path | None = None,
) -> Found | None:
    """The content of a file; None where there is none. UserError where it is damaged; `what` names it.

    `packed` is what a wheel has instead of such files, by domain, room and name.
    """
    source = path
    try:
        if path.is_file():
            return _made_of(json.loads(path.read_text(encoding="utf-8")), form, make)
        if packed is None or not packed.is_file():
            return None
        source = packed
        content = _packed_content(packed, "/".join(path.parts[-3:]))
        return None if content is None else _made_of(content, form, make)
    except _DAMAGED as error:
        raise UserError(
            f"{what} cannot be read", got=str(error), expected=form, where=Place(str(source)), remedy=remedy
        ) from error


def _packed_content(packed: Path, name: str) -> dict[str, Any] | None:
    """The content of a packed file, to be changed at will; None where there is none of that name."""
    try:
        return dict(_read_packed(packed, name))
    except KeyError:
        return None


def measured_json(form: str, content: Mapping[str, Any]) -> str:
    """The text of such a file."""
    return json.dumps({"format": form, **content}, indent=1, sort_keys=True) + "\n"


FORMAT = "opcert-adequacy/1"
MEASURED = OWN_FOLDER.with_name("measured")
PACKED = OWN_FOLDER / "adequacy.json.xz"
"""What a release has in place of these files, if it has any."""
NOT_HERE = "mutation score not measured here"
REMEDY = "Measure again with `opcert adequacy --update`."
_DIGITS = 16


@dataclass(frozen=True)
class Selected:
    """A case of the selection: how many mutants it kills that none before it does, and its expectation.

    A case of the covering array has the levels of its row, and which draw of them it is.
    """

    case: str
    kills: int
    expectation: str
    levels: Mapping[str, str] = field(default_factory=dict)
    attempt: int | None = None

    @property
    def digest(self) -> str:
        """The hex digits of the case's id: its call, whichever family it is in."""
        return digest_in(self.case)


@dataclass(frozen=True)
class MeasuredOperator:
    """One operator's file: the digest of the cases measured, the selection, and what was found."""

    operator: str
    cases: str
    selection: tuple[Selected, ...]
    found: Mapping[str, Any]


def expectations_of(cases: Iterable[Case]) -> dict[str, str]:
    """For each case, by the part of its id behind the operator, the digest of what it expects."""
    return {local_name(str(each.id)): write_golden(each)[1][:_DIGITS] for each in cases}


def expectations_in(entries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The same of the entries of a manifest."""
    return {local_name(str(entry["id"])): str(entry["expectation"])[:_DIGITS] for entry in entries}


def local_name(case_id: str) -> str:
    """The part of a case's id behind its operator."""
    return case_id.split("/", 2)[2]


def digest_in(name: str) -> str:
    """The hex digits at the end of a case's id."""
    return name.rpartition("/")[2].rpartition("-")[2]


def cases_digest(expectations: Mapping[str, str]) -> str:
    """One digest of all cases and what they expect; the lock of the default suite has the same numbers."""
    return sha256(canonical_json(dict(expectations)))


def adequacy_folder(folders: Sequence[Path]) -> Path:
    """Where adequacy is kept: with folders of specs in the first of them, else in MEASURED."""
    return folders[0] if folders else MEASURED


def kept_path(operator: OperatorName, folder: Path = MEASURED) -> Path:
    """The file of an operator version: `<domain>/<Name>/adequacy-<version>.json`."""
    return room_of(operator, folder) / f"adequacy-{operator.since_version}.json"


def read_kept(operator: OperatorName, folder: Path = MEASURED) -> MeasuredOperator | None:
    """What was measured of an operator; None where nothing was. UserError where the file is damaged."""
    packed = PACKED if folder == MEASURED else None
    return read_measured_file(kept_path(operator, folder), FORMAT, _made, "adequacy", REMEDY, packed)


def _made(raw: dict[str, Any]) -> MeasuredOperator:
    chosen = tuple(Selected(**each) for each in raw.pop("selection"))
    return MeasuredOperator(raw.pop("operator"), raw.pop("cases"), chosen, raw)


def write_kept(kept: MeasuredOperator, folder: Path = MEASURED) -> Path:
    """Write an operator's file; returns its path."""
    return write_text(kept_path(OperatorName.parse(kept.operator), folder), kept_json(kept))


def kept_json(kept: MeasuredOperator) -> str:
    """The text of an operator's file."""
    selection = [selected_entry(selected) for selected in kept.selection]
    plain = {"operator": kept.operator, "cases": kept.cases, "selection": selection, **kept.found}
    return measured_json(FORMAT, plain)


def selected_entry(selected: Selected) -> dict[str, Any]:
    """A selected case as files have it."""
    entry: dict[str, Any] = {
        "case": selected.case,
        "kills": selected.kills,
        "expectation": selected.expectation,
    }
    if selected.attempt is not None:
        entry |= {"levels": dict(selected.levels), "attempt": selected.attempt}
    return entry


def adequacy_facts(kept: MeasuredOperator | None, expectations: Mapping[str, str]) -> dict[str, Any] | None:
    """What reports say of an operator's cases; None where their adequacy is not known.

    `expectations` are those of the cases, as `expectations_of` has them. What was measured holds where every
    case of the selection is there with what it expected then: these kill whatever is counted as killed.
    `cases` is the digest of the cases that were measured. Equivalent mutants are counted here; the files of
    a checkout alone list them.
    """
    if kept is None or stale(kept, expectations):
        return None
    told = {name: each for name, each in kept.found.items() if name != "equivalents"}
    return {**told, "cases": kept.cases}


def stale(kept: MeasuredOperator, expectations: Mapping[str, str]) -> list[str]:
    """The selected cases that a suite does not have, or that expect something else in it."""
    given = {digest_in(name): expectation for name, expectation in expectations.items()}
    return [
        selected.case for selected in kept.selection if given.get(selected.digest) != selected.expectation
    ]


def covered(coverage: Mapping[str, Any]) -> dict[str, Any]:
    """What matters here of what a manifest says of the covering array."""
    return {name: coverage[name] for name in ("strength", "feasible", "covered", "uncovered")}


def read_measured(
    operators: Iterable[OperatorName], folder: Path = MEASURED
) -> tuple[list[MeasuredOperator], list[OperatorName]]:
    """What was measured of several operators, and those of which nothing was."""
    found = {operator: read_kept(operator, folder) for operator in operators}
    missing = [operator for operator, kept in found.items() if kept is None]
    return [kept for kept in found.values() if kept is not None], missing


def read_all(operators: Iterable[OperatorName], folder: Path = MEASURED) -> list[MeasuredOperator]:
    """What was measured of several operators; UserError where one never was."""
    found = []
    for operator in operators:
        kept = read_kept(operator, folder)
        if kept is None:
            raise UserError(NOT_HERE, got=str(operator), remedy=REMEDY)
        found.append(kept)
    return found


AGREED_FORMAT = "opcert-agreement/1"
AGREED_PACKED = "agreement.json.xz"
AGREED_REMEDY = (
    "Remove the file: without it `opcert list operators` has them as referenced. Or install it again."
)


@dataclass(frozen=True)
class RuntimeFailures:
    """A runtime: how many cases failed on it, and how many of these have an entry in disagreements.yaml."""

    version: str
    failing: int
    explained: int


@dataclass(frozen=True)
class Agreed:
    """The digest of the cases that were run, and what each runtime made of them, by its name."""

    operator: str
    cases: str
    runtimes: Mapping[str, RuntimeFailures]

    @property
    def explained(self) -> bool:
        """Whether every failing case has an entry."""
        return all(runtime.failing == runtime.explained for runtime in self.runtimes.values())


def agreed_path(operator: OperatorName, folder: Path = OWN_FOLDER) -> Path:
    """The file of an operator version: `<domain>/<Name>/agreement-<version>.json`."""
    return room_of(operator, folder) / f"agreement-{operator.since_version}.json"


def read_agreed(operator: OperatorName, folder: Path = OWN_FOLDER) -> Agreed | None:
    """What is kept of an operator version; None where nothing is. UserError where the file is damaged."""
    path = agreed_path(operator, folder)
    return read_measured_file(
        path, AGREED_FORMAT, _agreed_in, "agreement", AGREED_REMEDY, folder / AGREED_PACKED
    )


def _agreed_in(raw: dict[str, Any]) -> Agreed:
    runtimes = {name: RuntimeFailures(**each) for name, each in raw.pop("runtimes").items()}
    return Agreed(**raw, runtimes=runtimes)


def write_agreed(agreed: Agreed, folder: Path = OWN_FOLDER) -> Path:
    """Write an operator version's file; returns its path."""
    path = agreed_path(OperatorName.parse(agreed.operator), folder)
    return write_text(path, measured_json(AGREED_FORMAT, asdict(agreed)))


def _read_packed(packed: Path, name: str) -> Any:
    """The content of the file of that name in a packed one: of many small ones, which a wheel has instead.

    Raises OSError where there is no such file, KeyError where it does not hold that name, ValueError or
    EOFError where it is damaged.
    """
    return _unpacked(packed)[name]


@cache
def _unpacked(packed: Path) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(lzma.decompress(packed.read_bytes()))
    return found
