"""Declarations read, and one version's view of them: parts put in, mappings merged, lists appended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import OpcertError, Place, SeveralErrors, UserError
from opcert.vocabulary.yaml_files import Path_, YamlDocument, load, load_file
from specs.files.spec_folders import PARTS, find_part
from specs.files.stated_values import stated_value
from specs.files.version_ranges import ABSENT, in_range, is_by_version
from specs.files.version_values import Composed, VersionValues
from specs.language.expressions import parse
from specs.model.spec import Spec


def read_document(path: Path) -> YamlDocument:
    """The one document of a declaration's file; an empty file holds nothing."""
    documents = load_file(path) or load("{}", str(path))
    found = documents[0]
    if found.value is None:
        found.value = {}
    if len(documents) > 1 or not isinstance(found.value, dict):
        raise SeveralErrors([UserError("a declaration is one mapping", where=Place(str(path)))])
    return found


PASSAGES = "passages"
_USED_UP = ("uses", "versions", "older", PASSAGES)
"""Keys of a declaration that no version's view of it has."""


def compose(path: Path, spec: Spec, folders: Sequence[Path]) -> Composed:
    """The declaration in a file as the spec's version sees it; `folders` are searched for its parts.

    Mappings of parts are merged, lists appended, and the operator's own entries win. Raises SeveralErrors.
    """
    composer = _Composer(spec, folders, str(path))
    composer.add(read_document(path), ())
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

    def add(self, document: YamlDocument, inside: tuple[str, ...]) -> None:
        """Put a file in, the parts that it uses before it."""
        value = document.value
        for place, name in enumerate(value.get("uses") or ()):
            found = find_part(str(name), self._folders)
            if found is None or name in inside:
                problem = "no such part" if found is None else "a part that uses itself"
                where = document.place(("uses", place))
                expected = f"one of {', '.join(self._parts())}" if found is None else None
                self.errors.append(UserError(problem, got=str(name), expected=expected, where=where))
            else:
                self.add(read_document(found), (*inside, str(name)))
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
        for name, each in entries.items():
            _, lines = self._values.of_version(document, (PASSAGES, name), each)
            if lines is not ABSENT:
                self._values.passages[name] = lines

    def _note_factors(self, document: YamlDocument) -> None:
        """Note the factors that only other versions have: what is excluded or combined of them is theirs."""
        factors = document.value.get("factors")
        for name, each in (factors if isinstance(factors, dict) else {}).items():
            if self._values.of_version(document, ("factors", name), each)[1] is ABSENT:
                self._others_factors.add(name)

    def _merge(self, document: YamlDocument, source: Path_, key: str, entries: Mapping[str, Any]) -> None:
        merged = self.composed.value.setdefault(key, {})
        self.composed.sources.setdefault((key,), document.place(source))
        for name, each in entries.items():
            found = self._values.resolved(document, (*source, name), (key, name), each)
            if found is not ABSENT:
                merged[name] = found

    def _append(self, document: YamlDocument, source: Path_, key: str, entries: Sequence[Any]) -> None:
        listed = self.composed.value.setdefault(key, [])
        self.composed.sources.setdefault((key,), document.place(source))
        # Entries of parts are replaced by those of their users; two of one file are one too many.
        of_parts = {_id(old): at for at, old in enumerate(listed) if _id(old) is not None}
        for place, each in enumerate(entries):
            if not self._values.applies(document, (*source, place), each) or self._is_of_others(key, each):
                continue
            same = _id(each) in of_parts
            at = of_parts.pop(_id(each)) if same else len(listed)
            found = self._values.resolved(document, (*source, place), (key, at), each)
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
