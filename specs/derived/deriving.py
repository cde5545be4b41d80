"""The derived declaration of an operator version: everything that its facts alone say of its calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from opcert.vocabulary.errors import OpcertError
from specs.derived.derived_shapes import ShapeReader
from specs.derived.entries import KEYS, Collected, Derived, DerivedEntry, cited
from specs.derived.kinds import LEFT_OUT, KindReader
from specs.derived.related_shapes import SilentShapes
from specs.derived.silent_parts import SilentReader
from specs.derived.stated_extents import StatedExtents
from specs.language.expressions import parse, read_tree
from specs.language.shape_expressions import parse_shape
from specs.model.signature_parts import AttributeSpec, Origin
from specs.model.spec import Spec
from specs.model.statements import Multiple, OneOf, Range, Relevance, Required, SameLength, is_proposed
from specs.model.structures import forms_of


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
    _LinkedReader(spec, found).read()
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


_FEW = "3"
"""How long lists are of which no sentence says how long they are."""
_OF_OUTPUT = ("values_", "classlabels_")
"""How lists begin that say what comes out, whatever type goes in."""
_A_COLUMN_EACH = "a-column-each"
"""The rule that reads of lists that they have an element for each column."""
_LISTS = ("ints", "floats", "strings")
_PAIRS = (("key", "value"), ("past_key", "past_value"), ("cos_cache", "sin_cache"))
"""How optional inputs are called of which one means nothing without the other."""


class _LinkedReader:
    """Reads the statements of one operator version that are about several parts."""

    def __init__(self, spec: Spec, found: Collected) -> None:
        self._spec = spec
        self._found = found
        told = [statement for statement in spec.statements if not is_proposed(statement)]
        self._groups = [statement for statement in told if isinstance(statement, OneOf)]
        self._required = [statement for statement in told if isinstance(statement, Required)]
        self._alike = {
            statement.about.rpartition(".")[2]: statement
            for statement in told
            if isinstance(statement, SameLength)
        }
        self._lengths = {
            statement.about.rpartition(".")[2]: statement
            for statement in told
            if isinstance(statement, Range) and statement.origin.rule == _A_COLUMN_EACH
        }

    def read(self) -> None:
        """Add the kinds of lists, and the rules on what is given."""
        done: set[str] = set()
        for group in self._groups:
            lists = [name for name in group.names if self._is_list(name)]
            if len(lists) > 1 and not done.intersection(lists):
                done |= {*group.names}
                self._one_of(group, lists)
        for name in self._spec.attributes:
            if name not in done and self._is_list(name) and (name in self._alike or name in self._lengths):
                self._given(name)
        for statement in self._required:
            self._needed(statement)
        self._together()
        self._left_out_together()
        self._long_enough()
        self._side_by_side()

    def _together(self) -> None:
        """Optional inputs that mean nothing alone; state that comes out where some goes in."""
        free = {parameter.name for parameter in self._spec.inputs if parameter.option == "optional"}
        for one, other in _PAIRS:
            if {one, other} <= free:
                self._silent_rule(f"{one}_with_{other}", f"present({one}) == present({other})")
        for output in self._spec.outputs:
            past = output.name.replace("present", "past", 1)
            if output.option == "optional" and past != output.name and past in free:
                rule = f"present({past}) == ('{output.name}' in wanted)"
                self._silent_rule(f"{output.name}_with_{past}", rule)

    def _left_out_together(self) -> None:
        """Optional inputs that begin with one word are left out where one of them is: `segment_ids`."""
        families: dict[str, list[str]] = {}
        for parameter in self._spec.inputs:
            if parameter.option == "optional" and "_" in parameter.name:
                families.setdefault(parameter.name.partition("_")[0], []).append(parameter.name)
        kinds = {each.path[1]: each.value for each in self._found.entries if each.path[0] == "kinds"}
        for names in families.values():
            lacking = next((name for name in names if kinds.get(name) == LEFT_OUT), None)
            for name in names if lacking is not None else ():
                if kinds.get(name) != LEFT_OUT:
                    note = f"no sentence says what it is without {lacking}"
                    self._found.add("kinds", name, LEFT_OUT, note=note, alone=True)

    def _long_enough(self) -> None:
        """The greatest length is no less than the length: of `max_NAME`, and of a table of positions."""
        named = {name: parse_shape(shape).names for name, shape in self._plain_shapes()}
        known = frozenset[str]().union(*named.values())
        pairs = {(name, name.removeprefix("max_")) for name in known if name.startswith("max_")}
        pairs |= {
            (f"{name}_0", "sequence_length")
            for name, names in named.items()
            if name.startswith("position_embedding") and f"{name}_0" in names
        }
        for most, length in sorted(pairs):
            if length in known:
                rule = {"id": f"{most}_enough", "require": f"{most} >= {length}", "else": "undefined"}
                self._silent(rule, "a place for each position, by its name")

    def _side_by_side(self) -> None:
        """A hidden size is a whole number of heads, where no attribute says of how many."""
        known = frozenset[str]().union(*(parse_shape(shape).names for _, shape in self._plain_shapes()))
        if {"hidden_size", "head_size"} <= known:
            rule = {"id": "whole_heads", "require": "hidden_size % head_size == 0", "else": "undefined"}
            self._silent(rule, "heads lie side by side in a hidden size")

    def _plain_shapes(self) -> Iterator[tuple[str, str]]:
        """The shapes of what is given in every call, whose extents no condition chooses."""
        single = {parameter.name for parameter in self._spec.inputs if parameter.option == "single"}
        for entry in self._found.entries:
            if entry.path[0] == "shapes" and entry.path[1] in single and " if " not in str(entry.value):
                yield entry.path[1], str(entry.value)

    def _silent_rule(self, name: str, require: str) -> None:
        rule = {"id": name, "require": require, "else": "undefined"}
        self._silent(rule, "no sentence says what one is without the other")

    def _silent(self, rule: Mapping[str, str], why: str) -> None:
        self._found.add("constraints", rule["id"], {**rule, "why": why}, note=why, alone=True)

    def _needed(self, statement: Required) -> None:
        """An input that an output needs is given in every call; others where their condition says so."""
        name = statement.about.rpartition(".")[2]
        given = f"present({name})"
        if statement.when is None:
            require = given
        elif statement.exactly:
            require = f"{given} == ({statement.when})"
        else:
            require = f"{given} or not ({statement.when})"
        self._rule(f"{name}_required", require, statement.origin)

    def _is_list(self, name: str) -> bool:
        attribute = self._spec.attributes.get(name)
        return attribute is not None and attribute.kind in _LISTS

    def _one_of(self, group: OneOf, lists: Sequence[str]) -> None:
        conditions = dict(self._conditions(lists))
        for name in lists:
            when = f", when={conditions[name]}" if name in conditions else ""
            self._list(name, f"constant('listed', length={self._length(name)}{when})", group.origin)
        for name in group.names:
            if name not in lists and not self._has_default(name):
                self._found.add("kinds", name, LEFT_OUT, group.origin, alone=True)
        listed = ", ".join(f"present({name})" for name in lists)
        self._rule(f"one_of_{lists[0]}", f"sum([{listed}]) == 1", group.origin)

    def _conditions(self, lists: Sequence[str]) -> Iterator[tuple[str, str]]:
        """When each list is the one: by the type of what goes in, or where those before it are left out."""
        first = self._spec.inputs[0]
        types = {*self._spec.types_of(first)}
        kinds = [self._attribute(name).kind for name in lists]
        by_type = not any(name.startswith(_OF_OUTPUT) for name in lists)
        forms = forms_of(self._spec, first)
        is_map = all("map(" in form for form in forms)
        if by_type and (is_map or len(types) > 1) and forms:
            typed = first.name if not is_map else f"{first.name}[0]"
            for name, kind in zip(lists, kinds, strict=True):
                yield name, _fits(f"element_type({typed})", str(kind), "floats" in kinds)
            return
        for at, name in enumerate(lists[1:], start=1):
            yield name, f"not ({' or '.join(f'present({before})' for before in lists[:at])})"

    def _given(self, name: str) -> None:
        """The list is given in every call: what comes out without it, no sentence says."""
        linked = self._alike.get(name) or self._lengths[name]
        for other in (name, self._alike[name].as_) if name in self._alike else (name,):
            if self._is_list(other) and not self._attribute(other).required:
                self._list(other, f"constant('listed', length={self._length(other)})", linked.origin)
                self._rule(f"{other}_given", f"present({other})", linked.origin)

    def _length(self, name: str) -> str:
        """How long a list is: one for all of them where a sentence allows that."""
        told = self._lengths.get(name)
        return told.at_least if told is not None and told.at_least is not None else _FEW

    def _list(self, name: str, call: str, origin: Origin) -> None:
        self._found.add("kinds", name, call, origin, alone=True)
        about = f"kinds.{name}"
        self._found.missing[:] = [missing for missing in self._found.missing if missing.about != about]

    def _rule(self, name: str, require: str, origin: Origin) -> None:
        if any(entry.path == ("constraints", name) for entry in self._found.entries):
            return
        rule = {"id": name, "require": require, "else": "undefined", **cited(origin)}
        self._found.add("constraints", name, rule, origin, alone=True)

    def _attribute(self, name: str) -> AttributeSpec:
        return self._spec.attributes[name]

    def _has_default(self, name: str) -> bool:
        return self._attribute(name).default is not None


def _fits(element_type: str, kind: str, has_floats: bool) -> str:
    """Whether a list has keys of an element type; where there is no list of floats, one of integers has."""
    if kind == "strings":
        return f"{element_type} == 'string'"
    if kind == "floats":
        return f"{element_type} == 'float'"
    return f"{element_type} == 'int64'" if has_floats else f"{element_type} != 'string'"
