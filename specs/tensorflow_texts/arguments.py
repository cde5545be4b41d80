"""One argument of a TensorFlow operator: its type, shape, bounds, requirements and steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from specs.documents import Passage
from specs.model import Formula, Origin, ParameterSpec, Source, TypeConstraint
from specs.prose.formulas import find_formulas
from specs.tensorflow_texts.phrases import our_type, unique

_HEAD = re.compile(
    r"\A\s*An? (?:optional )?`?Tensor`?(?: of type `?(?P<single>\w+)`?)? ?\."
    r"(?:\s*Must be one of the following types: (?P<types>`?\w+`?(?: ?, `?\w+`?)*) ?\."
    r"|\s*(?:Must have|Has) the same type as `?(?P<same>\w+)`? ?\.)?"
)
_RANK = re.compile(
    r"\s*(?:Must be |An? )?(?P<rank>\d+|N)-D\b(?! or\b| and\b| slice)"
    r"(?: (?:with|of) shape `?(?P<shape>\[[^\[\]]*\]))?"
)
_AT_LEAST = re.compile(r"all values must be >= (-?\d+)")
_REQUIRED = re.compile(r"[Ii]t is required that `?(?P<text>[^`]+?)`? ?\.(?:\s|$)")
_STEP = re.compile(r"to (?:produce )?(?:the )?`?(?P<name>\w+)`?\s+of shape:?\s+(?=\[)")


@dataclass(frozen=True)
class Description:
    """What the words behind a tensor's type state of its shape and values."""

    rank: str | None
    shape: tuple[str, ...] | None
    at_least: int | None
    formulas: tuple[Formula, ...]


@dataclass(frozen=True)
class ArgumentFacts:
    """What the text of one tensor argument states."""

    parameter: ParameterSpec
    type_constraints: Mapping[str, TypeConstraint]
    formulas: tuple[Formula, ...]
    read: bool
    """Whether the text begins with a type."""


def describe_tensor(passage: Passage, start: int) -> Description:
    """Rank, shape, bound, requirements and steps; `start` is where the words about the type end."""
    rank, least = _RANK.match(passage.text, start), _AT_LEAST.search(passage.text, start)
    return Description(
        rank["rank"] if rank else None,
        _extents(rank["shape"]) if rank and rank["shape"] else None,
        int(least[1]) if least else None,
        tuple(_formulas(passage)),
    )


def argument_facts(name: str, passage: Passage, place: Source) -> ArgumentFacts:
    """The facts of a tensor argument of a web page, whose backquotes are lost.

    Its type variable is `T_<name>` unless it shares another's.
    """
    text = passage.text
    constraints: dict[str, TypeConstraint] = {}
    variable = f"T_{name}"
    head = _HEAD.match(text)
    if head and head["types"]:
        types = unique(our_type(each) for each in re.findall(r"\w+", head["types"]))
        origin = Origin("imported", (passage.source(head.start("types")),))
        constraints[variable] = TypeConstraint(variable, types, origin)
    elif head and head["same"]:
        variable = f"T_{head['same']}"
    elif head and head["single"]:
        variable = our_type(head["single"])
    described = describe_tensor(passage, head.end() if head else 0)
    parameter = ParameterSpec(
        name=name,
        option="single",
        type=variable,
        origin=Origin("imported", (place,)),
        rank=described.rank,
        shape=described.shape,
        at_least=described.at_least,
    )
    return ArgumentFacts(parameter, constraints, described.formulas, head is not None)


def _extents(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.strip("[]").split(",") if each.strip())


def _formulas(passage: Passage) -> Iterator[Formula]:
    for match in _REQUIRED.finditer(passage.text):
        origin = Origin("imported", (passage.source(match.start("text")),))
        yield Formula("required", " ".join(match["text"].split()), origin)
    for match in _STEP.finditer(passage.text):
        shape = _bracketed(passage.text, match.end())
        if shape is not None:
            origin = Origin("imported", (passage.source(match.start("name")),))
            yield Formula(f"shape({match['name']})", shape, origin)
    examples = passage.text.find("Some examples")
    for formula in find_formulas(passage):
        before = passage.source(examples) if examples >= 0 else None
        if before is None or formula.origin.sources[0].line < before.line:
            yield formula


def _bracketed(text: str, start: int) -> str | None:
    """The bracketed text that begins at an offset, its white space as single blanks."""
    depth = 0
    for position in range(start, min(len(text), start + 2000)):
        depth += (text[position] == "[") - (text[position] == "]")
        if depth == 0:
            return re.sub(r"\s+", " ", text[start : position + 1])
    return None
