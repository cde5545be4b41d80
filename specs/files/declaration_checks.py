"""What must hold of a `spec.yaml` beside its form: names, expressions, shapes, bounds, demanded errors."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import OpcertError, Place, UserError
from opcert.vocabulary.yaml_files import Path_, YamlDocument
from specs.files.composition import Composed
from specs.files.declared_words import is_name_of_some_version, other_versions
from specs.files.operator_groups import wrong_group
from specs.files.written_entries import Additions, ConstraintEntry, InteractionEntry, ReadingEntry, Reasoned
from specs.language.expressions import parse, parse_call
from specs.language.shape_expressions import ShapePart, parse_shape
from specs.language.words import CONSTANTS, PLACE
from specs.model.declared import Declared, DeclaredBounds
from specs.model.spec import Source, Spec


def declared_names(spec: Spec) -> set[str]:
    """The names that a declaration's shapes and kinds bring, and the words that every expression knows."""
    found = {*CONSTANTS, "version", "outputs", "wanted"}
    if spec.declared is not None:
        found.update(*(parse_shape(shape).names for shape in spec.declared.shapes.values()))
        found.update(*(parse_call(kind.call).names for kind in spec.declared.kinds))
    return found


def _derived_factors(spec: Spec) -> set[str]:
    """The names that factors of a call space may have where documents alone say its kinds, or it has none."""
    inputs, outputs = ([parameter.name for parameter in group] for group in (spec.inputs, spec.outputs))
    found = {"data", "extents", "broadcast", *spec.attributes, *inputs}
    found |= {f"{word}_{extent}" for word in ("rank", "maybe") for extent in spec.extents}
    found |= {f"type_{type_constraint}" for type_constraint in spec.type_constraints} | {
        f"output_{output}" for output in outputs
    }
    return found | {f"form_{each}" for each in inputs} | {f"{each}_count" for each in (*inputs, *outputs)}


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
        names = {
            *spec.attributes,
            *(parameter.name for parameter in spec.inputs),
            *file.let,
            *declared_names(spec),
        }
        for name, text in file.let.items():
            self._expression(("let", name), text, names)
            if name in spec.attributes or name in {parameter.name for parameter in spec.inputs}:
                self._error(("let", name), "this name is an attribute or an input already", name)
        for name, shape in spec.results.items():
            for unknown in sorted(shape.names - names - {PLACE}):
                self._error(("results", name), "unknown name in the shape of an output", unknown)
        for position, constraint in enumerate(file.constraints):
            self._constraint(("constraints", position), constraint, names)
        self._unique("constraints", [constraint.id for constraint in file.constraints])
        for position, refusable in enumerate(file.may_refuse):
            self._expression(("may_refuse", position, "when"), refusable.when, names)
        self._unique("may_refuse", [refusable_entry.id for refusable_entry in file.may_refuse])
        for group, readings in (("readings", file.readings), ("behaviours", file.behaviours)):
            for position, reading in enumerate(readings):
                self._reading((group, position), reading)
        self._unique("readings", [reading.id for reading in (*file.readings, *file.behaviours)])
        for name, factor in file.factors.items():
            self._unique_levels(("factors", name), factor.levels)
        # Most factors of a declaration are derived: of these the space of its calls knows the names.
        declared = spec.declared
        written = declared is not None and any(not kind.derived for kind in declared.kinds)
        derived = _derived_factors(spec) if declared and (declared.kinds or declared.shapes) else ()
        factors = None if written else {*file.factors, *derived}
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
        written = [str(level) for level in levels]
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
        for place in places:
            key = place.document if isinstance(place, Source) else place[0]
            if key not in self._keys:
                self._error(path, "no document of this key", key, f"one of {', '.join(sorted(self._keys))}")

    def _error(self, path: Path_, problem: str, got: object, expected: str | None = None) -> None:
        text = got if isinstance(got, str | None) else repr(got)
        self.errors.append(UserError(problem, got=text, expected=expected, where=self._document.place(path)))


EVERY_INPUT = "inputs"
"""The word for all inputs that no other entry of `shapes` names."""
EVERY_OUTPUT = "outputs"
"""The word for all outputs that no other entry of `results` names."""

_MARKED = "onnx"
"""How the dialects begin whose importer marks the words by which a passage demands something."""

MOST_AXES = 32
MOST_LENGTH = 4096
MOST_TENSORS = 1_000
MOST_CASES = 1_000_000
MOST_ELEMENTS = 100_000
"""Elements of an input that is as small as its bounds let it: answers are exact, and take their time."""


def _fewest_elements(parts: Sequence[ShapePart], extents: Mapping[str, DeclaredBounds]) -> int:
    """How many elements a shape has at least, as far as its bounds alone say it."""
    least = 1
    for part in parts:
        tree = None if part.expression is None else part.expression.tree
        if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
            least *= tree.value
        elif isinstance(tree, ast.Name) and not part.several and tree.id in extents:
            least *= extents[tree.id].low or 0
    return least


def names_in(label: str) -> tuple[str, ...]:
    """The names that share an entry: `min, max`."""
    return tuple(word.strip() for word in label.split(","))


class DeclarationChecker:
    """Collects the mistakes of one declaration, as one version sees it."""

    def __init__(self, spec: Spec, composed: Composed, folders: Sequence[Path]) -> None:
        self._spec = spec
        self._composed = composed
        self._folders = folders
        self.errors: list[UserError] = []

    def check_group(self, group: str | None) -> None:
        """A folder of specs has the group that the operator says it is one of."""
        if group is not None:
            wrong = wrong_group(group, self._folders, self._composed.place(("group",)))
            self.errors += [wrong] if wrong is not None else []

    def check_shapes(self, shapes: Mapping[str, str], extents: Collection[str]) -> None:
        """Every shape is that of an input of some version, all bounds are those of a name in a shape."""
        known = {parameter.name for parameter in self._spec.inputs}
        for label in shapes:
            for name in names_in(label):
                if name not in (*known, EVERY_INPUT) and not self._is_of_some_version(name):
                    self._unknown(("shapes", label), "a shape of something that no version has", name, known)
        free = {name for text in shapes.values() for name in _free_names(text)}
        for name in extents:
            if name not in free:
                self._unknown(("extents", name), "bounds of something that no shape speaks of", name, free)

    def check_sizes(self, declared: Declared) -> None:
        """No bounds ask for more than cases can have: axes, lengths, elements, tensors of one input."""
        packs = {name for text in declared.shapes.values() for name in parse_shape(text).starred}
        for name, bounds in declared.extents.items():
            what, most = ("axes", MOST_AXES) if name in packs else ("elements of an axis", MOST_LENGTH)
            self._check_bounds(("extents", name), bounds, what, most)
        for name, told in declared.counts.items():
            if isinstance(told, DeclaredBounds):
                self._check_bounds(("counts", name), told, "tensors of one input or output", MOST_TENSORS)
        if declared.budget is not None and declared.budget > MOST_CASES:
            where = self._composed.place(("budget",))
            self._too_large_at(where, "more cases than can be made", declared.budget, MOST_CASES)
        if self.errors:
            return
        for name, text in declared.shapes.items():
            trees = [
                part.expression.tree for part in parse_shape(text).parts() if part.expression is not None
            ]
            numbers = [
                node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)
            ]
            largest = max((number for number in numbers if isinstance(number, int)), default=0)
            if largest > MOST_LENGTH:
                problem = "a larger number in a shape than cases can have"
                self._too_large_at(declared.places[name], problem, largest, MOST_LENGTH)
                continue
            least = min(
                _fewest_elements(parts, declared.extents) for _, parts in parse_shape(text).alternatives
            )
            if least > MOST_ELEMENTS:
                problem = "a shape of more elements than cases have"
                self._too_large_at(declared.places[name], problem, least, MOST_ELEMENTS)

    def _check_bounds(self, path: tuple[str, ...], bounds: DeclaredBounds, what: str, most: int) -> None:
        largest = max(bounds.low or 0, bounds.high or 0)
        if largest > most:
            self._too_large_at(self._composed.place(path), f"more {what} than cases can have", largest, most)

    def _too_large_at(self, where: Place, problem: str, got: int, most: int) -> None:
        self.errors.append(UserError(problem, got=f"{got:,}", expected=f"at most {most:,}", where=where))

    def check_roles(self, shapes: Mapping[str, str], named: Iterable[tuple[str, str, str | int]]) -> None:
        """Each extent that has a role is one that a shape speaks of."""
        free = {name for text in shapes.values() for name in _free_names(text)}
        for role, name, place in named:
            if name not in free:
                where = ("sizes", role, place)
                self._unknown(where, "sizes of something that no shape speaks of", name, free)

    def check_results(self, results: Mapping[str, str]) -> None:
        """Every shape is that of an output of some version; `upto` is the only word that leaves a choice."""
        known = {output.name for output in self._spec.outputs}
        for label, text in results.items():
            for name in names_in(label):
                if name not in (*known, EVERY_OUTPUT) and not self._is_of_some_version(name):
                    self._unknown(("results", label), "a shape of something that no version has", name, known)
            words = {str(part.word) for part in _words(text)} - {"upto"}
            if words:
                where = self._composed.place(("results", label))
                problem = "a word that says nothing of an output"
                self.errors.append(
                    UserError(problem, got=", ".join(sorted(words)), expected="upto", where=where)
                )

    def check_points(self, points: Sequence[object]) -> None:
        """Points that are texts are expressions over attributes and inputs of some version."""
        for place, text in enumerate(points):
            if not isinstance(text, str):
                continue
            try:
                names = parse(text).names
            except OpcertError as error:
                where = self._composed.place(("points", place))
                self.errors.append(
                    UserError(error.problem, got=error.got, expected=error.expected, where=where)
                )
                continue
            known = {*self._spec.attributes, *(parameter.name for parameter in self._spec.inputs)}
            for name in sorted(names - known):
                if not self._is_of_some_version(name):
                    self._unknown(("points", place), "unknown name in a point", name, known)

    def check_overrides(self, overridden: Iterable[str]) -> None:
        """Each is an entry of the declaration, such as `kinds.axis`."""
        known = {
            f"{key}.{name}"
            for key in ("shapes", "results", "kinds")
            for label in self._composed.value.get(key) or ()
            for name in names_in(str(label))
        }
        for path in overridden:
            if path not in known:
                self._unknown(("overrides", path), "no such entry of the declaration", path, known)

    def check_demands(self, constraints: Sequence[ConstraintEntry]) -> None:
        """What is called an error is demanded by the passage that the entry cites."""
        for place, entry in enumerate(constraints):
            if entry.otherwise == "error" and entry.src and not self._is_demanded(entry.src):
                self.errors.append(
                    UserError(
                        "`else: error` without a word of the text behind it",
                        got=entry.id,
                        expected="a passage with must, should, error, required, accepted range or the like",
                        where=self._composed.place(("constraints", place)),
                        remedy="Write `else: undefined`, or the `src` of the passage that demands it.",
                    )
                )

    def check_read(self, key: str, entries: Sequence[Reasoned]) -> None:
        """What was read (`read`) are versions of the operator, in which the entry cites something."""
        known: set[int] = set()
        if any(entry.read for entry in entries):
            known = {self._spec.operator.since_version}
            others = other_versions(self._spec, self._folders)
            known |= {other.operator.since_version for other in others}
        for place, entry in enumerate(entries):
            problem = None
            unknown = sorted(set(entry.read) - known)
            if unknown:
                operator = self._spec.operator
                problem = f"read in versions that {operator.domain}::{operator.name} lacks"
            elif entry.read and not entry.src:
                problem = "`read` beside no passage"
            if problem is not None:
                self.errors.append(
                    UserError(
                        problem,
                        got=f"read: {list(unknown or entry.read)}",
                        expected=f"some of {', '.join(map(str, sorted(known)))}" if unknown else "a `src`",
                        where=self._composed.place((key, place, "read")),
                        remedy="Write versions in which the passage was read, one of each wording.",
                    )
                )

    def _is_demanded(self, sources: Sequence[Source]) -> bool:
        """Whether one of these lines lies in a passage that demands something, as each list of types does.

        Of documents whose words nobody marks, none of them is judged.
        """
        read = {prose.source.document for prose in self._spec.prose}
        documents = [document for document in self._spec.documents if document.dialect.startswith(_MARKED)]
        marked = read & {document.key for document in documents}
        if any(source.document not in marked for source in sources):
            return True
        return any(
            (prose.normative or prose.about.startswith("type_constraints."))
            and prose.source.document == source.document
            and prose.source.line <= source.line < prose.source.line + max(prose.lines, 1)
            for prose in self._spec.prose
            for source in sources
        )

    def _is_of_some_version(self, name: str) -> bool:
        return is_name_of_some_version(self._spec, name, self._folders)

    def _unknown(self, path: tuple[str | int, ...], problem: str, name: str, known: Collection[str]) -> None:
        near = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
        expected = f"perhaps {', '.join(near)}" if near else f"one of {', '.join(sorted(known))}"
        self.errors.append(UserError(problem, got=name, expected=expected, where=self._composed.place(path)))


def _words(text: str) -> Iterator[ShapePart]:
    try:
        yield from parse_shape(text).words()
    except OpcertError:
        return  # likewise


def _free_names(text: str) -> frozenset[str]:
    try:
        return parse_shape(text).names
    except OpcertError:
        return frozenset()  # what is wrong with it is said where it is read
