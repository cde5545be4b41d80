"""A state of GRU beside infinities: nothing is demanded that an arrangement of its formula does not give."""

from __future__ import annotations

import itertools
import math

import numpy as np

from opcert.vocabulary.tensors import tensor
from reference.numbers.number_arrays import Numbers
from reference.shared.recurrences import between
from tests.reference.test_number_arrays import working

INFINITY = math.inf
TRIPLES = np.array(
    list(
        itertools.product(
            (0.0, 0.25, 1.0, -0.5, 1.5, math.nan),
            (0.5, 0.0, -2.0, INFINITY, -INFINITY, math.nan),
            (1.25, 0.0, INFINITY, -INFINITY, math.nan),
        )
    )
)


def test_no_arrangement_is_wrong_beside_infinities() -> None:
    parts = [Numbers.of(tensor(column, "double"), working("double")) for column in TRIPLES.T]
    found = between(*parts)
    z, h, last = TRIPLES.T
    with np.errstate(invalid="ignore"):
        arrangements = ((1 - z) * h + z * last, h + z * (last - h), h - z * h + z * last)
        kept = np.where(found.finite, found.value.floats(), found.sign * np.inf)
    for place, expected in enumerate(kept):
        if found.open[place]:
            continue
        for arrangement in arrangements:
            np.testing.assert_allclose(arrangement[place], expected, rtol=1e-12, err_msg=str(TRIPLES[place]))


def test_only_what_an_infinite_state_makes_of_it_is_open() -> None:
    parts = [Numbers.of(tensor(column, "double"), working("double")) for column in TRIPLES.T]
    is_open = between(*parts).open
    z, h, last = TRIPLES.T
    assert not is_open[~np.isinf(h)].any()
    assert not is_open[np.isnan(z) | np.isnan(last)].any()
    assert is_open[np.isinf(h) & (z == 0.25) & (last == 1.25)].all()
    # A gate that is shut: each arrangement multiplies the infinity with zero.
    assert not is_open[np.isinf(h) & (z == 1.0)].any()
