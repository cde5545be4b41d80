"""A graph that changes a tensor of scores or probabilities, element by element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from generator.calls.data.draws import Draw
from generator.calls.solver.bodies import BodyMaker, shaped_type
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import Kind, Level
from generator.calls.variables.kind_checks import need_graph
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode
from specs.language.expressions import Expression
from specs.model.spec import Constraint

_QUARTERS = 8


@dataclass(frozen=True)
class Modifier(Kind):
    """It takes a tensor of a `shape` and an element type, by its number, and gives one alike.

    The tensor as it is, added to itself, or to a constant of quarters; where it `masks`, also to a constant
    that is minus infinity for some of the last axis, and for all of it nowhere.
    """

    shape: Expression
    element_type: Expression
    masks: Expression | None = None

    def __post_init__(self) -> None:
        need_graph(self.subject)

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        masked = ("masked",) if self.says(self.masks) else ()
        return {self.name: ("added", *masked, "doubled", "kept", OMITTED)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        how = str(levels[self.name])
        if how == OMITTED:
            yield {self.name: None}
            return
        shape = tuple(int(each) for each in scope.value(self.shape))
        if how != "masked" or shape[-1] > 1:
            yield {self.name: self._graph(self._type(scope), shape, how, draw)}

    def rules(self) -> Iterable[Constraint]:
        name, given = self.name, f"present({self.name})"
        yield self.rule(f"{name}_takes", f"len(body_inputs({name})) == 1", given)
        yield self.rule(f"{name}_gives", f"len(body_outputs({name})) == 1", given)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shape, kind = tuple(int(each) for each in scope.value(self.shape)), self._type(scope)
        yield f"{self.name}_takes", {self.name: self._graph(kind, shape, "kept", draw, takes=2)}
        yield f"{self.name}_gives", {self.name: self._graph(kind, shape, "kept", draw, gives=2)}

    def _type(self, scope: Partial) -> str:
        return BY_CODE[int(scope.value(self.element_type))].name

    def _graph(
        self, kind: str, shape: tuple[int, ...], how: str, draw: Draw, takes: int = 1, gives: int = 1
    ) -> Graph:
        body, whole = BodyMaker(self.name), shaped_type(kind, shape)
        taken = [body.take(whole) for _ in range(takes)]
        found = taken[0]
        if how == "doubled":
            found = body.step(found, how)
        elif how != "kept":
            found = body.added(found, body.constant(_constant(kind, shape[1:], how == "masked", draw)))
        for _ in range(gives):
            body.give(found, whole)
        return body.made()


def _constant(kind: str, shape: tuple[int, ...], masked: bool, draw: Draw) -> Tensor:
    """Quarters from -2 to 2, some of which are minus infinity where it is `masked`, but one of each row."""
    count, places = prod(shape), shape[-1]
    quarters = np.array(draw.numbers(-_QUARTERS, _QUARTERS, count)).reshape(shape) / 4
    if masked:
        shut = np.array(draw.child("mask").numbers(0, 2, count)).reshape(shape) > 0
        kept = np.arange(prod(shape[:-1])).reshape((*shape[:-1], 1)) % places
        quarters = np.where(shut & (np.arange(places) != kept), -np.inf, quarters)
    held = ELEMENT_TYPES[kind]
    return Tensor(held, encode(held, quarters.reshape(-1).tolist()).reshape(shape))
