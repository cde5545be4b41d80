"""What the extents of an operator are to its kernel, as its shapes, results and kinds say.

An extent of two inputs that the result lacks is summed over; one of the result that a single input brings is
a side of it; one that a vector has beside the tensor is its channels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from generator.calls.kinds.axis import Axis
from generator.calls.kinds.transposed_window import TransposedWindow
from generator.calls.kinds.window import Window
from generator.calls.space.space import CallSpace
from generator.calls.variables.kind import Kind, Level
from specs.language.shape_expressions import Shape, parse_shape
from specs.model.declared import DeclaredSizes

_NAME = re.compile(r"[A-Za-z_]\w*")
_CHOICE = frozenset({"within", "upto"})
"""Words of inputs that go along with others: a bias has the sides of what it is added to."""


@dataclass(frozen=True)
class Roles:
    """Names of extents by role, in the order of the shapes, and the kinds that tell where an axis is.

    `inner` are summed over, `outer` sides of the result, `batch` extents of several inputs that stay,
    `channels` those of vectors beside a tensor, `packs` lists of extents.
    """

    inner: tuple[str, ...]
    outer: tuple[str, ...]
    batch: tuple[str, ...]
    channels: tuple[str, ...]
    packs: tuple[str, ...]
    broadcast: frozenset[str]
    window: Window | TransposedWindow | None
    axis: Axis | None
    order: Kind | None


def roles_of(space: CallSpace) -> Roles:
    """The roles of a space's extents: those that the declaration tells, and what follows from shapes."""
    declared = space.spec.declared
    told = sizes_of(space)
    texts = declared.shapes if declared is not None else {}
    shapes = {name: parse_shape(text) for name, text in texts.items()}
    names = _in_order(shapes, space.spec.extents)
    starred = frozenset[str]().union(*(shape.starred for shape in shapes.values()))
    single = [name for name in names if name not in starred]
    counts = {name: _occurrences(shape) for name, shape in shapes.items()}
    vectors = {next(iter(found)) for found in counts.values() if sum(found.values()) == 1}
    full = [count for count in counts.values() if sum(count.values()) > 1]
    made = _made(declared.results if declared is not None else {}, counts) or next(iter(full), Counter())
    found: dict[str, list[str]] = {"inner": [], "outer": [], "batch": [], "channels": []}
    for name in single:
        brought = [each[name] for each in full if name in each]
        if brought and _is_summed(made[name], brought, name in vectors):
            found["inner"].append(name)
        elif len(brought) == 1 and made[name] and name not in vectors:
            found["outer"].append(name)
        elif len(brought) > 1 and made[name]:
            found["batch"].append(name)
        if brought and name in vectors and made[name]:
            found["channels"].append(name)
    for role in found.keys() & told.roles.keys():
        listed = told.roles[role]
        found[role] = [each for each in listed if each in single]
    kinds = space.kinds
    return Roles(
        tuple(found["inner"]),
        tuple(found["outer"]),
        tuple(found["batch"]),
        tuple(found["channels"]),
        tuple(name for name in names if name in starred),
        frozenset(_broadcast(shapes)),
        next((kind for kind in kinds if isinstance(kind, Window | TransposedWindow)), None),
        next((kind for kind in kinds if isinstance(kind, Axis)), None),
        next((kind for kind in kinds if kind.is_permutation), None),
    )


def _is_summed(made: int, brought: list[int], is_of_vector: bool) -> bool:
    """Whether an extent that inputs have so often goes away, once at least, on the way to the result."""
    if made:
        return made < max(brought)
    return is_of_vector or len(brought) + max(brought) > 2


def _in_order(shapes: Mapping[str, Shape], wanted: frozenset[str]) -> list[str]:
    """The extents, in the order in which the shapes have them first."""
    found = (name for shape in shapes.values() for name in _NAME.findall(shape.text))
    return [name for name in dict.fromkeys(found) if name in wanted]


def _occurrences(shape: Shape) -> Counter[str]:
    """How often a shape has each name, in the alternative that has it most often."""
    most: Counter[str] = Counter()
    for _, parts in shape.alternatives:
        one: Counter[str] = Counter()
        for part in parts:
            if part.word not in _CHOICE:
                one.update(part.names)
        most |= one
    return most


def _made(results: Mapping[str, str], counts: Mapping[str, Counter[str]]) -> Counter[str]:
    """How often the first result has each name; one that is as an input has those of that input."""
    text = next(iter(results.values()), "")
    found: Counter[str] = Counter()
    for name in dict.fromkeys(_NAME.findall(text)):
        found[name] = 1
        if name in counts and f"shape({name})" in text:
            found |= counts[name]
    return found


def _broadcast(shapes: Mapping[str, Shape]) -> Iterator[str]:
    """The packs to which inputs broadcast each other."""
    for shape in shapes.values():
        for part in shape.words():
            if part.word == "broadcast":
                yield from part.names


def sizes_of(space: CallSpace) -> DeclaredSizes:
    """What the declaration says of sizes itself."""
    declared = space.spec.declared
    return declared.sizes if declared is not None else DeclaredSizes()


def in_float(space: CallSpace) -> dict[str, Level]:
    """Float for each type variable that may be it: what a type alone makes wrong, other cases tell."""
    return {each: "float" for each in space.types if "float" in space.factors[each]}
