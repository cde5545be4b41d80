"""The functions of the reference that say what an operator means: these are the ones that get mutants.

Such a file stands in an operator's room, and one for several operators in a folder of specs. It is a list of
entries: a `module` of the reference (that of the operator's own function, where it is left out), `functions`
in it, and `why`. With `names` only the statements are left out that set these variables, and whatever
expression mentions one; without, the whole functions. `since` and `until` narrow an entry to some versions:
an older one uses what a later one needs, and asks for less.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from pydantic import Field, RootModel

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import load_file
from opcert.vocabulary.yaml_schemas import validate
from reference.registry import find_operator, implemented
from reference.registry.reference_operator import ReferenceOperator
from specs.files.schemas import Entry
from specs.files.spec_folders import OWN_FOLDER, find_room

FILE_NAME = "unmutated.yaml"
LeftOut = Mapping[str, frozenset[str] | None]
"""By function of a module: the names left out, None where it is the whole function."""


class Unmutated(Entry):
    """Functions of a module that get no mutants, or of which some variables get none."""

    module: str | None = None
    functions: tuple[str, ...] = Field(min_length=1)
    names: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    why: str = Field(min_length=1)

    def is_about(self, version: int) -> bool:
        """Whether the entry holds for a version of the operator."""
        return (self.since or 0) <= version and (self.until is None or version <= self.until)


class _File(RootModel[tuple[Unmutated, ...]]):
    pass


def read_unmutated(
    operator: OperatorName, folders: Sequence[Path] = ()
) -> tuple[tuple[Place, Unmutated], ...]:
    """The entries about an operator version, with their places: of its room, then of folders of specs.

    Raises SeveralErrors with everything that is wrong in a file, UserError where the operator has no room.
    """
    room = find_room(operator, folders)
    paths = (room / FILE_NAME, *(folder / FILE_NAME for folder in (*folders, OWN_FOLDER)))
    return tuple(
        (place, unmutated)
        for path in dict.fromkeys(paths)
        if path.is_file()
        for place, unmutated in _read(path)
        if unmutated.is_about(operator.since_version)
    )


def _read(path: Path) -> Iterator[tuple[Place, Unmutated]]:
    (document, *more) = load_file(path)
    if more:
        raise UserError("not one YAML document", got=f"{1 + len(more)} documents", where=Place(str(path)))
    for at, unmutated in enumerate(validate(_File, document).root):
        yield document.place((at,)), unmutated


def left_out_of(
    module: str, functions: Sequence[str], entries: Sequence[tuple[Place, Unmutated]], *, own: bool
) -> LeftOut:
    """What entries leave out of a module with these functions; `own` is that of the operator's function.

    Raises UserError where an entry names a function that the module does not have.
    """
    found: dict[str, frozenset[str] | None] = {}
    for place, entry in entries:
        if entry.module != module and not (own and entry.module is None):
            continue
        for name in entry.functions:
            if name not in functions:
                raise UserError(
                    "an entry about a function that is not there",
                    got=name,
                    expected=f"a function of {module}",
                    where=place,
                    remedy="Write its name of now, or take the entry out.",
                )
            known = found.get(name, frozenset())
            found[name] = None if known is None or not entry.names else known | set(entry.names)
    return found


ARITHMETIC = frozenset(
    (
        "reference.answers", "reference.registry.conversions",
        "reference.numbers.enclosures", "reference.numbers.estimates", "reference.numbers.exact_roots",
        "reference.numbers.exact_sums",
        "reference.shared.interpolation.routes", "reference.answers.number_answers",
        "reference.numbers.number_arrays", "reference.numbers.numbers", "reference.numbers.powers_of_two",
        "reference.numbers.rationals", "reference.registry", "reference.answers.rounding",
        "reference.sums.summation",
        "reference.sums.sums", "reference.sums.weights", "reference.numbers.working",
    )
)  # fmt: skip
"""Modules that say how numbers are held, rounded and bounded, whatever the operator is."""


@dataclass(frozen=True, eq=False)
class ReferenceFunction:
    """One function: its module, its qualified name there, its source, and the object that runs.

    `tree` is its syntax tree with the positions of `source`, the text of the whole module. `left_out` names
    variables that serve the allowed error alone.
    """

    module: ModuleType
    name: str
    source: str
    tree: ast.FunctionDef
    function: FunctionType
    left_out: frozenset[str]

    @property
    def place(self) -> str:
        """Where it stands: `interpolation/kernels.py` in `reference/`, else the file's name."""
        return place_of(self.module)


@dataclass(frozen=True, eq=False)
class Cache:
    """A cache of the reference: what it holds fits one mutant alone of those at the places."""

    clear: Callable[[], None]
    places: frozenset[str]


def place_of(module: ModuleType) -> str:
    """Where a module stands, as parts say it."""
    return module.__name__.removeprefix("reference.").replace(".", "/") + ".py"


def find_parts(reference: ReferenceOperator, folders: Sequence[Path] = ()) -> list[ReferenceFunction]:
    """Every function of the operator's module and of the modules of the reference that it imports.

    Left out are the modules in ARITHMETIC, functions that are another operator's, and what `unmutated.yaml`
    names: code that serves the allowed error, or the speed. `folders` hold specs that do not ship.
    """
    parts: list[ReferenceFunction] = []
    others = {find_operator(operator).function for operator in implemented()} - {reference.function}
    entries = read_unmutated(reference.computes or reference.operator, folders)
    own = sys.modules[reference.function.__module__]
    for module in _modules(own):
        source = inspect.getsource(module)
        functions = list(_functions(module, ast.parse(source)))
        named = [name for name, _, _ in functions]
        left_out = left_out_of(module.__name__, named, entries, own=module is own)
        for name, tree, function in functions:
            names = left_out.get(name, frozenset())
            if function not in others and names is not None:
                parts.append(ReferenceFunction(module, name, source, tree, function, names))
    return parts


def caches_of(parts: Sequence[ReferenceFunction]) -> list[Cache]:
    """The caches (functools) of the modules in which the parts are."""
    modules = {part.module.__name__: part.module for part in parts}
    return [
        Cache(var.cache_clear, frozenset(map(place_of, _modules(module))))
        for module in modules.values()
        for var in vars(module).values()
        if isinstance(var, functools._lru_cache_wrapper)
    ]


def _modules(first: ModuleType) -> list[ModuleType]:
    found = {first.__name__: first}
    pending = [first]
    while pending:
        for node in ast.walk(ast.parse(inspect.getsource(pending.pop()))):
            name = node.module if isinstance(node, ast.ImportFrom) else None
            if name is None or not name.startswith("reference.") or name in ARITHMETIC or name in found:
                continue
            found[name] = sys.modules[name]
            pending.append(found[name])
    return [found[name] for name in sorted(found)]


def _functions(module: ModuleType, tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef, FunctionType]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            function = _plain_function(vars(module)[node.name])
            if function is not None:
                yield node.name, node, function
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    function = _plain_function(vars(vars(module)[node.name])[inner.name])
                    if function is not None:
                        yield f"{node.name}.{inner.name}", inner, function


def _plain_function(found: Any) -> FunctionType | None:
    """The function behind a cache, a property or a class method."""
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, functools.cached_property):
        found = found.func
    elif isinstance(found, classmethod | staticmethod):
        found = found.__func__
    found = inspect.unwrap(found)
    return found if isinstance(found, FunctionType) else None


Point = int


class Points:
    """The numbered statements of some functions."""

    def __init__(self, parts: Sequence[ReferenceFunction]) -> None:
        self._codes = {code for part in parts for code in _with_inner(part.function.__code__)}
        self._point_of: dict[tuple[str, int], Point] = {}
        self._count = 0
        for part in parts:
            for statement in part.tree.body:
                self._number(_file_of(part), statement)

    def at(self, part: ReferenceFunction, node: ast.expr | ast.stmt) -> Point:
        """The point of the statement that a node is in."""
        return self._point_of[_file_of(part), node.lineno]

    @contextmanager
    def watched(self) -> Iterator[set[Point]]:
        """A set to which every point is added that is passed meanwhile."""
        seen: set[Point] = set()

        def enter(frame: FrameType, _event: str, _argument: Any) -> Any:
            return run_line if frame.f_code in self._codes else None

        def run_line(frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "line":
                point = self._point_of.get((frame.f_code.co_filename, frame.f_lineno))
                if point is not None:
                    seen.add(point)
            return run_line

        before = sys.gettrace()
        sys.settrace(enter)
        try:
            yield seen
        finally:
            sys.settrace(before)

    def _number(self, file: str, statement: ast.stmt) -> None:
        """Give a statement the next point, and those inside it the next ones: their lines are theirs."""
        point, self._count = self._count, self._count + 1
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
            self._point_of[file, line] = point
        for inner in _statements(statement):
            self._number(file, inner)


def _file_of(part: ReferenceFunction) -> str:
    return part.function.__code__.co_filename


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements right inside a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        else:
            yield from _statements(child)


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of functions and generators inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)
