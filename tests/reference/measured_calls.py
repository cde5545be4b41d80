"""Ordinary random calls without end, the same in every run, and what honest routes take of their bounds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import count, product

import numpy as np
from numpy.typing import NDArray

from conformance.suite.values import decode_floats
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, OutsideDomain, UnstableLength
from reference.numbers.numbers import encode, numbers
from tests.reference.resize_by_loops import Call
from tests.reference.resize_calls import COORDINATES, answer_to, single
from tests.reference.resize_routes import F32, F64, ROUTES, compute

ELEMENT_TYPES_MEASURED = ("float", "double", "float16", "bfloat16")
MODES = tuple(product(("linear", "cubic"), (False, True)))
"""The mode of interpolation, and whether with antialiasing."""


def random_calls(mode: str, antialias: bool, element_type: str) -> Iterator[tuple[Call, Answer]]:
    """Calls of one to three axes that the reference answers, with its answers; data between -10 and 10."""
    kind = ELEMENT_TYPES[element_type]
    for number in count():
        rng = random.Random(f"{mode} {antialias} {element_type} {number}")
        shape = tuple(rng.randint(1, 6) for _ in range(rng.choice((1, 1, 2, 2, 3))))
        drawn = [Fraction(rng.uniform(-10, 10)) for _ in range(int(np.prod(shape)))]
        X = Tensor(kind, encode(kind, drawn).reshape(shape))
        by_scales = rng.random() < 0.5
        starts = tuple(single(rng.uniform(-0.2, 0.6)) for _ in shape)
        ends = tuple(single(float(start) + rng.uniform(0.2, 0.8)) for start in starts)
        coordinates = rng.choice(COORDINATES)
        call = Call(
            shape=shape,
            data=tuple(Fraction(number) for number in numbers(kind, X.array)),
            scales=tuple(single(rng.uniform(0.3, 3)) for _ in shape) if by_scales else None,
            sizes=None if by_scales else tuple(rng.randint(1, 7) for _ in shape),
            roi=tuple(map(single, map(float, (*starts, *ends))))
            if coordinates == "tf_crop_and_resize"
            else None,
            mode=mode,
            coordinates=coordinates,
            cubic_coeff_a=single(rng.choice((-0.75, -0.5))),
            exclude_outside=rng.random() < 0.25,
            antialias=antialias,
            extrapolation_value=Fraction(3),
        )
        try:
            yield call, answer_to(call, X)
        except (OutsideDomain, UnstableLength):
            continue


def shares(call: Call, answer: Answer) -> Iterator[tuple[str, float]]:
    """Each honest route's worst share of what is allowed, by its name."""
    kind = answer.expected.element_type
    for route in ROUTES:
        got = compute(call, route, F64 if kind.name == "double" else F32)
        held = encode(kind, [float(each) for each in got.reshape(-1)])
        yield route.name, float(share_of(answer, held).max(initial=0.0))


def share_of(answer: Answer, got: NDArray[np.generic]) -> NDArray[np.float64]:
    """How much of the allowed error each element (flat, in storage) takes; 0 where it is an alternative."""
    kind = answer.expected.element_type
    assert answer.allowed is not None
    expected = decode_floats(kind, answer.expected.array.reshape(-1))
    apart = np.abs(decode_floats(kind, got) - expected)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(apart == 0, 0.0, apart / answer.allowed.reshape(-1))
    for index, others in (answer.alternatives or {}).items():
        if got[index].item() in others:
            share[index] = 0.0
    return share
