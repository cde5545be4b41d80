"""What statements of a declaration cite in several versions, and the rule on text that differs in some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.yaml_files import Path_, YamlDocument
from specs.files.declaration_files import read_document
from specs.files.declared_words import covered, other_versions
from specs.files.spec_folders import DECLARATION, OWN_FOLDER
from specs.files.version_ranges import applies, is_by_version, key_of_version
from specs.model.passages import passages_of
from specs.model.spec import Prose, Source, Spec
from specs.rules import Told, examine

READ = "read"
"""The key that says in which versions a statement's passage was read, one of each wording."""
_LISTS = ("constraints", "may_refuse", "readings", "behaviours")


@dataclass(frozen=True)
class Statement:
    """An entry that rests on a passage: what it says, where it stands, and the mappings that narrow it."""

    name: str
    path: Path_
    entry: Mapping[str, Any]
    around: Mapping[str, Any]
    """The entry that it is part of, whose `since` and `until` hold for it as well."""


@dataclass(frozen=True)
class Wording:
    """The versions in which a cited passage reads the same, the oldest first, and where it stands there."""

    versions: tuple[int, ...]
    source: Source


@dataclass(frozen=True)
class UnreadWording:
    """A statement that covers several wordings of one passage, some of which nobody says to have read."""

    statement: Statement
    passage: str
    wordings: tuple[Wording, ...]
    place: Place

    @property
    def asked(self) -> tuple[int, ...]:
        """What to write under `read`: the oldest version of each wording."""
        return tuple(sorted(wording.versions[0] for wording in self.wordings))


def statements_in(document: YamlDocument) -> Iterator[Statement]:
    """What is demanded or chosen for a reason that stands in a document: errors, choices, evidence."""
    value = document.value if isinstance(document.value, dict) else {}
    for key in _LISTS:
        entries = value.get(key)
        for place, entry in enumerate(entries if isinstance(entries, list) else ()):
            if not isinstance(entry, dict):
                continue
            name = str(entry.get("id", key))
            if entry.get("else") == "error" or "chosen" in entry:
                yield Statement(name, (key, place), entry, entry)
            evidence = entry.get("evidence")
            for at, each in enumerate(evidence if isinstance(evidence, list) else ()):
                if isinstance(each, dict):
                    yield Statement(f"evidence of {name}", (key, place, "evidence", at), each, entry)


def unread(document: YamlDocument, versions: Sequence[Spec]) -> Iterator[UnreadWording]:
    """The statements whose passages read differently; `versions` are the facts of those that it speaks of."""
    named = document.value.get("passages") if isinstance(document.value, dict) else None
    for statement in statements_in(document):
        by_passage: dict[tuple[str, str], list[tuple[int, Prose]]] = {}
        for spec in versions:
            for way, prose in _cited(statement, spec, named if isinstance(named, dict) else {}):
                by_passage.setdefault((way, prose.about), []).append((spec.operator.since_version, prose))
        for (_, passage), cited in by_passage.items():
            wordings = tuple(_wordings(cited))
            if len(wordings) > 1 and not _is_read(statement, wordings):
                yield UnreadWording(statement, passage, wordings, document.place(statement.path))


def _wordings(cited: Sequence[tuple[int, Prose]]) -> Iterator[Wording]:
    by_digest: dict[str, list[tuple[int, Prose]]] = {}
    for version, prose in sorted(cited, key=lambda each: each[0]):
        by_digest.setdefault(prose.sha256, []).append((version, prose))
    for same in by_digest.values():
        yield Wording(tuple(version for version, _ in same), same[-1][1].source)


def _is_read(statement: Statement, wordings: Sequence[Wording]) -> bool:
    said = statement.entry.get(READ, statement.around.get(READ))
    read = set(said) if isinstance(said, list) else set()
    return all(not read.isdisjoint(wording.versions) for wording in wordings)


def _cited(statement: Statement, spec: Spec, named: Mapping[str, Any]) -> Iterator[tuple[str, Prose]]:
    """The passages that a statement cites in one version, each with the ranges by which it is told apart.

    What is written for a range of versions was written for these: other ranges are other statements.
    """
    version = spec.operator.since_version
    try:
        if not (applies(statement.entry, version) and applies(statement.around, version)):
            return
        for way, text in _texts(statement.entry.get("src"), version, "", named):
            for prose in passages_of(text, spec)[:1]:
                yield way, prose
    except UserError:
        return  # what is wrong with it is said when the declaration is read


def _texts(value: Any, version: int, way: str, named: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if is_by_version(value):
        key = key_of_version(value, version)
        if key is not None:
            yield from _texts(value[key], version, f"{way} {key}", named)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, version, way, named)
    elif isinstance(value, str):
        plain = value.partition("+")[0]
        if plain in named:
            others = {name: each for name, each in named.items() if name != plain}
            yield from _texts(named[plain], version, f"{way} {plain}", others)
        else:
            yield way, plain


@examine("warning")
def passage_changed(spec: Spec) -> Iterator[Told]:
    """A declaration rests on a passage that reads differently in versions which nobody says to have read.

    One finding for each statement and passage, told of the newest version that the statement covers.
    """
    place = spec.declared.places.get(DECLARATION) if spec.declared is not None else None
    if place is None:
        return
    file = Path(place.file)
    folders = (file.absolute().parents[2], OWN_FOLDER)
    document = read_document(file)
    for each in unread(document, covered(document, [spec, *other_versions(spec, folders)])):
        newest = max(version for wording in each.wordings for version in wording.versions)
        if newest != spec.operator.since_version:
            continue
        source = next(wording.source for wording in each.wordings if newest in wording.versions)
        ways = "; ".join(", ".join(map(str, wording.versions)) for wording in each.wordings)
        yield Told(
            source,
            f"{each.statement.name} cites {each.passage}, which reads differently in other versions: "
            f"read them, and write `{READ}: {list(each.asked)}` beside its src",
            f"{each.place}; versions that read alike: {ways}",
        )
