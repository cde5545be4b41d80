"""What must hold between what people add and the spec that they add it to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import OpcertError, UserError
from opcert.vocabulary.yaml_files import Path_, YamlDocument
from specs.files.added_entries import Additions, ConstraintEntry, InteractionEntry, ReadingEntry
from specs.language.expressions import parse
from specs.language.kind_calls import parse_call
from specs.language.shape_expressions import parse_shape
from specs.language.words import CONSTANTS, PLACE
from specs.model.spec import Source, Spec


def declared_names(spec: Spec) -> set[str]:
    """The names that a declaration's shapes and kinds bring, and the words that every expression knows."""
    found = {*CONSTANTS, "version", "outputs", "wanted"}
    if spec.declared is not None:
        found.update(*(parse_shape(each).names for each in spec.declared.shapes.values()))
        found.update(*(parse_call(each.call).names for each in spec.declared.kinds))
    return found


class Checker:
    """Collects the errors of one file: names, expressions, document keys, options, duplicates."""

    def __init__(self, spec: Spec, document: YamlDocument) -> None:
        self._spec = spec
        self._document = document
        self._keys = {each.key for each in spec.documents}
        self.errors: list[UserError] = []

    def check(self, file: Additions) -> None:
        """Check everything."""
        spec = self._spec
        names = {*spec.attributes, *(each.name for each in spec.inputs), *file.let, *declared_names(spec)}
        for name, text in file.let.items():
            self._expression(("let", name), text, names)
            if name in spec.attributes or name in {each.name for each in spec.inputs}:
                self._error(("let", name), "this name is an attribute or an input already", name)
        for name, shape in spec.results.items():
            for unknown in sorted(shape.names - names - {PLACE}):
                self._error(("results", name), "unknown name in the shape of an output", unknown)
        for position, constraint in enumerate(file.constraints):
            self._constraint(("constraints", position), constraint, names)
        self._unique("constraints", [each.id for each in file.constraints])
        for position, refusable in enumerate(file.may_refuse):
            self._expression(("may_refuse", position, "when"), refusable.when, names)
        self._unique("may_refuse", [each.id for each in file.may_refuse])
        for group, readings in (("readings", file.readings), ("behaviours", file.behaviours)):
            for position, reading in enumerate(readings):
                self._reading((group, position), reading)
        self._unique("readings", [each.id for each in (*file.readings, *file.behaviours)])
        for name, factor in file.factors.items():
            self._unique_levels(("factors", name), factor.levels)
        # Most factors of a declaration are derived: of these the space of its calls knows the names.
        factors = None if getattr(file, "kinds", None) else set(file.factors)
        for position, exclusion in enumerate(file.exclusions):
            self._expression(("exclusions", position, "when"), exclusion.when, factors)
        for position, interaction in enumerate(file.interactions):
            self._interaction(("interactions", position), interaction, factors)
        for name, types in file.type_constraints.items():
            for each in types.types or ():
                if each not in ELEMENT_TYPES:
                    self._error(("type_constraints", name, "types"), "unknown element type", each)
        self._documents(self._document.value, ())

    def _constraint(self, path: Path_, entry: ConstraintEntry, names: set[str]) -> None:
        for field in ("when", "require", "effective_when"):
            text = getattr(entry, field)
            if text is not None:
                self._expression((*path, field), text, names)
        if (entry.require is None) == (entry.effective_when is None):
            self._error(path, "a constraint has either `require` or `effective_when`", entry.id)
        if entry.require is not None and entry.otherwise is None:
            self._error(
                path, "`require` needs `else`", entry.id, "else: error, undefined or implementation_defined"
            )
        if entry.require is not None and entry.otherwise == "error" and not entry.src:
            self._error(path, "`else: error` needs the place where the document demands it", entry.id, "src")
        if entry.effective_when is not None and entry.attr not in self._spec.attributes:
            self._error((*path, "attr"), "`effective_when` needs an attribute of the operator", entry.attr)

    def _reading(self, path: Path_, entry: ReadingEntry) -> None:
        options = ", ".join(entry.options)
        if entry.chosen is not None and entry.chosen not in entry.options:
            self._error((*path, "chosen"), "not an option of this reading", entry.chosen, options)
        for position, evidence in enumerate(entry.evidence):
            if evidence.option not in entry.options:
                self._error(
                    (*path, "evidence", position), "not an option of this reading", evidence.option, options
                )

    def _interaction(self, path: Path_, entry: InteractionEntry, factors: set[str] | None) -> None:
        for name in entry.factors:
            if factors is not None and name not in factors:
                self._error(
                    (*path, "factors"), "no such factor", name, f"one of {', '.join(sorted(factors))}"
                )
        if entry.strength > len(set(entry.factors)):
            self._error(
                (*path, "strength"), "more factors to combine than there are", str(entry.strength),
                f"at most {len(set(entry.factors))}",
            )  # fmt: skip

    def _expression(self, path: Path_, text: str, names: set[str] | None) -> None:
        try:
            free = parse(text).names
        except OpcertError as error:
            self._error(path, error.problem, error.got, error.expected)
            return
        for name in () if names is None else sorted(free - names):
            known = f"one of {', '.join(sorted(names or ()))}"
            self._error(path, "unknown name in an expression", name, known)

    def _unique(self, group: str, ids: list[str]) -> None:
        for each in sorted({each for each in ids if ids.count(each) > 1}):
            self._error((group,), "this id is used twice", each)

    def _unique_levels(self, path: Path_, levels: Iterable[Any]) -> None:
        written = [str(each) for each in levels]
        for each in sorted({each for each in written if written.count(each) > 1}):
            self._error(path, "this level is listed twice", each)

    def _documents(self, value: Any, path: Path_) -> None:
        """Every `src` names a document of the spec."""
        if isinstance(value, Mapping):
            for key, each in value.items():
                if key == "src":
                    self._sources(each, (*path, key))
                else:
                    self._documents(each, (*path, key))
        elif isinstance(value, list):
            for position, each in enumerate(value):
                self._documents(each, (*path, position))

    def _sources(self, value: Any, path: Path_) -> None:
        places = [value] if isinstance(value, list) and value and isinstance(value[0], str) else value
        for each in places:
            key = each.document if isinstance(each, Source) else each[0]
            if key not in self._keys:
                self._error(path, "no document of this key", key, f"one of {', '.join(sorted(self._keys))}")

    def _error(self, path: Path_, problem: str, got: object, expected: str | None = None) -> None:
        text = got if isinstance(got, str | None) else repr(got)
        self.errors.append(UserError(problem, got=text, expected=expected, where=self._document.place(path)))
