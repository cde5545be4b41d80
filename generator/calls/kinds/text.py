"""Texts: elements in which programs go wrong, some words, regular expressions, the functions of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import (
    CallValues,
    InputName,
    Kind,
    KindChange,
    Level,
    Misreading,
    SingleKind,
    ValueChange,
    misread_as,
)
from specs.language.expressions import Expression
from specs.language.functions.patterns import is_re2
from specs.model.spec import Constraint


@dataclass(frozen=True)
class TextKind(Kind):
    """Elements of an input, `some` of which any is valid, a regular `expression`, or names of `functions`."""


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
class _TextElements(TextKind, SingleKind):
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


@dataclass(frozen=True)
class _SomeTexts(TextKind, SingleKind):
    """One of the arguments; there is no rule, since any other would do."""

    some: tuple[Expression, ...] = ()

    def levels(self) -> tuple[Level, ...]:
        return tuple(expression.text for expression in self.some)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        yield next(expression for expression in self.some if expression.text == level).evaluate({})


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
class _RegularExpression(TextKind):
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


_WITH_ALPHA = ("Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu")
_WITH_BETA = ("Affine", "ScaledTanh", "HardSigmoid")
_WITHOUT_DEFAULT = ("Affine", "ScaledTanh")
"""No operator of ONNX of that name has a default."""
_FUNCTIONS = ("Relu", "Tanh", "Sigmoid")
_OPTIONAL = (*_WITH_ALPHA, "Softsign", "Softplus")
_ALPHAS, _BETAS = (0.25, 0.5, 0.75, 0.375), (0.5, 0.25, 0.625, 0.125)
_LEFT_OUT = tuple(f"{each} by default" for each in _WITH_ALPHA if each not in _WITHOUT_DEFAULT)
_NAMES = ("activations", "activation_alpha", "activation_beta")
_MISREAD: tuple[Misreading, ...] = (
    ("reversed", "{}: from the last to the first", lambda these: these[::-1]),
    ("turned", "{}: each that of the one before", lambda these: np.roll(these, 1)),
    ("of the first", "{}: the first one for all", lambda these: these[[0] * len(these)]),
)


@dataclass(frozen=True)
class _CellFunctions(TextKind):
    """The functions of a recurrent cell for each of `directions`, by default those of `plain`.

    Alphas and betas go with them.
    A list of numbers has as many as there are functions that take one, or one for each function.
    """

    directions: Expression
    plain: tuple[Expression, ...]

    covered: ClassVar[tuple[str, ...]] = _NAMES

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        levels = ("plain", "different", *_OPTIONAL, *_LEFT_OUT, "several", "one for each", OMITTED)
        return {self.name: levels}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        level, count = levels[self.name], int(scope.value(self.directions))
        if level == OMITTED:
            yield dict.fromkeys(_NAMES)
            return
        functions = self._plain() * count
        if level == "different":
            others = _FUNCTIONS if len(functions) > 1 else ("Relu", "Sigmoid")
            functions = [others[(place + 1) % len(others)] for place in range(len(functions))]
        elif level in ("several", "one for each"):
            functions = [
                ("Tanh", "HardSigmoid", "LeakyRelu", "Affine")[(at + 1) % 4] for at in range(len(functions))
            ]
        elif level != "plain":
            place = draw.integer(0, len(self.plain) - 1)
            for direction in range(count):
                functions[direction * len(self.plain) + place] = str(level).partition(" ")[0]
        yield _bindings(functions, spread=level == "one for each", given=level not in _LEFT_OUT)

    def rules(self) -> Iterable[Constraint]:
        name, given = self.name, f"present({self.name})"
        known = f"all(each in {[*_FUNCTIONS, *_OPTIONAL]!r} for each in {name})"
        yield self.rule(f"{name}_known", known, given)
        count = f"len({name}) == {len(self.plain)} * ({self.directions.text})"
        attribute = self.subject.attribute(name)
        if attribute is not None and attribute.default is not None:
            count = f"{count} or {name} == {list(attribute.default)!r}"
        yield self.rule(f"{name}_count", count, given, otherwise="undefined")
        for other, takers in (("activation_alpha", _WITH_ALPHA), ("activation_beta", _WITH_BETA)):
            taking = f"len([each for each in {name} if each in {list(takers)!r}])"
            fits = f"{given} and len({other}) in [{taking}, len({name})]"
            yield self.rule(f"{other}_count", fits, f"present({other})", about=other, otherwise="undefined")
            needs = f"present({other}) or all(each not in {list(_WITHOUT_DEFAULT)!r} for each in {name})"
            yield self.rule(f"{other}_given", needs, given, about=other, otherwise="undefined")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        functions = self._plain() * int(scope.value(self.directions))
        bare = {"activation_alpha": None, "activation_beta": None}
        for wrong in ("Unheard", ""):
            yield f"{self.name}_known", {**bare, self.name: [*functions[:-1], wrong]}
        for listed in (functions * 3, functions[1:]):
            yield f"{self.name}_count", {**bare, self.name: listed}
        for other, function in (("activation_alpha", "Elu"), ("activation_beta", "HardSigmoid")):
            listed = [*functions[:-1], function]
            yield f"{other}_count", {**bare, self.name: listed, other: [0.5] * (len(listed) + 1)}
            yield f"{other}_count", {**bare, self.name: None, other: [0.5]}
        numbers = {each: [0.5] for each in bare}
        for other in bare:
            listed = [*functions[:-1], "ScaledTanh"]
            yield f"{other}_given", {**numbers, self.name: listed, other: None}

    def changes(self) -> Iterable[KindChange]:
        for reading in _MISREAD:
            for name in _NAMES:
                yield from misread_as(name, reading)
        yield ValueChange("activations ignored", "activations: the default", _by_default)
        for name in _NAMES[1:]:
            yield ValueChange(
                f"{name} ignored", f"{name}: the defaults of the functions", _without(name), name
            )

    def _plain(self) -> list[str]:
        return [str(expression.evaluate({})) for expression in self.plain]


def _bindings(functions: Sequence[str], *, spread: bool, given: bool) -> Bindings:
    """The functions with numbers for those that take some, or one `spread` to every place."""
    found: dict[str, Any] = {"activations": list(functions)}
    for name, takers, numbers in (
        ("activation_alpha", _WITH_ALPHA, _ALPHAS),
        ("activation_beta", _WITH_BETA, _BETAS),
    ):
        taking = [function for function in functions if spread or function in takers]
        listed = [numbers[place % len(numbers)] for place in range(len(taking))]
        found[name] = listed if given and listed else None
    return found


def _without(name: str) -> Callable[[CallValues], Bindings]:
    def without(given: CallValues) -> Bindings:
        given.numbers(name)
        return {name: None}

    return without


def _by_default(given: CallValues) -> Bindings:
    given.numbers(_NAMES[0])
    return dict.fromkeys(_NAMES)


TextKind.variants = {
    "elements": _TextElements,
    "expression": _RegularExpression,
    "functions": _CellFunctions,
    "some": _SomeTexts,
}
