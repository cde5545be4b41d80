"""What an operator's declaration says of its calls: shapes, kinds of values, bounds, points, rare levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from opcert.vocabulary.errors import Place
from specs.model.signature_parts import Otherwise


@dataclass(frozen=True)
class DeclaredBounds:
    """Of a pack the rank, of an extent the value; None where the declaration leaves an end open."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class KindUse:
    """What a name is: `axis: axis(X)`. `otherwise` says what breaking one of the kind's rules means.

    The name is an attribute or input, or a word of its own for a kind that knows what it covers.
    """

    name: str
    call: str
    otherwise: Otherwise
    place: Place
    demanded_by: str = ""
    """The passage that makes breaking a rule an error, where it is not one about the name."""
    derived: bool = False
    """Whether documents alone say it: a kind that people declared of the same name goes before it."""


@dataclass(frozen=True)
class DeclaredSizes:
    """What extents are to a kernel, where shapes do not tell it, and lengths that they are asked to have.

    `roles` are names of extents by role (`inner`: summed over, `outer`: a side of the result, `batch`: of
    several inputs, `channels`: of vectors beside a tensor, `scanned`: a pack along an axis of which the
    operator goes); `lengths` are asked for by the declaration itself; `rank` is the greatest number of axes
    that the text allows, `cases` how many cases are enough where each takes long to work out; `given` are
    attributes that such calls have.
    """

    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lengths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    rank: int | None = None
    cases: int | None = None
    given: Mapping[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True)
class Declared:
    """The declared parts of an operator version's call space; expressions as they are written.

    `points` are breakpoints and poles of the formula, `scale` the greatest magnitude of data that a long
    computation bears, `prefer` the classes of data to have first, `rare` levels that many runtimes lack:
    in one row each instead of in pairs. `paired` are the type variables whose types go with every other
    level, where those of others are dealt out over the rows; `focus` are levels under which the other factors
    are covered once more, because many runtimes have little else of them. `counts` say how many tensors a
    variadic input or output has: bounds, or an expression. `budget` is the greatest number of cases,
    where 120 do not do. `sizes` say what extents are to a kernel. `results` are the shapes of outputs.
    `overrides` say of entries (`kinds.axis`) why they are otherwise than the document.
    """

    shapes: Mapping[str, str] = field(default_factory=dict)
    extents: Mapping[str, DeclaredBounds] = field(default_factory=dict)
    kinds: tuple[KindUse, ...] = ()
    points: tuple[str | int | float, ...] = ()
    scale: float | None = None
    prefer: tuple[str, ...] = ()
    rare: Mapping[str, tuple[str | int | float | bool, ...]] = field(default_factory=dict)
    paired: tuple[str, ...] = ()
    focus: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    counts: Mapping[str, DeclaredBounds | str] = field(default_factory=dict)
    budget: int | None = None
    sizes: DeclaredSizes = field(default_factory=DeclaredSizes)
    results: Mapping[str, str] = field(default_factory=dict)
    overrides: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    """Where each shape stands, each constraint (`constraint <id>`), and the file, for messages."""
