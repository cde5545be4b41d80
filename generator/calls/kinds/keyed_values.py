"""Keys with values: the table of LabelEncoder from version 2 on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.kinds.lookup import TABLES, Lookup, listed_keys, tensor_of, unlisted_keys
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Kind, Level
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from specs.model.spec import Constraint, Otherwise

_CLOSE: Sequence[tuple[str, str, list[Any]]] = (
    ("beyond_floats", "int64", [2**24 + 1, 2**24, 2**53 + 1, 2**53, -(2**63)]),
    ("beyond_ascii", "string", ["ä", "?", "ö", "??"]),
    ("beyond_numbers", "float", [math.inf, float(np.finfo(np.float32).max), -math.inf]),
)
"""Elements of a type that are one where they are held in floats, in ASCII, or within the finite numbers."""
_LISTS = {"string": "strings", "int64": "int64s", "float": "floats"}
"""Types that have a list of their own among the attributes, and the end of its name."""


@dataclass(frozen=True)
class KeyedValues(Lookup):
    """Keys of the input's type with values of a type, each a list or a tensor, and what stands for others."""

    variants: ClassVar[Mapping[str, type[Kind]]] = {}

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(self.subject.spec.attributes)

    @property
    def needs(self) -> frozenset[str]:
        return self.type_levels(self.of) | {"level:type_T2"}

    @property
    def type_factors(self) -> Mapping[str, tuple[str, ...]]:
        return {"type_T2": self.subject.types_of("T2")}

    @property
    def _has_tensors(self) -> bool:
        return self.subject.has("keys_tensor")

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        found = {**super().factors(), "default": (OMITTED, "given")}
        if self._has_tensors:
            found["table"] = (*TABLES, "repeated")
            found |= {"keys_form": ("listed", "tensor"), "values_form": ("listed", "tensor")}
        return found

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        own, other = self.type_of(scope, self.of).name, str(scope.level("type_T2"))
        repeats = levels["table"] == "repeated"
        table = "several" if repeats else levels["table"]
        keys, values = draw.shuffled(listed_keys(own, table)), draw.shuffled(listed_keys(other, table))
        if repeats:
            # The last of equal keys holds, which is neither the first one here nor the last of all.
            keys, values = [keys[0], keys[1], keys[0], *keys[2:]], [*values, values[0]]
        found: dict[str, Any] = dict.fromkeys(self.covers)
        found |= _held("keys", own, keys, levels.get("keys_form"))
        found |= (held := _held("values", other, values, levels.get("values_form")))
        if levels["default"] == "given":
            default = unlisted_keys(other)[0]
            in_tensor = "values_tensor" in held
            name = "default_tensor" if in_tensor else f"default_{_LISTS[other].removesuffix('s')}"
            found[name] = tensor_of(ELEMENT_TYPES[other], [default], (1,)) if in_tensor else default
        yield found

    def keys(self, scope: Partial) -> list[Any]:
        for name in self._attributes("keys"):
            found = scope.find(name)
            if found is not None:
                return plain_values(found)
        return []

    def _attributes(self, start: str) -> list[str]:
        return [name for name in self.subject.spec.attributes if name.startswith(f"{start}_")]

    def _length(self, start: str) -> str:
        """An expression for how many keys or values there are."""
        found = "0"
        for name in self._attributes(start):
            counted = f"values({name})" if name.endswith("_tensor") else name
            found = f"len({counted}) if present({name}) else {found}"
        return f"({found})"

    def rules(self) -> Iterable[Constraint]:
        ones = []
        for start in ("keys", "values"):
            names = self._attributes(start)
            ones.append(f"sum([{', '.join(f'present({name})' for name in names)}]) == 1")
            yield self.one_of(f"one_of_{start}", *names)
        stated: Otherwise = "error" if self._has_tensors else "undefined"
        one = " and ".join(ones)
        same = f"{self._length('keys')} == {self._length('values')}"
        yield self.rule("same_length", same, one, about="keys_int64s", otherwise=stated)
        listed = " or ".join(
            f"present({self._named('keys', kind)}) and element_type({self.of}) == {kind!r}" for kind in _LISTS
        )
        if self._has_tensors:
            of_tensor = f"element_type({self.of}) == element_type(keys_tensor)"
            listed = f"{of_tensor} if present(keys_tensor) else {listed}"
        yield self.rule("keys_of_type", listed, ones[0], about="keys_int64s", otherwise=stated)
        if not self._has_tensors:
            distinct = " + ".join(f"({name} if present({name}) else [])" for name in self._attributes("keys"))
            yield self.rule(
                "keys_distinct", f"len(set({distinct})) == len({distinct})", ones[0], about="keys_int64s"
            )
            return
        given = "present(default_tensor)"
        in_tensor = f"{given} and present(values_tensor)"
        yield self.rule("default_beside_tensor", "present(values_tensor)", given, about="default_tensor")
        yield self.rule(
            "default_of_type",
            "element_type(default_tensor) == element_type(values_tensor)",
            in_tensor,
            about="default_tensor",
            otherwise="error",
        )
        yield self.rule(
            "default_single", "len(values(default_tensor)) == 1", in_tensor, about="default_tensor"
        )

    @staticmethod
    def _named(start: str, kind: str) -> str:
        return f"{start}_{_LISTS[kind]}"

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        own = self.type_of(scope, self.of).name
        other = "int64" if own != "int64" else "string"
        for start, kind in (("keys", own), ("values", str(scope.level("type_T2")))):
            none = dict.fromkeys(self._attributes(start))
            yield f"one_of_{start}", none
            two = _held(start, "string", ["a", "b"], None) | _held(start, "int64", [1, 2], None)
            yield f"one_of_{start}", none | two
            for count in (1, 3):
                keys = _held("keys", own, listed_keys(own, "several")[:2], None)
                values = _held("values", kind, listed_keys(kind, "several")[:count], None)
                if start == "values":
                    yield "same_length", dict.fromkeys(self.covers) | keys | values
        keys = dict.fromkeys(self._attributes("keys"))
        count = len(self.keys(scope))
        yield "keys_of_type", keys | _held("keys", other, listed_keys(other, "many")[:count], None)
        if not self._has_tensors:
            first = listed_keys(own, "several")[:1] * 2
            numbers = dict.fromkeys(self.covers) | _held("values", "int64", [1, 2], None)
            yield "keys_distinct", numbers | _held("keys", own, first, None)
            return
        whole, single = ELEMENT_TYPES["int64"], ELEMENT_TYPES["float"]
        plain = dict.fromkeys(self.covers) | _held("keys", own, listed_keys(own, "one"), None)
        listed = plain | {"values_int64s": [4], "default_tensor": tensor_of(whole, [1], (1,))}
        in_tensor = plain | {"values_tensor": tensor_of(whole, [4], (1,))}
        yield "default_beside_tensor", listed
        yield "default_of_type", in_tensor | {"default_tensor": tensor_of(single, [1.0], (1,))}
        yield "default_single", in_tensor | {"default_tensor": tensor_of(whole, [1, 2], (2,))}

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        parameter = self.subject.parameter(self.of)
        shape = scope.shape(self.of)
        for word, keys in (("minus_zero", [-0.0, 1.0]), ("zero", [0.0, 1.0]), ("nan", [1.0, math.nan])):
            found = dict.fromkeys(self.covers) | _held("values", "int64", [1, 2], None)
            zeros = np.resize(np.array([0.0, -0.0, math.nan, 1.0], dtype=np.float32), shape)
            bound = {"keys_floats": keys, f"level:type_{parameter.type}": "float", self.of: zeros}
            yield f"{word}_as_key", found | bound | {"level:type_T2": "int64"}
        for word, own, elements in _CLOSE:
            if own not in self.subject.types_of("T1"):
                continue
            # The last of the elements is no key.
            *keys, _ = elements
            values = [place - 2**40 for place in range(len(keys))]
            found = dict.fromkeys(self.covers) | _held("keys", own, keys, None)
            found |= _held("values", "int64", values, None) | {"default_int64": -100}
            looked = [elements[place % len(elements)] for place in range(prod(shape))]
            bound = {f"level:type_{parameter.type}": own, "level:type_T2": "int64"}
            yield (
                f"{word}_as_keys",
                found | bound | {self.of: tensor_of(ELEMENT_TYPES[own], looked, shape).array},
            )


def _held(start: str, kind: str, values: Sequence[Any], form: Level | None) -> dict[str, Any]:
    """Keys or values in the list of their type, or in a tensor where that is asked for or there is none."""
    if kind in _LISTS and form != "tensor":
        return {f"{start}_{_LISTS[kind]}": list(values)}
    return {f"{start}_tensor": tensor_of(ELEMENT_TYPES[kind], values, (len(values),))}


def plain_values(given: Any) -> list[Any]:
    """The elements of a list or tensor, texts as texts."""
    listed = given.array.tolist() if isinstance(given, Tensor) else list(given)
    return [each.decode() if isinstance(each, bytes) else each for each in listed]
