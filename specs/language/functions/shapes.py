"""Functions on shapes, and on indices that are about the places of one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from math import prod


def block_fits(shape: Sequence[int], scales: Sequence[int], axis: int, block_size: int) -> bool:
    """Whether the scales are as many as blocks of that size, of which the last may be shorter."""
    return block_size > 0 and -(-shape[axis] // block_size) == scales[axis]


def broadcast_shape(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """The extents, counted from the end, of which each is that of both, or of the one that is not 1.

    ValueError where they are neither.
    """
    found = []
    for left, right in zip_longest(reversed(one), reversed(other), fillvalue=1):
        if left != right and 1 not in (left, right):
            raise ValueError(f"{left} and {right} do not broadcast")
        found.append(right if left == 1 else left)
    return found[::-1]


def broadcasts(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether each pair of extents, counted from the end, is equal or has a 1; ValueError below 0."""
    if any(each < 0 for each in (*one, *other)):
        raise ValueError("no extents")
    pairs = zip(reversed(one), reversed(other), strict=False)
    return all(left == right or 1 in (left, right) for left, right in pairs)


def distinct_along(shape: Sequence[int], values: Sequence[int], axis: int, extent: int) -> bool:
    """Whether no line of indices along `axis` has one element of an axis of `extent` twice.

    Values are in row-major order; a negative index counts from the end. ValueError without axes.
    """
    if not shape:
        raise ValueError("no axes")
    axis %= len(shape)
    inner = prod(shape[axis + 1 :])
    length = shape[axis]
    for start in range(prod(shape[:axis])):
        for offset in range(inner):
            base = start * length * inner + offset
            line = [values[base + step * inner] % max(extent, 1) for step in range(length)]
            if len(set(line)) < length:
                return False
    return True


def divided(left: int, right: int) -> int:
    """A quotient that leaves no remainder; ValueError where there is none."""
    if right == 0 or left % right:
        raise ValueError(f"{left} / {right} is not whole")
    return left // right


def granularity(shape: Sequence[int], scales: Sequence[int], axis: int) -> str:
    """`tensor`, `axis` or `block` by the shape of the scales; `none` where they fit the tensor in no way.

    A list of one scale is `tensor` where the axis is not there, or has another length.
    """
    rank, is_there = len(shape), -len(shape) <= axis < len(shape)
    if not scales or (list(scales) == [1] and not (is_there and shape[axis] == 1)):
        return "tensor"
    if not is_there:
        return "none"
    axis %= rank
    if len(scales) == 1 and (rank > 1 or scales[0] == shape[0]):
        return "axis" if scales[0] == shape[axis] else "none"
    beside = [extent for at, extent in enumerate(shape) if at != axis]
    fits = len(scales) == rank and beside == [scale for at, scale in enumerate(scales) if at != axis]
    return "block" if fits and (0 < scales[axis] <= shape[axis] or scales[axis] == shape[axis]) else "none"


def padding(shape: Sequence[int], pads: Sequence[int], axes: Sequence[int]) -> list[tuple[int, int, int]]:
    """For each of the axes its extent, and what is added before and behind it (less than 0: taken away).

    ValueError where the pads are not two for each axis, or an axis is not there.
    """
    if len(pads) != 2 * len(axes) or any(not -len(shape) <= axis < len(shape) for axis in axes):
        raise ValueError("not two pads for each axis")
    return [(shape[axis], pads[at], pads[at + len(axes)]) for at, axis in enumerate(axes)]


def reduced(
    shape: Sequence[int], axes: Sequence[int] | None, keepdims: int, nothing_where_empty: int = 0
) -> list[int]:
    """The shape without the axes, or with 1 in their places; without axes all are meant, or none.

    ValueError where an axis is not there.
    """
    rank, listed = len(shape), list(axes) if axes is not None else []
    if any(not -rank <= axis < rank for axis in listed):
        raise ValueError("an axis that is not there")
    if not listed and not nothing_where_empty:
        listed = list(range(rank))
    gone = {axis % rank for axis in listed}
    return [1 if at in gone else extent for at, extent in enumerate(shape) if keepdims or at not in gone]


def replaced(shape: Sequence[int], axes: Sequence[int], extents: Sequence[int]) -> list[int]:
    """The shape with these extents along these axes.

    ValueError where an axis is not there, or the extents are not one for each axis.
    """
    rank, found = len(shape), list(shape)
    if len(axes) != len(extents) or any(not -rank <= axis < rank for axis in axes):
        raise ValueError("not an extent for each axis that is there")
    for axis, extent in zip(axes, extents, strict=True):
        found[axis] = extent
    return found


def reshaped(shape: Sequence[int], target: Sequence[int], zero_copies: bool) -> list[int]:
    """The target with -1 inferred from the number of elements, and 0 copied where `zero_copies`.

    ValueError where what is copied is not there, or what is inferred is not whole.
    """
    known = with_copies(shape, target, zero_copies)
    if -1 not in known:
        return known
    rest = prod(each for each in known if each != -1)
    if not rest or prod(shape) % rest:
        raise ValueError("no whole extent is left")
    return [prod(shape) // rest if each == -1 else each for each in known]


def with_copies(shape: Sequence[int], target: Sequence[int], zero_copies: bool) -> list[int]:
    """The target, where `zero_copies` with 0 as the extent of that axis; ValueError where it has none."""
    if zero_copies and any(each == 0 and at >= len(shape) for at, each in enumerate(target)):
        raise ValueError("a copy of an axis that is not there")
    return [shape[at] if each == 0 and zero_copies else each for at, each in enumerate(target)]


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


def rows_differ(values: Sequence[int], length: int, extents: Sequence[int]) -> bool:
    """Whether no two rows of `length` indices name the same place; negative ones count from the end.

    ValueError where rows have no elements, or more than there are extents.
    """
    if not 1 <= length <= len(extents):
        raise ValueError("rows of another length")
    plain = [value % max(extents[place % length], 1) for place, value in enumerate(values)]
    rows = [tuple(plain[start : start + length]) for start in range(0, len(plain), length)]
    return len(set(rows)) == len(rows)


def rows_inside(values: Sequence[int], length: int, extents: Sequence[int]) -> bool:
    """Whether each row of `length` indices lies inside the first extents; negative ones count from the end.

    ValueError where rows have no elements, or more than there are extents.
    """
    if not 1 <= length <= len(extents):
        raise ValueError("rows of another length")
    return all(
        -extents[place % length] <= value < extents[place % length] for place, value in enumerate(values)
    )


def sliced(
    shape: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None,
    steps: Sequence[int] | None,
) -> list[int]:
    """What is left of a shape between starts and ends, clamped to the extents.

    Backwards a start before the first element is the first one, where Python finds nothing. Left out: the
    first axes, steps of 1. ValueError where the lists are not of one length, an axis is not there, or a
    step is 0. Source: Slice, Summary.
    """
    rank, found = len(shape), list(shape)
    along = list(axes) if axes is not None else list(range(len(starts)))
    strides = list(steps) if steps is not None else [1] * len(starts)
    if not len(starts) == len(ends) == len(along) == len(strides):
        raise ValueError("not a start, an end and a step for each axis")
    if any(not -rank <= axis < rank for axis in along):
        raise ValueError("an axis that is not there")
    for start, end, axis, step in zip(starts, ends, along, strides, strict=True):
        extent = shape[axis]
        clamped = max(start, -extent) if step < 0 else start
        found[axis] = len(range(*slice(clamped, end, step).indices(extent)))
    return found


def unsqueezed(shape: Sequence[int], axes: Sequence[int]) -> list[int]:
    """The shape with 1 put in at these axes of the result.

    ValueError where an axis is not there, or is there twice.
    """
    rank = len(shape) + len(axes)
    if any(not -rank <= axis < rank for axis in axes):
        raise ValueError("an axis that is not there")
    added = {axis % rank for axis in axes}
    if len(added) < len(axes):
        raise ValueError("an axis that is there twice")
    rest = iter(shape)
    return [1 if at in added else next(rest) for at in range(rank)]
