"""Mutants: the reference with one small mistake, made from its syntax tree."""

from __future__ import annotations
import __future__

import ast
import builtins
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from inspect import isfunction
from types import CodeType, FunctionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from conformance.judging.responses import Response
from generator.asking.calls import Call
from generator.trust.mutants.edits import Edit, MutantVocabulary, Node, is_guard, matched_words
from generator.trust.mutants.mutated_parts import ReferenceFunction
from generator.trust.mutants.mutations import edits
from generator.trust.mutants.reach import Point, Points
from generator.trust.mutants.subject import MutatedOperator
from generator.trust.mutants.walking import diff_of, nodes_to_edit
from specs.model.spec import Spec


def substituted(node: ast.AST, old: ast.AST, new: ast.AST) -> ast.AST:
    """The tree with one node in place of another; what is not on the way to it is shared."""
    if node is old:
        return new
    changed: dict[str, Any] = {}
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            items = [substituted(each, old, new) if isinstance(each, ast.AST) else each for each in value]
            if any(each is not before for each, before in zip(items, value, strict=True)):
                changed[name] = items
        elif isinstance(value, ast.AST):
            item = substituted(value, old, new)
            if item is not value:
                changed[name] = item
    if not changed:
        return node
    return ast.copy_location(type(node)(**(dict(ast.iter_fields(node)) | changed)), node)


def compiled(tree: ast.FunctionDef, file: str) -> CodeType:
    """The code of a function; its decorators and defaults are left aside. SyntaxError as `compile` does."""
    arguments = ast.arguments(
        tree.args.posonlyargs, [ast.arg(each.arg) for each in tree.args.args], tree.args.vararg,
        [ast.arg(each.arg) for each in tree.args.kwonlyargs], [None] * len(tree.args.kwonlyargs),
        tree.args.kwarg, [],
    )  # fmt: skip
    bare = ast.copy_location(ast.FunctionDef(tree.name, arguments, tree.body, [], None), tree)
    module = ast.fix_missing_locations(ast.Module([bare], []))
    code = compile(module, file, "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True)
    return next(each for each in code.co_consts if isinstance(each, CodeType))


@contextmanager
def running(
    codes: Mapping[FunctionType, CodeType], defaults: Mapping[str, Any] | None = None
) -> Iterator[None]:
    """Functions run other code for a while, wherever they are known; the first may have other defaults."""
    before = {function: (function.__code__, function.__kwdefaults__) for function in codes}
    for function, code in codes.items():
        function.__code__ = code
        if defaults:
            function.__kwdefaults__ = {**(function.__kwdefaults__ or {}), **defaults}
    try:
        yield
    finally:
        for function, (code, plain) in before.items():
            function.__code__ = code
            function.__kwdefaults__ = plain


@dataclass(frozen=True, eq=False)
class Mutant:
    """One mistake: its kind, where it is, and what it makes of the line.

    `points` are all passed by a call that the mistake can matter to. `id` does not change with line numbers.
    """

    id: str
    kind: str
    file: str
    line: int
    diff: tuple[str, ...]
    part: ReferenceFunction
    edit: Edit
    code: CodeType
    defaults: Mapping[str, Any]
    points: frozenset[Point]

    def running(self) -> AbstractContextManager[None]:
        """The reference has this mistake for a while; whoever uses it empties its caches."""
        return running({self.part.function: self.code}, self.defaults)

    def respond(self, subject: MutatedOperator, call: Call, _right: Response | None = None) -> Response:
        """What the mutant answers to a call, while it is running."""
        return subject.respond(call)

    def applies(self, _subject: MutatedOperator, _call: Call, _right: Response) -> bool:
        """Any call that comes by its points may tell it."""
        return True


def make_mutants(subject: MutatedOperator) -> list[Mutant]:
    """Every mutant of the subject's parts that compiles, in the order of the source, none twice."""
    spec, points = subject.spec, subject.points
    made: dict[str, Mutant] = {}
    for part in subject.parts:
        own = part.function is subject.reference.function
        vocabulary = _vocabulary(spec, part)
        seen: set[bytes] = set()
        for edit, node in _edits(part, spec, own=own, vocabulary=vocabulary):
            mutant = _make(part, edit, node, points)
            if mutant is None:
                continue
            key = ast.dump(substituted(part.tree, edit.old, edit.new)).encode()
            digest = hashlib.sha256(key).digest()
            if digest not in seen:
                seen.add(digest)
                made.setdefault(mutant.id, mutant)
    return list(made.values())


def _vocabulary(spec: Spec, part: ReferenceFunction) -> MutantVocabulary:
    words = [tuple(map(str, each.allowed)) for each in spec.attributes.values() if each.allowed]
    words = [each for each in words if len(each) > 1]
    settled = {each.id: each.chosen for each in spec.readings}
    readings = [tuple(each.options) for each in spec.readings if settled[each.id] is not None]
    several = [each for each in (*matched_words(part.tree), *words, *readings) if len(each) > 1]
    open_ones = {name for name, chosen in settled.items() if chosen is None}
    return MutantVocabulary(
        values=tuple(several),
        options=tuple(_options(part)),
        known=frozenset((*vars(part.module), *vars(builtins))) - _variables(part),
        left_out=part.left_out | open_ones,
        settled=frozenset(settled.keys() - open_ones),
    )


def _variables(part: ReferenceFunction) -> set[str]:
    """The names that a function binds."""
    return {
        each.arg if isinstance(each, ast.arg) else each.id
        for each in ast.walk(part.tree)
        if isinstance(each, ast.arg) or (isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
    }


def _options(part: ReferenceFunction) -> Iterator[tuple[str, ...]]:
    """The words that functions take which the part calls: those of parameters annotated with Literal."""
    called = {each.func.id for each in ast.walk(part.tree) if isinstance(each, ast.Call)
              and isinstance(each.func, ast.Name)}  # fmt: skip
    functions = [found for name in sorted(called) if isfunction(found := vars(part.module).get(name))]
    for function in functions:
        for hint in get_type_hints(function).values():
            words = get_args(hint) if get_origin(hint) is Literal else ()
            if len(words) > 1 and all(isinstance(each, str) for each in words):
                yield words


def _edits(
    part: ReferenceFunction, spec: Spec, *, own: bool, vocabulary: MutantVocabulary
) -> Iterator[tuple[Edit, Node]]:
    """Edits with the statement or expression at which a call must come by."""
    names = frozenset(
        each.id if isinstance(each, ast.Name) else each.arg if isinstance(each, ast.arg) else each.attr
        for each in ast.walk(part.tree)
        if isinstance(each, ast.Name | ast.arg | ast.Attribute)
    )
    if own:
        yield from _defaults(part, spec)
    for statement in part.tree.body:
        for node in nodes_to_edit(statement, part.left_out):
            for edit in edits(node, names, vocabulary):
                yield edit, node


def _defaults(part: ReferenceFunction, spec: Spec) -> Iterator[tuple[Edit, Node]]:
    """Attributes and optional inputs that are ignored, and attributes with another default."""
    tree = part.tree
    arguments = tree.args
    optional = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    pairs = [*zip(optional, arguments.defaults, strict=True)]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    pairs += [(each, default) for each, default in named if default is not None]
    readings = {each.id for each in spec.readings}
    first = tree.body[1]
    for argument, default in pairs:
        if argument.arg in readings:
            continue
        if not is_guard(first):
            ignored = ast.Assign([ast.Name(argument.arg, ast.Store())], default, lineno=first.lineno)
            yield Edit("ignored attribute", first, ast.If(ast.Constant(True), [ignored, first], [])), first
        known = spec.attributes.get(argument.arg)
        if known is None or not isinstance(default, ast.Constant) or default.value is None:
            continue
        if known.allowed is not None:
            others = [each for each in known.allowed if each != default.value]
        else:
            others = [default.value + 1] if isinstance(default.value, int | float) else []
        for other in others[:2]:
            yield Edit("wrong default", default, ast.Constant(other)), first


def _make(part: ReferenceFunction, edit: Edit, node: Node, points: Points) -> Mutant | None:
    tree = substituted(part.tree, edit.old, edit.new)
    assert isinstance(tree, ast.FunctionDef)
    try:
        code = compiled(tree, part.function.__code__.co_filename)
    except (SyntaxError, ValueError):
        return None
    defaults = {
        argument.arg: ast.literal_eval(edit.new)
        for argument, default in zip(part.tree.args.kwonlyargs, part.tree.args.kw_defaults, strict=True)
        if default is edit.old
    }
    diff = diff_of(part.source, edit)
    digest = hashlib.sha256("\n".join((part.place, part.name, edit.kind, *diff)).encode()).hexdigest()[:8]
    passed = [node] if edit.passes is None else [node, edit.passes]
    where = frozenset(points.at(part, each) for each in passed)
    return Mutant(
        f"{part.place.removesuffix('.py')}.{part.name}-{digest}",
        edit.kind,
        part.place,
        edit.old.lineno,
        diff,
        part,
        edit,
        code,
        defaults,
        where,
    )
