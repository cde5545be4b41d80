"""What shapes of inputs say of the extents in them: as when each number is tried, and at once."""

from __future__ import annotations

import random
import time
from itertools import product

import pytest

from specs.language.shape_expressions import parse_shape
from specs.language.unification import Matched, match_shapes

WHOLE = {"b": 3, "none": 0, "less": -2, "half": 0.5, "list": [7]}


def _found(text: str, extent: int) -> dict[str, object] | None:
    shape = parse_shape(text)
    wanted = frozenset(shape.names - set(WHOLE))
    matched = match_shapes({"X": shape}, wanted, WHOLE, [("X", (extent,))])
    return dict(matched.bindings) if isinstance(matched, Matched) else None


def _tried(text: str, extent: int) -> dict[str, object] | None:
    names = sorted(parse_shape(text).names - set(WHOLE))
    for values in product(range(extent + 1), repeat=len(names)):
        bound: dict[str, object] = dict(zip(names, values, strict=True))
        value = eval(text, {**WHOLE, **bound})
        if value == extent and isinstance(value, int):
            return bound
    return None


@pytest.mark.parametrize(
    "text",
    [
        *("b * b * C", "C * b + 1", "2 - C + b", "C * less + 9", "less * (b - C)", "C * none"),
        *("C * M", "C * b + M", "M + C * (b - 3)", "C * C", "C * C + M", "b * (C + M)", "(C + 1) // 2"),
        *("C * half * 2", "none * C + 4"),
    ],
)
def test_extents_are_those_that_trying_each_finds(text: str) -> None:
    for extent in {0, 1, 4, *random.Random(3).sample(range(2, 30), 6)}:
        assert _found(text, extent) == _tried(text, extent), extent


@pytest.mark.parametrize("text", ["b * b * C", "none * C", "less * C + 4", "C - b"])
def test_a_large_extent_takes_no_longer(text: str) -> None:
    begun = time.process_time()
    _found(text, 900_000_000)
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("C / 2", {"C": 14}),
        ("(C + 1) / 3", {"C": 20}),
        ("C * b / 2", None),
        ("C / b", None),
        ("C / 0", None),
    ],
)
def test_what_is_divided_may_be_greater_than_the_extent(text: str, found: object) -> None:
    assert _found(text, 7) == found


def test_two_inputs_have_the_same_quotient() -> None:
    shapes = {name: parse_shape("N, C / 2") for name in ("X", "Y")}
    wanted = frozenset(("N", "C"))
    assert match_shapes(shapes, wanted, {}, [("X", (6, 2)), ("Y", (6, 2))]) == Matched({"N": 6, "C": 4})
    assert not isinstance(match_shapes(shapes, wanted, {}, [("X", (6, 2)), ("Y", (6, 3))]), Matched)
