"""Extents of a node's inputs that are one length: those that share a number or a name, or stand alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from generator.models.check.node_calls import NodeCall
from generator.models.check.shape_checks import Shapes
from specs.language.shape_expressions import parse_shape

Class = tuple[str, int | str]
"""`("is", 64)` for every extent of 64, `("named", "batch")`; `("at", 3)` is one that nothing is known of."""
Chosen = dict[Class, int]
"""A length for each class."""
_RANKS = (2, 3, 4, 1, 0, 5)
_MOST_RANKS = 64


@dataclass(frozen=True)
class Outline:
    """The shapes of a node's inputs: a number where it stays as it is, a class where it may change."""

    inputs: tuple[tuple[int | Class, ...] | None, ...]
    names: tuple[str, ...] = ()
    """The spec's names of the inputs."""

    @property
    def classes(self) -> tuple[Class, ...]:
        """The classes in the order in which they stand."""
        found = [each for one in self.inputs if one is not None for each in one if not isinstance(each, int)]
        return tuple(dict.fromkeys(found))

    def shapes(self, chosen: Mapping[Class, int]) -> Shapes:
        """The shapes where each class has a length."""
        return tuple(
            None if one is None else tuple(each if isinstance(each, int) else chosen[each] for each in one)
            for one in self.inputs
        )

    def is_dynamic(self) -> bool:
        """Whether the model leaves an extent open."""
        return any(word != "is" for word, _ in self.classes)


def outlines(node: NodeCall, *, apart: bool = False) -> Iterator[Outline]:
    """The outline of a node; several where ranks are unknown. With `apart` every extent is by itself.

    Extents of 1 and 0 stay, and so does the shape of an input whose value is kept.
    """
    unknown = [
        place
        for place, each in enumerate(node.inputs)
        if each.value is not None and each.kept is None and each.value.shape is None
    ]
    told = {place: rank for place in unknown if (rank := _declared_rank(node, place)) is not None}
    left = [place for place in unknown if place not in told]
    for ranks in _ranks(len(left)):
        assumed = {**told, **dict(zip(left, ranks, strict=True))}
        inputs = tuple(_input(node, place, assumed, apart) for place in range(len(node.inputs)))
        yield Outline(inputs, tuple(each.name for each in node.inputs))


def _declared_rank(node: NodeCall, place: int) -> int | None:
    """The rank that the declaration gives an input whatever the call is; None where it may have several."""
    declared = node.spec.declared
    text = None if declared is None else declared.shapes.get(node.inputs[place].name)
    if text is None:
        return None
    lengths = {
        None if any(each.several or each.word is not None for each in parts) else len(parts)
        for _, parts in parse_shape(text).alternatives
    }
    return lengths.pop() if len(lengths) == 1 else None


def _ranks(count: int) -> Iterator[tuple[int, ...]]:
    """Ranks for so many inputs: all alike first."""
    alike = [(rank,) * count for rank in (_RANKS if count else (0,))]
    yield from alike
    mixed = (each for each in product(_RANKS, repeat=count) if each not in alike)
    for _, ranks in zip(range(_MOST_RANKS), mixed, strict=False):
        yield ranks


def _input(
    node: NodeCall, place: int, assumed: Mapping[int, int], apart: bool
) -> tuple[int | Class, ...] | None:
    each = node.inputs[place]
    if each.value is None:
        return None
    if each.kept is not None:
        return each.kept.shape
    known: Sequence[int | str | None]
    known = (None,) * assumed[place] if each.value.shape is None else each.value.shape
    stays = each.name in node.listed
    return tuple(
        extent if stays and isinstance(extent, int) else _class(extent, 100 * place + axis, apart)
        for axis, extent in enumerate(known)
    )


def _class(extent: int | str | None, position: int, apart: bool) -> int | Class:
    if isinstance(extent, int) and extent < 2:
        return extent
    if apart or extent is None:
        return ("at", position)
    return ("is", extent) if isinstance(extent, int) else ("named", extent)


def elements(shapes: Shapes) -> int:
    """The elements of all inputs together."""
    return sum(prod(each) for each in shapes if each is not None)


def own_length(which: Class) -> int | None:
    """The length that the node says of a class; None where it says none."""
    word, length = which
    return length if word == "is" and isinstance(length, int) else None
