"""A regular expression of RE2, and texts of which some match it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, Level
from specs.language.functions.patterns import is_re2
from specs.model.spec import Constraint

_PATTERNS: Mapping[Level, tuple[str, tuple[str, ...]]] = {
    "text": ("a.c", ("abc", "a\nc", "abcd", "a\u00e9c", "ac", "xabc")),
    "alternatives": ("a|bc|", ("a", "bc", "", "abc", "b", "c")),
    "group": ("(ab)+(?:c)?", ("ab", "ababc", "aba", "", "abcc")),
    "named_group": ("(?P<year>\\d{4})-(?P<month>\\d\\d)", ("2024-02", "24-02", "2024-021", "\u0662024-02")),
    "counted": ("x{2}y{1,3}z{0,}", ("xxy", "xxyyyzz", "xyz", "xxyyyy", "xx")),
    "lazy": ("a+?b*?", ("aab", "a", "b", "aabb")),
    "brace": ("a{b}{,2}", ("a{b}{,2}", "ab", "a")),
    "class": ("[^a-cx\\]]+", ("d", "def", "a", "]", "dxe", "\n")),
    "class_ends": ("[]a-]+[b-]", ("]-", "-b", "a", "]b")),
    "posix_class": ("[[:alpha:]_]+[[:^digit:]]", ("ab", "a1", "\u00e9a", "__", "a\u00e9")),
    "perl_class": ("\\w+\\s\\S+\\D", ("ab c!", "ab\x0bcd", "\u00e9 cd", "ab\tcde", "a 1 ")),
    "edge": ("\\bab\\b.*\\Bc", ("ab xc", "abc", "ab c", "ab.\u00e9c")),
    "anchors": ("^ab$|\\Acd\\z", ("ab", "ab\n", "cd", "cd\n", "abcd")),
    "lines": ("(?m)^a$\n^b$", ("a\nb", "a\n", "ab", "a\nb\n")),
    "any_with_newline": ("(?s)a.b", ("a\nb", "axb", "ab")),
    "either_case": ("(?i)ab[c-e](?-i)f", ("ABCf", "abdF", "aBef", "abf")),
    "flags_of_group": ("(?i:a)b", ("Ab", "ab", "aB")),
    "quoted": ("\\Qa.b*\\E+", ("a.b*", "a.b**", "axb*", "a.b")),
    "escapes": ("\\x41\\x{1F600}\\n\\.", ("A\U0001f600\n.", "A\U0001f600n.", "A\n.")),
    "nothing": ("", ("", "a", "\n", "\x00")),
    "nul": ("a\\x00b", ("a\x00b", "a", "ab", "a\x00bc")),
    "combining": ("e\u0301.", ("e\u0301x", "\u00e9x", "e\u0301", "ex")),
    "backtracking": ("(x+x+)+y", ("x" * 18, "x" * 18 + "y", "xy", "y")),
    "many_optional": ("a?" * 12 + "a" * 12, ("a" * 12, "a" * 11, "a" * 24, "a" * 25)),
}
_REFUSED = (
    "(",
    "a)",
    "[a",
    "a**",
    "*",
    "(a)\\1",
    "a(?=b)",
    "(?<!a)b",
    "a{1001}",
    "[b-a]",
    "\\",
    "(?<n>",
    "x*+",
)
"""Of which RE2 says that they are no regular expressions."""


@dataclass(frozen=True)
class Pattern(Kind):
    """A pattern, and the texts of an input that are matched with it."""

    of: InputName

    @property
    def covers(self) -> tuple[str, ...]:
        return (self.name, str(self.of))

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {self.name: tuple(_PATTERNS), f"shape_{self.of}": ("vector", "matrix", "scalar", "empty")}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        pattern, texts = _PATTERNS[levels[self.name]]
        shape = {"scalar": (), "empty": (2, 0), "matrix": (2, 3)}.get(
            str(levels[f"shape_{self.of}"]), (len(texts),)
        )
        listed = [texts[at % len(texts)] for at in range(prod(shape))]
        yield {self.name: pattern, str(self.of): np.array(listed, dtype=object).reshape(shape)}

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_given", f"present({self.name})")
        yield self.rule(f"{self.name}_of_re2", f"is_re2({self.name})", f"present({self.name})")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        yield f"{self.name}_given", {self.name: None}
        for pattern in _REFUSED:
            assert not is_re2(pattern), pattern
            yield f"{self.name}_of_re2", {self.name: pattern}
