"""One version's view of a declaration: parts put in, other versions left out, passages resolved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import Place, SeveralErrors, UserError
from opcert.vocabulary.yaml_files import Path_, YamlDocument, key_path, load, load_file
from specs.expressions import parse
from specs.model import Spec

PARTS = "parts"
"""The folder of a folder of specs that holds the pieces that several operators use by name."""
_RANGE = re.compile(r"(\d*)\.\.(\d*)")
_PASSAGE = re.compile(r"([A-Za-z_][\w.\[\]]*)(?:\+(\d+))?")
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


def in_range(text: str | int, version: int) -> bool:
    """Whether a version lies in a range such as `7..`, `..12`, `7..12` or `18`; UserError for other texts."""
    if isinstance(text, int) or text.strip().isdecimal():
        return int(text) == version
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise UserError("not a range of versions", got=repr(text), expected="such as 7.., 7..12 or ..12")
    low, high = found[1], found[2]
    return (not low or version >= int(low)) and (not high or version <= int(high))


def read_document(path: Path) -> YamlDocument:
    """The one document of a declaration's file; an empty file holds nothing."""
    documents = load_file(path) or load("{}", str(path))
    found = documents[0]
    if found.value is None:
        found.value = {}
    if len(documents) > 1 or not isinstance(found.value, dict):
        raise SeveralErrors([UserError("a declaration is one mapping", where=Place(str(path)))])
    return found


def compose(path: Path, spec: Spec, folders: Sequence[Path]) -> Composed:
    """The declaration in a file as the spec's version sees it; `folders` are searched for its parts.

    Mappings of parts are merged, lists appended, and the operator's own entries win. Raises SeveralErrors.
    """
    composer = _Composer(spec, folders, str(path))
    composer.add(read_document(path), ())
    if composer.errors:
        raise SeveralErrors(composer.errors)
    return composer.composed


def declares(path: Path, version: int) -> bool:
    """Whether a declaration speaks of a version (`versions`; of all where it says none)."""
    document = read_document(path)
    try:
        return in_range(str(document.value.get("versions", "..")), version)
    except UserError as error:
        error.where = document.place(("versions",))
        raise


class _Composer:
    def __init__(self, spec: Spec, folders: Sequence[Path], file: str) -> None:
        self._spec = spec
        self._folders = folders
        self.composed = Composed({}, file)
        self.errors: list[UserError] = []

    def add(self, document: YamlDocument, inside: tuple[str, ...]) -> None:
        """Put a file in, the parts that it uses before it."""
        value = document.value
        for place, name in enumerate(value.get("uses") or ()):
            found = self._find_part(str(name))
            if found is None or name in inside:
                problem = "no such part" if found is None else "a part that uses itself"
                where = document.place(("uses", place))
                expected = f"one of {', '.join(self._parts())}" if found is None else None
                self.errors.append(UserError(problem, got=str(name), expected=expected, where=where))
            else:
                self.add(read_document(found), (*inside, str(name)))
        for key, each in value.items():
            if key in ("uses", "versions"):
                continue
            if isinstance(each, list):
                self._append(document, key, each)
            elif isinstance(each, dict):
                self._merge(document, key, each)
            else:
                self._set(document, (key,), (key,), each)

    def _merge(self, document: YamlDocument, key: str, entries: Mapping[str, Any]) -> None:
        merged = self.composed.value.setdefault(key, {})
        self.composed.sources.setdefault((key,), document.place((key,)))
        for name, each in entries.items():
            merged[name] = self._resolved(document, (key, name), (key, name), each)

    def _append(self, document: YamlDocument, key: str, entries: Sequence[Any]) -> None:
        listed = self.composed.value.setdefault(key, [])
        self.composed.sources.setdefault((key,), document.place((key,)))
        for place, each in enumerate(entries):
            try:
                if isinstance(each, dict) and not (self._applies(each) and self._is_known(each)):
                    continue
            except UserError as error:
                error.where = document.place((key, place))
                self.errors.append(error)
                continue
            if isinstance(each, dict):
                each = {name: value for name, value in each.items() if name not in ("since", "until")}
            same = [at for at, old in enumerate(listed) if _id(old) is not None and _id(old) == _id(each)]
            at = same[0] if same else len(listed)
            if not same:
                listed.append(None)
            listed[at] = self._resolved(document, (key, place), (key, at), each)

    def _applies(self, entry: Mapping[str, Any]) -> bool:
        version = self._spec.operator.since_version
        bounds = {name: entry.get(name) for name in ("since", "until")}
        for name, bound in bounds.items():
            if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool)):
                raise UserError(f"`{name}` is a version", got=repr(bound), expected="a whole number")
        since, until = bounds["since"], bounds["until"]
        return (since is None or version >= since) and (until is None or version <= until)

    def _is_known(self, entry: Mapping[str, Any]) -> bool:
        """Whether a rule is about names of this version: what only others have is left out here."""
        attribute = entry.get("attr")
        return attribute is None or attribute in self._spec.attributes

    def _set(self, document: YamlDocument, source: Path_, target: Path_, value: Any) -> None:
        self.composed.value[target[0]] = self._resolved(document, source, target, value)

    def _resolved(self, document: YamlDocument, source: Path_, target: Path_, value: Any) -> Any:
        """The value with its passages resolved; notes the place of it and of all in it."""
        self.composed.sources[target] = document.place(source)
        if isinstance(value, dict):
            return {
                key: self._resolved(
                    document, (*source, key), (*target, key), self._field(document, source, key, each)
                )
                for key, each in value.items()
            }
        if isinstance(value, list):
            return [
                self._resolved(document, (*source, at), (*target, at), each) for at, each in enumerate(value)
            ]
        return value

    def _field(self, document: YamlDocument, source: Path_, key: str, value: Any) -> Any:
        try:
            if key == "src":
                return self._sources(value)
            if key == "chosen" and isinstance(value, str):
                return self._chosen(value)
        except UserError as error:
            error.where = document.place((*source, key))
            self.errors.append(error)
            return [] if key == "src" else None
        return value

    def _sources(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._passage(value)
        if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
            return [line for each in value for line in self._passage(each)]
        return value

    def _passage(self, text: str) -> list[list[str | int]]:
        """The lines of this version's documents that a passage names.

        `attributes.axis+1` is the line after the first of that passage; `axis` is the passage about that
        attribute, input or output, whichever the version has.
        """
        found = _PASSAGE.fullmatch(text)
        lines: list[list[str | int]] = []
        if found is not None:
            offset = int(found[2] or 0)
            about = (found[1], *(f"{group}.{found[1]}" for group in ("attributes", "inputs", "outputs")))
            lines = [
                [each.source.document, each.source.line + offset]
                for each in self._spec.prose
                if each.about in about and offset < max(each.lines, 1)
            ]
        if not lines:
            known = sorted({each.about for each in self._spec.prose})
            raise UserError(
                f"no passage of {self._spec.operator} has this name",
                got=repr(text),
                expected=f"one of {', '.join(known)}" if known else "[document, line]",
            )
        return lines

    def _chosen(self, text: str) -> str | None:
        """`max if version >= 13`: an option where the condition on the version holds, and open elsewhere."""
        found = _CONDITION.fullmatch(text)
        if found is None:
            return text
        holds = parse(found[2]).evaluate({"version": self._spec.operator.since_version})
        return found[1] if holds else None

    def _find_part(self, name: str) -> Path | None:
        for folder in self._folders:
            path = folder / PARTS / f"{name}.yaml"
            if path.is_file():
                return path
        return None

    def _parts(self) -> Iterator[str]:
        return iter(
            sorted({path.stem for folder in self._folders for path in (folder / PARTS).glob("*.yaml")})
        )


def _id(entry: Any) -> str | None:
    """What an entry is known by: its id, or, where it names something shared, that name."""
    if isinstance(entry, str):
        return entry
    return str(entry["id"]) if isinstance(entry, dict) and "id" in entry else None
