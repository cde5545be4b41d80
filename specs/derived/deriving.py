"""The derived declaration of an operator version: everything that its facts alone say of its calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from opcert.vocabulary.errors import OpcertError
from specs.derived.derived_shapes import ShapeReader
from specs.derived.entries import KEYS, Collected, Derived, DerivedEntry, cited
from specs.derived.kinds import KindReader
from specs.derived.linked_parts import LinkedReader
from specs.derived.silent_parts import SilentReader
from specs.derived.silent_shapes import SilentShapes
from specs.derived.stated_extents import StatedExtents
from specs.language.expressions import parse, read_tree
from specs.language.shape_expressions import parse_shape
from specs.model.spec import Spec
from specs.model.statements import Multiple, Relevance, is_proposed


def derive(spec: Spec) -> Derived:
    """What the imported facts of a version come to, as entries of a spec.yaml, each with its lines.

    What people declared of it is not looked at.
    """
    found = Collected()
    extents = StatedExtents(spec)
    ShapeReader(spec, extents, found).read()
    KindReader(spec, extents, found).read()
    SilentShapes(spec, found).read()
    SilentReader(spec, found).read()
    LinkedReader(spec, found).read()
    _add_rules(spec, found)
    return Derived(
        spec.operator,
        {document.key: document.file for document in spec.documents},
        tuple(sorted(found.entries, key=lambda entry: KEYS.index(entry.path[0]))),
        tuple(found.missing),
        tuple(found.contradictions),
    )


def _add_rules(spec: Spec, found: Collected) -> None:
    """Add the entries of `constraints`."""
    for statement in spec.statements:
        if isinstance(statement, Relevance) and statement.effective_when and not is_proposed(statement):
            group, _, name = statement.about.partition(".")
            if group == "attributes" and _is_expression(spec, statement.effective_when):
                entry: dict[str, object] = {
                    "id": f"{name}_scope",
                    "attr": name,
                    "effective_when": statement.effective_when,
                }
                found.add(
                    "constraints",
                    f"{name}_scope",
                    {**entry, **cited(statement.origin)},
                    statement.origin,
                    alone=True,
                )
    for statement in spec.statements:
        if isinstance(statement, Multiple) and not is_proposed(statement):
            _add_multiple(spec, statement, found)
    for result in [derived_entry for derived_entry in found.entries if derived_entry.path[0] == "results"]:
        for at, quotient in enumerate(_quotients(result)):
            name = f"{result.path[1]}_divides" + (f"_{at}" if at else "")
            whole = f"({ast.unparse(quotient.left)}) % ({ast.unparse(quotient.right)}) == 0"
            entry = {"id": name, "require": whole, "else": "undefined"}
            found.add("constraints", name, {**entry, **cited(*result.origins)}, *result.origins, alone=True)


def _add_multiple(spec: Spec, statement: Multiple, found: Collected) -> None:
    """Add the rule that one number divides another, where shapes and attributes have both."""
    name = statement.about.rpartition(".")[2]
    what = statement.what or name
    shapes = (str(entry.value) for entry in found.entries if entry.path[0] == "shapes")
    known = {*spec.attributes}.union(*(parse_shape(shape).names for shape in shapes))
    try:
        names = parse(what).names | parse(statement.of).names
    except OpcertError:
        return
    if not names or not names <= known:
        return
    name = re.sub(r"\W+", "_", f"{what}_by_{name}" if statement.what else f"{name}_multiple")
    free = [
        each.name
        for each in spec.attributes.values()
        if each.name in names and each.default is None and not each.required
    ]
    entry: dict[str, object] = {"id": name}
    if free:
        entry["when"] = " and ".join(f"present({attribute})" for attribute in free)
    entry |= {"require": f"({what}) % ({statement.of}) == 0", "else": "undefined"}
    origin = statement.origin
    found.add("constraints", name, {**entry, **cited(origin)}, origin, alone=True)


def _is_expression(spec: Spec, text: str) -> bool:
    """Whether a condition is one over attributes and inputs of the version."""
    try:
        names = parse(text).names
    except OpcertError:
        return False
    return names <= {*spec.attributes, *(parameter.name for parameter in spec.inputs)}


def _quotients(result: DerivedEntry) -> Iterator[ast.BinOp]:
    """The divisions in the shape of an output, each once."""
    seen: set[str] = set()
    for node in ast.walk(read_tree(f"({result.value},)" if result.value != "()" else "()")):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and ast.unparse(node) not in seen:
            seen.add(ast.unparse(node))
            yield node
