"""Whether extents hold as many elements as a tensor has."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from specs.language.functions.reshaped import with_copies


def reshapes(shape: Sequence[int], target: Sequence[int], zero_copies: bool) -> bool:
    """Whether a tensor of this shape can have these extents: -1 is inferred, 0 copied where `zero_copies`.

    ValueError where the target breaks another rule: extents below -1, several -1, a copy of no axis.
    """
    if any(each < -1 for each in target) or list(target).count(-1) > 1:
        raise ValueError("no extents")
    known = with_copies(shape, target, zero_copies)
    count = prod(shape)
    given = prod(each for each in known if each != -1)
    if -1 not in known:
        return given == count
    return count % given == 0 if given else False
