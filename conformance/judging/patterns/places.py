"""Where the wrong elements lie: at a border, after the first channel, where NaN is expected.

The same number of wrong elements in random places must lie so less than once in 2**12 times.
"""

from __future__ import annotations

import numpy as np

from conformance.judging.patterns.coincidences import is_strange_place
from conformance.judging.patterns.elements import Mask
from conformance.judging.patterns.wrong_output import FEWEST, WrongOutput
from conformance.suite.values import decode_loudly

_NAMES = ("batch", "channel")


def find_place(output: WrongOutput) -> str | None:
    """The wrong elements lie in one place, and all of them do."""
    if output.wrong is None or output.wrong_places.size < FEWEST:
        return None
    return _where_nan_is_expected(output) or _after_first(output) or _at_border(output)


def _where_nan_is_expected(output: WrongOutput) -> str | None:
    if not output.element_type.is_float:
        return None
    if not np.isnan(decode_loudly(output.element_type, output.wrong_expected[:1])).all():
        return None
    nan = np.isnan(decode_loudly(output.element_type, output.expected.reshape(-1)))
    if not nan[output.wrong_places].all():
        return None
    strange = is_strange_place(nan.size, int(np.count_nonzero(nan)), output.wrong_places.size)
    return "wrong only where NaN is expected" if strange else None


def _after_first(output: WrongOutput) -> str | None:
    """The first of a batch or of the channels is right, and each of the others is wrong somewhere."""
    wrong = output.wrong_mask
    if wrong.ndim < 3:
        return None
    for axis, name in enumerate(_NAMES):
        extent = wrong.shape[axis]
        if extent < 2:
            continue
        some = _along(wrong, axis)
        beyond = wrong.size - wrong.size // extent
        if not some[0] and some[1:].all() and _strange(output, beyond):
            return f"wrong only after the first {name} (axis {axis})"
    return None


def _at_border(output: WrongOutput) -> str | None:
    """All wrong elements lie at one end of an axis, at its two ends, or at the ends of any axis."""
    wrong = output.wrong_mask
    wide = [axis for axis, extent in enumerate(wrong.shape) if extent > 2]
    for axis in wide:
        some = _along(wrong, axis)
        if some[1:-1].any():
            continue
        face = wrong.size // wrong.shape[axis]
        if not some[-1] and _strange(output, face):
            return f"wrong only at the start of axis {axis}"
        if not some[0] and _strange(output, face):
            return f"wrong only at the end of axis {axis}"
        if some[0] and some[-1] and _strange(output, 2 * face):
            return f"wrong only at the ends of axis {axis}"
    inner = tuple(slice(1, -1) if extent > 2 else slice(None) for extent in wrong.shape)
    inside = wrong[inner]
    if not wide or inside.any() or not _strange(output, wrong.size - inside.size):
        return None
    return "wrong only at the border"


def _along(wrong: Mask, axis: int) -> Mask:
    """Whether anything is wrong at each index of an axis."""
    return np.asarray(wrong.any(axis=tuple(each for each in range(wrong.ndim) if each != axis)))


def _strange(output: WrongOutput, places: int) -> bool:
    return is_strange_place(output.got.size, places, output.wrong_places.size)
