"""Data of an input that lies in a domain: drawn as that of other inputs, and then brought into it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.data.scaling import scaled_down
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.data_levels import DATA
from generator.calls.variables.kind import GREATEST, InputName, Kind
from generator.calls.variables.kind_checks import need_word
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import Number, bits_of, decode, encode, numbers, storage_of
from specs.language.expressions import Expression
from specs.model.spec import Constraint


@dataclass(frozen=True)
class Data(Kind):
    """Data of one of the domains below; where `when` does not hold it stays as it is drawn.

    It has no values of its own: levels are those of the data of every input.
    """

    domain: Expression
    low: Expression | None = None
    high: Expression | None = None
    when: Expression | None = field(default=None, kw_only=True)
    most: Expression | None = field(default=None, kw_only=True)
    zero_point: Expression | None = field(default=None, kw_only=True)
    axis: Expression | None = field(default=None, kw_only=True)
    of: InputName | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        need_word(self, self._word, _DOMAINS, _NEEDED)

    @property
    def _word(self) -> str:
        return str(self.domain.evaluate({}))

    @property
    def covers(self) -> tuple[str, ...]:
        return ()

    @property
    def mends(self) -> tuple[str, ...]:
        return (self.name,) if self.subject.has(self.name) else ()

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        return _DOMAINS[self._word](self, tensor, scope)

    def holds(self, scope: Partial) -> bool:
        """Whether the data is to be in the domain here."""
        return self.when is None or bool(scope.value(self.when))

    def rules(self) -> Iterable[Constraint]:
        if self._word in _RULES and not self._is_never():
            rule, inside = _RULES[self._word]
            when = None if self.when is None else self.when.text
            if self._word == "exponents":
                when = f"element_type({self.of}) in INTEGERS"
            elif self.low is not None and self.high is not None:
                inside = f"({self.low.text}) <= each < ({self.high.text})"
            yield self.rule(f"{self.name}_{rule}", f"all({inside} for each in {self.name})", when)

    def _is_never(self) -> bool:
        """Whether this version alone says that `when` does not hold."""
        return self.when is not None and self.when.names == {"version"} and not self.says(self.when)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        if self._word in _RULES and self.holds(scope):
            rule = f"{self.name}_{_RULES[self._word][0]}"
            for wrong in self._wrong(scope, scope.shape(self.name)):
                yield rule, {self.name: wrong}

    def _wrong(self, scope: Partial, shape: tuple[int, ...]) -> Iterator[np.ndarray[Any, Any]]:
        """Arrays of the shape that break the domain's rule."""
        word = self._word
        if word == "nonzero":
            yield np.zeros(shape, dtype=np.int64)
            one = np.ones(shape, dtype=np.int64)
            one.reshape(-1)[-1:] = 0
            yield one
        elif word == "range" and self.low is not None and self.high is not None:
            for beyond in (int(scope.value(self.high)), int(scope.value(self.low)) - 1):
                yield np.full(shape, beyond, dtype=np.int64)
        elif word == "probabilities" and shape:
            yield from (np.full(shape, beyond) for beyond in (1.5, -0.5, math.nan, math.inf))
        elif word == "log_probabilities":
            yield from (np.full(shape, beyond) for beyond in (math.nan, math.inf, -math.inf))
        elif word == "exponents" and self.type_of(scope, str(self.of)).is_integer:
            own = self.type_of(scope, self.name)
            if own.is_float or own.integer_range[0] < 0:
                yield np.full(shape, -1)


def _nonzero(data: Data, tensor: Tensor, scope: Partial) -> Tensor:
    """No element is zero: divisors."""
    if not data.holds(scope):
        return tensor
    kind, array = tensor.element_type, np.array(tensor.array)
    known = decode(kind, array)
    # Some are stored as their bits, of which 1 is the least number, and those of -0 are not 0.
    array[known.finite & (known.integers == 0)] = encode(kind, [1])[0] if kind.is_float else 1
    return Tensor(kind, array)


def _range(data: Data, tensor: Tensor, scope: Partial) -> Tensor:
    """Integers from `low` and below `high`; where `when` does not hold every third may be any."""
    if not tensor.element_type.is_integer:
        return tensor
    assert data.low is not None
    assert data.high is not None
    least, greatest = tensor.element_type.integer_range
    low, high = max(int(scope.value(data.low)), least), min(int(scope.value(data.high)), greatest + 1)
    given = [int(element) for element in tensor.array.reshape(-1).tolist()]
    fitted = [low + (element - least) % (high - low) for element in given]
    if not data.holds(scope):
        fitted[::3] = given[::3]
    # Both ends are there wherever there is room for them.
    fitted[1:3] = [low, high - 1][: len(fitted[1:3])]
    array = np.array(fitted, dtype=tensor.array.dtype).reshape(tensor.shape)
    return Tensor(tensor.element_type, array)


def _boundaries(data: Data, tensor: Tensor, scope: Partial) -> Tensor:
    """From 0 to `high`, by steps as even as they can be: where parts of an axis begin and end."""
    assert data.high is not None
    parts, high = max(tensor.array.size - 1, 1), int(scope.value(data.high))
    places = [high * at // parts for at in range(tensor.array.size)]
    array = np.array(places, dtype=tensor.array.dtype).reshape(tensor.shape)
    return Tensor(tensor.element_type, array) if data.holds(scope) else tensor


def _moderate(data: Data, tensor: Tensor, scope: Partial) -> Tensor:
    """The finite floats, all times one power of two, so that none is beyond `most`.

    Greater ones leave nothing to tell apart behind functions that saturate.
    """
    assert data.most is not None
    most = Fraction(data.most.evaluate({}))
    return tensor if tensor.element_type.is_integer or not data.holds(scope) else scaled_down(tensor, most)


def _not_negative(data: Data, tensor: Tensor, scope: Partial) -> Tensor:
    """Magnitudes without their signs, as variances are."""
    return _of_one_sign(tensor) if data.holds(scope) else tensor


def _one_sign(data: Data, tensor: Tensor, scope: Partial) -> Tensor:
    """Of the class `huge` all are positive, where a difference of two would leave the range of the type."""
    return _of_one_sign(tensor) if scope.level(DATA) == "huge" and data.holds(scope) else tensor


def _of_one_sign(tensor: Tensor) -> Tensor:
    """The same magnitudes, all positive."""
    kind = tensor.element_type.component
    if not kind.is_float:
        return tensor
    bits = bits_of(np.ascontiguousarray(tensor.array).reshape(-1).view(kind.storage))
    positive = storage_of(kind, bits & np.uint64((1 << (kind.bits - 1)) - 1))
    return Tensor(tensor.element_type, positive.view(tensor.element_type.storage).reshape(tensor.shape))


def _far_from_zero(data: Data, tensor: Tensor, scope: Partial) -> Tensor:
    """Of the class `large_offset` all stand around the root of what the significand counts, in quarters.

    So a mean of its squares less the square of its mean has lost its digits, and a mean of squared
    differences has not.
    """
    kind = tensor.element_type
    if scope.level(DATA) != "large_offset" or not data.holds(scope) or kind.layout is None:
        return tensor
    offset = math.ldexp(1.0, kind.layout.precision // 2 - 3)
    places = np.arange(math.prod(tensor.shape)) * 7 % 16
    values = encode(kind, (offset + places / 4).tolist())
    return Tensor(kind, np.asarray(values).reshape(tensor.shape))


_STEPS = (1, -2, 3, -1, 2, 0, -3, 1)
_BIASES = (1, -3, 2, 5, 0, -1)
_WIDE = 1 << 12


def _near_zero_point(data: Data, tensor: Tensor, scope: Partial) -> Tensor:
    """Integers of the class `ties` a few steps from `zero_point`, so that sums of their products are small.

    `axis` is that along which zero points of one axis differ. Without a zero point, as of a bias, data of
    every class is small beside sums of 32 bits.
    """
    kind, level, count = tensor.element_type, scope.level(DATA), tensor.array.size
    if not kind.is_integer:
        return tensor
    if data.zero_point is None:
        times = 1 if level == "ties" else _WIDE // 8
        biases = [_BIASES[at % len(_BIASES)] * times + at % 2 for at in range(count)]
        return Tensor(kind, np.array(biases, dtype=kind.storage).reshape(tensor.shape))
    if level != "ties":
        return tensor
    zeros = np.asarray(scope.find(data.zero_point.text), dtype=np.int64)
    if zeros.size == 1:
        zeros = zeros.reshape(())
    elif zeros.ndim == 1:
        axis = (int(scope.value(data.axis)) if data.axis is not None else 0) % tensor.array.ndim
        zeros = zeros.reshape([-1 if at == axis else 1 for at in range(tensor.array.ndim)])
    low, high = kind.integer_range
    steps = np.array([_STEPS[at * 3 % len(_STEPS)] for at in range(count)]).reshape(tensor.shape)
    try:
        values = np.clip(steps + zeros, low, high)
    except ValueError:
        return tensor  # a call that is to be refused
    return Tensor(kind, values.astype(kind.storage)) if values.shape == tensor.shape else tensor


_BYTE_STEPS = 255
_BELOW = (100, 0, 255, 36.5, 126.5)
"""How many steps of a byte lie below zero, by the size of the tensor: zero points round to even, too."""


def _byte_steps(data: Data, tensor: Tensor, scope: Partial) -> Tensor:
    """Of the class `ties` 255 steps of a power of two, with halves of them between its ends.

    Of the class `distinct` all are below zero, so that the range has to be made to hold it.
    """
    kind, level, size = tensor.element_type, scope.level(DATA), tensor.array.size
    if not data.holds(scope):
        return tensor
    if level == "distinct":
        values = [-abs(float(element)) - 1 for element in tensor.array.reshape(-1).tolist()]
    elif level == "ties" and size > 1:
        below, step = _BELOW[size % len(_BELOW)], math.ldexp(1.0, size % 9 - 4)
        places = [(at * 37 + 11) % (2 * _BYTE_STEPS) / 2 for at in range(size - 2)]
        values = [(place - below) * step for place in (0, _BYTE_STEPS, *places)]
    else:
        return tensor
    return Tensor(kind, np.asarray(encode(kind, values)).reshape(tensor.shape))


def _probabilities(data: Data, tensor: Tensor, scope: Partial) -> Tensor:
    """Numbers from 0 to 1, both ends among them."""
    kind = tensor.element_type
    if not kind.is_float or not data.holds(scope):
        return tensor
    chances = [_chance(number) for number in numbers(kind, tensor.array)]
    return Tensor(kind, encode(kind, chances).reshape(tensor.shape))


def _chance(value: Number) -> Fraction:
    """A probability for a number of data: whole ones stand for sixteenths, others for eighths."""
    if isinstance(value, float) and not math.isfinite(value):
        return Fraction(1, 2)
    size = abs(Fraction(value))
    if size.denominator == 1:
        return Fraction(size.numerator % 17, 16)
    return size if size < 1 else size / 8 if size <= 8 else size % 1


_APART = 3
"""Whole numbers are taken modulo this: classes that are never drawn tell little."""


def _log_probabilities(data: Data, tensor: Tensor, scope: Partial) -> Tensor:
    """Finite numbers, as logarithms of probabilities are that need not add up to one, near each other."""
    kind = tensor.element_type
    if not kind.is_float or not data.holds(scope):
        return tensor
    values = [
        float(place % _APART)
        if not math.isfinite(number)
        else math.fmod(float(number), _APART)
        if float(number).is_integer()
        else number
        for place, number in enumerate(numbers(kind, tensor.array))
    ]
    return Tensor(kind, encode(kind, values).reshape(tensor.shape))


_MOST_BASE = 9


def _power_bases(data: Data, tensor: Tensor, scope: Partial) -> Tensor:
    """Of the class `large_offset` beside one, as a logarithm of few digits loses what is raised to much.

    Those of the class `random` have no sign; integers lie between -9 and 9 but in the class `extremes`.
    """
    kind, level = tensor.element_type, scope.level(DATA)
    if not data.holds(scope):
        return tensor
    if kind.is_integer:
        few = np.remainder(tensor.array, 2 * _MOST_BASE + 1) - _MOST_BASE
        return tensor if level == "extremes" else Tensor(kind, few.astype(kind.storage))
    if level == "random":
        return _of_one_sign(tensor)
    if level != "large_offset" or kind.layout is None:
        return tensor
    step = math.ldexp(1.0, -(kind.layout.precision // 2))
    places = np.arange(tensor.array.size) * 7 % 16 - 5
    return Tensor(kind, encode(kind, (1 + step * places).tolist()).reshape(tensor.shape))


_WHOLE = (2, 3, 0, 1, 5, 4, 19, 7)
_SIGNED = (2, -1, 3, 0, 1, -2, 5, -3)
_FRACTIONS = (0.5, 2, -0.5, 1.5, 3, 0.3125, -1, -2.25, 0, 1, 0.25, 7.125)
_GREAT = (1, -1, 0.75, -0.625, 0.5)


def _exponents(data: Data, tensor: Tensor, scope: Partial) -> Tensor:
    """Whole ones of both signs, halves and other fractions, and great ones for bases (`of`) beside one.

    Those of integers are whole and not negative.
    """
    kind, level, count = tensor.element_type, scope.level(DATA), tensor.array.size
    base = data.type_of(scope, str(data.of))
    if base.is_float and level == "nonfinite":
        return tensor
    signed = kind.is_float or kind.integer_range[0] < 0
    chosen: tuple[float, ...] = _SIGNED if base.is_float and signed else _WHOLE
    if base.is_float and kind.is_float and level not in ("distinct", "ties"):
        chosen = _FRACTIONS
    values = [float(chosen[at * 5 % len(chosen)]) for at in range(count)]
    if level == "large_offset" and base.layout is not None:
        own = kind.layout.precision if kind.layout else 7
        most = math.ldexp(1.0, min(base.layout.precision // 2 + 3, own))
        values = [float(int(_GREAT[at % len(_GREAT)] * most)) for at in range(count)]
        values = values if signed else [abs(value) for value in values]
    if kind.is_float:
        return Tensor(kind, encode(kind, values).reshape(tensor.shape))
    low, high = kind.integer_range
    held = [min(max(int(value), low), high) for value in values]
    return Tensor(kind, np.array(held, dtype=kind.storage).reshape(tensor.shape))


_DOMAINS: Mapping[str, Callable[[Data, Tensor, Partial], Tensor]] = {
    "nonzero": _nonzero,
    "range": _range,
    "boundaries": _boundaries,
    "moderate": _moderate,
    "not_negative": _not_negative,
    "one_sign": _one_sign,
    "far_from_zero": _far_from_zero,
    "near_zero_point": _near_zero_point,
    "byte_steps": _byte_steps,
    "probabilities": _probabilities,
    "log_probabilities": _log_probabilities,
    "power_bases": _power_bases,
    "exponents": _exponents,
}
_NEEDED = {"range": ("low", "high"), "boundaries": ("high",), "moderate": ("most",), "exponents": ("of",)}
_RULES = {
    "nonzero": ("not_zero", "each != 0"),
    "range": ("in_range", ""),
    "probabilities": ("probabilities", "0 <= each <= 1"),
    "log_probabilities": ("finite", f"-{GREATEST} <= each <= {GREATEST}"),
    "exponents": ("whole", "each >= 0 and each % 1 == 0"),
}
"""The rules of domains that have one: the end of its id, and what holds of each element."""
