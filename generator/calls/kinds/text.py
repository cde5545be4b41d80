"""Texts of classes in which programs go wrong: beyond ASCII, empty, with whitespace, or beside words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Partial
from generator.calls.variables.kind import Level, SingleKind
from specs.language.expressions import Expression

_TEXTS: Mapping[Level, tuple[str, ...]] = {
    "plain": ("ab", "c", "Def", "g h", "IJ.k"),
    "empty": ("", "a", "", "bc"),
    "combining": ("e\u0301", "\u00e9", "\u0301", "a\u030a\u0323", "\u1e69"),
    "beyond_16_bits": ("\U0001f600", "a\U00010400b", "\U0001f468\u200d\U0001f469", "\ufffd"),
    "right_to_left": ("\u05d0\u05d1", "\u0627\u200fb", "x\u202ey", "\u05e9\u05c1"),
    "nul": ("a\x00b", "\x00", "c\x00", "\x00d"),
    "case": ("stra\u00dfe", "\ufb01x", "I\u0131", "\u0130a", "\u039f\u03a3", "\u01c6"),
    "spaces": (" a b ", "a  b\tc", "\n", "a\r\nb", "   "),
    "spaces_beyond_ascii": ("a\u00a0b", "a\u3000b c", "\u2003a b", "a\u0085b"),
}


@dataclass(frozen=True)
class TextKind(SingleKind):
    """Elements of an input; `words` are what other texts have to do with: delimiters, stop words."""

    words: Expression | None = None

    needs_own_shape: ClassVar[bool] = True

    def levels(self) -> tuple[Level, ...]:
        return (*_TEXTS, "words") if self.words is not None else tuple(_TEXTS)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        shape = scope.shape(self.name)
        texts = _TEXTS[level] if level != "words" else _around(self._given(scope))
        if texts:
            listed = [texts[at % len(texts)] for at in range(prod(shape))]
            yield np.array(listed, dtype=object).reshape(shape)

    def _given(self, scope: Partial) -> list[str]:
        given = None if self.words is None else scope.find(self.words.text)
        return [given] if isinstance(given, str) else list(given or ())


def _around(words: list[str]) -> tuple[str, ...]:
    """Texts in which the words stand alone, at an end, twice, and in another case; none without words."""
    found = []
    for word in words if any(words) else ():
        found += [f"a{word}b{word}c", word, word.swapcase(), f"{word}{word}", f"a{word}", f"{word[:-1]}", "a"]
    return tuple(found)
