"""Amending imported fields: adding, confirming, overriding, and the errors of doing it wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.yaml_files import Path_, YamlDocument, key_path
from specs.files.added_entries import Amendment, Reasoned
from specs.model.spec import Origin, Source


class Amender:
    """Applies amendments; collects the errors, and the origin of each field that people touched."""

    def __init__(self, document: YamlDocument, imported: Mapping[str, Origin]) -> None:
        self._document = document
        self._imported = imported
        self.errors: list[UserError] = []
        self.origins: dict[str, Origin] = {}

    def error(self, path: Path_, problem: str, got: object, expected: str | None) -> None:
        """Note an error at a path of the file."""
        text = None if got is None else repr(got)
        self.errors.append(UserError(problem, got=text, expected=expected, where=self._document.place(path)))

    def origin(self, entry: Reasoned, path: Path_, sources: tuple[Source, ...] = ()) -> Origin:
        """Why an entry holds; an error where it gives neither `src` nor `why`."""
        found = entry.src or sources
        if not found and not (entry.why or "").strip():
            self.error(path, "a fact needs a reason", None, "src: [document, line], or why: the reason")
        return Origin("added", found, entry.why)

    def amend(
        self, path: Path_, entry: Amendment, imported: Mapping[str, Any], names: tuple[str, ...]
    ) -> dict[str, Any]:
        """The fields that the entry sets, confirms or overrides; imported fields that it leaves stay out."""
        for group, listed in (("confirms", entry.confirms), ("overrides", tuple(entry.overrides))):
            for each in listed:
                if each not in names:
                    self.error((*path, group), "no such field", each, f"one of {', '.join(names)}")
        fields: dict[str, Any] = {}
        for name in names:
            given = getattr(entry, name) if name in entry.model_fields_set else None
            self._amend_field((*path, name), entry, imported.get(name), given, fields)
        return fields

    def _amend_field(
        self, path: Path_, entry: Amendment, imported: Any, given: Any, fields: dict[str, Any]
    ) -> None:
        name = str(path[-1])
        confirmed, overridden = name in entry.confirms, name in entry.overrides
        before = self._imported.get(key_path(path)) or self._imported.get(key_path(path[:-1]))
        if confirmed and overridden:
            self.error(path, "a field is either confirmed or overridden", name, None)
        elif confirmed and imported is None:
            self.error(path, "nothing was imported that could be confirmed", name, "leave out `confirms`")
        elif confirmed and given is not None and given != imported:
            self.error(path, "the entry confirms a field and gives another value", given, repr(imported))
        elif confirmed:
            fields[name] = imported
            sources = (*(before.sources if before else ()), *(entry.src or ()))
            rule, confidence = (before.rule, before.confidence) if before else (None, None)
            self._note(path, Origin("confirmed", sources, entry.why, rule, confidence))
        elif overridden and entry.overrides[name] != imported:
            self.error(
                path,
                "stale override: the imported value is another one now",
                imported,
                f"{entry.overrides[name]!r}; look at the document again and mend `overrides`",
            )
        elif overridden and given is None:
            self.error(path, "an overridden field needs its new value", None, f"a value for {name}")
        elif overridden:
            fields[name] = given
            self._note(path, replace(self.origin(entry, path), how="overridden", old=imported))
        elif given is not None and imported is not None:
            self.error(
                path,
                "the documents state this field too",
                imported,
                f"`confirms: {name}` where right, `overrides: {{{name}: {imported!r}}}` where wrong",
            )
        elif given is not None:
            fields[name] = given
            self._note(path, self.origin(entry, path))

    def _note(self, path: Path_, origin: Origin) -> None:
        self.origins[key_path(path)] = origin
