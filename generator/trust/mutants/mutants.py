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
from generator.trust.mutants.mutated_parts import Point, Points, ReferenceFunction
from generator.trust.mutants.mutations import (
    RESULTS,
    Edit,
    MutantVocabulary,
    Node,
    edits,
    is_first,
    is_guard,
    is_nothing,
    matched_words,
    mentions,
    name_of,
)
from generator.trust.mutants.subject import MutatedOperator
from specs.model.spec import Spec


def nodes_to_edit(node: ast.AST, left_out: frozenset[str]) -> Iterator[Node]:
    """The nodes to edit: not texts for people, nor checks that refuse calls, nor what is left out."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.pattern) or is_nothing(node):
        return
    if isinstance(node, ast.stmt) and (is_guard(node) or _sets_only(node, left_out) or _is_docstring(node)):
        return
    if isinstance(node, ast.Compare) and mentions(node, left_out):
        return
    inner = (
        node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else None
    )
    if isinstance(inner, ast.Name | ast.Attribute) and name_of(inner) in left_out:
        return  # a call of what is left out, or a part of it
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for child in _children(node):
        yield from nodes_to_edit(child, left_out)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What is inside a node, without annotations, targets, orders that mean nothing, and allowed errors."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RESULTS:
        yield node.args[0]
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
        yield node.func  # -1 and any other negative number stand for the same there
        return
    if is_first(node):
        yield node.value
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "targets", "target", "ctx", "op", "ops"):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.keyword) and each.arg in ("strict", "dtype", "keepdims", "error", "lost"):
                continue
            if name == "iter" and isinstance(each, ast.Tuple):
                continue
            if name == "iter" and _is_range(each):
                yield from each.args
            elif isinstance(each, ast.AST):
                yield each


def _is_range(node: Any) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def _sets_only(node: ast.stmt, names: frozenset[str]) -> bool:
    """Whether a statement sets these variables, or elements of them, and nothing else."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    else:
        return False
    plain = [
        elt for target in targets for elt in (target.elts if isinstance(target, ast.Tuple) else [target])
    ]
    found = [each.value if isinstance(each, ast.Subscript | ast.Attribute) else each for each in plain]
    return all(mentions(each, names) for each in found)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def diff_of(source: str, edit: Edit) -> tuple[str, ...]:
    """The lines of the source before (`-`) and after (`+`) the edit."""
    lines = source.splitlines()
    old = edit.old
    first, last = old.lineno - 1, (old.end_lineno or old.lineno) - 1
    before = lines[first : last + 1]
    if edit.kind == "ignored attribute" and isinstance(edit.new, ast.If):
        after = [f"    {ast.unparse(edit.new.body[0])}", *before]
        return tuple(f"+{each}" for each in after[:1])
    head = before[0].encode()[: old.col_offset].decode()
    tail = before[-1].encode()[old.end_col_offset :].decode()
    text = ast.unparse(ast.fix_missing_locations(edit.new))
    if (
        isinstance(edit.new, ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare | ast.IfExp)
        and (head + tail).strip()
    ):
        text = f"({text})"
    if isinstance(edit.new, ast.Match):
        return _case_diff(edit)
    after = (head + text + tail).splitlines()
    return (*(f"-{each}" for each in before), *(f"+{each}" for each in after))


def _case_diff(edit: Edit) -> tuple[str, ...]:
    assert isinstance(edit.old, ast.Match)
    assert isinstance(edit.new, ast.Match)
    for old, new in zip(edit.old.cases, edit.new.cases, strict=True):
        if old.body is not new.body:
            pattern = ast.unparse(old.pattern)
            return (
                f"-case {pattern}: {ast.unparse(old.body[0])}",
                f"+case {pattern}: {ast.unparse(new.body[0])}",
            )
    return ()


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
        tree.args.posonlyargs, [ast.arg(argument.arg) for argument in tree.args.args], tree.args.vararg,
        [ast.arg(parameter.arg) for parameter in tree.args.kwonlyargs], [None] * len(tree.args.kwonlyargs),
        tree.args.kwarg, [],
    )  # fmt: skip
    bare = ast.copy_location(ast.FunctionDef(tree.name, arguments, tree.body, [], None), tree)
    module = ast.fix_missing_locations(ast.Module([bare], []))
    code = compile(module, file, "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True)
    return next(constant for constant in code.co_consts if isinstance(constant, CodeType))


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
    words = [
        tuple(map(str, attribute.allowed)) for attribute in spec.attributes.values() if attribute.allowed
    ]
    words = [word for word in words if len(word) > 1]
    settled = {reading.id: reading.chosen for reading in spec.readings}
    readings = [tuple(reading.options) for reading in spec.readings if settled[reading.id] is not None]
    several = [
        matched_word
        for matched_word in (*matched_words(part.tree), *words, *readings)
        if len(matched_word) > 1
    ]
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
        node.arg if isinstance(node, ast.arg) else node.id
        for node in ast.walk(part.tree)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    }


def _options(part: ReferenceFunction) -> Iterator[tuple[str, ...]]:
    """The words that functions take which the part calls: those of parameters annotated with Literal."""
    called = {node.func.id for node in ast.walk(part.tree) if isinstance(node, ast.Call)
              and isinstance(node.func, ast.Name)}  # fmt: skip
    functions = [found for name in sorted(called) if isfunction(found := vars(part.module).get(name))]
    for function in functions:
        for hint in get_type_hints(function).values():
            words = get_args(hint) if get_origin(hint) is Literal else ()
            if len(words) > 1 and all(isinstance(word, str) for word in words):
                yield words


def _edits(
    part: ReferenceFunction, spec: Spec, *, own: bool, vocabulary: MutantVocabulary
) -> Iterator[tuple[Edit, Node]]:
    """Edits with the statement or expression at which a call must come by."""
    names = frozenset(
        node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else node.attr
        for node in ast.walk(part.tree)
        if isinstance(node, ast.Name | ast.arg | ast.Attribute)
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
    pairs += [(argument, default) for argument, default in named if default is not None]
    readings = {reading.id for reading in spec.readings}
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
