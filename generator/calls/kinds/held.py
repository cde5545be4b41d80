"""What an optional or a map holds: that there is something, its type, its keys, what it is cast to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.form_levels import form_levels, read_form
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, KindChange, Level, ValueChange
from generator.calls.variables.kind_checks import need_form
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor, tensor
from opcert.vocabulary.value_types import SequenceType, TensorType, ValueType
from specs.language.expressions import Expression
from specs.model.spec import Constraint
from specs.model.structures import TENSOR, element_types_of, forms_of


@dataclass(frozen=True)
class Held(Kind):
    """What an optional holds, its `value` or the `type` of it; `keys` of a map, or what that is `cast` to."""


@dataclass(frozen=True)
class _HeldValue(Held):
    """Its forms without the one that is an optional of nothing; values are drawn as those of other inputs."""

    def __post_init__(self) -> None:
        need_form(self.subject, self.name, "optional")

    @property
    def covers(self) -> tuple[str, ...]:
        return ()

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.name,) if self.subject.input(self.name) is not None else ()

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        omitted = (OMITTED,) if self.subject.may_be_omitted(self.name) else ()
        held = [level for level in self._levels() if read_form(level).count is not None]
        return {self.name: (*held, *omitted)}

    def rules(self) -> Iterable[Constraint]:
        given = f"present({self.name})" if self.subject.may_be_omitted(self.name) else None
        yield self.rule(f"{self.name}_held", f"has_element({self.name})", given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for level in self._levels():
            if read_form(level).count is None:
                yield f"{self.name}_held", {f"level:{self.name}": level, f"shapes:{self.name}": []}

    def _levels(self) -> tuple[str, ...]:
        return form_levels(self.subject.spec, self.subject.parameter(self.name))


@dataclass(frozen=True)
class _HeldType(Held):
    """The type of an input, which may be written beside it, and stands for it where it is left out."""

    of: InputName

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shapes:{self.of}"})

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        parameter = self.subject.input(self.of)
        forms = forms_of(self.subject.spec, parameter) if parameter is not None else (TENSOR,)
        return {self.name: (OMITTED, *forms)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        form, given = str(levels[self.name]), scope.find(f"shapes:{self.of}") is not None
        if form == OMITTED:
            if given:
                yield {self.name: None}
            return
        if given and read_form(str(scope.level(self.of))).form != form:
            return
        yield {self.name: read_form(form).type(self.type_of(scope, self.of).name)}

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_or_{self.of}", f"present({self.name}) or present({self.of})")
        allowed = self._allowed()
        yield self.rule(
            f"{self.name}_allowed", f"value_type({self.name}) in {allowed!r}", f"present({self.name})"
        )
        yield self.rule(
            f"{self.name}_of_{self.of}",
            f"value_type({self.name}) == value_type({self.of})",
            f"present({self.name}) and present({self.of}) and value_type({self.name}) in {allowed!r}",
        )

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        given = scope.find(f"shapes:{self.of}") is not None
        if not given:
            yield f"{self.name}_or_{self.of}", {self.name: None}
            return
        held = TensorType(ELEMENT_TYPES["int64"])
        others: tuple[ValueType, ...] = (held, SequenceType(held), TensorType(ELEMENT_TYPES["string"]))
        for other in others:
            yield f"{self.name}_of_{self.of}", {self.name: other}
        yield f"{self.name}_allowed", {self.name: SequenceType(SequenceType(held))}

    def _allowed(self) -> list[str]:
        parameter = self.subject.parameter(self.of)
        forms, types = forms_of(self.subject.spec, parameter), element_types_of(self.subject.spec, parameter)
        return [
            each if form == TENSOR else str(read_form(form).type(each)) for form in forms for each in types
        ]


@dataclass(frozen=True)
class _OfMap(Held):
    """What goes with the map `of`."""

    of: InputName

    def __post_init__(self) -> None:
        need_form(self.subject, self.of, "map")

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shapes:{self.of}"})

    def entries(self, scope: Partial) -> int:
        """How many entries the map has."""
        return int((scope.find(f"shapes:{self.of}") or [(0,)])[0][0])


_LISTED = ("all", "more")
"""Whether the list has the keys that a map is drawn with and no others, or one more."""


@dataclass(frozen=True)
class _MapKeys(_OfMap):
    """The list is there where the keys of the map `of` have the type `keys`, and left out otherwise."""

    keys: Expression

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {"vocabulary": _LISTED}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        if not self._is_meant(scope):
            yield {self.name: None}
            return
        yield {self.name: self._words(scope, int(levels["vocabulary"] == "more"), draw)}

    def rules(self) -> Iterable[Constraint]:
        meant = f"element_type({self.of}[0]) == {self._keys!r}"
        yield self.rule(f"{self.name}_given", f"present({self.name}) == ({meant})")
        yield self.rule(
            f"{self.name}_distinct", f"len(set({self.name})) == len({self.name})", f"present({self.name})"
        )
        listed = f"all(key in {self.name} for key in values({self.of}[0]))"
        given = f"present({self.name}) and {meant} and len({self.of}) == 2"
        yield self.rule(f"{self.name}_has_keys", listed, given, about="summary", otherwise="error")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if not self._is_meant(scope):
            yield f"{self.name}_given", {self.name: self._words(scope, 0, draw)}
            return
        words = self._words(scope, 0, draw)
        yield f"{self.name}_given", {self.name: None}
        yield f"{self.name}_distinct", {self.name: [*words, words[0]]}
        if self.entries(scope):
            others = [f"{word}x" if isinstance(word, str) else word + len(words) for word in words]
            yield f"{self.name}_has_keys", {self.name: others}

    @property
    def _keys(self) -> str:
        return str(self.keys.evaluate({}))

    def _is_meant(self, scope: Partial) -> bool:
        return self._keys in read_form(str(scope.level(self.of))).form.partition(",")[0]

    def _words(self, scope: Partial, more: int, draw: Draw) -> list[int] | list[str]:
        numbers = draw.shuffled(range(2 * max(self.entries(scope), 1) + more))
        return [f"k{number}" for number in numbers] if ELEMENT_TYPES[self._keys].kind == "string" else numbers


_CASTS = ("TO_FLOAT", "TO_STRING", "TO_INT64")
_PLACES = ("DENSE", "SPARSE")
_WHOLE = ("12", "-7", "0", "9007199254740993", "-9223372036854775808", "9223372036854775807")
_DECIMAL = ("3.25", "-0.5", "1e3", "0.1", "16777217", "-1e-5", "7")
_FAR = (10, 9, -3, 1 << 40)
"""Keys in whose order as texts, or without their signs, they would not ascend."""


@dataclass(frozen=True)
class _CastMap(_OfMap):
    """The attributes beside the map `of`: to which type its values are cast, and where they lie."""

    covered: ClassVar[tuple[str, ...]] = ("cast_to", "map_form", "max_map")

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            "cast_to": (*_CASTS, OMITTED),
            "map_form": (*_PLACES, OMITTED),
            "max_map": ("more", "as_many", OMITTED),
            "keys": ("near", "far"),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        given = {name: None if levels[name] == OMITTED else levels[name] for name in ("cast_to", "map_form")}
        count, is_sparse = self.entries(scope), levels["map_form"] == "SPARSE"
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
        yield self.rule("cast_to_value", f"cast_to in {[*_CASTS]!r}", about="cast_to")
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
        if self.entries(scope) and scope.level("keys") == "far":
            yield "keys_within", {"map_form": "SPARSE", "max_map": 3}
            yield "keys_are_places", {"map_form": "SPARSE", "max_map": 1 << 41}

    def changes(self) -> Iterable[KindChange]:
        yield ValueChange(
            "map_form taken for DENSE", "map_form: DENSE", lambda _: {"map_form": "DENSE"}, "map_form"
        )


Held.variants = {"cast": _CastMap, "keys": _MapKeys, "value": _HeldValue, "type": _HeldType}
