"""Numbers compared with a constant of the document's, which a program may hold in a narrow type."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from opcert.vocabulary.tensors import Tensor
from reference.answers.orders import below
from reference.numbers.number_arrays import Numbers
from reference.numbers.numbers import encode
from reference.numbers.passing import opened
from reference.numbers.working import Mask, Working, rounded_up


def beside(numbers: Numbers, bound: Fraction) -> Mask:
    """Where numbers stand in another relation to a bound once that is rounded to their narrow type.

    Nowhere unless programs are read to compute in the type itself, which is asked where it matters.
    """
    working = numbers.working
    nowhere = np.zeros(numbers.shape, dtype=np.bool_)
    if not working.is_narrow:
        return nowhere
    kind = working.element_type
    exact = Numbers.exact(bound, working)
    near = Numbers.of(Tensor(kind, encode(kind, [bound]).reshape(())), Working(kind))
    found = (below(exact, numbers) != below(near, numbers)) | (below(numbers, exact) != below(numbers, near))
    return found if found.any() and working.accumulation.ask() == "input" else nowhere


def either(chosen: Mask, ours: Numbers, theirs: Numbers, doubtful: Mask) -> Numbers:
    """Numbers where `chosen`, others elsewhere; where that is doubtful, anything as far apart as they are."""
    found = ours.where(chosen, theirs)
    if not doubtful.any():
        return found
    apart = np.abs((ours.value - theirs.value).floats()) + ours.error + theirs.error
    lost = found.lost | doubtful & (ours.lost | theirs.lost)
    found = replace(found, error=np.where(doubtful, rounded_up(apart), found.error), lost=lost)
    return opened(found, doubtful & ~(ours.finite & theirs.finite))
