"""The parts of a derived declaration: entries as a spec.yaml has them, what is missing, contradictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from opcert.vocabulary.names import OperatorName
from specs.model.signature_parts import Origin, Source

KEYS = ("shapes", "extents", "results", "kinds", "constraints")
"""The keys of a spec.yaml that documents fill, in the order in which they are written."""


@dataclass(frozen=True)
class DerivedEntry:
    """One entry: its place in a spec.yaml (`("shapes", "X")`), its value, and what states it.

    `note` says how it was read where no sentence states it; there are no origins then. What is there for
    documents `alone` counts only where nobody declared anything of the operator.
    """

    path: tuple[str, ...]
    value: Any
    origins: tuple[Origin, ...] = ()
    note: str = ""
    alone: bool = False

    @property
    def sources(self) -> tuple[Source, ...]:
        """The lines that it was read from."""
        return sources_of(self.origins)


@dataclass(frozen=True)
class Missing:
    """Something of which the document says nothing that a declaration can have: `kinds.alpha`."""

    about: str
    why: str
    origins: tuple[Origin, ...] = ()


@dataclass(frozen=True)
class Contradiction:
    """Two statements about one part, of which at most one can be so."""

    about: str
    says: tuple[str, str]
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Derived:
    """What the facts of one operator version come to; `files` are its documents by their keys."""

    operator: OperatorName
    files: Mapping[str, str]
    entries: tuple[DerivedEntry, ...] = ()
    missing: tuple[Missing, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()

    def value(self) -> dict[str, Any]:
        """The content of a spec.yaml with these entries: constraints as a list, the others as mappings."""
        found: dict[str, Any] = {}
        for entry in self.entries:
            key, name = entry.path
            if key == "constraints":
                found.setdefault(key, []).append(entry.value)
            else:
                found.setdefault(key, {})[name] = entry.value
        return found

    def places(self, sources: Iterable[Source]) -> list[str]:
        """Lines as people look them up, each once: `Changelog.md:1210`."""
        found = (
            f"{self.files.get(source.document, source.document)}:{source.line}"
            + (f":{source.column}" if source.column is not None else "")
            for source in sources
        )
        return list(dict.fromkeys(found))


@dataclass
class Collected:
    """What is found so far; frozen into a `Derived` at the end."""

    entries: list[DerivedEntry] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    contradictions: list[Contradiction] = field(default_factory=list)

    def add(
        self, key: str, name: str, value: Any, *origins: Origin, note: str = "", alone: bool = False
    ) -> None:
        self.entries.append(DerivedEntry((key, name), value, origins, note, alone))

    def lack(self, about: str, why: str, *origins: Origin) -> None:
        self.missing.append(Missing(about, why, origins))


def sources_of(origins: Iterable[Origin]) -> tuple[Source, ...]:
    """The lines of several origins, each once."""
    return tuple(dict.fromkeys(source for origin in origins for source in origin.sources))


def cited(*origins: Origin) -> dict[str, object]:
    """Where a rule comes from, as an entry of `constraints` says it: its first line."""
    first = next((source for origin in origins for source in origin.sources), None)
    if first is None:
        return {"why": "the facts of the document"}
    column = [] if first.column is None else [first.column]
    return {"src": [first.document, first.line, *column]}
