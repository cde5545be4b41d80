"""Extents as documents write them, as parts of shape expressions: `3*hidden_size`, `D1, D2, ..., Dn`."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Sequence

from specs.language.evaluation import FUNCTIONS
from specs.language.expressions import read_tree
from specs.language.words import CONSTANTS
from specs.model.spec import Spec
from specs.model.statements import StatedShape, is_proposed

_RESERVED = frozenset({*FUNCTIONS, *CONSTANTS, "version", "outputs", "wanted", "place", *keyword.kwlist})
_NUMBERED = re.compile(r"([A-Za-z][A-Za-z_]*?)_?(\d+)")
_LAST = re.compile(r"([A-Za-z][A-Za-z_]*?)_?([nNkKrRqQmM]|\{[A-Za-z] ?- ?1\})")
_BY_X = re.compile(r"[A-Z](?:x[A-Z\d])+")
_WORDS = re.compile(r"[A-Za-z][\w ]*")
_ANY = ("...", "*")
_USUAL = {"D": "S", "d": "S", "k": "kernel", "S": "S_"}
"""What packs are called in declarations whose members documents call `D1, D2, ..., Dn`."""
_HEADS = {
    "hidden_size": ("num_heads", "head_size"),
    "v_hidden_size": ("num_heads", "head_size"),
    "kv_hidden_size": ("kv_num_heads", "head_size"),
}
"""Widths that lie side by side for each head: where an attribute is the number of heads, it divides them."""
_LONGEST = 200
_OR_ONE = "1 or "


class StatedExtents:
    """The extents of one operator version's documents, each name with one meaning in all shapes.

    `given` are attributes without a default that an extent is called by: an extent of its own stands for the
    attribute, which may be left out. `numbered` are packs whose members a document counts from the first.
    """

    def __init__(self, spec: Spec) -> None:
        self._attributes = spec.attributes
        self._inputs = {parameter.name for parameter in spec.inputs}
        shapes = (
            statement
            for statement in spec.statements
            if isinstance(statement, StatedShape) and not is_proposed(statement)
        )
        listed: Iterable[Sequence[str]] = (
            *(shape.extents for shape in shapes),
            *(parameter.shape for parameter in (*spec.inputs, *spec.outputs) if parameter.shape),
        )
        self._single = {extent for extents in listed for extent in extents}
        self.given: dict[str, str] = {}
        self.numbered: set[str] = set()

    def parts(self, extents: Sequence[str], of_output: bool) -> tuple[str, ...] | None:
        """The parts of a shape expression; None where an extent is not one that expressions have."""
        spread = [one for extent in extents for one in _apart(extent.strip())]
        if sum(each in _ANY for each in spread) > 1 or any(len(each) > _LONGEST for each in spread):
            return None
        found: list[str] = []
        at = 0
        while at < len(spread):
            if spread[at] in _ANY:
                stem, following = self._stem(found, spread[at + 1 :])
                found.append(f"*{stem}")
                at += 1 + following
                continue
            found.append(spread[at])
            at += 1
        parts = [each if each.startswith("*") else self._part(each, of_output) for each in found]
        return None if None in parts else tuple(part for part in parts if part is not None)

    def pack(self, wanted: str) -> str:
        """A name for a list of extents that no single extent, attribute or input has."""
        while wanted in self._single or wanted in self._attributes or wanted in self._inputs:
            wanted += "s"
        return wanted

    def _stem(self, before: list[str], after: Sequence[str]) -> tuple[str, int]:
        """The name of a pack; takes those before it that are numbered members of it out of the list.

        The second value is how many behind it are members, too: the `Dn` of `D1, D2, ..., Dn`.
        """
        last = _LAST.fullmatch(after[0]) if after else None
        first = _NUMBERED.fullmatch(before[-1]) if before else None
        stem = first[1] if first is not None else None
        if stem is None:
            return self.pack("S"), 0
        while before and (member := _NUMBERED.fullmatch(before[-1])) is not None and member[1] == stem:
            before.pop()
        pack = self.pack(_USUAL.get(stem, stem))
        self.numbered.add(pack)
        return pack, int(last is not None and last[1] == stem)

    def _part(self, text: str, of_output: bool) -> str | None:
        """`within(N)` for what a document writes as `1 or N`, or the extent."""
        extent = self._extent(text.removeprefix(_OR_ONE), of_output)
        return f"within({extent})" if extent is not None and text.startswith(_OR_ONE) else extent

    def _extent(self, text: str, of_output: bool) -> str | None:
        if _WORDS.fullmatch(text):
            text = text.replace(" ", "_")
        try:
            tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        try:
            return ast.unparse(self._read(tree, of_output))
        except ValueError:
            return None

    def _read(self, tree: ast.expr, of_output: bool) -> ast.expr:
        """The tree with the names of expressions; ValueError for what no extent is."""
        match tree:
            case ast.Constant(value=int() as value) if not isinstance(value, bool) and value >= 0:
                return tree
            case ast.Name(id=name):
                return self._name(name, of_output)
            case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.FloorDiv(), right):
                return ast.BinOp(self._read(left, of_output), tree.op, self._read(right, of_output))
            case ast.Call(ast.Name(id="floor" | "ceil" as word), [ast.BinOp(left, ast.Div(), right)], []):
                left, right = self._read(left, of_output), self._read(right, of_output)
                if word == "floor":
                    return ast.BinOp(left, ast.FloorDiv(), right)
                whole = ast.BinOp(ast.UnaryOp(ast.USub(), left), ast.FloorDiv(), right)
                return ast.UnaryOp(ast.USub(), whole)
            case ast.Call(ast.Name(id="max" | "min" as word), [_, _] as both, []):
                return ast.Call(ast.Name(word), [self._read(node, of_output) for node in both], [])
            case ast.Subscript(ast.Call(ast.Name(id="shape"), [ast.Name(id=name)], []), place):
                if name in self._inputs and ast.unparse(place) in ("-1", "-2"):
                    return tree
            case ast.Subscript(ast.Name(id=name), ast.Constant(value=int())):
                attribute = self._attributes.get(name)
                if attribute is not None and attribute.kind == "ints" and attribute.required:
                    return tree
        raise ValueError(ast.unparse(tree))

    def _name(self, name: str, of_output: bool) -> ast.expr:
        attribute = self._attributes.get(name)
        if attribute is not None and attribute.kind == "int":
            if attribute.required or attribute.default is not None:
                return ast.Name(name)
            self.given.setdefault(name, self._free(name))
            return ast.Name(self.given[name])
        if name in self._inputs and of_output:
            return read_tree(f"int(values({name})[0])")
        if attribute is not None or name in self._inputs or name in _RESERVED:
            return ast.Name(self._free(name))
        if name == "num_directions" and self._goes_both_ways():
            return ast.parse("2 if direction == 'bidirectional' else 1", mode="eval").body
        heads, of_one = _HEADS.get(name, ("", ""))
        if heads in self._attributes and self._attributes[heads].required:
            return ast.parse(f"{heads} * {of_one}", mode="eval").body
        return ast.Name(name)

    def _goes_both_ways(self) -> bool:
        direction = self._attributes.get("direction")
        values = direction.values if direction is not None else None
        return values is not None and "bidirectional" in values.values

    def _free(self, name: str) -> str:
        return f"{name}_" if f"{name}_" not in self._single else f"{name}__"


def _apart(extent: str) -> list[str]:
    """`NxD` as its two extents; `**` and the like stay what they are."""
    return extent.split("x") if _BY_X.fullmatch(extent) else [extent]
