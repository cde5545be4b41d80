"""Floating-point data of every layout, as bits: each function is one data class."""

from __future__ import annotations

from functools import cache, lru_cache

from generator.calls.data.draws import Draw
from opcert.vocabulary.element_types import ElementType, FloatLayout


def encode(kind: ElementType, significand: int, exponent: int) -> int:
    """The bits of significand * 2**exponent; raises ValueError where the type does not hold it exactly."""
    layout = _layout(kind)
    magnitude = abs(significand)
    if magnitude == 0:
        return 0
    shift = layout.precision - magnitude.bit_length()
    top = exponent - shift
    if top < layout.least_exponent - layout.precision + 1:
        shift -= layout.least_exponent - layout.precision + 1 - top
        top = exponent - shift
    scaled = magnitude << shift if shift >= 0 else magnitude >> -shift
    if shift < 0 and scaled << -shift != magnitude:
        raise ValueError(f"{significand} * 2**{exponent} is not a number of {kind}")
    hidden = 1 << (layout.precision - 1)
    biased = top + layout.precision - 1 + layout.bias if scaled & hidden else 0
    code = (biased << (layout.precision - 1)) | (scaled & (hidden - 1))
    if code > greatest(kind):
        raise ValueError(f"{significand} * 2**{exponent} is beyond {kind}")
    return code | (sign_bit(kind) if significand < 0 else 0)


def sign_bit(kind: ElementType) -> int:
    return 1 << (kind.bits - 1)


@cache
def greatest(kind: ElementType) -> int:
    """The bits of the greatest finite number."""
    layout = _layout(kind)
    top = sign_bit(kind) - 1
    if layout.nan == "ieee":
        return (((1 << layout.exponent_bits) - 1) << (layout.precision - 1)) - 1
    return top - 1 if layout.nan == "all_ones" else top


def not_numbers(kind: ElementType) -> list[int]:
    """The bits of NaN and of both infinities, of those that the type has."""
    layout = _layout(kind)
    if layout.nan == "negative_zero":
        return [sign_bit(kind)]
    if layout.nan == "all_ones":
        return [sign_bit(kind) - 1]
    if layout.nan == "none":
        return []
    infinity = greatest(kind) + 1
    quiet = infinity | (1 << (layout.precision - 2))
    return [quiet, infinity, infinity | sign_bit(kind)]


def distinct(kind: ElementType, count: int, draw: Draw) -> list[int]:
    """Small whole numbers of both signs while they last, then any other finite numbers."""
    layout = _layout(kind)
    whole = min(count, 1 << min(layout.precision, layout.greatest_exponent + 1, 20))
    codes = list(_whole_numbers(kind, whole))
    if len(codes) < count:
        used = set(codes)
        for code in range(1, greatest(kind) + 1):
            if len(codes) == count:
                break
            for signed in (code, code | sign_bit(kind)):
                if signed not in used and len(codes) < count:
                    codes.append(signed)
    return draw.shuffled([codes[position % len(codes)] for position in range(count)])


@lru_cache(maxsize=256)
def _whole_numbers(kind: ElementType, count: int) -> tuple[int, ...]:
    """So many whole numbers around zero, each once."""
    codes = (encode(kind, position - count // 3, 0) for position in range(count))
    return tuple(code for code in dict.fromkeys(codes) if code != sign_bit(kind))


def random(kind: ElementType, count: int, draw: Draw) -> list[int]:
    precision = _layout(kind).precision
    limit = (1 << precision) - 1
    # A number drawn below 1/8 would need more exponents than the smallest types have.
    return [encode(kind, number, 3 - precision) for number in draw.numbers(-limit, limit, count)]


def constant(kind: ElementType, count: int, draw: Draw) -> list[int]:
    precision = _layout(kind).precision
    return [encode(kind, draw.integer(1 << (precision - 1), (1 << precision) - 1), 1 - precision)] * count


def large_offset(kind: ElementType, count: int, draw: Draw) -> list[int]:
    """Neighbouring numbers of the type around a power of two: every difference is a few units in the last."""
    precision = _layout(kind).precision
    base = 1 << (precision - 1)
    span = min(count, base // 2)
    return draw.shuffled(
        [encode(kind, base + position % span, _offset_exponent(kind)) for position in range(count)]
    )


def ties(kind: ElementType, count: int, draw: Draw) -> list[int]:
    """Neighbours in the last axis differ by one unit in the last place: their means are half-way."""
    precision = _layout(kind).precision
    base = 1 << (precision - 1)
    halves = draw.numbers(0, base // 2 - 1, count)
    return [
        encode(kind, base + 2 * half + position % 2, 1 - precision) for position, half in enumerate(halves)
    ]


def signed_zero(kind: ElementType, count: int, draw: Draw) -> list[int]:
    zeros = [0, 0] if _layout(kind).nan == "negative_zero" else [0, sign_bit(kind)]
    others = [encode(kind, 1, 0), encode(kind, -1, 0)]
    return _sprinkled(zeros, [*zeros, *zeros, *others], count, draw)


def subnormal(kind: ElementType, count: int, draw: Draw) -> list[int]:
    limit = (1 << (_layout(kind).precision - 1)) - 1
    signs = (0, sign_bit(kind))
    small = [size | signs[which] for size, which in draw.rounds(count, (1, limit), (0, 1))]
    # The least subnormal and the greatest are the ones that a mistake of one bit loses.
    return draw.shuffled([1, limit, *small][:count]) if count > 1 else [limit][:count]


def huge(kind: ElementType, count: int, draw: Draw) -> list[int]:
    top = greatest(kind)
    span = min((1 << (_layout(kind).precision - 1)) - 1, 1 << 20)
    signs = (0, sign_bit(kind))
    return [(top - below) | signs[which] for below, which in draw.rounds(count, (0, span), (0, 1))]


def nonfinite(kind: ElementType, count: int, draw: Draw) -> list[int]:
    """A few NaN and infinities among distinct numbers, at least one, one of each where there is room.

    Few, for each leaves it open what becomes of the sums in which it has a weight of zero.
    """
    ordinary = distinct(kind, count, draw.child("ordinary"))
    special = not_numbers(kind)
    few = max(1, min(count // 24, 4))
    places = draw.shuffled(list(range(count)))[:few]
    first = draw.integer(0, len(special) - 1)
    for turn, place in enumerate(places, start=first):
        ordinary[place] = special[turn % len(special)]
    return ordinary[:count]


def _sprinkled(first: list[int], pool: list[int], count: int, draw: Draw) -> list[int]:
    drawn = draw.choices(pool, count)
    return draw.shuffled([*first, *drawn][:count]) if count > len(first) else first[:count]


def _offset_exponent(kind: ElementType) -> int:
    """Large enough to be an offset, small enough for the type's own range and for sums of a few of them."""
    layout = _layout(kind)
    found = min(0, layout.greatest_exponent - layout.precision - 2)
    # Two bits have no neighbours there, and others none that are closer than subnormal numbers.
    return found if layout.precision < 3 else max(found, layout.least_exponent - layout.precision + 1)


def _layout(kind: ElementType) -> FloatLayout:
    if kind.layout is None:
        raise ValueError(f"{kind} is not a floating-point type")
    return kind.layout
