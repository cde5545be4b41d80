"""Code of a function that asks, at statements or for the whole of it, what its mutants would make there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType

from generator.adequacy.edits import name_of
from generator.adequacy.mutants import Mutant
from generator.adequacy.mutated_parts import Part
from generator.adequacy.trees import all_substituted, compiled, substituted

BEGUN = "__opcert_begun__"
"""Called with a place's number before its value is worked out; gives the number back."""
CHECKED = "__opcert_checked__"
"""Called with a place's number, its value, and a function for what each mutant has there; gives the value."""
CALLED = "__opcert_called__"
"""Called with a part's number and the arguments of a call of it; gives what the part returns."""

_CHANGING = frozenset(
    (
        "append", "extend", "insert", "pop", "popleft", "remove", "clear", "update", "add", "discard",
        "setdefault", "next", "send", "sort", "fill", "put", "resize", "setattr", "super", "locals",
    )
)  # fmt: skip
"""Calls that may change something: what asks them twice is not the same any more."""
_BINDING = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


@dataclass(frozen=True, eq=False)
class Place:
    """The value of a statement; of `truth` nothing is wanted but whether it is true."""

    value: ast.expr
    truth: bool

    def mistaken(self, mutant: Mutant) -> ast.expr | None:
        """What a mutant has in place of the value; None where its mistake is elsewhere."""
        found = substituted(self.value, mutant.edit.old, mutant.edit.new)
        return found if found is not self.value and isinstance(found, ast.expr) else None


def place_of_mistake(mutant: Mutant) -> Place | None:
    """Where the value of a mutant can be compared; None where it must be compared for the whole function."""
    if mutant.defaults:
        return None
    for place in _places(mutant.part.tree):
        mistaken = place.mistaken(mutant)
        if mistaken is not None:
            return place if not (_changes(place.value) or _changes(mistaken)) else None
    return None


def checked_code(part: Part, places: Sequence[tuple[int, Place, Sequence[Mutant]]]) -> CodeType:
    """The part's code in which the value at each place, which has a number, is compared with the mutants'."""
    others: dict[int, ast.AST] = {}
    for number, place, mutants in places:
        mistaken = [each for mutant in mutants if (each := place.mistaken(mutant)) is not None]
        nothing = ast.arguments([], [], None, [], [], None, [])
        begun = ast.Call(ast.Name(BEGUN, ast.Load()), [ast.Constant(number)], [])
        given = [begun, place.value, *(ast.Lambda(nothing, each) for each in mistaken)]
        checked = ast.Call(ast.Name(CHECKED, ast.Load()), given, [])
        others[id(place.value)] = ast.copy_location(checked, place.value)
    tree = all_substituted(part.tree, others)
    assert isinstance(tree, ast.FunctionDef)
    return compiled(tree, part.function.__code__.co_filename)


def called_code(part: Part, number: int) -> CodeType:
    """Code that takes the arguments of a part, and leaves the rest to CALLED."""
    taken = part.tree.args
    names = [ast.Name(each.arg, ast.Load()) for each in (*taken.posonlyargs, *taken.args)]
    given: list[ast.expr] = [*names]
    if taken.vararg:
        given.append(ast.Starred(ast.Name(taken.vararg.arg, ast.Load()), ast.Load()))
    keywords: list[ast.expr | None] = [ast.Constant(each.arg) for each in taken.kwonlyargs]
    values: list[ast.expr] = [ast.Name(each.arg, ast.Load()) for each in taken.kwonlyargs]
    if taken.kwarg:
        keywords.append(None)
        values.append(ast.Name(taken.kwarg.arg, ast.Load()))
    arguments = [ast.Constant(number), ast.Tuple(given, ast.Load()), ast.Dict(keywords, values)]
    asked = ast.Return(ast.Call(ast.Name(CALLED, ast.Load()), arguments, []))
    tree = ast.copy_location(ast.FunctionDef(part.tree.name, taken, [asked], [], None), part.tree)
    return compiled(tree, part.function.__code__.co_filename)


def _places(tree: ast.FunctionDef) -> Iterator[Place]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign() | ast.AugAssign():
                yield Place(node.value, truth=False)
            case ast.AnnAssign() | ast.Return() if node.value is not None:
                yield Place(node.value, truth=False)
            case ast.If() | ast.While():
                yield Place(node.test, truth=True)
            case ast.For():
                yield Place(node.iter, truth=False)


def _changes(value: ast.expr) -> bool:
    """Whether to work a value out binds a name or may change something."""
    return any(
        isinstance(each, _BINDING) or (isinstance(each, ast.Call) and name_of(each.func) in _CHANGING)
        for each in ast.walk(value)
    )
