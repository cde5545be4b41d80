"""Shapes of inputs out of those of others, and out of silence: the same, one rank, broadcast, by names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.derived.entries import Collected
from specs.derived.stated_extents import StatedExtents
from specs.language.shape_expressions import WORDS, parse_shape
from specs.model.signature_parts import Origin, ParameterSpec
from specs.model.spec import Spec
from specs.model.statements import Broadcast, Rank, SameShape, Statement

PACK = "S"
_BESIDE = re.compile(r"_(?:scale|zero_point)$|^scale_")
"""How inputs are called that say how another tensor is quantised."""
_RANK_OF = re.compile(r"rank\((\w+)\)")
_PLAIN_PACK = re.compile(r"\*[A-Za-z_]\w*")
ONE_FOR_ALL = "no sentence says: one for the whole tensor"
ANY_SHAPE = "no sentence says: any shape"
PLAIN_SCALE = "real(0.125, 2)"
"""The kind of a scale: it is greater than 0, and no sentence says how great."""


@dataclass(frozen=True)
class FoundShape:
    """The shape expression of an input or output, and where it stands; `bounds` are those of its pack's rank.

    One that is there `by_rank` alone says less than another tensor whose shape or rank it has.
    """

    parts: tuple[str, ...]
    origins: tuple[Origin, ...] = ()
    note: str = ""
    bounds: tuple[str, str] | None = None
    by_rank: bool = False

    @property
    def text(self) -> str:
        return ", ".join(self.parts) if self.parts else "()"


class RelatedShapes:
    """Reads what the statements of one operator version say of inputs together.

    Methods put the shapes that they find to those `found` before, by the names of inputs.
    """

    def __init__(self, spec: Spec, extents: StatedExtents, about: Mapping[str, Sequence[Statement]]) -> None:
        self._spec = spec
        self._extents = extents
        self._about = about

    def of_same_rank(self, parameter: ParameterSpec, found: Mapping[str, FoundShape]) -> FoundShape | None:
        """Extents within those of another input that has as many axes, where a sentence says so."""
        for statement in self._about.get(f"inputs.{parameter.name}", ()):
            if isinstance(statement, Rank) and not statement.when and statement.least == statement.most:
                of = _RANK_OF.fullmatch(statement.least or "")
                other = found.get(of[1]) if of is not None else None
                if other is not None and _PLAIN_PACK.fullmatch(other.text):
                    return FoundShape((f"*upto({other.text})",), (statement.origin,))
        return None

    def own_pack(self, parameter: ParameterSpec) -> str:
        """The pack that inputs of one type share in silence: that of the first is `S`."""
        first = self._spec.inputs[0] if self._spec.inputs else parameter
        return self._extents.pack(
            PACK if parameter.type == first.type else f"{PACK}_{word_of(parameter.name)}"
        )

    def broadcast_each_other(self, found: dict[str, FoundShape]) -> None:
        """`broadcast(*S)` for inputs that are broadcast to each other and have no shape of their own.

        So are both inputs of an operator that its document calls a binary one.
        """
        names = [parameter.name for parameter in self._spec.inputs]
        if self.is_called("binary") and len(names) == 2 and not found:
            note = f"an operator of the class {self._spec.category}"
            for name in names:
                found[name] = FoundShape((f"*broadcast(*{self._extents.pack(PACK)})",), (), note)
        for statement in self._statements(Broadcast):
            listed = [name for name in statement.inputs or names if name in names]
            if statement.to is None and len(listed) and not any(name in found for name in listed):
                pack = self._extents.pack(PACK)
                for name in listed:
                    found[name] = FoundShape((f"*broadcast(*{pack})",), (statement.origin,))
            elif statement.to is None and len(listed) > 1 and all(name in found for name in listed):
                self._broadcast_in_front(listed, statement.origin, found)

    def _broadcast_in_front(self, names: Sequence[str], origin: Origin, found: dict[str, FoundShape]) -> None:
        """`*broadcast(*S), M, K` for inputs whose shapes all begin with one and the same pack."""
        packs = {pack for name in names for pack in parse_shape(found[name].text).starred}
        if len(packs) != 1 or any("*broadcast(" in found[name].text for name in names):
            return
        pack = packs.pop()
        for name in names:
            shape = found[name]
            parts = tuple(re.sub(rf"\*{pack}\b", f"*broadcast(*{pack})", part) for part in shape.parts)
            found[name] = replace(shape, parts=parts, origins=(*shape.origins, origin))

    def broadcast_one_way(self, found: dict[str, FoundShape]) -> None:
        """`within(...)` for inputs that are broadcast to another one, and have nothing else said of them."""
        for statement in self._statements(Broadcast):
            target = found.get((statement.to or "").removeprefix("inputs."))
            for name in statement.inputs if target is not None else ():
                silent = name in found and not found[name].origins
                if target is not None and silent and is_plain(target.parts):
                    found[name] = FoundShape(
                        (f"*within({target.text})",), (statement.origin, *target.origins)
                    )

    def same(self, group: str, parameter: ParameterSpec, found: dict[str, FoundShape]) -> FoundShape | None:
        """The shape of another tensor, where a sentence says that this one has it."""
        for each in self._about.get(f"{group}.{parameter.name}", ()):
            if not isinstance(each, SameShape) or each.except_ is not None:
                continue
            other = each.as_.removeprefix("inputs.")
            if other == parameter.name:
                continue
            if other in found and is_plain(found[other].parts):
                return replace(
                    found[other], origins=(each.origin, *found[other].origins), note="", bounds=None
                )
            if any(one.name == other for one in self._spec.inputs):
                if other not in found:
                    one = next(one for one in self._spec.inputs if one.name == other)
                    found[other] = self.silence(one)
                return FoundShape((f"shape({other})",), (each.origin,))
        return None

    def is_called(self, word: str) -> bool:
        return word in (self._spec.category or "").split()

    def silence(self, parameter: ParameterSpec) -> FoundShape:
        """Any shape, or no axes for what says how a whole tensor is quantised."""
        beside = says_quantisation(parameter.name) and parameter.option != "variadic"
        return FoundShape((), (), ONE_FOR_ALL) if beside else self._any(parameter)

    def _any(self, parameter: ParameterSpec) -> FoundShape:
        return FoundShape((f"*{self.own_pack(parameter)}",), (), ANY_SHAPE)

    def _statements(self, kind: type[Broadcast]) -> Iterator[Broadcast]:
        return (
            broadcast for group in self._about.values() for broadcast in group if isinstance(broadcast, kind)
        )


def says_quantisation(name: str) -> bool:
    """Whether an input is called by what says how another tensor is quantised."""
    return _BESIDE.search(name) is not None


def word_of(name: str) -> str:
    """A name as a part of the name of an extent."""
    return re.sub(r"\W", "_", name) or "_"


def is_plain(parts: Sequence[str]) -> bool:
    """Whether a shape leaves no choice, so that another tensor can have it as well."""
    return not any(f"{word}(" in part for part in parts for word in WORDS)


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
