"""One argument of a TensorFlow operator: its type, shape, bounds, requirements and steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opcert.element_types import find_element_type
from opcert.errors import UserError
from specs.documents import Passage
from specs.model import Formula, Option, Origin, ParameterSpec, Source, TypeConstraint
from specs.prose.formulas import find_formulas

_TYPES = re.compile(r"Must be one of the following types: (?P<types>`?\w+`?(?: ?, `?\w+`?)*) ?\.")
_SAME = re.compile(r"(?:Must have|Has) the same type as `?(\w+)`?")
_OF_TYPE = re.compile(r"^An? (?:optional )?`?Tensor`? of type `?(\w+)`?")
_RANK = re.compile(r"\b(?P<rank>\d+|N)-D\b(?: with shape `?(?P<shape>\[[^\[\]]*\]))?")
_AT_LEAST = re.compile(r"all values must be >= (-?\d+)")
_REQUIRED = re.compile(r"[Ii]t is required that `?(?P<text>[^`]+?)`? ?\.(?:\s|$)")
_STEP = re.compile(r"to (?:produce )?(?:the )?`?(?P<name>\w+)`?\s+of shape:?\s+(?=\[)")


@dataclass(frozen=True)
class ArgumentFacts:
    """What the text of one tensor argument states."""

    parameter: ParameterSpec
    type_constraints: Mapping[str, TypeConstraint]
    formulas: tuple[Formula, ...]


def argument_facts(name: str, passage: Passage, place: Source) -> ArgumentFacts:
    """The facts of a tensor argument; its type variable is `T_<name>` unless it shares another's."""
    text = passage.text
    constraints: dict[str, TypeConstraint] = {}
    variable = f"T_{name}"
    listed, same, single = _TYPES.search(text), _SAME.search(text), _OF_TYPE.search(text)
    if listed:
        types = tuple(dict.fromkeys(our_type(each) for each in re.findall(r"\w+", listed["types"])))
        origin = Origin("imported", (passage.source(listed.start("types")),))
        constraints[variable] = TypeConstraint(variable, types, origin)
    elif same:
        variable = f"T_{same[1]}"
    elif single:
        variable = our_type(single[1])
    rank, least = _RANK.search(text), _AT_LEAST.search(text)
    option: Option = (
        "variadic" if re.match(r"A list of (?:at least \d+ )?`Tensor` objects", text) else "single"
    )
    parameter = ParameterSpec(
        name=name,
        option=option,
        type=variable,
        origin=Origin("imported", (place,)),
        rank=rank["rank"] if rank else None,
        shape=_extents(rank["shape"]) if rank and rank["shape"] else None,
        at_least=int(least[1]) if least else None,
    )
    return ArgumentFacts(parameter, constraints, tuple(_formulas(passage)))


def our_type(name: str) -> str:
    """Our name of an element type; TensorFlow's own where we have none (quantised types, resources)."""
    try:
        return find_element_type(name).name
    except UserError:
        return name


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
