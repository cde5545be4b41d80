"""Readings that many operators share: stated once in `readings.yaml`, named by the operators."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, RootModel

from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.yaml_files import YamlDocument, load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.files.schemas import Entry

FILE_NAME = "readings.yaml"
"""The file of a folder of specs that holds them."""
GROUPS = ("readings", "behaviours")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class SharedReading(Entry):
    """A question that the documents of several operators leave open, its options, and why it is open."""

    question: str
    options: dict[str, str] = Field(min_length=2)
    why: str


class ReadingsFile(RootModel[dict[str, SharedReading]]):
    """The whole of a `readings.yaml`: entries by their id."""


def read_shared(folders: Sequence[Path]) -> dict[str, SharedReading]:
    """The shared readings of folders of specs by id; of two with one id, that of the first folder.

    Raises UserError where a file cannot be read, SeveralErrors with everything that is wrong in it.
    """
    found: dict[str, SharedReading] = {}
    for folder in reversed(folders):
        path = folder / FILE_NAME
        if path.is_file():
            found.update(_read_file(path))
    return found


def _read_file(path: Path) -> Mapping[str, SharedReading]:
    documents = load_file(path)
    if len(documents) > 1:
        raise UserError("several documents in one file", where=documents[1].place(()))
    if not documents or documents[0].value is None:
        return {}
    read = validate(ReadingsFile, documents[0]).root
    errors: list[UserError] = [
        UserError(
            "not an id", got=repr(name), expected="letters, digits and _", where=documents[0].place((name,))
        )
        for name in read
        if _NAME.fullmatch(name) is None
    ]
    if errors:
        raise SeveralErrors(errors)
    return read


def put_in_shared(document: YamlDocument, folders: Sequence[Path]) -> None:
    """Replace names of shared readings by what `readings.yaml` says of them; SeveralErrors for other names.

    An entry of the operator's own that has the id of a shared one and no question narrows it: its keys win.
    """
    listed = named_in(document.value)
    if not any(listed.values()):
        return
    shared = {
        name: {"id": name, **shared_reading.model_dump()}
        for name, shared_reading in read_shared(folders).items()
    }
    errors: list[UserError] = []
    for group, names in listed.items():
        entries = list(document.value[group])
        for place, name in names.items():
            each = entries[place]
            if name in shared:
                entries[place] = {**shared[name], **(each if isinstance(each, dict) else {})}
            elif isinstance(each, str):
                errors.append(_unknown(name, sorted(shared), document, (group, place)))
        document.value[group] = entries
    if errors:
        raise SeveralErrors(errors)


def named_in(value: Any) -> dict[str, dict[int, str]]:
    """By group, the places of the entries of a file's content that name shared readings, and their ids."""
    found: dict[str, dict[int, str]] = {}
    for group in GROUPS:
        entries = value.get(group) if isinstance(value, dict) else None
        if isinstance(entries, list):
            names = {place: _named(entry) for place, entry in enumerate(entries)}
            found[group] = {place: name for place, name in names.items() if name is not None}
    return found


def _named(entry: Any) -> str | None:
    if isinstance(entry, dict) and "question" not in entry:
        return entry["id"] if isinstance(entry.get("id"), str) else None
    return entry if isinstance(entry, str) else None


def _unknown(name: str, known: Sequence[str], document: YamlDocument, path: tuple[str, int]) -> UserError:
    return UserError(
        "no shared reading of this name",
        got=repr(name),
        expected=f"one of {', '.join(known)}, or an entry with a question of its own",
        where=document.place(path),
    )
