"""Cast and CastLike: elements of one type as those of another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np

from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, OutsideDomain
from reference.answers.quantised import InfinityToFnuz, narrow_bits
from reference.answers.rounding import convert, round_by
from reference.numbers.numbers import Number, encode, largest, layout_of, numbers, smallest_normal
from reference.numbers.powers_of_two import NAN, holds_powers_alone
from reference.readings.choices import AsReading, Choice
from reference.registry import reference_operator
from reference.shared.movement import Subnormals, moved
from specs.language.functions.typed_values import is_number

_ONE = 127
"""The pattern of 1 in float8e8m0."""


@dataclass(frozen=True)
class Rules:
    """What a call and the readings say of a conversion."""

    saturate: bool
    round_mode: str
    narrowing: Choice[str]
    subnormals: Choice[str]
    infinity_to_fnuz: Choice[str] | None


def of_text(text: bytes) -> Number:
    """The number that a text writes, plainly or with an exponent; OutsideDomain where it writes none."""
    word = text.decode(errors="replace")
    if not is_number(word):
        raise OutsideDomain("a text that is no number", got=repr(word))
    if word.lower().lstrip("+-") in ("inf", "nan"):
        return float(word)
    exact = Fraction(word)
    return -0.0 if exact == 0 and word.startswith("-") else exact


def as_integer(value: Number, given: ElementType, to: ElementType) -> tuple[Any, ...]:
    """An integer without the bits that the type lacks; nothing for other numbers beyond its range."""
    low, high = to.integer_range
    if isinstance(value, float) and not math.isfinite(value):
        return ()
    exact = Fraction(value)
    if given.is_integer or (exact.denominator == 1 and low <= exact <= high):
        return (convert(exact, "truncate", "wrap", low, high),)
    # No sentence says which of its neighbours a fraction becomes; programs in C take the one nearer to zero.
    near = [round_by(exact, each) for each in ("truncate", "floor", "ceil")]
    return tuple(dict.fromkeys(near)) if all(low <= each <= high for each in near) else ()


def as_float(value: Number, given: ElementType, to: ElementType, rules: Rules) -> tuple[Any, ...]:
    """The nearest number, halves to even; beyond the greatest an infinity, or as the tables have it."""
    if holds_powers_alone(to):
        return _as_power(value, rules)
    if given.is_float and isinstance(value, Fraction) and _flushed(value, given, rules):
        return (_code(to, value, rules), _code(to, 0.0, rules))
    found = [_code(to, value, rules)]
    if found[0] is None:
        return ()
    for way in ("float32", "double"):
        between = ELEMENT_TYPES["float" if way == "float32" else "double"]
        if given.kind == "string" or given.bits > between.bits or (given.is_integer and given.bits > 32):
            other = _code(to, numbers(between, encode(between, [value]))[0], rules)
            if other != found[0] and rules.narrowing.ask() == f"via_{way}":
                found = [other]
    if to.bits >= 16 and isinstance(value, Fraction) and _flushed(value, to, rules):
        found.append(_code(to, 0.0, rules))
    return tuple(dict.fromkeys(found))


def _flushed(value: Fraction, kind: ElementType, rules: Rules) -> bool:
    if kind.layout is None or kind.bits < 16 or value == 0 or abs(value) >= smallest_normal(kind.layout):
        return False
    return rules.subnormals.ask() == "flushed"


def _code(to: ElementType, value: Number, rules: Rules) -> Any:
    """The element of a number; None where the type has no NaN and no infinities, and no table tells."""
    layout = layout_of(to)
    if to.bits < 8:
        inside = math.isfinite(value) and abs(Fraction(value)) <= largest(layout)
        return int(encode(to, [value])[0]) if inside else None
    if to.bits > 8:
        return encode(to, [value])[0].item()
    fnuz = layout.nan == "negative_zero" and rules.saturate and math.isinf(value)
    if fnuz and rules.infinity_to_fnuz is not None and rules.infinity_to_fnuz.ask() == "nan":
        value = math.nan
    return narrow_bits(to, value, saturate=rules.saturate)


def _as_power(value: Number, rules: Rules) -> tuple[Any, ...]:
    """A power of two by round_mode; nothing for what the table leaves out. Source: Cast-24, last table."""
    if math.isnan(value):
        return (NAN,)
    column = {(True, "up"): (0, 0, 254), (False, "nearest"): (NAN, NAN, NAN)}.get(
        (rules.saturate, rules.round_mode)
    )
    if value < 0 or (isinstance(value, float) and value == 0):
        return ()
    least, most = Fraction(1, 1 << _ONE), Fraction(1 << _ONE)
    if value == 0 or value < least or value > most:
        # The type has no zero: what the table calls 0 is the pattern 0, its least number.
        place = 0 if value == 0 else 1 if value < least else 2
        return () if column is None else (column[place],)
    exact = Fraction(value)
    power = exact.numerator.bit_length() - exact.denominator.bit_length()
    power -= exact < Fraction(2) ** power
    below = Fraction(2) ** power
    more = {"up": exact > below, "down": False, "nearest": 2 * exact >= 3 * below}.get(rules.round_mode)
    if more is None:
        raise OutsideDomain("no such round_mode", got=rules.round_mode)
    return (power + _ONE + int(more),) if power + int(more) <= _ONE else ()


def as_text(value: Number, given: ElementType) -> tuple[bytes, ...]:
    """A number written out: integers digit by digit, floats with 6 digits or as many as name them.

    "Plain floating-point representation (such as "314.15926") would be used", and no word on how many digits,
    on numbers that are written with an exponent, or on how NaN is spelt. Source: Cast, Summary.
    """
    if given.is_integer:
        return (str(int(value)).encode(),)
    if given.kind == "bool":
        said = ("1", "True", "true", "TRUE") if value else ("0", "False", "false", "FALSE")
        return tuple(each.encode() for each in said)
    held = float(value)
    if not math.isfinite(held):
        sign = "-" if held < 0 else ""
        words = ["nan", "-nan"] if math.isnan(held) else [f"{sign}inf", f"{sign}infinity"]
        spelt = [form for each in words for form in (each, each.upper(), each.title())]
        plus = [f"+{each}" for each in spelt if held == math.inf]
        return tuple(each.encode() for each in ("NaN", "-NaN") * math.isnan(held) + (*spelt, *plus))
    narrow = np.float32(held) if given.bits <= 32 else np.float64(held)
    digits_alone = format(Decimal(str(narrow)), "f")
    shortest = digits_alone.rstrip("0").rstrip(".") if "." in digits_alone else digits_alone
    found = [
        shortest,
        str(narrow),
        repr(held),
        *(f"{held:.{digits}g}" for digits in range(6, 18)),
        f"{held:f}",
    ]
    if given.bits <= 16:  # 6 digits name them, and fewer may
        found += [
            f"{held:.{digits}g}" for digits in range(1, 6) if _names(f"{held:.{digits}g}", value, given)
        ]
    forms = [form for each in found for form in (each, *_other_form(each))]
    return tuple(each.encode() for each in dict.fromkeys(forms))


@lru_cache(maxsize=1 << 14)
def _names(text: str, value: Number, given: ElementType) -> bool:
    """Whether a text is nearer to a number than to any other of its type."""
    return numbers(given, encode(given, [Fraction(text)])) == [value]


def _other_form(text: str) -> tuple[str, ...]:
    """A whole number without its fraction, or with one."""
    if "e" in text:
        return ()
    if "." not in text:
        return (text + ".0",)
    return (text[:-2],) if text.endswith(".0") else ()


Rounding = Annotated[Choice[Literal["once", "via_float32", "via_double"]], AsReading]


@reference_operator("ai.onnx::Cast", segments=(24,))
def cast(
    input: Tensor,
    *,
    to: int,
    saturate: int = 1,
    round_mode: str = "up",
    version: int,
    narrowing: Rounding,
    subnormals: Subnormals,
    infinity_to_fnuz: InfinityToFnuz,
) -> Answer:
    """The same values in the type `to`, as the tables of the page have them. Source: Cast, Summary."""
    if to not in BY_CODE:
        raise OutsideDomain("a number of no element type", got=str(to))
    table = infinity_to_fnuz if version < 24 else None
    rules = Rules(bool(saturate), round_mode, narrowing, subnormals, table)
    return converted(input, BY_CODE[to], rules)


@reference_operator("ai.onnx::CastLike", segments=(24,))
def cast_like(
    input: Tensor,
    target_type: Tensor,
    *,
    saturate: int = 1,
    round_mode: str = "up",
    version: int,
    narrowing: Rounding,
    subnormals: Subnormals,
    infinity_to_fnuz: InfinityToFnuz,
) -> Answer:
    """The same values in the type of another tensor, as Cast has them. Source: CastLike, Summary."""
    return cast(
        input,
        to=target_type.element_type.code,
        saturate=saturate,
        round_mode=round_mode,
        version=version,
        narrowing=narrowing,
        subnormals=subnormals,
        infinity_to_fnuz=infinity_to_fnuz,
    )


def converted(given: Tensor, to: ElementType, rules: Rules) -> Answer:
    """Each element in another type; what is accepted beside it are elements by other honest ways."""
    if given.element_type == to:
        return moved(given, rules.subnormals, Choice("kept"))
    values = _values(given)
    if to.kind == "bool":
        truth = Tensor(to, np.array([_truth(each) for each in values], bool).reshape(given.shape))
        # No sentence says which texts are true.
        either = (
            dict.fromkeys(range(len(values)), (True, False)) if given.element_type.kind == "string" else None
        )
        return Answer(truth, None, either or None)
    if to.kind == "string":
        listed = [as_text(each, given.element_type) for each in values]
    elif to.is_integer:
        listed = [as_integer(each, given.element_type, to) for each in values]
    else:
        listed = [as_float(each, given.element_type, to, rules) for each in values]
    first = np.empty(len(values), dtype=to.storage)
    first[:] = [each[0] if each else _NOTHING.get(to.kind, 0) for each in listed]
    allowed = np.array([0.0 if each else np.inf for each in listed]).reshape(given.shape)
    others = {at: each[1:] for at, each in enumerate(listed) if len(each) > 1}
    return Answer(Tensor(to, first.reshape(given.shape)), allowed, others or None)


_NOTHING = {"string": b""}


def _values(given: Tensor) -> list[Number]:
    if given.element_type.kind == "string":
        return [of_text(each) for each in given.array.reshape(-1).tolist()]
    if given.element_type.kind == "bool":
        return numbers(ELEMENT_TYPES["uint8"], given.array.astype(np.uint8))
    return numbers(given.element_type, given.array)


def _truth(value: Number) -> bool:
    """False is zero of either sign; everything else is True, NaN too."""
    return bool(value != 0)
