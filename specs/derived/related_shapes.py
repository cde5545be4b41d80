"""Shapes of inputs out of those of others, and out of silence: the same, one rank, broadcast."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from specs.derived.stated_extents import StatedExtents
from specs.language.shape_expressions import WORDS, parse_shape
from specs.model.signature_parts import Origin
from specs.model.spec import ParameterSpec, Spec
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
