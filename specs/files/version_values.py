"""One version's values of a declaration: those of other versions left out, passages and choices resolved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.yaml_files import Path_, YamlDocument, key_path
from specs.files.declared_words import is_name_of_some_version
from specs.files.version_ranges import ABSENT, BOUNDS, applies, is_by_version, key_of_version
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
