"""What a map from whole numbers becomes: the type of its values, their places, and the map's keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, KindChange, Level, ValueChange
from generator.calls.variables.kind_checks import need_form
from opcert.vocabulary.tensors import Tensor, tensor
from specs.model.spec import Constraint

_TYPES = ("TO_FLOAT", "TO_STRING", "TO_INT64")
_PLACES = ("DENSE", "SPARSE")
_WHOLE = ("12", "-7", "0", "9007199254740993", "-9223372036854775808", "9223372036854775807")
_DECIMAL = ("3.25", "-0.5", "1e3", "0.1", "16777217", "-1e-5", "7")
_FAR = (10, 9, -3, 1 << 40)
"""Keys in whose order as texts, or without their signs, they would not ascend."""


@dataclass(frozen=True)
class CastMap(Kind):
    """The attributes beside the map `of`: to which type its values are cast, and where they lie."""

    of: InputName

    covered: ClassVar[tuple[str, ...]] = ("cast_to", "map_form", "max_map")

    def __post_init__(self) -> None:
        need_form(self.subject, self.of, "map")

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shapes:{self.of}"})

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            "cast_to": (*_TYPES, OMITTED),
            "map_form": (*_PLACES, OMITTED),
            "max_map": ("more", "as_many", OMITTED),
            "keys": ("near", "far"),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        given = {name: None if levels[name] == OMITTED else levels[name] for name in ("cast_to", "map_form")}
        count, is_sparse = self._entries(scope), levels["map_form"] == "SPARSE"
        most = {"more": 2 * count + 3, "as_many": max(count, 1), OMITTED: 1}[str(levels["max_map"])]
        # Keys of a sparse map are places, and there are as many of these as of values, or more.
        if is_sparse and (levels["keys"] == "far" or most < count):
            return
        yield {**given, "max_map": None if levels["max_map"] == OMITTED else most}

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.of,)

    def mend_all(self, tensors: Sequence[Tensor], scope: Partial) -> Sequence[Tensor]:
        """Keys that are places where the map is sparse, and texts that write numbers of the type."""
        if not tensors:
            return tensors
        keys, values = tensors
        count, texts = keys.array.size, values.array.size and values.element_type.kind == "string"
        draw = Draw(repr((keys.array.tolist(), values.array.tolist())))
        most = int(scope.find("max_map") or 1)
        pool = _FAR if scope.level("keys") == "far" else range(max(most, count))
        found = tensor(np.array(draw.shuffled(pool)[:count], np.int64))
        numbers = {"TO_STRING": None, "TO_INT64": _WHOLE}.get(str(scope.find("cast_to")), _DECIMAL)
        if texts and numbers is not None:
            values = tensor(np.array(draw.shuffled(numbers)[:count], dtype=object), "string")
        return [found, values]

    def rules(self) -> Iterable[Constraint]:
        yield self.rule("cast_to_value", f"cast_to in {[*_TYPES]!r}", about="cast_to")
        yield self.rule("map_form_value", f"map_form in {[*_PLACES]!r}", about="map_form")
        sparse = "map_form == 'SPARSE'"
        yield self.rule("max_map_positive", "max_map >= 1", sparse, about="max_map")
        keys = f"values({self.of}[0])"
        within = f"all(key < max_map for key in {keys})"
        held = f"{sparse} and max_map >= 1 and len({self.of}) == 2"
        yield self.rule("keys_within", within, held, about="summary", otherwise="error")
        yield self.rule("keys_are_places", f"all(key >= 0 for key in {keys})", held, about="map_form")
        written = f"len({self.of}) == 2 and element_type({self.of}[1]) == 'string'"
        numbers = f"all(is_number(text) for text in values({self.of}[1]))"
        yield self.rule(
            "texts_are_numbers", numbers, f"{written} and cast_to != 'TO_STRING'", about="cast_to"
        )

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        yield "cast_to_value", {"cast_to": "TO_DOUBLE"}
        yield "map_form_value", {"map_form": "PACKED"}
        for most in (0, -1):
            yield "max_map_positive", {"map_form": "SPARSE", "max_map": most}
        if self._entries(scope) and scope.level("keys") == "far":
            yield "keys_within", {"map_form": "SPARSE", "max_map": 3}
            yield "keys_are_places", {"map_form": "SPARSE", "max_map": 1 << 41}

    def changes(self) -> Iterable[KindChange]:
        yield ValueChange(
            "map_form taken for DENSE", "map_form: DENSE", lambda _: {"map_form": "DENSE"}, "map_form"
        )

    def _entries(self, scope: Partial) -> int:
        return int((scope.find(f"shapes:{self.of}") or [(0,)])[0][0])
