"""`spec.yaml`: what people say of an operator, for all its versions; and how it joins a version's facts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from opcert.vocabulary.errors import OpcertError, SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_schemas import validate
from specs.files.addition_merging import merge_additions
from specs.files.composition import Composed, compose, declares
from specs.files.declaration_checks import EVERY_INPUT, EVERY_OUTPUT, DeclarationChecker, names_in
from specs.files.derived_entries import fill_in
from specs.files.schemas import Entry
from specs.files.shared_readings import put_in_shared
from specs.files.spec_folders import DECLARATION, facts_path, room_of
from specs.files.written_entries import Additions, Level, Reasoned
from specs.language.expressions import parse, read_tree
from specs.language.shape_expressions import parse_shape, shape_of_version
from specs.model.declared import Declared, DeclaredBounds, DeclaredSizes, KindUse
from specs.model.spec import Otherwise, ParameterSpec, Spec
from specs.model.structures import holds_several

FILE_NAME = DECLARATION
LEVELS = "levels"
"""The key that named a module which makes calls, before every operator's calls were declared."""
_BOUNDS = re.compile(r"(\d{0,18})\.\.(\d{0,18})", re.ASCII)
_MOST_LISTED = 1_000
"""Points, or levels of one factor: each stands in several cases."""
_OTHERWISE = re.compile(
    r"(.*?)\s+or\s+(error|undefined|implementation_defined)(?:\s+by\s+([\w.]+))?\s*", re.DOTALL
)


def _bounds(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return DeclaredBounds(value, value)
    found = _BOUNDS.fullmatch(str(value).strip())
    if found is None:
        raise ValueError("expected bounds such as 1..3, 1.. or ..8, of at most 18 digits")
    return DeclaredBounds(int(found[1]) if found[1] else None, int(found[2]) if found[2] else None)


def _count(value: Any) -> Any:
    """Bounds of a number of tensors, or the expression that says it."""
    text = str(value).strip()
    if isinstance(value, bool) or not isinstance(value, int | str) or not text:
        raise ValueError("expected bounds such as 1..4, or an expression such as len(split)")
    return _bounds(value) if isinstance(value, int) or _BOUNDS.fullmatch(text) else _text(text)


def _text(value: Any) -> Any:
    # Flow style splits at commas: `{axis: axis(data, extra=1)}` has a key of its own for `extra=1)`.
    if isinstance(value, str) and value.count("(") != value.count(")"):
        raise ValueError(
            "expected as many closing brackets as opening ones: flow style splits at commas, so write block "
            "style, or quote the text"
        )
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Text = Annotated[str, BeforeValidator(_text)]


class DataEntry(Entry):
    scale: float | None = None
    prefer: list[str] = Field(default_factory=list, max_length=_MOST_LISTED)


def _levels(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _paired(value: Any) -> Any:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError("expected a list of type variables, such as [T]")
    return value


def _focus(value: Any) -> Any:
    if not isinstance(value, dict) or any(
        isinstance(each, list | dict | NoneType) for each in value.values()
    ):
        raise ValueError("expected one level, a text or number, for each factor, such as {type_T: float}")
    return value


Named = list[str] | dict[str, list[Annotated[int, Field(ge=1)]]] | None


class SizesEntry(Entry):
    """Extents by role: their names alone, or with the lengths that they are asked to have."""

    inner: Named = None
    outer: Named = None
    batch: Named = None
    channels: Named = None
    scanned: Named = None
    rank: int | None = Field(None, ge=0)
    cases: int | None = Field(None, ge=1)
    given: dict[str, int | float] = Field(default_factory=dict)


ROLES = ("inner", "outer", "batch", "channels", "scanned")
"""What an extent may be to a kernel, as `sizes` says it."""


def _override(value: Any) -> Any:
    return {"why": value} if isinstance(value, str) else value


class OverrideEntry(Reasoned):
    """Why an entry says otherwise than a sentence of the document."""

    why: str = Field(min_length=1)


class DeclarationFile(Additions):
    """The whole of a `spec.yaml`, as one version sees it: `uses`, `versions`, `older` are used up by then."""

    uses: list[str] = Field(default_factory=list)
    group: str | None = Field(None, pattern=r"^[a-z][a-z0-9-]*$")
    versions: str | int | None = None
    older: str | None = None
    shapes: dict[str, Text] = Field(default_factory=dict)
    results: dict[str, Text] = Field(default_factory=dict)
    extents: dict[str, Annotated[Any, BeforeValidator(_bounds)]] = Field(default_factory=dict)
    kinds: dict[str, Text] = Field(default_factory=dict)
    points: list[Level] = Field(default_factory=list, max_length=_MOST_LISTED)
    data: DataEntry | None = None
    rare: dict[str, Annotated[list[Level], BeforeValidator(_levels), Field(max_length=_MOST_LISTED)]] = Field(
        default_factory=dict
    )
    paired: Annotated[list[str], BeforeValidator(_paired)] = Field(default_factory=list)
    focus: Annotated[dict[str, Level], BeforeValidator(_focus)] = Field(default_factory=dict)
    counts: dict[str, Annotated[Any, BeforeValidator(_count)]] = Field(default_factory=dict)
    budget: int | None = Field(None, ge=1)
    sizes: SizesEntry | None = None
    overrides: dict[str, Annotated[OverrideEntry, BeforeValidator(_override)]] = Field(default_factory=dict)
    why: str | None = None


def declaration_path(operator: OperatorName, folder: Path) -> Path:
    """Where a folder of specs keeps an operator's declaration: `<domain>/<Name>/spec.yaml`."""
    return room_of(operator, folder) / FILE_NAME


def find_declaration(operator: OperatorName, folders: Sequence[Path]) -> Path | None:
    """The declaration that speaks of an operator version, in the first folder that has one; else None.

    Folders behind the one with the version's facts do not count: what they declare is about other documents.
    """
    for folder in folders:
        path = declaration_path(operator, folder)
        if path.is_file():
            return path if declares(path, operator.since_version, folders) else None
        if facts_path(operator, folder).is_file():
            return None
    return None


def merge_declaration(spec: Spec, path: Path, folders: Sequence[Path]) -> Spec:
    """The effective spec of a version with facts and a declaration; SeveralErrors with all that is wrong."""
    composed = compose(path, spec, folders)
    put_in_shared(composed, folders)
    if LEVELS in composed.value:
        raise UserError(
            "no module makes the calls of an operator",
            got=f"{LEVELS}: {composed.value[LEVELS]}",
            expected="`shapes` and `kinds`, from which calls are made",
            where=composed.place((LEVELS,)),
            remedy="docs/your-operator.md declares the calls of an operator.",
        )
    return _merged(spec, composed, folders)


def declare_by_documents(spec: Spec, room: Path, folders: Sequence[Path]) -> Spec:
    """The spec of a version of which nobody declared anything, with what its documents alone say of calls.

    `room` is where its facts are, and where a spec.yaml would be. Raises SeveralErrors where the documents
    contradict themselves.
    """
    return _merged(spec, Composed({}, str(room / FILE_NAME)), folders)


def _merged(spec: Spec, composed: Composed, folders: Sequence[Path]) -> Spec:
    derived = fill_in(composed, spec)
    file = validate(DeclarationFile, composed)
    reader = _Reader(spec, composed, derived)
    declared = reader.read(file)
    checker = DeclarationChecker(spec, composed, folders)
    checker.check_group(file.group)
    checker.check_shapes(file.shapes, file.extents)
    checker.check_sizes(declared)
    checker.check_roles(file.shapes, names_by_role(file.sizes))
    checker.check_results(file.results)
    checker.check_points(file.points)
    checker.check_overrides(file.overrides)
    checker.check_demands(file.constraints)
    checker.check_read("constraints", file.constraints)
    checker.check_read("readings", file.readings)
    if reader.errors or checker.errors:
        raise SeveralErrors([*reader.errors, *checker.errors])
    return merge_additions(replace(spec, declared=declared), file, composed)


class _Reader:
    """Turns the file's texts into declared parts; collects what is wrong with them."""

    def __init__(self, spec: Spec, composed: Composed, derived: frozenset[str]) -> None:
        self._spec = spec
        self._composed = composed
        self._derived = derived
        self.errors: list[UserError] = []

    def read(self, file: DeclarationFile) -> Declared:
        shapes = self._shapes("shapes", file.shapes, EVERY_INPUT, self._spec.inputs)
        return Declared(
            shapes=shapes,
            extents=file.extents,
            kinds=tuple(
                self._kind(name, label, text)
                for label, text in file.kinds.items()
                for name in names_in(label)
            ),
            points=tuple(point for point in file.points if not isinstance(point, bool)),
            scale=file.data.scale if file.data else None,
            prefer=tuple(file.data.prefer) if file.data else (),
            rare={name: tuple(levels) for name, levels in file.rare.items()},
            paired=tuple(file.paired),
            focus=dict(file.focus),
            counts=self._counts(file.counts),
            budget=file.budget,
            sizes=_sizes(file.sizes),
            results=self._shapes("results", file.results, EVERY_OUTPUT, self._spec.outputs),
            overrides={path: entry.why for path, entry in file.overrides.items()},
            places={
                **{name: self._composed.place(("shapes", self._label(file.shapes, name))) for name in shapes},
                **{
                    f"constraint {constraint.id}": self._composed.place(("constraints", place))
                    for place, constraint in enumerate(file.constraints)
                },
                **{f"{key}.{name}": self._composed.place((key, place)) for key, name, place in _told(file)},
                **{
                    f"sizes.{name}": self._composed.place(("sizes", role, place))
                    for role, name, place in names_by_role(file.sizes)
                },
                FILE_NAME: self._composed.place(()),
            },
        )

    def _shapes(
        self, key: str, entries: Mapping[str, str], every: str, parameters: Sequence[ParameterSpec]
    ) -> dict[str, str]:
        """The shape of each input or output that the version has; `every` is all that no other names."""
        found: dict[str, str] = {}
        for label, text in entries.items():
            try:
                text = shape_of_version(text, self._spec.operator.since_version)
                parse_shape(text)
            except OpcertError as error:
                self._error((key, label), error)
                continue
            found.update(dict.fromkeys(names_in(label), text))
        for parameter in parameters:
            if every in found:
                found.setdefault(parameter.name, found[every])
        return {parameter.name: found[parameter.name] for parameter in parameters if parameter.name in found}

    def _counts(self, entries: Mapping[str, DeclaredBounds | str]) -> dict[str, DeclaredBounds | str]:
        """Of the variadic inputs and outputs that the version has; an entry about another one is an error."""
        parameters = (*self._spec.inputs, *self._spec.outputs)
        every = {parameter.name for parameter in parameters}
        variadic = {parameter.name for parameter in parameters if holds_several(self._spec, parameter)}
        found: dict[str, DeclaredBounds | str] = {}
        for name, told in entries.items():
            if name in every - variadic:
                problem = UserError(
                    "neither variadic nor a sequence", got=name, expected=", ".join(sorted(variadic))
                )
                self._error(("counts", name), problem)
            elif name in variadic:
                try:
                    found[name] = parse(told).text if isinstance(told, str) else told
                except OpcertError as error:
                    self._error(("counts", name), error)
        return found

    @staticmethod
    def _label(entries: Mapping[str, str], name: str) -> str:
        return next((label for label in entries if name in names_in(label)), EVERY_INPUT)

    def _kind(self, name: str, label: str, text: str) -> KindUse:
        found = _OTHERWISE.fullmatch(text.strip())
        call, otherwise = (found[1], found[2]) if found else (text.strip(), "undefined")
        place = self._composed.place(("kinds", label))
        self._check_numbers(label, call)
        demanded_by = (found[3] if found else None) or ""
        return KindUse(name, call, _otherwise(otherwise), place, demanded_by, label in self._derived)

    def _check_numbers(self, label: str, call: str) -> None:
        """No number in the arguments of a kind is beyond those that an attribute can hold."""
        try:
            parts = list(ast.walk(read_tree(call)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return  # who reads the call says what is wrong with it
        numbers = [part.value for part in parts if isinstance(part, ast.Constant)]
        if any(isinstance(number, int) and number > 2**63 for number in numbers):
            expected = "whole numbers from -2^63 to 2^63 - 1"
            self._error(("kinds", label), UserError("a number too large", got=call[:80], expected=expected))

    def _error(self, path: tuple[str, ...], error: OpcertError) -> None:
        self.errors.append(
            UserError(error.problem, got=error.got, expected=error.expected, where=self._composed.place(path))
        )


def _told(file: DeclarationFile) -> Iterator[tuple[str, str, str | int]]:
    """Key, name and place of what is held against the factors only when these are known."""
    yield from (("paired", name, place) for place, name in enumerate(file.paired))
    yield from (("focus", name, name) for name in file.focus)


def names_by_role(sizes: SizesEntry | None) -> Iterator[tuple[str, str, str | int]]:
    """Role, name and place of each extent that `sizes` name."""
    for role in ROLES if sizes is not None else ():
        told = getattr(sizes, role) or ()
        for at, name in enumerate(told):
            yield role, name, name if isinstance(told, dict) else at


def _sizes(entry: SizesEntry | None) -> DeclaredSizes:
    if entry is None:
        return DeclaredSizes()
    told = {role: getattr(entry, role) for role in ROLES}
    lengths = [each for each in told.values() if isinstance(each, dict)]
    return DeclaredSizes(
        {role: tuple(each) for role, each in told.items() if each is not None},
        {name: tuple(values) for length in lengths for name, values in length.items()},
        entry.rank,
        entry.cases,
        dict(entry.given),
    )


def _otherwise(text: str) -> Otherwise:
    return "error" if text == "error" else "undefined" if text == "undefined" else "implementation_defined"
