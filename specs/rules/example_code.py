"""Rules on the variables of example code: what is used and never assigned, what one call gives twice."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import islice

from specs.documents.pages.pages import Block, Version
from specs.documents.text.documents import Line
from specs.rules import Told, check

MOST_LINES = 3_000
MOST_NAMES = 500
_KNOWN = frozenset(dir(builtins)) | {
    "np", "numpy", "onnx", "helper", "expect", "tf", "math", "ml_dtypes", "TensorProto", "Any", "self",
    "make_node", "make_tensor", "make_graph", "make_model", "make_opsetid", "numpy_helper", "parser", "sys",
}  # fmt: skip
_INTRODUCED = re.compile(r"#[^'\"\n]{0,40}['\"`](\w+)['\"`] (?:is|has|:|=)")
_CALL = re.compile(r"(?<![\w.])(?:tf\.)?(?:\w+\.)?\w+\((?P<arguments>[^()#=\n]{1,200})\)\s*(?:==>|$)")
_WORD = re.compile(r"(?<![\w.'\"])[a-z_]\w*(?![\w(.'\"])")


@check("warning", ("onnx",))
def example_wrong_variable(version: Version) -> Iterator[Told]:
    """An example uses a variable that it never assigns, or one where another is meant.

    One finding for each name that one example uses and never assigns, and for each call of `expect`
    that gives one variable as input and output while another one is assigned and never used.
    """
    given: set[str] = set()
    found: dict[str, list[Told]] = {}
    for block in version.blocks:
        if not block.title or len(block.lines) > MOST_LINES:
            continue
        try:
            tree = ast.parse(textwrap.dedent("\n".join(line.text for line in block.lines)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        stored = _assigned(tree, names)
        given |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        called |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        told: set[str] = set()
        for node in names:
            if node.id in stored | given | _KNOWN | told or id(node) in called or not _is_plain(node.id):
                continue
            told.add(node.id)
            message = f"example {block.title} uses {node.id}, which it never assigns"
            line = _line(block, node)
            found.setdefault(node.id, []).append(Told(line.source(), message, line.text.strip()[:120]))
        if not told:
            yield from _given_twice(block, tree, names)
    # What several examples use without assigning it belongs to the file that they were cut out of.
    yield from (places[0] for places in found.values() if len(places) == 1)


def _is_plain(name: str) -> bool:
    """Whether a name is a variable's: constants and classes are of modules that pages do not show."""
    return name[0].islower() and not name.startswith("_")


def _assigned(tree: ast.AST, names: Sequence[ast.Name]) -> set[str]:
    found = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return found


def _line(block: Block, node: ast.expr) -> Line:
    return block.lines[min(node.lineno, len(block.lines)) - 1]


def _given_twice(block: Block, tree: ast.AST, names: Sequence[ast.Name]) -> Iterator[Told]:
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "expect"
    ]
    above = 0
    for call in sorted(calls, key=lambda node: node.lineno):
        end = call.end_lineno or call.lineno
        here = [name for name in names if above < name.lineno <= end]
        above = end
        used = {name.id for name in here if isinstance(name.ctx, ast.Load)}
        unused = [name.id for name in here if isinstance(name.ctx, ast.Store) and name.id not in used]
        lists = {keyword.arg: keyword.value for keyword in call.keywords}
        inputs, outputs = (_names(lists.get(which)) for which in ("inputs", "outputs"))
        both = [name for name in outputs if name in inputs]
        if both and unused:
            message = f"example {block.title} expects its input {both[0]} as its output"
            line = _line(block, lists["outputs"])
            yield Told(line.source(), message, f"{unused[0]} is assigned and never used")


def _names(value: ast.expr | None) -> list[str]:
    items = value.elts if isinstance(value, ast.List | ast.Tuple) else []
    return [item.id for item in items if isinstance(item, ast.Name)]


@check("warning", ("tensorflow",))
def example_unnamed_variable(version: Version) -> Iterator[Told]:
    """An example calls the operator with a name that its comments do not introduce.

    One finding for each block of code of which comments introduce a name that no call uses, and a call uses
    one that nothing introduces.
    """
    parts = {*version.spec.attributes, *(each.name for each in version.spec.inputs)}
    introduced_before: set[str] = set()
    for block in version.blocks:
        introduced: dict[str, Line] = {}
        used: dict[str, Line] = {}
        for line in block.lines[:MOST_LINES]:
            for match in islice(_INTRODUCED.finditer(line.text), MOST_NAMES):
                introduced.setdefault(match[1], line)
            for call in islice(_CALL.finditer(line.text), MOST_NAMES):
                for word in _WORD.findall(call["arguments"]):
                    used.setdefault(word, line)
        unknown = {
            name: line
            for name, line in used.items()
            if name not in parts | introduced.keys() | introduced_before | _KNOWN
        }
        idle = [name for name in introduced if name not in used and not _is_mentioned(name, block)]
        if unknown and idle:
            name, line = next(iter(unknown.items()))
            place = introduced[idle[0]]
            message = f"an example introduces {idle[0]} and goes on with {name}"
            yield Told(place.source(), message, f"line {line.number}: {line.text.strip()[:120]}")
        introduced_before |= introduced.keys()


def _is_mentioned(name: str, block: Block) -> bool:
    return sum(len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", line.text)) for line in block.lines) > 1
