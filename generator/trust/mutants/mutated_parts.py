"""The functions of the reference that say what an operator means: these are the ones that get mutants."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from generator.trust.mutants.unmutated import left_out_of, read_unmutated
from reference.registry import find_operator, implemented
from reference.registry.reference_operator import ReferenceOperator

ARITHMETIC = frozenset(
    (
        "reference.answers", "reference.registry.conversions",
        "reference.numbers.enclosures", "reference.numbers.estimates", "reference.numbers.exact_roots",
        "reference.numbers.exact_sums",
        "reference.shared.interpolation.routes", "reference.answers.number_answers",
        "reference.numbers.number_arrays",
        "reference.numbers.numbers", "reference.sums.overflow",
        "reference.numbers.powers_of_two",
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
    others = {find_operator(each).function for each in implemented()} - {reference.function}
    entries = read_unmutated(reference.operator, folders)
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
        Cache(each.cache_clear, frozenset(map(place_of, _modules(module))))
        for module in modules.values()
        for each in vars(module).values()
        if isinstance(each, functools._lru_cache_wrapper)
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
