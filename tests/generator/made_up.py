"""A made-up operator: spec, reference and levels, small enough to know every answer by heart.

`Shift` adds `by` to every element of X; `twice` adds it a second time. What an odd sum becomes is an open
reading, whether zero keeps its sign a behaviour that never matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar, cast

import numpy as np

from generator.asking.calls import Call
from generator.calls.data.data import fill
from generator.calls.data.draws import Draw
from generator.calls.declared.declared_levels import DeclaredLevels
from generator.calls.rows.feasibility import Level
from generator.calls.space.space import CallSpace
from generator.making.operators.workshop import Options, Workshop
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import Answer, OutsideDomain, UnstableLength
from reference.registry.reference_operator import ReferenceOperator
from specs.model.spec import (
    AttributeSpec,
    Constraint,
    Document,
    Example,
    Exclusion,
    Factor,
    Origin,
    ParameterSpec,
    Reading,
    Source,
    Spec,
    TypeConstraint,
    Value,
)

NAME = OperatorName("test.domain", "Shift", 1)
HERE = Source("d1", 7)
ORIGIN = Origin("imported", (HERE,))


def reading(name: str, options: tuple[str, ...], kind: str = "reading", chosen: str | None = None) -> Reading:
    texts = {option: f"it is {option}" for option in options}
    return Reading(name, f"what of {name}", texts, (), chosen, kind, ORIGIN)  # type: ignore[arg-type]


def shift(
    X: Tensor, *, by: int = 1, twice: int = 0, odd: str = "kept", sign: str = "kept", settled: str = "no"
) -> Answer:
    if X.array.size and by == 99:
        raise UnstableLength("a made-up one")
    if by == 77:
        raise OutsideDomain("a made-up one")
    if settled != "yes":
        raise AssertionError("a settled reading must be passed on")
    result = X.array + by * (2 if twice else 1)
    if odd == "rounded_down":
        result = result - result % 2
    return Answer(tensor(result.astype(np.int32), "int32"))


REFERENCE = ReferenceOperator(
    NAME,
    shift,
    ("X",),
    frozenset({"X"}),
    frozenset({"by", "twice"}),
    {"odd": ("kept", "rounded_down"), "sign": ("kept", "lost"), "settled": ("no", "yes")},
)

SPEC = Spec(
    operator=NAME,
    documents=(Document("d1", "shift.md", "none", "0" * 64),),
    attributes={
        "by": AttributeSpec("by", "int", False, 1, True, None, ORIGIN),
        "twice": AttributeSpec("twice", "int", False, 0, True, None, ORIGIN),
    },
    inputs=(ParameterSpec("X", "single", "T", ORIGIN),),
    outputs=(ParameterSpec("Y", "single", "T", ORIGIN),),
    type_constraints={"T": TypeConstraint("T", ("int32",), ORIGIN)},
    constraints=(
        Constraint("by_positive", None, "by > 0", "error", None, None, ORIGIN),
        Constraint("by_small", None, "by < 1000", "undefined", None, None, ORIGIN),
        Constraint("twice_scope", None, None, None, "twice", "by > 1", ORIGIN),
    ),
    readings=(
        reading("odd", ("kept", "rounded_down")),
        reading("settled", ("no", "yes"), chosen="yes"),
        reading("sign", ("kept", "lost"), "behaviour"),
    ),
    examples=(
        Example(
            "one and two",
            {"by": 1},
            (("X", Value((2,), (1, 2), "int32")),),
            (("Y", Value((2,), (2, 3), "int32")),),
            HERE,
        ),
        Example("any data", {"by": 2}, (("X", Value((3,), None, "int32")),), (("Y", None),), HERE),
    ),
    factors=(
        Factor("by", (1, 2, 3)),
        Factor("lengths", ("none", "one", "many")),
        Factor("data", ("distinct", "constant")),
    ),
    exclusions=(Exclusion("lengths == 'none' and data == 'constant'", Origin("added", why="no elements")),),
)


class Levels(DeclaredLevels):
    """Calls that are written here, in place of those that a declaration comes to."""

    focus: ClassVar[Mapping[str, Level]] = {}

    def __init__(self) -> None:
        pass

    @property
    def space(self) -> CallSpace:
        return cast(CallSpace, SimpleNamespace(spec=SPEC, kinds=()))

    def deal(
        self, rows: Sequence[Mapping[str, str]], given: Sequence[Mapping[str, str]] = ()
    ) -> list[Mapping[str, str]]:
        return list(rows)

    def build_call(self, spec: Spec, levels: Mapping[str, str], draw: Draw) -> Call | None:
        length = {"none": 0, "one": 1, "many": 5}[levels["lengths"]]
        if length == 0 and levels["data"] == "constant":
            return None
        return call(int(levels["by"]), fill("int32", (length,), levels["data"], draw))

    def boundary_calls(self, spec: Spec, draw: Draw) -> Iterator[tuple[str, Mapping[str, str], Call]]:
        yield "scalar", {}, call(4, fill("int32", (), "distinct", draw))

    def invalid_calls(self, spec: Spec, draw: Draw) -> Iterator[tuple[str, Call, Call]]:
        valid = call(2, tensor([5, 6], "int32"))
        yield "by_positive", valid, valid.with_attribute("by", attribute("int", 0))
        yield "by_small", valid, valid.with_attribute("by", attribute("int", 5000))


def call(by: int, X: Tensor) -> Call:
    return Call({"by": attribute("int", by)}, (("X", X),))


def workshop(**changes: object) -> Workshop:
    return Workshop(replace(SPEC, **changes), REFERENCE, Levels(), Options())  # type: ignore[arg-type]
