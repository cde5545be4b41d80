"""The activation functions of a recurrent cell, by name, and the numbers that some of them take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import (
    CallValues,
    Kind,
    KindChange,
    Level,
    Misreading,
    ValueChange,
    misread_as,
)
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_WITH_ALPHA = ("Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu")
_WITH_BETA = ("Affine", "ScaledTanh", "HardSigmoid")
_WITHOUT_DEFAULT = ("Affine", "ScaledTanh")
"""No operator of ONNX of that name has a default."""
_PLAIN = ("Relu", "Tanh", "Sigmoid")
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
class CellFunctions(Kind):
    """Lists of functions for each of `directions`, by default those of `plain`, alphas and betas for them.

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
            others = _PLAIN if len(functions) > 1 else ("Relu", "Sigmoid")
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
        known = f"all(each in {[*_PLAIN, *_OPTIONAL]!r} for each in {name})"
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
