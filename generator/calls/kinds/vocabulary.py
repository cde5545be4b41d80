"""A list of the keys that a map may have, which an operator has for one type of keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from generator.calls.data.draws import Draw
from generator.calls.solver.form_levels import read_form
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, Level
from generator.calls.variables.kind_checks import need_form
from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_ALL = ("all", "more")
"""Whether the list has the keys that a map is drawn with and no others, or one more."""


@dataclass(frozen=True)
class Vocabulary(Kind):
    """The list is there where the keys of the map `of` have the type `keys`, and left out otherwise."""

    of: InputName
    keys: Expression

    def __post_init__(self) -> None:
        need_form(self.subject, self.of, "map")

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shapes:{self.of}"})

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {"vocabulary": _ALL}

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
        if self._entries(scope):
            others = [f"{word}x" if isinstance(word, str) else word + len(words) for word in words]
            yield f"{self.name}_has_keys", {self.name: others}

    @property
    def _keys(self) -> str:
        return str(self.keys.evaluate({}))

    def _is_meant(self, scope: Partial) -> bool:
        return self._keys in read_form(str(scope.level(self.of))).form.partition(",")[0]

    def _words(self, scope: Partial, more: int, draw: Draw) -> list[int] | list[str]:
        numbers = draw.shuffled(range(2 * max(self._entries(scope), 1) + more))
        return [f"k{number}" for number in numbers] if ELEMENT_TYPES[self._keys].kind == "string" else numbers

    def _entries(self, scope: Partial) -> int:
        """How many entries the map has."""
        return int((scope.find(f"shapes:{self.of}") or [(0,)])[0][0])
