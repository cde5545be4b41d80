"""Shapes that documents alone give inputs by their names: lists, single numbers, one number for each axis."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.derived.entries import Collected
from specs.derived.related_shapes import ANY_SHAPE, word_of
from specs.model.signature_parts import Origin, ParameterSpec
from specs.model.spec import Spec
from specs.model.statements import Rank

_LIST = re.compile(r"(?:.*_)?(?:shape|sizes|dims|strides|pads|repeats|multiples|starts|ends|steps|splits)")
"""How integers are called that stand in a list: of one axis."""
_ONE_NUMBER = re.compile(r"(?:.*_)?(?:length|count|depth|step|width|height|rate)|(?:num|max|min)_\w+|[kn]")
"""How integers are called that are one number."""
_OF_SLICE = re.compile(r"(?:begin|starts?|ends?|stops?|steps?|strides?|axes)")
"""How lists are called that say together, one element each, what is cut out."""
_ENDS = re.compile(r"(?:pads|crops)_(?:begin|end)")
"""How lists are called that have an element for each axis of the first input, and blocks beside them."""
_OF_PLACES = re.compile(r"(?:Gather|Scatter)N[Dd]\w*")
"""What operators are called whose indices have an index for each of some axes in a row."""
_LAST_EXTENT = re.compile(r"(?:shape\((\w+)\)|\b(\w+))\[-1\]")
_PUT = re.compile(r"rank\((?P<of>\w+)\) \+ rank\((?P<data>\w+)\) - shape\((?P=of)\)\[-1\] - 1")
"""The rank of what is put in places of `data` that the last axis of `of` says."""


class SilentShapes:
    """Adds shapes for documents alone, where no sentence says one, or how long a list is."""

    def __init__(self, spec: Spec, found: Collected) -> None:
        self._spec = spec
        self._found = found
        entries = [entry for entry in found.entries if entry.path[0] == "shapes"]
        self._shapes = {entry.path[1]: str(entry.value) for entry in entries}
        self._notes = {entry.path[1]: entry.note for entry in entries}

    def read(self) -> None:
        """Add the entries."""
        for parameter in self._spec.inputs[1:]:
            self._by_name(parameter)
        self._cut_out_together()
        self._for_each_axis()
        self._places()
        self._put_in_places()

    def _places(self) -> None:
        """The last axis of places, by an extent that a rank subtracts or by the operator's name."""
        named = "indices" if _OF_PLACES.fullmatch(self._spec.operator.name) else None
        if named in self._shapes:
            self._place(str(named))
        for statement in self._spec.statements:
            told = _LAST_EXTENT.findall(getattr(statement, "least", None) or "")
            for name in sorted({one or other for one, other in told} & self._shapes.keys()):
                if isinstance(statement, Rank) and name != self._spec.inputs[0].name:
                    self._place(name, statement.origin)

    def _place(self, name: str, *origins: Origin) -> None:
        pack = self._shapes[name].removeprefix("*")
        if pack.isidentifier() and pack != self._shapes[name]:
            note = "as many axes as its last one has places, of which one is the plainest"
            self._reshape(name, f"*{pack}, 1", note, *origins)
            self._few(pack, note, *origins)

    def _put_in_places(self) -> None:
        """The shape of what is put in such places of another input, along its first axis."""
        for statement in self._spec.statements:
            put = statement.about.removeprefix("inputs.")
            told = _PUT.fullmatch(getattr(statement, "least", None) or "")
            if told is None or put not in self._shapes or not isinstance(statement, Rank):
                continue
            places, pack = self._shapes[told["of"]], self._shapes[told["data"]].removeprefix("*")
            if pack.isidentifier() and places.endswith(", 1"):
                note = "each place has one index, of the first axis"
                self._reshape(told["data"], f"{word_of(told['data'])}_0, *{pack}", note, statement.origin)
                shape = f"{places.removesuffix(', 1')}, *{pack}"
                self._reshape(put, shape, note, statement.origin)
                self._few(pack, note, statement.origin)

    def _by_name(self, parameter: ParameterSpec) -> None:
        """A list, or one number, by the name of integers that are no data."""
        name, types = parameter.name, self._spec.types_of(parameter)
        whole = bool(types) and all(ELEMENT_TYPES[each].is_integer for each in types)
        if not whole or parameter.option != "single" or self._notes[name] != ANY_SHAPE:
            return
        if _LIST.fullmatch(name):
            self._reshape(name, f"{word_of(name)}_0", "no sentence says its shape: a list by its name")
        elif _ONE_NUMBER.fullmatch(name):
            self._reshape(name, "()", "no sentence says its shape: one number by its name")

    def _cut_out_together(self) -> None:
        """One element of each of the lists that say what is cut out, of one axis."""
        lists = [name for name in self._own_vectors() if _OF_SLICE.fullmatch(name)]
        for name in lists if len(lists) > 1 else ():
            self._reshape(name, "1", "an element for each axis that is cut, of which one is the plainest")

    def _for_each_axis(self) -> None:
        """The rank of the first input for lists that have an element for each of its axes."""
        first = next(iter(self._shapes.values()), "")
        pack = first.removeprefix("*")
        vectors = [name for name, shape in self._shapes.items() if shape.isidentifier()]
        ends = [name for name in vectors if _ENDS.fullmatch(name)]
        if first != pack and pack.isidentifier() and ends:
            for name in (*ends, *(each for each in vectors if each == "block_shape")):
                self._reshape(name, f"len({pack})", "a number for each axis, by its name")

    def _own_vectors(self) -> Iterator[str]:
        """The inputs of one axis of which no sentence says how long it is."""
        return (name for name, shape in self._shapes.items() if shape == f"{word_of(name)}_0")

    def _few(self, pack: str, note: str, *origins: Origin) -> None:
        """No more than two axes in a pack, behind those that have a name."""
        self._found.add("extents", pack, "0..2", *origins, note=note, alone=True)

    def _reshape(self, name: str, shape: str, note: str, *origins: Origin) -> None:
        self._shapes[name] = shape
        self._found.add("shapes", name, shape, *origins, note=note, alone=True)
