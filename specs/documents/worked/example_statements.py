"""Example code of ONNX pages: its statements in order, and what its variables hold at each `expect`."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from specs.documents.text.documents import Line
from specs.documents.worked.arrays import MOST_ITEMS, UNREAD, Built, SliceOfUnknown, UnknownValue, is_read
from specs.documents.worked.example_calls import (
    Code,
    ExampleNode,
    ExampleVariable,
    ExpectedCall,
    Remarks,
    UnreadCall,
    read_list,
    read_node,
    read_opset,
)
from specs.documents.worked.literals import EvaluationBudget, LiteralReader, TooLong
from specs.documents.worked.printed import read_remarks
from specs.model.spec import Source
from specs.model.worked_values import Assignment


def with_slice(old: Any, index: ast.expr, value: ast.expr, part: Any, reader: LiteralReader) -> Any:
    """What an array is after an assignment to a part of it."""
    if isinstance(value, ast.Name) and isinstance(part, UnknownValue):
        part = SliceOfUnknown(value.id, (), part.shape, part.dtype)
    try:
        if isinstance(part, SliceOfUnknown) and (
            isinstance(old, Built) or (isinstance(old, np.ndarray) and not old.any())
        ):
            built = old if isinstance(old, Built) else Built(old.shape, old.dtype)
            step = Assignment(reader.index(index), part.name, part.index)
            return Built(built.shape, built.dtype, (*built.steps, step))
        if isinstance(old, np.ndarray) and is_read(part):
            changed = old.copy()
            changed[reader.position(index)] = part
            return changed
    except (TypeError, ValueError, IndexError):
        return UNREAD
    return UNREAD


def variable_keywords(value: ast.expr | None) -> dict[str, str]:
    """Keyword arguments of the computing calls that are plain variables: keyword to variable."""
    return {
        str(keyword.arg): keyword.value.id
        for node in (() if value is None else ast.walk(value))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if isinstance(keyword.value, ast.Name)
    }


def cast_type(value: ast.Call, reader: LiteralReader, found: UnknownValue) -> UnknownValue:
    """What is known of a computed value: the type that it is cast to."""
    if isinstance(value.func, ast.Attribute) and value.func.attr == "astype" and value.args:
        dtype = reader.read(value.args[0])
        return UnknownValue(None, dtype) if not isinstance(dtype, UnknownValue) else found
    return found


@dataclass(frozen=True)
class Effects:
    """What a statement may do: names that it assigns, or whose values it changes, and calls of `expect`."""

    assigned: tuple[str, ...]
    changed: tuple[str, ...]
    calls: tuple[ast.Call, ...]


def find_effects(node: ast.AST) -> Effects:
    """The effects of everything in a statement, whether it would run or not."""
    assigned: list[str] = []
    changed: list[str] = []
    calls: list[ast.Call] = []
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                assigned.append(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                changed.append(name)
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store()):
                changed.append(name)
            case ast.Call(func=ast.Name(id="expect")):
                calls.append(each)
    return Effects(tuple(dict.fromkeys(assigned)), tuple(dict.fromkeys(changed)), tuple(calls))


def read_code(lines: Sequence[Line]) -> Code:
    """The calls of an example; code that does not parse is tried again with its indentation mended."""
    text = textwrap.dedent("\n".join(each.text for each in lines))
    try:
        return _read(text, lines)
    except IndentationError as error:
        line = lines[min(max((error.lineno or 1) - 1, 0), len(lines) - 1)]
        mended = _mend_indentation(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        number = getattr(error, "lineno", 1) or 1
        return Code([], error=(str(error), lines[min(number, len(lines)) - 1]))
    try:
        code = _read(mended, lines)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Code([], error=(str(error), line))
    code.indentation = line
    return code


def _read(text: str, lines: Sequence[Line]) -> Code:
    reader = StatementReader(text, lines)
    reader.read(ast.parse(text))
    return Code(reader.calls, reader.unread, contradictions=reader.contradictions)


def _mend_indentation(text: str) -> str:
    """The code with the lines behind its imports moved to the margin."""
    lines = text.split("\n")
    first = next((position for position, line in enumerate(lines) if line[:1] in (" ", "\t")), len(lines))
    body = lines[first:]
    depth = min((len(each) - len(each.lstrip()) for each in body if each[:1] == " "), default=0)
    return "\n".join([*lines[:first], *(each[depth:] if each[:1] == " " else each for each in body)])


MOST_CALLS = 256
"""The most calls of `expect` that one example may make."""
STATEMENT = 20
"""What a statement costs, in steps of reading expressions."""
DEEPEST = 8
"""How deep functions that the example defines may call each other."""

Flow = Literal["on", "continue", "break", "return"]


class StatementReader:
    """Reads one example; `calls` and `unread` hold its calls of `expect` afterwards."""

    def __init__(self, text: str, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._variables: dict[str, ExampleVariable] = {}
        self._nodes: dict[str, ExampleNode] = {}
        self._made: dict[str, ast.expr] = {}
        self._functions: dict[str, ast.FunctionDef] = {}
        self._effects: dict[ast.AST, Effects] = {}
        self._remarks = Remarks(read_remarks(text, lines))
        self._budget = EvaluationBudget()
        self._depth = 0
        self.calls: list[ExpectedCall] = []
        self.unread: list[UnreadCall] = []
        self.contradictions = self._remarks.contradictions

    def read(self, tree: ast.Module) -> None:
        """Read every statement."""
        try:
            self._block(tree.body)
        except TooLong as error:
            self.unread.append(UnreadCall(self._lines[0].source(), str(error)))

    def _source(self, node: ast.stmt | ast.expr) -> Source:
        return self._lines[min(node.lineno, len(self._lines)) - 1].source()

    def _reader(self) -> LiteralReader:
        return LiteralReader(
            {name: variable.value for name, variable in self._variables.items()}, self._budget
        )

    def _block(self, statements: Sequence[ast.stmt]) -> Flow:
        for statement in statements:
            flow = self._statement(statement)
            if flow != "on":
                return flow
        return "on"

    def _statement(self, statement: ast.stmt) -> Flow:
        self._budget.spend(STATEMENT)
        match statement:
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value, statement)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, value, statement)
            case ast.Expr(value=ast.Call(func=ast.Name(id="expect")) as call):
                self._remarks.bind_before(statement, self._variables)
                self._expect(call)
            case ast.Expr(value=ast.Call() as call):
                self._call(call)
            case ast.For():
                return self._loop(statement)
            case ast.If(test=test, body=body, orelse=orelse):
                found = self._reader().truth(test)
                if found is not None:
                    return self._block(body if found else orelse)
                self._leave(statement, f"it stands under a condition that is not read: {_short(test)}")
            case ast.FunctionDef(name=name):
                self._functions[name] = statement
            case ast.Continue():
                return "continue"
            case ast.Break():
                return "break"
            case ast.Return() | ast.Raise():
                return "return"
            case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Expr():
                pass
            case _:
                self._leave(statement, f"it stands in a statement that is not read: {_short(statement)}")
        return "on"

    def _loop(self, statement: ast.For) -> Flow:
        rounds = self._reader().read(statement.iter)
        if not isinstance(rounds, list) or len(rounds) > MOST_ITEMS:
            self._leave(statement, f"it stands in a loop that is not read: over {_short(statement.iter)}")
            return "on"
        for each in rounds:
            self._bind(statement.target, each, statement)
            flow = self._block(statement.body)
            if flow == "break":
                break
            if flow == "return":
                return flow
        return "on"

    def _call(self, call: ast.Call) -> None:
        """A call whose result is dropped: of a function of the example, or one that may change arguments."""
        if isinstance(call.func, ast.Name) and call.func.id in self._functions:
            self._inline(self._functions[call.func.id], call)
            return
        if isinstance(call.func, ast.Name):
            reason = f"it calls {call.func.id}, which the page does not define"
            self.unread.append(UnreadCall(self._source(call), reason))
        match call.func:
            case ast.Attribute(value=ast.Name(id=name)) if name in self._variables:
                self._forget(name)
        for argument in call.args:
            if isinstance(argument, ast.Name):
                self._forget(argument.id)

    def _inline(self, function: ast.FunctionDef, call: ast.Call) -> None:
        parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        plain = function.args.vararg is None and function.args.kwarg is None
        if self._depth >= DEEPEST or not plain or len(call.args) > len(parameters):
            self._leave(function, f"it stands in the function {function.name}, whose call is not read")
            return
        reader = self._reader()
        given = {
            parameter.arg: reader.read(value) for parameter, value in zip(parameters, call.args, strict=False)
        }
        given |= {str(keyword.arg): reader.read(keyword.value) for keyword in call.keywords}
        outer = dict(self._variables), dict(self._nodes)
        for parameter in parameters:
            self._variables[parameter.arg] = ExampleVariable(
                given.get(parameter.arg, UNREAD), self._source(call)
            )
        self._depth += 1
        self._block(function.body)
        self._depth -= 1
        self._variables, self._nodes = outer

    def _assign(self, target: ast.expr, value: ast.expr, statement: ast.stmt) -> None:
        if isinstance(target, ast.Name):
            self._assign_name(target.id, value, statement)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self._assign_part(target.value.id, target.slice, value, statement)
        else:
            self._bind(target, self._reader().read(value), statement)

    def _bind(self, target: ast.expr, value: Any, statement: ast.stmt) -> None:
        """Give a value to a name, or its items to a tuple of names."""
        match target:
            case ast.Name(id=name):
                self._drop(name)
                self._variables[name] = ExampleVariable(value, self._source(statement))
            case ast.Tuple(elts=names) | ast.List(elts=names):
                items = (
                    value if isinstance(value, list) and len(value) == len(names) else [UNREAD] * len(names)
                )
                for node, item in zip(names, items, strict=True):
                    self._bind(node, item, statement)
            case _:
                self._forget_stored(target)

    def _drop(self, name: str) -> None:
        self._nodes.pop(name, None)
        self._made.pop(name, None)

    def _assign_name(self, name: str, value: ast.expr, statement: ast.stmt) -> None:
        reader = self._reader()
        node = read_node(value, reader, self._source(value))
        self._drop(name)
        self._made[name] = value
        if node is not None:
            self._nodes[name] = node
            self._variables.pop(name, None)
            return
        found = reader.read(value)
        if isinstance(found, UnknownValue) and found.shape is None and isinstance(value, ast.Call):
            found = cast_type(value, reader, found)
        comment = self._remarks.take(statement, name, found)
        self._variables[name] = ExampleVariable(found, self._source(statement), comment, value)

    def _assign_part(self, name: str, index: ast.expr, value: ast.expr, statement: ast.stmt) -> None:
        old = self._variables.get(name)
        if old is None:
            return
        self._remarks.note_change(statement, name)
        reader = self._reader()
        part = reader.read(value)
        result = with_slice(old.value, index, value, part, reader)
        if isinstance(old.value, np.ndarray):
            for other, variable in self._variables.items():
                if isinstance(variable.value, np.ndarray) and np.may_share_memory(variable.value, old.value):
                    self._variables[other] = replace(variable, value=UNREAD)
        self._variables[name] = ExampleVariable(result, old.source)

    def _forget(self, name: str) -> None:
        """The value of a variable is not known any more."""
        if name in self._variables:
            self._variables[name] = replace(self._variables[name], value=UNREAD, comment=None)

    def _forget_stored(self, node: ast.AST) -> None:
        effects = self._effects_of(node)
        for name in effects.assigned:
            self._drop(name)
            self._variables.setdefault(name, ExampleVariable(UNREAD, self._lines[0].source()))
        for name in (*effects.assigned, *effects.changed):
            self._forget(name)

    def _leave(self, statement: ast.stmt, reason: str) -> None:
        """Forget what an unread statement assigns, and say so of the calls in it."""
        self._forget_stored(statement)
        for call in self._effects_of(statement).calls:
            self.unread.append(UnreadCall(self._source(call), reason))

    def _effects_of(self, node: ast.AST) -> Effects:
        """What a statement may do, found once: loops come back to it."""
        if node not in self._effects:
            self._effects[node] = find_effects(node)
        return self._effects[node]

    def _expect(self, call: ast.Call) -> None:
        source = self._source(call)
        if len(self.calls) >= MOST_CALLS:
            self.unread.append(UnreadCall(source, f"the example makes more than {MOST_CALLS} calls"))
            return
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        reader = self._reader()
        argument = call.args[0] if call.args else keywords.get("node")
        node = self._nodes.get(argument.id) if isinstance(argument, ast.Name) else None
        if node is None and argument is not None:
            node = read_node(argument, reader, source)
        if node is None:
            made = self._made.get(argument.id) if isinstance(argument, ast.Name) else argument
            words = "nothing" if made is None else _short(made)
            self.unread.append(
                UnreadCall(source, f"its node is made by {words}, not by a readable make_node")
            )
            return
        name = reader.read(keywords["name"]) if "name" in keywords else None
        self.calls.append(
            ExpectedCall(
                node,
                read_list(keywords.get("inputs"), reader, self._variables, self._source),
                read_list(keywords.get("outputs"), reader, self._variables, self._source),
                name if isinstance(name, str) else None,
                dict(self._variables),
                source,
                read_opset(keywords.get("opset_imports"), reader),
            )
        )
        self._remarks.finish(call)


def _short(node: ast.AST) -> str:
    if isinstance(node, ast.Call) and node.args + node.keywords:
        return f"{_short(node.func)}(...)"
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
