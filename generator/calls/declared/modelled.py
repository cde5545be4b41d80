"""Operators with a declaration of their calls, and what searches for these came to.

That is kept in an operator's room (`searched.yaml`), so that none is made again:

- cores, combinations of levels that no call has, with the versions that have them: they hold as they stand;
- the draws that became the cases of the covering rows: they hold while the rows are the same.

What is not kept, or holds no more, is searched for. A change of the code that searches is not seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from conformance.models.case_models import has_onnx_form
from conformance.suite.canonical import canonical_json, sha256
from generator.calls.rows.cores import CONFIRMATIONS, CONFIRMING_BUDGET, ForbiddenCombination
from generator.calls.rows.covering_rows import DealtRows
from generator.calls.rows.feasibility import Level, Row
from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import FileState, file_state
from opcert.vocabulary.whole_files import write_text
from opcert.vocabulary.yaml_files import load_file
from specs.files.declarations import find_declaration
from specs.files.library import is_derivable
from specs.files.spec_folders import OWN_FOLDER, SEARCHED, list_operators
from specs.files.yaml_writer import dump

_NONE = "-"
"""In the place of a draw: the row has no case of its own, or another row stands in for it."""
_DIGITS = 16
_REMEDY = "Remove the file: without it `opcert generate`, and whatever needs a suite, searches for all of it."


@dataclass(frozen=True)
class Instead:
    """A row that stands in for another, whose types it has, and the draw that became its case."""

    place: int
    row: Row
    draw: int


@dataclass(frozen=True)
class KeptDraws:
    """What a search for the clearest cases of rows came to.

    `rows` is a digest of the rows as they were dealt; it holds for no others. `draws` are the numbers of
    the draws of these rows, in order, None where one has no case; `instead` are the rows that replace some.
    """

    rows: str
    draws: tuple[int | None, ...]
    instead: tuple[Instead, ...] = ()


@dataclass(frozen=True)
class Searched:
    """What is kept of one operator version."""

    cores: tuple[ForbiddenCombination, ...] = ()
    draws: KeptDraws | None = None


def digest_of_rows(array: DealtRows, beside: Sequence[Mapping[str, str]]) -> str:
    """A digest of the rows for which cases are to be found, and of the levels that they are made of."""
    levels = [[name, [str(each) for each in every]] for name, every in array.model.levels.items()]
    rows = [*(array.texts(row) for row in array.types), *map(dict, beside)]
    return sha256(canonical_json([levels, rows]))[:_DIGITS]


def read_searched(path: Path, version: int) -> Searched:
    """What a file keeps of a version, nothing where there is none; SeveralErrors where it is damaged."""
    return _read(path, file_state(path)).get(version, Searched())


@lru_cache(maxsize=8)
def _read(path: Path, state: FileState | None) -> Mapping[int, Searched]:
    """All versions of a file, which is read again where it changed."""
    if state is None:
        return {}
    document = load_file(path)[0]
    found: dict[int, Searched] = {}
    errors: list[UserError] = []
    for key, add in (("cores", _with_core), ("versions", _with_draws)):
        for number, entry in enumerate((document.value or {}).get(key, [])):
            try:
                add(found, entry)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                told = f"{type(error).__name__}: {error}"
                place = document.place((key, number))
                errors.append(
                    UserError(f"not what searches find: {key}", got=told, where=place, remedy=_REMEDY)
                )
    if errors:
        raise SeveralErrors(errors)
    return found


def _with_core(found: dict[int, Searched], entry: Mapping[str, Any]) -> None:
    core = ForbiddenCombination(dict(entry["levels"].items()))
    for version in entry["versions"]:
        known = found.get(version, Searched())
        found[version] = replace(known, cores=(*known.cores, core))


def _with_draws(found: dict[int, Searched], entry: Mapping[str, Any]) -> None:
    version = int(entry["version"])
    draws = tuple(None if word == _NONE else int(word) for word in entry["draws"].split())
    kept = KeptDraws(str(entry["rows"]), draws, tuple(map(_instead_in, entry.get("instead", ()))))
    found[version] = replace(found.get(version, Searched()), draws=kept)


def _instead_in(text: str) -> Instead:
    place, row, draw = text.split()
    return Instead(int(place), tuple(map(int, row.split("."))), int(draw))


def write_searched(path: Path, by_version: Mapping[int, Searched], header: str = "") -> None:
    """Write what is kept of an operator's versions, each core once; no file where there is nothing."""
    versions: dict[tuple[tuple[str, Level], ...], list[int]] = {}
    for version, searched in sorted(by_version.items()):
        for core in searched.cores:
            versions.setdefault(tuple(core.levels.items()), []).append(version)
    order = sorted(versions, key=lambda levels: [(name, str(level)) for name, level in levels])
    content: dict[str, Any] = {}
    if order:
        content["confirmed_by"] = {"searches": CONFIRMATIONS, "candidates": CONFIRMING_BUDGET}
        content["cores"] = [{"levels": dict(levels), "versions": versions[levels]} for levels in order]
    entries = [
        _entry(version, searched.draws)
        for version, searched in sorted(by_version.items())
        if searched.draws is not None
    ]
    if entries:
        content["versions"] = entries
    if content:
        write_text(path, header + dump(content))
    else:
        path.unlink(missing_ok=True)


def _entry(version: int, draws: KeptDraws) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "version": version,
        "rows": draws.rows,
        "draws": " ".join(_NONE if draw is None else str(draw) for draw in draws.draws),
    }
    if draws.instead:
        entry["instead"] = [
            f"{instead.place} {'.'.join(map(str, instead.row))} {instead.draw}" for instead in draws.instead
        ]
    return entry


def modelled_operators(folders: Sequence[Path] = ()) -> list[OperatorName]:
    """The versions whose calls a declaration makes and that stand in ONNX models, in order.

    Of operators in folders of one's own the documents' facts are enough.
    """
    every = (*folders, OWN_FOLDER)
    listed = [*list_operators(folders), *(list_operators() if folders else ())]
    return sorted(
        each
        for each in set(listed)
        if has_onnx_form(each) and (find_declaration(each, every) or is_derivable(each, folders))
    )


def choose_modelled(text: str, folders: Sequence[Path] = (), *, every: bool = False) -> list[OperatorName]:
    """The version that a name means (`Concat`: the newest, `Concat-13`), or with `every` all of a bare name.

    Raises UserError, with near names, where no declaration speaks of it.
    """
    known = modelled_operators(folders)
    found = [operator for operator in known if text in (str(operator), operator.path, operator.short)]
    if found:
        return found
    named = [operator for operator in known if text in (operator.name, operator.unversioned)]
    if named:
        domains = {operator.domain for operator in named}
        if len(domains) > 1:
            raise UserError("a name of several operators", got=text, expected=" or ".join(sorted(domains)))
        return named if every else [max(named, key=lambda operator: operator.since_version)]
    near = get_close_matches(
        text, {name: None for operator in known for name in (operator.name, operator.short)}, 3, 0.5
    )
    raise UserError(
        "no operator with a declaration of its calls",
        got=repr(text),
        expected=f"perhaps {' or '.join(near)}" if near else "a name such as Concat or Concat-13",
        remedy="Write specs/<domain>/<Name>/spec.yaml; docs/architecture.md says how.",
    )


def kept_cores_of(operator: OperatorName, folders: Sequence[Path] = ()) -> tuple[ForbiddenCombination, ...]:
    """The combinations of levels that the operator's room keeps as those that no call has."""
    return searched_of(operator, folders).cores


def searched_of(operator: OperatorName, folders: Sequence[Path] = ()) -> Searched:
    """What the operator's room keeps of searches for its calls."""
    path = room_file(operator, SEARCHED, folders)
    return Searched() if path is None else read_searched(path, operator.since_version)


def declaration_ships(operator: OperatorName, folders: Sequence[Path] = ()) -> bool:
    """Whether calls are made of the declaration that ships, the cores of which are kept with it."""
    found = find_declaration(operator, (*folders, OWN_FOLDER))
    return found is not None and found.is_relative_to(OWN_FOLDER)


def room_file(operator: OperatorName, name: str, folders: Sequence[Path] = ()) -> Path | None:
    """A file of the room in which the operator's declaration stands, whether it is there or not."""
    declaration = find_declaration(operator, (*folders, OWN_FOLDER))
    return None if declaration is None else declaration.with_name(name)
