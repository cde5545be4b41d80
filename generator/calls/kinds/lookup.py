"""Tables of ai.onnx.ml: labels by place, numbers with strings, categories."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import CallValues, InputName, Kind, KindChange, Level, ValueChange
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor, tensor
from specs.model.spec import Constraint

_MANY = 70
_STRINGS = ("b", "a", "ab", "B", "", "ä", "a b", "zz", "_Unused", "0")
_WHOLE = (3, 0, -1, 7, 100, -128, 32767, -32768, 2**31 - 1, -(2**31), 2**24 + 1, 2**63 - 1, -(2**63))
_FLOATS = (0.5, -1.0, math.nan, 3.25, 0.1, math.inf, 16777216.0, -math.inf, 1e-30, -0.0)
TABLES: tuple[Level, ...] = ("several", "one", "many")
_FOUND: tuple[Level, ...] = ("some", "all", "none")


def listed_keys(element_type: str, table: Level) -> list[Any]:
    """Distinct keys or values of a type, as many as a table has."""
    kind = ELEMENT_TYPES[element_type]
    count = {"several": 5, "one": 1}.get(str(table), _MANY)
    if kind.kind == "string":
        found: list[Any] = [*_STRINGS, *(f"key_{place}" for place in range(_MANY))]
    elif kind.is_integer:
        low, high = kind.integer_range
        found = [number for number in (*_WHOLE, *range(200, 200 + _MANY)) if low <= number <= high]
    else:
        found = [*_FLOATS, *(place + 0.25 for place in range(_MANY))]
    return found[:count]


def unlisted_keys(element_type: str) -> list[Any]:
    """Keys of a type that no table has; 0, where one has -0."""
    kind = ELEMENT_TYPES[element_type]
    if kind.kind == "string":
        return ["c", "A", "a ", "unheard of"]
    return [5, 1, -2, 99] if kind.is_integer else [5.0, 0.75, -3.25, math.ldexp(1.0, 100), 0.0]


@dataclass(frozen=True)
class Lookup(Kind):
    """A table of `classes` by their places, of `pairs` of a number and a string, or of `categories`.

    The data of the input is drawn from what the table has, and from what it has not.
    """

    of: InputName

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.of,)

    @property
    def needs(self) -> frozenset[str]:
        return self.type_levels(self.of)

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {"table": TABLES, "found": _FOUND}

    def keys(self, scope: Partial) -> list[Any]:
        """What the input's elements are looked up among."""
        raise NotImplementedError

    def strangers(self, scope: Partial) -> list[Any]:
        """Elements that are not found."""
        return unlisted_keys(self.type_of(scope, self.of).name)

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        keys = [key for key in self.keys(scope) if _fits(key, tensor.element_type)]
        others = self.strangers(scope)
        level = scope.level("found")
        pool = {"all": keys, "none": others}.get(level, [*keys[:4], *others[:2], *keys[4:], *others[2:]])
        draw = Draw(repr(tensor.array.tolist()))
        order = draw.shuffled(pool or others)
        if keys and level != "none":
            order.sort(key=lambda each: each is not keys[0])  # a key that is there twice comes first
        chosen = [order[place % len(order)] for place in range(tensor.array.size)]
        return tensor_of(tensor.element_type, chosen, tensor.shape)

    def one_of(self, name: str, *attributes: str) -> Constraint:
        """That exactly one of some attributes is there."""
        listed = ", ".join(f"present({each})" for each in attributes)
        return self.rule(name, f"sum([{listed}]) == 1", about=attributes[0], otherwise="error")


def _fits(key: Any, kind: ElementType) -> bool:
    """Whether a tensor of a type can have a key: where the table is one of another type, it cannot."""
    return isinstance(key, str if kind.kind == "string" else int if kind.is_integer else int | float)


def tensor_of(kind: ElementType, values: Sequence[Any], shape: tuple[int, ...]) -> Tensor:
    """Plain values as a tensor of a type."""
    listed = np.array([*values, None], dtype=object)[:-1] if kind.kind == "string" else np.array(values)
    return tensor(listed.reshape(shape), kind)


@dataclass(frozen=True)
class _Classes(Lookup):
    """Strings, each of which stands for its place."""

    covered: ClassVar[tuple[str, ...]] = ("classes_strings", "default_int64", "default_string")

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {**super().factors(), "default": (OMITTED, "given")}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        found: dict[str, Any] = dict.fromkeys(self.covers)
        found["classes_strings"] = draw.shuffled(listed_keys("string", levels["table"]))
        found |= default_by_type(levels["default"], self.type_of(scope, self.of))
        yield found

    def keys(self, scope: Partial) -> list[Any]:
        classes = list(scope.find("classes_strings") or ())
        is_text = self.type_of(scope, self.of).kind == "string"
        return classes if is_text else list(range(len(classes)))

    def strangers(self, scope: Partial) -> list[Any]:
        if self.type_of(scope, self.of).kind == "string":
            return super().strangers(scope)
        return [_MANY, -1, 2**32, -(2**63), 2**63 - 1]

    def rules(self) -> Iterable[Constraint]:
        yield self.rule("classes_given", "present(classes_strings)", about="classes_strings")
        distinct = "len(set(classes_strings)) == len(classes_strings)"
        yield self.rule("classes_distinct", distinct, "present(classes_strings)", about="classes_strings")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        yield "classes_given", {"classes_strings": None}
        yield "classes_distinct", {"classes_strings": ["a", "b", "a"]}


def default_by_type(level: Level, kind: ElementType) -> dict[str, Any]:
    """The default for what comes out of an input of a type: numbers of strings, and strings of numbers."""
    if level == OMITTED:
        return {}
    return {"default_int64": -7} if kind.kind == "string" else {"default_string": "nothing"}


@dataclass(frozen=True)
class _Pairs(Lookup):
    """As many whole numbers as strings, each of which stands for the other at its place."""

    covered: ClassVar[tuple[str, ...]] = ("cats_int64s", "cats_strings", "default_int64", "default_string")

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {**super().factors(), "default": (OMITTED, "given")}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        found: dict[str, Any] = dict.fromkeys(self.covers)
        found["cats_int64s"] = draw.shuffled(listed_keys("int64", levels["table"]))
        found["cats_strings"] = draw.shuffled(listed_keys("string", levels["table"]))
        yield found | default_by_type(levels["default"], self.type_of(scope, self.of))

    def keys(self, scope: Partial) -> list[Any]:
        is_text = self.type_of(scope, self.of).kind == "string"
        return list(scope.find("cats_strings" if is_text else "cats_int64s") or ())

    def rules(self) -> Iterable[Constraint]:
        both = "present(cats_int64s) and present(cats_strings)"
        yield self.rule("cats_given", both, about="cats_int64s")
        same = "len(cats_int64s) == len(cats_strings)"
        yield self.rule("cats_same_length", same, both, about="cats_int64s", otherwise="error")
        distinct = "len(set(cats_int64s)) == len(cats_int64s) and len(set(cats_strings)) == len(cats_strings)"
        yield self.rule("cats_distinct", distinct, both, about="cats_int64s")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        yield "cats_given", {"cats_int64s": None}
        yield "cats_given", {"cats_strings": None}
        yield "cats_same_length", {"cats_int64s": [1, 2, 3], "cats_strings": ["a", "b"]}
        yield "cats_same_length", {"cats_int64s": [1, 2], "cats_strings": ["a", "b", "c"]}
        yield "cats_distinct", {"cats_int64s": [1, 2, 1], "cats_strings": ["a", "b", "c"]}

    def changes(self) -> Iterable[KindChange]:
        yield ValueChange(
            "cats_strings reversed", "cats_strings: from the last to the first", _reversed_texts
        )


def _reversed_texts(given: CallValues) -> Bindings:
    return {"cats_strings": given.numbers("cats_strings")[::-1]}


@dataclass(frozen=True)
class _Categories(Lookup):
    """Strings or whole numbers that have a place each in a row of zeros; without `zeros` all are known."""

    covered: ClassVar[tuple[str, ...]] = ("cats_int64s", "cats_strings", "zeros")

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {**super().factors(), "zeros": (1, OMITTED, 0)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        kind = self.type_of(scope, self.of)
        found: dict[str, Any] = dict.fromkeys(self.covers)
        zeros = levels["zeros"]
        if zeros == 0 and scope.level("found") != "all":
            return
        found["zeros"] = None if zeros == OMITTED else zeros
        numbers = "int64" if kind.name in ("int64", "int32") else "int32"
        name, listed = ("cats_strings", "string") if kind.kind == "string" else ("cats_int64s", numbers)
        found[name] = draw.shuffled(listed_keys(listed, levels["table"]))
        yield found

    @property
    def needs(self) -> frozenset[str]:
        return self.type_levels(self.of) | {"level:found"}

    def keys(self, scope: Partial) -> list[Any]:
        kind = self.type_of(scope, self.of)
        found = list(scope.find("cats_strings" if kind.kind == "string" else "cats_int64s") or ())
        if kind.is_integer:
            low, high = kind.integer_range
            return [number for number in found if low <= number <= high]
        if not kind.is_float:
            return found
        # A fraction is cut off; what a float32 does not hold stands for another number.
        held = [number for number in found if int(np.float32(number)) == number]
        return [*held, *(number + math.copysign(0.75, number) for number in held if abs(number) < 1000)]

    def strangers(self, scope: Partial) -> list[Any]:
        kind = self.type_of(scope, self.of)
        return [5.5, 1.0, -2.25, 99.0] if kind.is_float else unlisted_keys(kind.name)

    def rules(self) -> Iterable[Constraint]:
        yield self.one_of("one_of_cats", "cats_int64s", "cats_strings")
        fits = f"present(cats_strings) == (element_type({self.of}) == 'string')"
        one = "present(cats_int64s) != present(cats_strings)"
        yield self.rule("cats_of_type", fits, one, about="cats_int64s")
        for name in ("cats_int64s", "cats_strings"):
            distinct = f"len(set({name})) == len({name})"
            yield self.rule(f"{name}_distinct", distinct, f"present({name})", about=name)
        yield self.rule("zeros_value", "zeros in [0, 1]", about="zeros")
        known = f"all(each in cats_strings for each in {self.of})"
        texts = f"zeros == 0 and present(cats_strings) and element_type({self.of}) == 'string'"
        yield self.rule("strings_known", known, texts, about="zeros", otherwise="error")
        known = f"all(int(each) in cats_int64s for each in {self.of})"
        numbers = f"zeros == 0 and present(cats_int64s) and element_type({self.of}) != 'string'"
        yield self.rule("numbers_known", known, numbers, about="zeros", otherwise="error")
        within = f"all(-9223372036854775808 <= each < 9223372036854775808 for each in {self.of})"
        floats = f"element_type({self.of}) in FLOATS"
        yield self.rule("integers_hold_them", within, floats, about="cats_int64s")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        yield "one_of_cats", {"cats_int64s": [1, 2], "cats_strings": ["a", "b"]}
        yield "one_of_cats", {"cats_int64s": None, "cats_strings": None}
        kind, shape = self.type_of(scope, self.of), scope.shape(self.of)
        is_text = kind.kind == "string"
        own, other = ("cats_strings", "cats_int64s") if is_text else ("cats_int64s", "cats_strings")
        yield "cats_of_type", {own: None, other: [1, 2] if is_text else ["a", "b"]}
        yield f"{own}_distinct", {own: ["a", "b", "a"] if is_text else [1, 2, 1]}
        yield "zeros_value", {"zeros": 2}
        rule, known, stranger = ("strings_known", ["a"], "c") if is_text else ("numbers_known", [1], 2)
        yield rule, {own: known, "zeros": 0, self.of: np.full(shape, stranger, dtype=object)}
        if kind.is_float:
            for wrong in (math.nan, math.inf, math.ldexp(1.0, 63)):
                yield "integers_hold_them", {"zeros": 1, self.of: np.full(shape, wrong)}

    def changes(self) -> Iterable[KindChange]:
        yield ValueChange("zeros taken for 1", "zeros: 1", lambda _: {"zeros": 1}, "zeros")


Lookup.variants = {"classes": _Classes, "pairs": _Pairs, "categories": _Categories}
