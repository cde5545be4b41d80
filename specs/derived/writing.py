"""A derived declaration as the text of a spec.yaml: the document's line beside every entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import yaml

from specs.derived.entries import Derived, DerivedEntry
from specs.model.signature_parts import Source

_MOST_PLACES = 2


def written(derived: Derived) -> str:
    """The text of a spec.yaml with these entries; what lacks and what is contradicted stands in comments."""
    return "".join(f"{line}\n" for line in _lines(derived))


def _lines(derived: Derived) -> Iterator[str]:
    yield f"# Derived from the documents of {derived.operator}: what lacks is for people to add."
    for key, entries in groupby(derived.entries, lambda each: each.path[0]):
        yield f"{key}:"
        for each in entries:
            yield from _entry(derived, each)
    for contradiction in derived.contradictions:
        one, other = contradiction.says
        where = _places(derived, contradiction.sources)
        yield f"# {contradiction.about} is contradicted: {one}, and {other}{where}"
    for missing in derived.missing:
        sources = tuple(source for each in missing.origins for source in each.sources)
        yield f"# {missing.about}: {missing.why}{_places(derived, sources)}"


def _entry(derived: Derived, entry: DerivedEntry) -> Iterator[str]:
    """The lines of an entry of a mapping, or of the list of constraints."""
    said = entry.note + ("; " if entry.note and entry.origins else "")
    where = ", ".join(derived.places(entry.sources)[:_MOST_PLACES])
    comment = f"  # {' '.join(f'{said}{where}'.split())}" if said or where else ""
    if isinstance(entry.value, dict):
        yield f"  - {_flow(entry.value)}{comment}"
    else:
        yield f"  {_flow(entry.path[1])}: {_flow(entry.value)}{comment}"


def _places(derived: Derived, sources: Sequence[Source]) -> str:
    where = ", ".join(derived.places(sources)[:_MOST_PLACES])
    return f" ({where})" if where else ""


def _flow(value: object) -> str:
    """A value in one line of YAML."""
    text: str = yaml.safe_dump(
        value, default_flow_style=True, width=10**6, allow_unicode=True, sort_keys=False
    )
    return text.removesuffix("\n").removesuffix("\n...")
