"""One version's view of a declaration: the parts that it uses put in, mappings merged, lists appended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import OpcertError, Place, SeveralErrors, UserError
from opcert.vocabulary.yaml_files import Path_, YamlDocument, key_path
from specs.files.declaration_files import read_document
from specs.files.declared_words import is_name_of_some_version
from specs.files.spec_folders import PARTS, find_part
from specs.files.stated_values import parts_used, stated_value
from specs.files.version_ranges import ABSENT, BOUNDS, applies, in_range, is_by_version, key_of_version
from specs.language.expressions import parse
from specs.model.passages import resolve_sources
from specs.model.spec import Spec

_CONDITION = re.compile(r"(\w+) if (.+)")


@dataclass
class Composed(YamlDocument):
    """A document put together from several: each value has its place in the file that it stands in."""

    sources: dict[Path_, Place] = field(default_factory=dict)

    def place(self, path: Path_) -> Place:
        """Where a value stands; the nearest one that holds it, where the value itself does not exist."""
        key = key_path(path)
        while path and path not in self.sources:
            path = path[:-1]
        found = self.sources.get(path, Place(self.file, 1, 1))
        return Place(found.file, found.line, found.column, key or None)


class VersionValues:
    """Reads values as one version of an operator has them, and notes in `composed` where each stands.

    `passages` are those that the files read so far name; `errors` is what is wrong in any of them.
    """

    def __init__(self, spec: Spec, folders: Sequence[Path], file: str) -> None:
        self._spec = spec
        self._folders = folders
        self._version = spec.operator.since_version
        self.passages: dict[str, Any] = {}
        self.composed = Composed({}, file)
        self.errors: list[UserError] = []

    def applies(self, document: YamlDocument, source: Path_, entry: Any) -> bool:
        """Whether an entry of a list is one of this version, and about a name that it has."""
        if not isinstance(entry, dict):
            return True
        try:
            return applies(entry, self._version) and self._is_known(document, entry.get("attr"))
        except UserError as error:
            self._error(error, document, source)
            return False

    def _is_known(self, document: YamlDocument, attribute: Any) -> bool:
        """Whether a rule is about something that this version has, or that none has, which is a mistake.

        A part may be about attributes that only some of its users have.
        """
        if not isinstance(attribute, str) or attribute in self._spec.attributes:
            return True
        is_part = document.file != self.composed.file
        return not is_part and not is_name_of_some_version(self._spec, attribute, self._folders)

    def of_version(self, document: YamlDocument, source: Path_, value: Any) -> tuple[Path_, Any]:
        """The value that this version has, and where that stands; ABSENT where it has none."""
        if not is_by_version(value):
            return source, value
        try:
            key = key_of_version(value, self._version)
        except UserError as error:
            self._error(error, document, source)
            return source, ABSENT
        return (source, ABSENT) if key is None else ((*source, key), value[key])

    def resolved(self, document: YamlDocument, source: Path_, target: Path_, value: Any) -> Any:
        """This version's value with its passages resolved; notes the place of it and of all in it."""
        source, value = self.of_version(document, source, value)
        value = self._field(document, source, target, value)
        self.composed.sources[target] = document.place(source)
        if isinstance(value, dict):
            fields = {
                key: self.resolved(document, (*source, key), (*target, key), each)
                for key, each in value.items()
                if not (key in BOUNDS and isinstance(source[-1], int))
            }
            return {key: each for key, each in fields.items() if each is not ABSENT}
        if isinstance(value, list):
            found: list[Any] = []
            for at, each in enumerate(value):
                if self.applies(document, (*source, at), each):
                    one = self.resolved(document, (*source, at), (*target, len(found)), each)
                    found += [] if one is ABSENT else [one]
            return found
        return value

    def _field(self, document: YamlDocument, source: Path_, target: Path_, value: Any) -> Any:
        """What the keys `src` and `chosen` of entries mean in this version; other values as they are."""
        key = target[-1] if len(target) > 2 else None
        try:
            if key == "src" and value is not ABSENT:
                return resolve_sources(value, self._spec, self.passages)
            if key == "chosen" and isinstance(value, str):
                return self._chosen(value)
        except UserError as error:
            self._error(error, document, source)
            return [] if key == "src" else None
        return value

    def _error(self, error: UserError, document: YamlDocument, source: Path_) -> None:
        error.where = document.place(source)
        self.errors.append(error)

    def _chosen(self, text: str) -> str | None:
        """`max if version >= 13`: an option where the condition on the version holds, and open elsewhere."""
        found = _CONDITION.fullmatch(text)
        if found is None:
            return text
        holds = parse(found[2]).evaluate({"version": self._version})
        return found[1] if holds else None


PASSAGES = "passages"
_USED_UP = ("uses", "versions", "older", PASSAGES)
"""Keys of a declaration that no version's view of it has."""


def compose(path: Path, spec: Spec, folders: Sequence[Path]) -> Composed:
    """The declaration in a file as the spec's version sees it; `folders` are searched for its parts.

    Mappings of parts are merged, lists appended, and the operator's own entries win. Raises SeveralErrors.
    """
    return compose_document(read_document(path), spec, folders)


def compose_document(document: YamlDocument, spec: Spec, folders: Sequence[Path]) -> Composed:
    """The same of a declaration that is read already."""
    composer = _Composer(spec, folders, document.file)
    composer.add(document, ())
    if composer.errors:
        raise SeveralErrors(composer.errors)
    return composer.composed


def declares(path: Path, version: int, folders: Sequence[Path]) -> bool:
    """Whether a declaration speaks of a version: its `versions`, else those of a part; of all without any."""
    try:
        return in_range(stated_value(path, "versions", folders) or "..", version)
    except UserError as error:
        error.where = read_document(path).place(("versions",))
        raise


class _Composer:
    def __init__(self, spec: Spec, folders: Sequence[Path], file: str) -> None:
        self._folders = folders
        self._version = spec.operator.since_version
        self._values = VersionValues(spec, folders, file)
        self._others_factors: set[str] = set()
        self.composed = self._values.composed
        self.errors = self._values.errors

    def add(self, document: YamlDocument, inside: tuple[Path, ...]) -> None:
        """Put a file in, the parts that it uses before it."""
        value = document.value
        for place, name in enumerate(parts_used(value, Path(document.file))):
            found = find_part(str(name), self._folders, Path(document.file))
            if found is None or found in inside:
                problem = "no such part" if found is None else "a part that uses itself"
                where = document.place(("uses", place))
                expected = f"one of {', '.join(self._parts())}" if found is None else None
                self.errors.append(UserError(problem, got=str(name), expected=expected, where=where))
            else:
                self.add(read_document(found), (*inside, found))
        self._name_passages(document)
        self._note_factors(document)
        for key, each in value.items():
            if key in _USED_UP:
                continue
            source, each = self._values.of_version(document, (key,), each)
            if isinstance(each, list):
                self._append(document, source, key, each)
            elif isinstance(each, dict):
                self._merge(document, source, key, each)
            elif each is not ABSENT:
                self.composed.value[key] = self._values.resolved(document, source, (key,), each)

    def _name_passages(self, document: YamlDocument) -> None:
        """Note the passages that a file names; they are cited by it and by what uses it."""
        entries = document.value.get(PASSAGES) or {}
        if not isinstance(entries, dict):
            where = document.place((PASSAGES,))
            self.errors.append(UserError("passages are a mapping", got=repr(entries), where=where))
            return
        for name, entry in entries.items():
            _, lines = self._values.of_version(document, (PASSAGES, name), entry)
            if lines is not ABSENT:
                self._values.passages[name] = lines

    def _note_factors(self, document: YamlDocument) -> None:
        """Note the factors that only other versions have: what is excluded or combined of them is theirs."""
        factors = document.value.get("factors")
        for name, factor in (factors if isinstance(factors, dict) else {}).items():
            if self._values.of_version(document, ("factors", name), factor)[1] is ABSENT:
                self._others_factors.add(name)

    def _merge(self, document: YamlDocument, source: Path_, key: str, entries: Mapping[str, Any]) -> None:
        merged = self.composed.value.setdefault(key, {})
        self.composed.sources.setdefault((key,), document.place(source))
        for name, entry in entries.items():
            found = self._values.resolved(document, (*source, name), (key, name), entry)
            if found is not ABSENT:
                merged[name] = found

    def _append(self, document: YamlDocument, source: Path_, key: str, entries: Sequence[Any]) -> None:
        listed = self.composed.value.setdefault(key, [])
        self.composed.sources.setdefault((key,), document.place(source))
        # Entries of parts are replaced by those of their users; two of one file are one too many.
        of_parts = {_id(old): at for at, old in enumerate(listed) if _id(old) is not None}
        for place, entry in enumerate(entries):
            if not self._values.applies(document, (*source, place), entry) or self._is_of_others(key, entry):
                continue
            same = _id(entry) in of_parts
            at = of_parts.pop(_id(entry)) if same else len(listed)
            found = self._values.resolved(document, (*source, place), (key, at), entry)
            if found is ABSENT:
                continue
            if not same:
                listed.append(None)
            listed[at] = found

    def _is_of_others(self, key: str, entry: Any) -> bool:
        """Whether an exclusion or interaction names a factor that only other versions have."""
        if not self._others_factors or not isinstance(entry, dict):
            return False
        if key == "interactions" and isinstance(entry.get("factors"), list):
            return not self._others_factors.isdisjoint(map(str, entry["factors"]))
        if key != "exclusions":
            return False
        when: Any = entry.get("when")
        if is_by_version(when):
            found = [each for name, each in when.items() if in_range(name, self._version)]
            when = found[0] if found else ABSENT
        try:
            return when is ABSENT or not self._others_factors.isdisjoint(parse(str(when)).names)
        except OpcertError:
            return False  # whoever reads the exclusion says what is wrong

    def _parts(self) -> Iterator[str]:
        return iter(
            sorted({path.stem for folder in self._folders for path in (folder / PARTS).glob("*.yaml")})
        )


def _id(entry: Any) -> str | None:
    """What an entry is known by: its id, or, where it names something shared, that name."""
    if isinstance(entry, str):
        return entry
    return str(entry["id"]) if isinstance(entry, dict) and "id" in entry else None
