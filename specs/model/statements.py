"""What sentences say of the parts of an operator, in a form that declarations can build on.

Every statement is `about` one part (`attributes.axis`, `inputs.X`, `summary`) and has an origin: the line,
the rule that read it, and how sure that rule is (0 to 1); below `ACCEPTED_FROM` it is proposed and needs a
person's word. Bounds and conditions are expressions of `specs.language.expressions`; names in them that are
no part of the operator (`s`, `C`) are extents as the document calls them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from specs.model.signature_parts import Origin

ACCEPTED_FROM = 0.75
Of = Literal["value", "elements", "length"]


@dataclass(frozen=True)
class Range:
    """The values that an attribute, or the elements (or the length) of an input, may have."""

    about: str
    origin: Origin
    of: Of = "value"
    at_least: str | None = None
    more_than: str | None = None
    at_most: str | None = None
    less_than: str | None = None
    when: str | None = None


@dataclass(frozen=True)
class Rank:
    """How many dimensions a tensor has: between two expressions, either of which may be open."""

    about: str
    origin: Origin
    least: str | None = None
    most: str | None = None
    when: str | None = None


@dataclass(frozen=True)
class StatedShape:
    """A shape that a tensor may have, its extents by the document's names; `...` stands for any number."""

    about: str
    origin: Origin
    extents: tuple[str, ...]
    when: str | None = None


@dataclass(frozen=True)
class Multiple:
    """A number that another one divides: an extent or part by the document's name for it, or (`what` is
    None) the value of the part itself."""

    about: str
    origin: Origin
    of: str
    what: str | None = None


@dataclass(frozen=True)
class Broadcast:
    """Inputs that are broadcast: each other (`to` is None), or one way to something.

    About an output: it has the shape that the inputs are broadcast to.
    """

    about: str
    origin: Origin
    inputs: tuple[str, ...]
    to: str | None = None


@dataclass(frozen=True)
class SameShape:
    """A tensor has the shape of another one (`as_`), but for one axis where the text leaves one out.

    A variadic input or a sequence that has the shape of itself holds tensors of one shape.
    """

    about: str
    origin: Origin
    as_: str
    except_: str | None = None


@dataclass(frozen=True)
class Relevance:
    """Where an attribute or input matters; None where the text has a condition that no rule could read."""

    about: str
    origin: Origin
    effective_when: str | None = None


@dataclass(frozen=True)
class TypeClass:
    """The words by which a text calls the types of a variable: numeric, float, 8-bit integer, int64, any."""

    about: str
    origin: Origin
    classes: tuple[str, ...]
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class OneOf:
    """Attributes of which a call gives exactly one."""

    about: str
    origin: Origin
    names: tuple[str, ...]


@dataclass(frozen=True)
class SameLength:
    """A list has as many elements as another one (`as_`), or as those that are called `keys_*`."""

    about: str
    origin: Origin
    as_: str


@dataclass(frozen=True)
class Required:
    """An optional input is given where a condition holds (`exactly`: there alone), or for an output."""

    about: str
    origin: Origin
    when: str | None = None
    exactly: bool = False
    output: str | None = None


Statement = (
    Range
    | Rank
    | StatedShape
    | Multiple
    | Broadcast
    | SameShape
    | Relevance
    | TypeClass
    | OneOf
    | SameLength
    | Required
)

KINDS: dict[str, type[Statement]] = {
    "range": Range,
    "rank": Rank,
    "shape": StatedShape,
    "multiple": Multiple,
    "broadcast": Broadcast,
    "same_shape": SameShape,
    "relevance": Relevance,
    "type_class": TypeClass,
    "one_of": OneOf,
    "same_length": SameLength,
    "required": Required,
}
"""What a statement says, by the word for it in files."""


def is_proposed(statement: Statement) -> bool:
    """Whether a statement waits for a person's word."""
    confidence = statement.origin.confidence
    return confidence is not None and confidence < ACCEPTED_FROM


def describe(statement: Statement) -> str:
    """A statement in one line, without what it is about: `rank 4`, `shape [N, C]`, `range >= 0`."""
    match statement:
        case Range():
            ends = ((">=", statement.at_least), (">", statement.more_than),
                    ("<=", statement.at_most), ("<", statement.less_than))  # fmt: skip
            bounds = ", ".join(f"{sign} {end}" for sign, end in ends if end is not None)
            what = "range" if statement.of == "value" else f"range of {statement.of}"
            return f"{what} {bounds}{_where(statement.when)}"
        case Rank():
            return f"rank {_ends(statement.least, statement.most)}{_where(statement.when)}"
        case StatedShape():
            return f"shape [{', '.join(statement.extents)}]{_where(statement.when)}"
        case Multiple():
            return f"{statement.what + ': ' if statement.what else ''}a multiple of {statement.of}"
        case Broadcast():
            inputs = ", ".join(statement.inputs)
            return f"broadcast {inputs}" if statement.to is None else f"broadcast {inputs} to {statement.to}"
        case SameShape():
            return f"shape of {statement.as_}" + (
                f" but for {statement.except_}" if statement.except_ else ""
            )
        case Relevance():
            return f"matters where {statement.effective_when or 'a condition holds that no rule reads'}"
        case OneOf():
            return f"exactly one of {', '.join(statement.names)}"
        case SameLength():
            return f"as many elements as {statement.as_}"
        case Required():
            exactly = " there alone" if statement.exactly else ""
            return f"required where {statement.when or f'{statement.output} is asked for'}{exactly}"
        case TypeClass():
            without = f" without {', '.join(statement.without)}" if statement.without else ""
            return f"types {', '.join(statement.classes)}{without}"


def _where(when: str | None) -> str:
    return f" where {when}" if when else ""


def _ends(least: str | None, most: str | None) -> str:
    if least == most:
        return str(least)
    if most is None:
        return f">= {least}"
    return f"<= {most}" if least is None else f"{least} to {most}"
