"""Readings that many operators share: stated once in `readings.yaml`, named by the operators."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opcert.errors import SeveralErrors, UserError
from opcert.yaml_files import YamlDocument, load_file
from specs.composition import Composed

FILE_NAME = "readings.yaml"
GROUPS = ("readings", "behaviours")


def put_in_shared(composed: Composed, folders: Sequence[Path]) -> None:
    """Replace names of shared readings by what `readings.yaml` says of them; SeveralErrors for other names.

    An entry of the operator's own with the id of a shared one narrows it: its keys win.
    """
    errors: list[UserError] = []
    shared = _read(folders)
    for group in GROUPS:
        listed = composed.value.get(group)
        if not isinstance(listed, list):
            continue
        entries: list[Any] = []
        for place, each in enumerate(listed):
            if not isinstance(each, str):
                entries.append(each)
            elif each in shared:
                entries.append(shared[each])
            else:
                errors.append(
                    UserError(
                        "no shared reading of this name",
                        got=repr(each),
                        expected=f"one of {', '.join(sorted(shared))}",
                        where=composed.place((group, place)),
                    )
                )
        composed.value[group] = _once(entries)
    if errors:
        raise SeveralErrors(errors)


def _once(entries: Sequence[Any]) -> list[Any]:
    """Each reading once: parts and operators may name the same one."""
    found: dict[str, Any] = {}
    for place, each in enumerate(entries):
        found.setdefault(str(each.get("id", place)) if isinstance(each, dict) else str(place), each)
    return list(found.values())


def _read(folders: Sequence[Path]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for folder in reversed(folders):
        path = folder / FILE_NAME
        if path.is_file():
            document: YamlDocument = load_file(path)[0]
            found.update({name: {"id": name, **entry} for name, entry in document.value.items()})
    return found
