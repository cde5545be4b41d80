"""Every literal expected output of Operators.md is a fact of its operator, or rejected with a finding.

What a literal output is, and what it holds, is found here by a walk over the syntax trees of its own, which
shares no code with the importer.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from specs.model.spec import Spec, Value
from tests.documents.gathering import Documents
from tests.specs.read_pages import read_specs

OUTPUTS, CALLS, EXAMPLES = 259, 220, 183
"""Outputs that are written down, the calls of `expect` that name them, the examples that hold these calls."""
REJECTED = Counter(
    {
        ("ConstantOfShape", "example-not-read"): 3,  # the attribute is a tensor
        ("Dropout", "example-of-other-version"): 1,
        ("Gradient", "example-not-read"): 3,  # a whole model
        ("Identity", "example-of-other-version"): 1,
        ("Loop", "example-of-other-version"): 2,
        ("Scan", "example-not-read"): 9,  # a body in ONNX's textual form
        ("SequenceMap", "example-not-read"): 1,  # a body
        ("Split", "example-of-other-version"): 17,
        (
            "TfIdfVectorizer",
            "example-not-read",
        ): 7,  # the node is made by a helper that the page does not show
        ("Upsample", "example-not-read"): 1,  # deprecated: the page does not name its inputs
    }
)
"""The literal outputs that are no facts, by operator and finding; the evidence names the line of the call."""
CONSTRUCTORS = frozenset(
    ["array", "asarray", "zeros", "ones", "full", "float32", "float64", "int32", "int64"]
)
TYPE_NAMES = frozenset(["object", "bool", "float", "int", "str"])


@dataclass(frozen=True)
class Block:
    """A code fence of an operator's examples; `line` is that of its first line of code."""

    operator: str
    title: int
    line: int
    code: str


@dataclass(frozen=True)
class Literal:
    """An expected output that is written down: the lines of its value and of its call, and its elements."""

    block: Block
    value_line: int
    call_line: int
    elements: tuple[Any, ...]


def _blocks(text: str) -> Iterator[Block]:
    operator, title = "", 0
    code: list[str] | None = None
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        if code is not None and line.startswith("```"):
            yield Block(operator, title, start, "\n".join(code))
            code = None
        elif code is not None:
            code.append(line)
        elif line.startswith("```python"):
            code, start = [], number + 1
        elif heading := re.match(r"### .*\*\*([\w.]+)\*\*", line):
            operator = heading[1].rpartition(".")[2]
        elif line.startswith("<summary>"):
            title = number


class _Walk:
    """The assignments of one block, line by line, as if it ran straight through."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._values: dict[str, tuple[int, ast.expr | None]] = {}

    def literals(self) -> Iterator[Literal]:
        events: list[tuple[int, int, ast.stmt | ast.Call]] = []
        for node in ast.walk(ast.parse(self._block.code)):
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For):
                events.append((node.lineno, 0, node))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "expect":
                events.append((node.lineno, 1, node))
        for line, _, node in sorted(events, key=lambda event: event[:2]):
            if isinstance(node, ast.Call):
                yield from self._expected(node, line)
            else:
                self._note(node)

    def _note(self, node: ast.stmt | ast.Call) -> None:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            self._values[node.targets[0].id] = (node.lineno, node.value)
            return
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
        for target in targets:
            for each in ast.walk(target):
                if isinstance(each, ast.Name):
                    self._values[each.id] = (target.lineno, None)

    def _expected(self, call: ast.Call, line: int) -> Iterator[Literal]:
        given = next((keyword.value for keyword in call.keywords if keyword.arg == "outputs"), None)
        items: list[tuple[int, ast.expr | None]] = []
        if isinstance(given, ast.List):
            items = [self._resolve(elt) for elt in given.elts]
        elif isinstance(given, ast.Name):
            place, value = self._resolve(given)
            items = [(place, elt) for elt in value.elts] if isinstance(value, ast.List) else []
        first = self._block.line - 1
        for place, value in items:
            elements = None if value is None else self._elements(value)
            if elements is not None:
                yield Literal(self._block, first + place, first + line, tuple(elements))

    def _resolve(self, node: ast.expr) -> tuple[int, ast.expr | None]:
        if isinstance(node, ast.Name):
            return self._values.get(node.id, (node.lineno, None))
        return node.lineno, node

    def _elements(self, node: ast.expr) -> list[Any] | None:
        """The elements that an expression writes down, flattened; None where it computes them."""
        match node:
            case ast.Constant(value=value):
                return None if value is None else [value]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = self._elements(operand)
                return None if found is None else [-each for each in found]
            case ast.Attribute(value=ast.Name(id="np"), attr="nan" | "inf" as name):
                return [getattr(math, name)]
            case ast.List(elts=items) | ast.Tuple(elts=items):
                parts = [self._elements(item) for item in items]
                return None if None in parts else [each for part in parts for each in part or ()]
            case ast.Name(id=name):
                assigned = self._values.get(name, (0, None))[1]
                return (
                    None if assigned is None or isinstance(assigned, ast.Name) else self._elements(assigned)
                )
            case ast.Call(func=ast.Attribute(value=target, attr="astype" | "reshape" | "flatten")):
                plain = all(self._is_plain(argument) for argument in node.args)
                return self._elements(target) if plain and not isinstance(target, ast.Name) else None
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name)) if name in CONSTRUCTORS:
                return self._constructed(name, node)
            case ast.Call(func=ast.Name(id="make_tensor"), args=[_, _, _, values]):
                return self._elements(values)
        return None

    def _constructed(self, name: str, node: ast.Call) -> list[Any] | None:
        if not node.args:
            return None
        if name not in ("zeros", "ones", "full"):
            return self._elements(node.args[0])
        shape = self._elements(node.args[0])
        fill = (
            self._elements(node.args[1]) if name == "full" and len(node.args) > 1 else [int(name == "ones")]
        )
        return None if shape is None or fill is None else fill * math.prod(shape)

    def _is_plain(self, node: ast.expr) -> bool:
        named = isinstance(node, ast.Name) and node.id in TYPE_NAMES
        typed = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np"
        return named or typed or self._elements(node) is not None


@cache
def _literals_of(page: Path) -> list[Literal]:
    blocks = list(_blocks(page.read_text(encoding="utf-8")))
    return [literal for block in blocks for literal in _Walk(block).literals()]


@pytest.fixture
def literals(documents: Documents) -> list[Literal]:
    return _literals_of(documents.find("onnx/Operators.md"))


@pytest.fixture
def specs(documents: Documents) -> dict[str, Spec]:
    page = documents.find("onnx/Operators.md")
    return {spec.operator.name: spec for spec in read_specs(page)}


def _elements_of(value: Value) -> list[Any] | None:
    if value.items is not None:
        parts = [None if item is None else _elements_of(item) for item in value.items]
        return None if None in parts else [each for part in parts for each in part or ()]
    return None if value.data is None else list(value.data)


def _facts(specs: Mapping[str, Spec]) -> dict[tuple[str, int], list[Value]]:
    """The values of all outputs by operator and line."""
    facts: dict[tuple[str, int], list[Value]] = {}
    for name, spec in specs.items():
        for example in spec.examples:
            for _, value in example.outputs:
                if value is not None and value.source is not None:
                    facts.setdefault((name, value.source.line), []).append(value)
    return facts


def _same(stated: tuple[Any, ...], found: list[Any]) -> bool:
    """Whether a fact holds what the text states, in the number type of the fact."""
    return len(stated) == len(found) and all(
        left == right
        if isinstance(left, str) or isinstance(right, str)
        else math.isclose(left, right, rel_tol=1e-3, abs_tol=1e-6) or (left != left and right != right)
        for left, right in zip(stated, found, strict=True)
    )


def _rejected(specs: Mapping[str, Spec], each: Literal) -> str | None:
    """The reason that a finding gives for not taking the example of a literal output."""
    last = each.block.line + each.block.code.count("\n")
    for finding in specs[each.block.operator].findings:
        if finding.action != "rejected" or not finding.code.startswith(("example-", "arity-")):
            continue
        here = each.block.title <= finding.source.line <= last
        if (here or finding.code == "example-of-other-version") and re.search(
            rf"\b{each.call_line}\b|is deprecated", finding.evidence
        ):
            return finding.code
    return None


def test_there_are_literal_outputs(literals: list[Literal]) -> None:
    """The walk finds what a person counts: calls, outputs, and the examples that they stand in."""
    assert len(literals) == OUTPUTS
    assert len({(literal.block.line, literal.call_line) for literal in literals}) == CALLS
    assert len({literal.block.line for literal in literals}) == EXAMPLES


def test_every_literal_output_is_a_fact_or_rejected(literals: list[Literal], specs: dict[str, Spec]) -> None:
    facts = _facts(specs)
    missing, wrong = [], []
    rejected: Counter[tuple[str, str]] = Counter()
    taken = 0
    for literal in literals:
        where = f"{literal.block.operator} line {literal.value_line}, called at {literal.call_line}"
        values = facts.get((literal.block.operator, literal.value_line), [])
        found = [_elements_of(value) for value in values if value.relation is None]
        stated = [data for data in found if data is not None]
        reason = _rejected(specs, literal)
        if any(_same(literal.elements, data) for data in stated):
            taken += 1
        elif stated:
            wrong.append(f"{where}: {literal.elements} became {stated}")
        elif reason is not None:
            rejected[literal.block.operator, reason] += 1
        else:
            missing.append(where)
    assert wrong == []
    assert missing == []
    assert rejected == REJECTED
    assert taken == OUTPUTS - REJECTED.total()
