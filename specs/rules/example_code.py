"""Rules on the variables of example code: what is used and never assigned, what one call gives twice."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Iterator, Sequence

from specs.documents.pages.pages import Block, Version
from specs.documents.text.documents import Line
from specs.rules import Told, check

MOST_LINES = 3_000
_KNOWN = frozenset(dir(builtins)) | {
    "np", "numpy", "onnx", "helper", "expect", "tf", "math", "ml_dtypes", "TensorProto", "Any", "self",
    "make_node", "make_tensor", "make_graph", "make_model", "make_opsetid", "numpy_helper", "parser", "sys",
}  # fmt: skip
MOST_VALUE_LINES = 60
_WRITTEN = re.compile(r"(?:['\"`]\w+['\"`] (?:is|has|=)|(?<![\w.])\w+ ?=|==>) *(?P<value>\[.*)$")
_REMARK = re.compile(r"(?:<--|//).*$")
_GOES_ON = re.compile(r"[\s,]*[\[\]\d][\[\]\d\s,.-]*")


@check("warning", ("onnx",))
def example_wrong_variable(version: Version) -> Iterator[Told]:
    """An example uses a variable that it never assigns, or one where another is meant.

    One finding for each name that one example uses and never assigns, and for each call of `expect`
    that gives one variable as input and output while another one is assigned and never used, or has the
    name that the node gives its output.
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
        # What is gone through and stands nowhere is a list of the file that the example was cut out of.
        called |= {id(node.iter) for node in ast.walk(tree) if isinstance(node, ast.For | ast.comprehension)}
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
        meant = [name for name in _outputs_of_node(tree, call) if name not in outputs and name not in inputs]
        named = [name.id for name in here if isinstance(name.ctx, ast.Store) and name.id in meant]
        if both and (unused or named):
            message = f"example {block.title} expects its input {both[0]} as its output"
            line = _line(block, lists["outputs"])
            evidence = f"{unused[0]} is assigned and never used" if unused else f"the node makes {named[0]}"
            yield Told(line.source(), message, evidence)


def _outputs_of_node(tree: ast.AST, before: ast.Call) -> list[str]:
    """The names that the last node made before a call gives its outputs."""
    found: tuple[int, list[str]] = (0, [])
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="make_node"), keywords=keywords) if (
                found[0] < node.lineno < before.lineno
            ):
                lists = [keyword.value for keyword in keywords if keyword.arg == "outputs"]
                items = lists[0].elts if lists and isinstance(lists[0], ast.List) else []
                texts = [item.value for item in items if isinstance(item, ast.Constant)]
                found = (node.lineno, [text for text in texts if isinstance(text, str)])
    return found[1]


def _names(value: ast.expr | None) -> list[str]:
    items = value.elts if isinstance(value, ast.List | ast.Tuple) else []
    return [item.id for item in items if isinstance(item, ast.Name)]


@check("warning", ("tensorflow", "openvino"))
def example_brackets(version: Version) -> Iterator[Told]:
    """A value that an example writes has a bracket too few or too many.

    One finding for each value behind a name, "is", "=" or an arrow whose square brackets do not pair; Python
    itself reads the examples of ONNX.
    """
    for block in version.blocks:
        if block.language.lower() in ("xml", "html") or len(block.lines) > MOST_LINES:
            continue
        for number, line in enumerate(block.lines):
            match = _WRITTEN.search(line.text)
            wrong = _wrong_bracket(block.lines[number : number + MOST_VALUE_LINES], match) if match else None
            if match and wrong:
                yield Told(line.source(match.start("value")), wrong, line.text.strip()[:120])


def _wrong_bracket(lines: Sequence[Line], match: re.Match[str]) -> str | None:
    """What is wrong with the brackets of a value that begins in the first line; None where they pair."""
    depth = 0
    for number, line in enumerate(lines):
        text = _REMARK.sub("", match["value"] if number == 0 else line.text.strip().lstrip("#"))
        if number and _WRITTEN.search(line.text):
            break
        for place, letter in enumerate(text):
            depth += (letter == "[") - (letter == "]")
            if depth == 0 and letter == "]":
                return _behind(text[place + 1 :])
    return "a bracket of the value is never closed"


def _behind(rest: str) -> str | None:
    """What is wrong where a value goes on behind its last bracket."""
    more = _GOES_ON.match(rest)
    closed = more is not None and more[0].count("]") > more[0].count("[")
    return "the value closes a bracket that it never opened" if closed else None
