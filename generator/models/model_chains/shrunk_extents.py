"""Extents for a few nodes of a model: its own where they are small, else smaller ones that go together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from conformance.checked_models.model_calls import Extent, ModelNode, ModelValue

MOST_ELEMENTS = 1 << 12
"""A tensor of a chain has no more: its results are worked out in exact arithmetic."""
_KEPT = 7
"""Extents up to this are kernels, groups, ranks and the like as often as not, and stay."""
_UNKNOWN = 2
_DIVISORS = (4, 8, 16, 32, 64, 128)

Shrink = Callable[[Extent], int]


def ways_to_shrink(values: Sequence[ModelValue]) -> Iterator[Shrink]:
    """Ways to give each extent of some values a length, the plainest first; unknown ones get a small one.

    The model's own; all large ones divided by one number, which keeps that one is the product of two; each
    large one a number of its own.
    """
    extents = [each for value in values for each in value.shape or ()]
    names = dict.fromkeys(each for each in extents if isinstance(each, str))
    named = {name: 2 + at % 3 for at, name in enumerate(names)}
    large = sorted({each for each in extents if isinstance(each, int) and each > _KEPT})
    tables: list[Mapping[int, int]] = [{}]
    tables += [{each: each // by for each in large if each % by == 0} for by in _DIVISORS]
    tables.append({each: _KEPT + 1 + 2 * at for at, each in enumerate(large)})
    tables.append({each: 2 + 2 * at for at, each in enumerate(large)})
    seen: list[Mapping[int, int]] = []
    for table in tables:
        if table not in seen:
            seen.append(table)
            yield _shrink(named, table)


def _shrink(named: Mapping[str, int], table: Mapping[int, int]) -> Shrink:
    def found(extent: Extent) -> int:
        if isinstance(extent, str):
            return named.get(extent, _UNKNOWN)
        return _UNKNOWN if extent is None else table.get(extent, extent)

    return found


def values_around(nodes: Sequence[ModelNode]) -> list[ModelValue]:
    """Every value that some nodes take, each once, those between them among them."""
    found: dict[str, ModelValue] = {}
    for node in nodes:
        for each in node.inputs:
            if each is not None:
                found.setdefault(each.name, each)
    return list(found.values())
