"""Shapes of inputs and outputs out of what sentences say of them, and out of their silence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opcert.vocabulary.errors import OpcertError
from specs.derived.entries import Collected, Contradiction, sources_of
from specs.derived.related_shapes import (
    ANY_SHAPE,
    ONE_FOR_ALL,
    PACK,
    FoundShape,
    RelatedShapes,
    is_plain,
    word_of,
)
from specs.derived.stated_extents import StatedExtents
from specs.language.expressions import parse
from specs.language.shape_expressions import parse_shape
from specs.language.words import CONSTANTS
from specs.model.signature_parts import Origin
from specs.model.spec import ParameterSpec, Spec
from specs.model.statements import (
    Range,
    Rank,
    StatedShape,
    Statement,
    describe,
    is_proposed,
)
from specs.model.structures import TENSOR, forms_of


class ShapeReader:
    """Reads the shapes of one operator version: statements that are certain enough, and no others."""

    def __init__(self, spec: Spec, extents: StatedExtents, found: Collected) -> None:
        self._spec = spec
        self._extents = extents
        self._found = found
        self._about: dict[str, list[Statement]] = {}
        for statement in spec.statements:
            if not is_proposed(statement):
                self._about.setdefault(statement.about, []).append(statement)
        self._related = RelatedShapes(spec, extents, self._about)

    def read(self) -> None:
        """Add the entries of `shapes`, `extents` and `results`, and what is missing."""
        shapes = self._inputs()
        for name, shape in shapes.items():
            alone = shape.note == ONE_FOR_ALL
            self._found.add("shapes", name, shape.text, *shape.origins, note=shape.note, alone=alone)
        self._bounds(shapes)
        self._results(shapes)

    def _bounds(self, shapes: Mapping[str, FoundShape]) -> None:
        """The ranks of packs: those that sentences bound, and of those that have a first member from 1 on."""
        bounded: set[str] = set()
        for shape in shapes.values():
            numbered = [
                (name, "1..3") for name in sorted(parse_shape(shape.text).starred & self._extents.numbered)
            ]
            for name, ends in (*([shape.bounds] if shape.bounds else []), *numbered):
                if name not in bounded:
                    bounded.add(name)
                    self._found.add("extents", name, ends, *shape.origins)
        single = [
            one.name
            for one in self._spec.inputs
            if one.option == "single" and set(forms_of(self._spec, one)) == {TENSOR}
        ]
        for name in single:
            silent = shapes[name].text.removeprefix("*") if shapes[name].note == ANY_SHAPE else None
            if silent is not None and silent not in bounded:
                bounded.add(silent)
                note = "no sentence says that it may be a scalar"
                self._found.add("extents", silent, "1..4", note=note, alone=True)

    def _inputs(self) -> dict[str, FoundShape]:
        stated = {parameter.name: self._stated("inputs", parameter) for parameter in self._spec.inputs}
        ranked = {name: shape for name, shape in stated.items() if shape is not None and shape.by_rank}
        found = {name: shape for name, shape in stated.items() if shape is not None}
        self._related.broadcast_each_other(found)
        for parameter in self._spec.inputs:
            if parameter.name in found and parameter.name not in ranked:
                continue
            if (one := self._related.of_same_rank(parameter, found)) is not None:
                found[parameter.name] = one
        for parameter in self._spec.inputs:
            if parameter.name in found and found[parameter.name] is not ranked.get(parameter.name):
                continue
            if (same := self._related.same("inputs", parameter, found)) is not None:
                found[parameter.name] = same
        self._silent(found)
        self._related.broadcast_one_way(found)
        return {parameter.name: found[parameter.name] for parameter in self._spec.inputs}

    def _stated(self, group: str, parameter: ParameterSpec) -> FoundShape | None:
        """The shape that sentences give a tensor: by its extents, or else by its rank."""
        about = f"{group}.{parameter.name}"
        statements = self._about.get(about, ())
        ranks = [statement for statement in statements if isinstance(statement, Rank)]
        shapes = [statement for statement in statements if isinstance(statement, StatedShape)]
        if not shapes and parameter.shape:
            shapes = [StatedShape(about, parameter.origin, parameter.shape)]
        self._check(about, ranks, shapes)
        found = self._by_extents(group, parameter, ranks, shapes)
        if found is not None or group == "outputs":
            return found
        for rank in ranks:
            by_rank = self._by_rank(parameter, rank.least, rank.most, rank.origin) if not rank.when else None
            if by_rank is not None:
                return replace(by_rank, by_rank=True)
        if parameter.rank and not ranks:
            return self._by_rank(parameter, parameter.rank, parameter.rank, parameter.origin)
        return None

    def _by_extents(
        self, group: str, parameter: ParameterSpec, ranks: Sequence[Rank], shapes: Sequence[StatedShape]
    ) -> FoundShape | None:
        read: list[tuple[StatedShape, tuple[str, ...]]] = []
        for shape in shapes:
            own = f"{word_of(parameter.name)}_0"  # what is left blank is an extent of this tensor alone
            extents = [own if extent == "_" else extent for extent in shape.extents]
            parts = self._extents.parts(extents, group == "outputs")
            if parts is None or not _is_shape(parts):
                about = f"{'shapes' if group == 'inputs' else 'results'}.{parameter.name}"
                self._found.lack(about, f"no expression says {describe(shape)}", shape.origin)
            else:
                read.append((shape, parts))
        if not read:
            return None
        plain = [one for one in read if one[0].when is None] or read
        general = [one for one in plain if any(part.startswith("*") for part in one[1])]
        widest = (one for one in general if all(_covers(one[1], each) for _, each in read))
        chosen, parts = next(widest, plain[0])
        origins = [chosen.origin]
        others = [
            (stated_shape, other)
            for stated_shape, other in read
            if stated_shape is not chosen and not _covers(parts, other)
        ]
        under = [
            (stated_shape, other)
            for stated_shape, other in others
            if self._decides(stated_shape.when, parameter.name)
        ]
        if under and chosen.when is None:
            text = _tuple(parts)
            for stated_shape, other in under:
                text = f"{_tuple(other)} if {stated_shape.when} else {text}"
            return FoundShape((text,), (*origins, *(stated_shape.origin for stated_shape, _ in under)))
        scalar = [rank for rank in ranks if rank.least == "0" and rank.most == str(len(parts))]
        if scalar and len(parts) == 1 and not parts[0].startswith("*"):
            return FoundShape((f"maybe({parts[0]})",), (scalar[0].origin, *origins))
        note = f"or {' or '.join(describe(other) for other, _ in others)}" if others else ""
        return FoundShape(parts, tuple(origins), note)

    def _decides(self, when: str | None, name: str) -> bool:
        """Whether a condition is one over attributes and other inputs, which a shape can hang on."""
        try:
            names = parse(when).names if when is not None else frozenset()
        except OpcertError:
            return False
        known = {*self._spec.attributes, *(parameter.name for parameter in self._spec.inputs)} - {name}
        return bool(names) and names <= known

    def _by_rank(
        self, parameter: ParameterSpec, least: str | None, most: str | None, origin: Origin
    ) -> FoundShape | None:
        """Extents of the tensor's own, as many as the rank says; None where it is no plain number."""
        low = int(least) if least is not None and least.isdecimal() else None
        high = int(most) if most is not None and most.isdecimal() else None
        if (low is None and high is None) or max(low or 0, high or 0) > 8:
            return None
        names = tuple(f"{word_of(parameter.name)}_{at}" for at in range(high if high is not None else 0))
        length = self._length(parameter) if high == 1 else None
        if length is not None:
            extent, said = length
            parts = (extent,) if low == high else (f"maybe({extent})",)
            return FoundShape(parts, (origin, said))
        if low == high:
            return FoundShape(names, (origin,))
        if (low, high) == (0, 1):
            return FoundShape((f"maybe({names[0]})",), (origin,))
        pack = self._related.own_pack(parameter)
        ends = f"{low or 0}..{high if high is not None else max(4, (low or 0) + 2)}"
        return FoundShape((f"*{pack}",), (origin,), bounds=(pack, ends))

    def _length(self, parameter: ParameterSpec) -> tuple[str, Origin] | None:
        """How many elements sentences say that a vector has, by a number."""
        for statement in self._about.get(f"inputs.{parameter.name}", ()):
            if not isinstance(statement, Range) or statement.of != "length" or statement.when:
                continue
            if statement.at_least == statement.at_most and (statement.at_least or "").isdecimal():
                return str(statement.at_least), statement.origin
        return None

    def _silent(self, found: dict[str, FoundShape]) -> None:
        """Any shape for what no sentence speaks of; inputs of the type of the first one have its shape."""
        for parameter in self._spec.inputs:
            if parameter.name not in found:
                found[parameter.name] = self._related.silence(parameter)

    def _results(self, shapes: dict[str, FoundShape]) -> None:
        """The shapes of outputs, as far as what they hang on is known."""
        known = {*CONSTANTS, *self._spec.attributes, *(parameter.name for parameter in self._spec.inputs)}
        known |= {name for shape in shapes.values() for name in parse_shape(shape.text).names}
        for output in self._spec.outputs:
            about = f"results.{output.name}"
            found = (
                self._stated("outputs", output)
                or self._related.same("outputs", output, shapes)
                or self._scalar(output)
            )
            if found is None and len(self._spec.outputs) == 1:
                found = self._of_elements(shapes)
            if found is None:
                self._found.lack(about, "no sentence says a shape")
                continue
            free = parse_shape(found.text).names - known
            if free or any(part.startswith("maybe(") for part in found.parts):
                told = ", ".join(sorted(free)) or found.text
                self._found.lack(about, f"[{found.text}]: no input has {told}", *found.origins)
                continue
            self._found.add("results", output.name, found.text, *found.origins, note=found.note)

    def _of_elements(self, shapes: dict[str, FoundShape]) -> FoundShape | None:
        """The shape of the only output where each of its elements is made of those in its place."""
        first = next(iter(shapes.values()), None)
        if first is not None and "broadcast(" in first.text:
            return FoundShape((f"*{self._extents.pack(PACK)}",), first.origins, first.note)
        if first is not None and is_plain(first.parts) and self._related.is_called("unary"):
            return FoundShape(first.parts, (), f"an operator of the class {self._spec.category}")
        return None

    def _scalar(self, output: ParameterSpec) -> FoundShape | None:
        """An output without axes: what else a rank says of an output, no shape says."""
        for each in self._about.get(f"outputs.{output.name}", ()):
            if isinstance(each, Rank) and not each.when and each.least == each.most == "0":
                return FoundShape((), (each.origin,))
        return FoundShape((), (output.origin,)) if output.rank == "0" else None

    def _check(self, about: str, ranks: Sequence[Rank], shapes: Sequence[StatedShape]) -> None:
        """Note where the ranks that sentences state exclude each other, or every shape that they state."""
        plain = [rank for rank in ranks if not rank.when and (rank.least or rank.most)]
        told = [(rank, _ends(rank)) for rank in plain]
        for at, (one, ends) in enumerate(told):
            for other, other_ends in told[at + 1 :]:
                if max(ends[0], other_ends[0]) > min(ends[1], other_ends[1]):
                    self._contradict(about, one, other)
            listed = [shape for shape in shapes if not shape.when]
            exact = [
                stated_shape
                for stated_shape in listed
                if not any(extent in ("...", "*") for extent in stated_shape.extents)
            ]
            if exact and len(exact) == len(listed):
                fits = [stated_shape for stated_shape in exact if ends[0] <= _count(stated_shape) <= ends[1]]
                if not fits:
                    self._contradict(about, one, exact[0])

    def _contradict(self, about: str, one: Statement, other: Statement) -> None:
        sources = sources_of((one.origin, other.origin))
        self._found.contradictions.append(Contradiction(about, (describe(one), describe(other)), sources))


def _ends(rank: Rank) -> tuple[int, int]:
    low = int(rank.least) if rank.least is not None and rank.least.isdecimal() else 0
    high = int(rank.most) if rank.most is not None and rank.most.isdecimal() else 10**9
    return low, high


def _count(shape: StatedShape) -> int:
    return len(shape.extents)


def _is_shape(parts: Sequence[str]) -> bool:
    try:
        parse_shape(", ".join(parts) if parts else "()")
    except OpcertError:
        return False
    return True


def _tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _covers(general: Sequence[str], other: Sequence[str]) -> bool:
    """Whether a shape with a pack allows the other one: `N, C, *D` allows `N, C, H, W`."""
    if tuple(general) == tuple(other):
        return True
    packs = [at for at, part in enumerate(general) if part.startswith("*")]
    if len(packs) != 1:
        return False
    before, after = general[: packs[0]], general[packs[0] + 1 :]
    if len(other) < len(before) + len(after):
        return False
    return tuple(other[: len(before)]) == tuple(before) and tuple(other[len(other) - len(after) :]) == tuple(
        after
    )
