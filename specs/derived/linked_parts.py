"""Parts that belong together, for documents alone: one of several, of one length, needed by another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from specs.derived.entries import Collected, cited
from specs.derived.kinds import LEFT_OUT
from specs.language.shape_expressions import parse_shape
from specs.model.signature_parts import AttributeSpec, Origin
from specs.model.spec import Spec
from specs.model.statements import OneOf, Range, Required, SameLength, is_proposed
from specs.model.structures import forms_of

_FEW = "3"
"""How long lists are of which no sentence says how long they are."""
_OF_OUTPUT = ("values_", "classlabels_")
"""How lists begin that say what comes out, whatever type goes in."""
_A_COLUMN_EACH = "a-column-each"
"""The rule that reads of lists that they have an element for each column."""
_LISTS = ("ints", "floats", "strings")
_PAIRS = (("key", "value"), ("past_key", "past_value"), ("cos_cache", "sin_cache"))
"""How optional inputs are called of which one means nothing without the other."""


class LinkedReader:
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
