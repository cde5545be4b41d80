"""Example code of ONNX pages: the calls that it makes, read from its syntax tree and its comments."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from specs.documents import Line
from specs.model import Source
from specs.relations import Step
from specs.worked.literals import UNREAD, Built, LiteralReader, Part, Unknown
from specs.worked.printed import Printed, read_printed

MOST_ROUNDS = 16


@dataclass(frozen=True)
class PrintedComment:
    """An array printed in a comment, and where."""

    printed: Printed
    source: Source


@dataclass
class NodeCall:
    """A node that example code makes."""

    operator: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    source: Source


@dataclass(frozen=True)
class Variable:
    """A variable's value when the example ends, where it was assigned, the array that a comment prints."""

    value: Any
    source: Source
    comment: PrintedComment | None = None
    keywords: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ExpectedCall:
    """An `expect(node, inputs=..., outputs=...)` of example code, with everything that was read of it."""

    node: NodeCall
    inputs: list[str]
    outputs: list[str]
    name: str | None
    variables: dict[str, Variable]
    source: Source


@dataclass
class Code:
    """What was read of one example: its calls, and what was wrong with its text."""

    calls: list[ExpectedCall]
    indentation: Line | None = None
    error: tuple[str, Line] | None = None


def read_code(lines: Sequence[Line]) -> Code:
    """The calls of an example; code that does not parse is tried again with its indentation mended."""
    text = textwrap.dedent("\n".join(each.text for each in lines))
    try:
        return Code(list(_Reader(lines).calls(ast.parse(text))))
    except IndentationError as error:
        line = lines[min(max((error.lineno or 1) - 1, 0), len(lines) - 1)]
        mended = _mend_indentation(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        number = getattr(error, "lineno", 1) or 1
        return Code([], None, (str(error), lines[min(number, len(lines)) - 1]))
    try:
        return Code(list(_Reader(lines).calls(ast.parse(mended))), line)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Code([], None, (str(error), line))


def _mend_indentation(text: str) -> str:
    """The code with the lines behind its imports moved to the margin."""
    lines = text.split("\n")
    first = next((position for position, each in enumerate(lines) if each[:1] in (" ", "\t")), len(lines))
    body = lines[first:]
    depth = min((len(each) - len(each.lstrip()) for each in body if each[:1] == " "), default=0)
    return "\n".join([*lines[:first], *(each[depth:] if each[:1] == " " else each for each in body)])


class _Reader:
    """Walks the statements of one example in order and remembers what its variables hold."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._variables: dict[str, Variable] = {}
        self._nodes: dict[str, NodeCall] = {}
        self._comments = _printed_comments(lines)

    def calls(self, tree: ast.Module) -> Iterator[ExpectedCall]:
        for statement in tree.body:
            yield from self._statement(statement)

    def _source(self, node: ast.stmt | ast.expr) -> Source:
        return self._lines[min(node.lineno, len(self._lines)) - 1].source()

    def _reader(self) -> LiteralReader:
        return LiteralReader({name: each.value for name, each in self._variables.items()})

    def _statement(self, statement: ast.stmt) -> Iterator[ExpectedCall]:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._assign(name, value, statement)
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=index)], value=value):
                self._assign_part(name, index, value, statement)
            case ast.Assign(targets=[ast.Tuple(elts=names)]):
                for each in names:
                    if isinstance(each, ast.Name):
                        self._variables[each.id] = Variable(UNREAD, self._source(statement))
            case ast.Expr(value=ast.Call(func=ast.Name(id="expect")) as call):
                yield from self._expect(call)
            case ast.For(target=ast.Name(id=name), iter=items, body=body):
                yield from self._loop(name, items, body, statement)

    def _loop(
        self, name: str, items: ast.expr, body: list[ast.stmt], statement: ast.stmt
    ) -> Iterator[ExpectedCall]:
        rounds = self._reader().read(items)
        if not isinstance(rounds, list) or len(rounds) > MOST_ROUNDS:
            rounds = [UNREAD]
        for each in rounds:
            self._variables[name] = Variable(each, self._source(statement))
            for inner in body:
                yield from self._statement(inner)

    def _assign(self, name: str, value: ast.expr, statement: ast.stmt) -> None:
        node = self._node(value)
        if node is not None:
            self._nodes[name] = node
            return
        found = self._reader().read(value)
        if isinstance(found, Unknown) and found.shape is None and isinstance(value, ast.Call):
            found = _cast(value, self._reader(), found)
        comment = self._comments.pop(statement.lineno, None)
        self._variables[name] = Variable(found, self._source(statement), comment, _keywords(value))

    def _assign_part(self, name: str, index: ast.expr, value: ast.expr, statement: ast.stmt) -> None:
        old = self._variables.get(name)
        result: Any = UNREAD
        if old is not None and _is_zeros(old.value):
            reader = self._reader()
            part = reader.read(value)
            if isinstance(value, ast.Name) and isinstance(part, Unknown):
                part = Part(value.id, (), part.shape, part.dtype)
            try:
                target = reader.index(index)
            except ValueError:
                part = UNREAD
            if isinstance(part, Part):
                built = old.value if isinstance(old.value, Built) else Built(old.value.shape, old.value.dtype)
                result = Built(built.shape, built.dtype, (*built.steps, Step(target, part.name, part.index)))
        source = old.source if old is not None else self._source(statement)
        self._variables[name] = Variable(result, source)

    def _node(self, value: ast.expr) -> NodeCall | None:
        match value:
            case ast.Call(func=ast.Attribute(attr="make_node")) | ast.Call(func=ast.Name(id="make_node")):
                pass
            case _:
                return None
        reader = self._reader()
        arguments = [reader.read(each) for each in value.args]
        keywords = {str(each.arg): reader.read(each.value) for each in value.keywords}
        operator = arguments[0] if arguments else keywords.pop("op_type", None)
        inputs = arguments[1] if len(arguments) > 1 else keywords.pop("inputs", None)
        outputs = arguments[2] if len(arguments) > 2 else keywords.pop("outputs", None)
        for name in ("name", "doc_string"):
            keywords.pop(name, None)
        if not isinstance(operator, str) or not _are_names(inputs) or not _are_names(outputs):
            return None
        return NodeCall(operator, inputs, outputs, keywords, self._source(value))

    def _expect(self, call: ast.Call) -> Iterator[ExpectedCall]:
        keywords = {each.arg: each.value for each in call.keywords}
        node = call.args[0] if call.args else keywords.get("node")
        if not isinstance(node, ast.Name) or node.id not in self._nodes:
            return
        name = self._reader().read(keywords["name"]) if "name" in keywords else None
        yield ExpectedCall(
            self._nodes[node.id],
            self._listed(keywords.get("inputs")),
            self._listed(keywords.get("outputs")),
            name if isinstance(name, str) else None,
            dict(self._variables),
            self._source(call),
        )

    def _listed(self, node: ast.expr | None) -> list[str]:
        """The variables of a list; an expression in it becomes a variable of its own."""
        names = []
        for each in node.elts if isinstance(node, ast.List | ast.Tuple) else []:
            if isinstance(each, ast.Name):
                names.append(each.id)
            else:
                name = ast.unparse(each)
                self._variables[name] = Variable(self._reader().read(each), self._source(each))
                names.append(name)
        return names


def _printed_comments(lines: Sequence[Line]) -> dict[int, PrintedComment]:
    """Arrays printed in comments, by the number (from 1) of the next line that holds code."""
    found: dict[int, PrintedComment] = {}
    block: list[Line] = []
    for position, line in enumerate(lines, 1):
        text = line.text.strip()
        if text.startswith("#"):
            block.append(line)
            continue
        if block and text:
            comment = _read_comment(block)
            if comment is not None:
                found[position] = comment
            block = []
    return found


def _read_comment(block: list[Line]) -> PrintedComment | None:
    for position, line in enumerate(block):
        if line.text.strip().lstrip("# ").startswith("["):
            text = "\n".join(each.text.strip().lstrip("#") for each in block[position:])
            printed = read_printed(text)
            return None if printed is None else PrintedComment(printed, line.source())
    return None


def _keywords(value: ast.expr) -> dict[str, str]:
    """Keyword arguments of the computing calls that are plain variables: keyword to variable."""
    return {
        str(keyword.arg): keyword.value.id
        for node in ast.walk(value)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if isinstance(keyword.value, ast.Name)
    }


def _cast(value: ast.Call, reader: LiteralReader, found: Unknown) -> Unknown:
    """What is known of a computed value: the type that it is cast to."""
    if isinstance(value.func, ast.Attribute) and value.func.attr == "astype" and value.args:
        dtype = reader.read(value.args[0])
        return Unknown(None, dtype) if not isinstance(dtype, Unknown) else found
    return found


def _is_zeros(value: Any) -> bool:
    return isinstance(value, Built) or (hasattr(value, "any") and not value.any())


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
