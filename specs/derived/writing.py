"""Derived declarations as the text of a spec.yaml: the document's line beside every entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import yaml

from opcert.vocabulary.harmless import LONGEST, one_line
from specs.derived.entries import KEYS, Derived, DerivedEntry
from specs.model.signature_parts import Source

_MOST_PLACES = 2
_Versions = Mapping[int, DerivedEntry]
"""An entry by the versions that have it."""


def written(derived: Derived, *others: Derived) -> str:
    """The text of a spec.yaml for a version, or for several versions of one operator.

    Where versions differ, values are told by version. The lines beside them are those of the newest version.
    What is missing and what is contradicted stands in comments.
    """
    every = sorted((derived, *others), key=lambda other: other.operator.since_version)
    return "".join(f"{line}\n" for line in _lines(every))


def _lines(every: Sequence[Derived]) -> Iterator[str]:
    newest = every[-1]
    name = str(newest.operator) if len(every) == 1 else f"{newest.operator.domain}::{newest.operator.name}"
    yield f"# Derived from the documents of {name}: what is missing is for people to add,"
    yield "# as `reference: reference.py`, what is right, and `uses: [arithmetic]` where that computes."
    for key in KEYS:
        found = _by_path(every, key)
        if found:
            yield f"{key}:"
        for versions in found.values():
            yield from _entry(every, versions)
    for derived in every:
        of_version = f" in version {derived.operator.since_version}" if len(every) > 1 else ""
        for contradiction in derived.contradictions:
            one, other = contradiction.says
            where = _places(derived, contradiction.sources)
            yield _comment(f"{contradiction.about} is contradicted{of_version}: {one}, and {other}{where}")
    for missing in newest.missing:
        sources = tuple(source for origin in missing.origins for source in origin.sources)
        yield _comment(f"{missing.about}: {missing.why}{_places(newest, sources)}")


def _by_path(every: Sequence[Derived], key: str) -> dict[str, dict[int, DerivedEntry]]:
    """The entries under a key by name and version, those of the newest version first."""
    found: dict[str, dict[int, DerivedEntry]] = {}
    for derived in reversed(every):
        for entry in derived.entries:
            if entry.path[0] == key:
                found.setdefault(entry.path[1], {})[derived.operator.since_version] = entry
    return found


def _entry(every: Sequence[Derived], versions: _Versions) -> Iterator[str]:
    """The lines of an entry of a mapping, or those of the list of constraints."""
    newest = next(derived for derived in reversed(every) if derived.operator.since_version in versions)
    entry = versions[newest.operator.since_version]
    said = entry.note + ("; " if entry.note and entry.origins else "")
    where = ", ".join(newest.places(entry.sources)[:_MOST_PLACES])
    comment = f"  {_comment(said + where)}" if said or where else ""
    runs = list(_runs(every, versions))
    if isinstance(entry.value, dict):
        for first, last, value in runs:
            bounds = {"since": first, "until": last}
            told = {name: bound for name, bound in bounds.items() if bound is not None}
            yield f"  - {_flow({**value, **told})}{comment}"
        return
    text = entry.value
    if len(runs) > 1 or runs[0][:2] != (None, None):
        text = {_range(first, last): value for first, last, value in runs}
    yield f"  {_flow(entry.path[1])}: {_flow(text)}{comment}"


def _runs(every: Sequence[Derived], versions: _Versions) -> Iterator[tuple[int | None, int | None, Any]]:
    """The values of an entry with the first and last version of each; None where no other is beyond."""
    known = [derived.operator.since_version for derived in every]
    values = {version: derived_entry.value for version, derived_entry in versions.items()}
    for value, run in groupby(range(len(known)), lambda at: values.get(known[at])):
        places = list(run)
        if value is not None:
            first = known[places[0]] if places[0] else None
            last = known[places[-1] + 1] - 1 if places[-1] + 1 < len(known) else None
            yield first, last, value


def _range(first: int | None, last: int | None) -> str:
    return f"{'' if first is None else first}..{'' if last is None else last}"


def _places(derived: Derived, sources: Sequence[Source]) -> str:
    where = ", ".join(derived.places(sources)[:_MOST_PLACES])
    return f" ({where})" if where else ""


def _comment(text: str) -> str:
    """A comment in one line, whatever a document writes."""
    return f"# {one_line(text, LONGEST)}"


def _flow(value: object) -> str:
    """A value in one line of YAML."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10**6, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")
