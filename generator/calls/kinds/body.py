"""Graphs as attributes: what the bodies of control flow take and give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from generator.calls.data.data import fill
from generator.calls.data.draws import Draw
from generator.calls.solver.bodies import (
    GROWN,
    NESTED,
    STEPS,
    BodyMaker,
    can_hold,
    can_step,
    outputs_of,
    scalar,
    shaped_type,
    tensor_in,
    unwrapped,
    with_shape,
)
from generator.calls.solver.form_levels import HeldForm
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, Level
from generator.calls.variables.kind_checks import need_graph, need_sequence, need_variadic
from generator.calls.variables.wanted_outputs import NAMES
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.element_types import BY_CODE, ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import TensorType, ValueType
from reference.numbers.numbers import encode
from specs.language.expressions import Expression
from specs.model.spec import Constraint, ParameterSpec
from specs.model.structures import TENSOR, element_types_of, listed_forms


@dataclass(frozen=True)
class Body(Kind):
    """A graph: a `branch`, a body for each `element` of a sequence or run of a `loop`, a `modifier`."""

    def __post_init__(self) -> None:
        need_graph(self.subject)

    def can(self, step: str, element_type: str) -> bool:
        """Whether the version's bodies may do a step with values of a type."""
        return can_step(self.subject.spec.operator, step, element_type)


_SHAPES: Mapping[Level, tuple[int, ...]] = {"matrix": (2, 3), "scalar": (), "vector": (5,), "empty": (0, 2)}
_OTHERS: Mapping[Level, tuple[int, ...]] = {"same_shapes": (), "other_extents": (1,), "other_ranks": (2,)}
_IN_SEQUENCE, _DEEP = 2, 2  # tensors of a sequence; branches within a branch that has some


@dataclass(frozen=True)
class _Branch(Body):
    """Constants as the node's outputs, of the types that these may have.

    A branch that is `like` another has as many outputs of the same types; their shapes may differ but where
    `same_shapes` is true in the version. Outputs are `tensors` alone, or whatever the version allows.
    """

    like: Expression | None = None
    same_shapes: Expression | None = None
    tensors: Expression | None = None

    @property
    def needs(self) -> frozenset[str]:
        common = {f"level:{self._types}"}
        return frozenset(common | ({self.like.text} if self.like is not None else set()))

    @property
    def type_factors(self) -> Mapping[str, tuple[str, ...]]:
        types = element_types_of(self.subject.spec, self._output)
        return {self._types: types} if len(types) > 1 else {}

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        if self.like is not None:
            return {} if self.says(self.same_shapes) else {f"{self.name}_shapes": tuple(_OTHERS)}
        forms = (TENSOR,) if self.says(self.tensors) else listed_forms(self.subject.spec, self._output)
        return {
            f"{self.name}_count": (2, 1, 3),
            f"{self.name}_form": forms,
            f"{self.name}_shape": tuple(_SHAPES),
            f"{self.name}_made": ("constants", NESTED),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        element_type = str(scope.level(self._types) or element_types_of(self.subject.spec, self._output)[0])
        if self.like is None:
            form, shape = str(levels[f"{self.name}_form"]), _SHAPES[levels[f"{self.name}_shape"]]
            whole = HeldForm(form).type(element_type)
            if not can_hold(self.subject.spec.operator, whole):
                return
            kinds = [(whole, shape)] * int(levels[f"{self.name}_count"])
        else:
            shapes = levels.get(f"{self.name}_shapes", "same_shapes")
            more = _OTHERS[shapes]
            kinds = []
            for kind, shape in outputs_of(scope.find(self.like.text)):
                if more and not (shape and len(more) == 1):
                    kinds.append((kind, (*more, *shape)))
                else:
                    kinds.append((kind, (*shape[:-1], shape[-1] + 2) if more else shape))
            if shapes == "other_extents" and not any(shape for _, shape in kinds):
                return
        deep = _DEEP if levels.get(f"{self.name}_made") == NESTED else 0
        if not deep or all(isinstance(kind, TensorType) for kind, _ in kinds):
            yield {self.name: self._graph(kinds, draw, deep=deep)}

    def rules(self) -> Iterable[Constraint]:
        yield self.rule(f"{self.name}_takes_nothing", f"len(body_inputs({self.name})) == 0")
        if self.like is not None:
            same = f"len(body_outputs({self.name})) == len(body_outputs({self.like.text}))"
            yield self.rule(f"{self.name}_outputs", same)
            types = f"body_outputs({self.name}) == body_outputs({self.like.text})"
            yield self.rule(f"{self.name}_types", types, same)
            if self.says(self.same_shapes):
                shapes = f"body_shapes({self.name}) == body_shapes({self.like.text})"
                yield self.rule(f"{self.name}_shapes", shapes, same)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        given = outputs_of(scope.find(self.name))
        yield f"{self.name}_takes_nothing", {self.name: self._graph(given, draw, takes=1)}
        if self.like is not None:
            yield f"{self.name}_outputs", {self.name: self._graph([*given, given[0]], draw)}
            for other in ("int64", "bool"):
                changed = [(HeldForm(TENSOR).type(other), given[0][1]), *given[1:]]
                yield f"{self.name}_types", {self.name: self._graph(changed, draw)}
            if self.says(self.same_shapes):
                longer = [(given[0][0], (*given[0][1], 2)), *given[1:]]
                yield f"{self.name}_shapes", {self.name: self._graph(longer, draw)}

    @property
    def _output(self) -> ParameterSpec:
        return self.subject.spec.outputs[0]

    @property
    def _types(self) -> str:
        return f"type_{self._output.type}"

    def _graph(
        self,
        outputs: Sequence[tuple[ValueType, tuple[int, ...]]],
        draw: Draw,
        takes: int = 0,
        deep: int = 0,
    ) -> Graph:
        body = BodyMaker(self.name)
        for _ in range(takes):
            body.take(shaped_type("int64", ()))
        for place, (kind, shape) in enumerate(outputs):
            held = tensor_in(kind)
            count = 1 if isinstance(unwrapped(kind), TensorType) else _IN_SEQUENCE
            streams = [draw.child(f"{place}/{each}") for each in range(count)]
            parts = [body.constant(fill(held.element_type, shape, "distinct", stream)) for stream in streams]
            shaped = with_shape(kind, shape)
            body.give(body.within_branches(body.hold(kind, parts), shaped, deep), shaped)
        return body.made()


@dataclass(frozen=True)
class _ElementBody(Body):
    """It takes an element of `elements` and the tensors of the variadic input `beside`, and gives some."""

    elements: InputName
    beside: InputName

    def __post_init__(self) -> None:
        super().__post_init__()
        need_sequence(self.subject, self.elements)
        need_variadic(self.subject, self.beside)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shapes:{self.elements}", f"shapes:{self.beside}"})

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {f"{self.name}_step": STEPS, f"{self.name}_gives": (1, 2, 3)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        step, kind = str(levels[f"{self.name}_step"]), self.type_of(scope, self.elements).name
        if self.can(step, kind):
            beside = scope.find(f"shapes:{self.beside}")
            yield {self.name: self._graph(kind, beside, step, int(levels[f"{self.name}_gives"]))}

    def rules(self) -> Iterable[Constraint]:
        takes = f"len(body_inputs({self.name})) == 1 + len({self.beside})"
        yield self.rule(f"{self.name}_takes", takes)
        types = f"[element_type({self.elements})] + [element_type(each) for each in {self.beside}]"
        yield self.rule(f"{self.name}_types", f"body_inputs({self.name}) == {types}", takes)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        kind, beside = self.type_of(scope, self.elements).name, scope.find(f"shapes:{self.beside}")
        more = self._graph(kind, [*beside, ()], "kept", 1)
        yield f"{self.name}_takes", {self.name: more}
        for other in ("int64", "bool"):
            yield f"{self.name}_types", {self.name: self._graph(other, beside, "kept", 1)}

    def _graph(self, kind: str, beside: Sequence[tuple[int, ...]], step: str, gives: int) -> Graph:
        body = BodyMaker(self.name)
        # Elements of a sequence may have different shapes, so that the type says none.
        types = [TensorType(ELEMENT_TYPES[kind]), *(shaped_type(kind, shape) for shape in beside)]
        taken = [body.take(tensor_type) for tensor_type in types]
        for place in range(gives):
            at = place % len(taken)
            body.give(body.step(taken[at], step if place == 0 else "kept"), types[at])
        return body.made()


_COUNTS = "counts"  # a condition that ends it after two runs
_COMPUTES = 11  # the first version of which bodies add and compare with operators that have references
_BEFORE = 2
"""What the body takes before the states: the number of the iteration, and the condition."""


@dataclass(frozen=True)
class _RepeatedBody(Body):
    """States of the shapes and types of the variadic input `carried`, and values of each run behind them.

    The body ends the repetition itself where `stops` is true: then nothing else does.
    """

    carried: InputName
    stops: Expression

    def __post_init__(self) -> None:
        super().__post_init__()
        need_variadic(self.subject, self.carried)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shapes:{self.carried}", *self.stops.names, *self.type_levels(self.carried)})

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        computes = self.subject.spec.operator.since_version >= _COMPUTES
        return {
            f"{self.name}_step": (*STEPS, NESTED, GROWN) if computes else ("kept",),
            f"{self.name}_condition": ("kept", "stops", *((_COUNTS,) if computes else ())),
            f"{self.name}_each_run": (1, 0, 2),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        ends = str(levels[f"{self.name}_condition"])
        if ends == "kept" and scope.value(self.stops):
            return
        shapes, each_run = scope.find(f"shapes:{self.carried}"), int(levels[f"{self.name}_each_run"])
        step, kind = str(levels[f"{self.name}_step"]), self.type_of(scope, self.carried).name
        if step == GROWN and (not all(shapes) or each_run > 1):
            return
        if (shapes or (each_run and step == "kept")) and self.can(step, kind):
            yield {self.name: self._graph(kind, shapes, step, ends, each_run)}

    def rules(self) -> Iterable[Constraint]:
        body, states = self.name, self.carried
        takes = f"len(body_inputs({body})) == {_BEFORE} + len({states})"
        gives = f"len(body_outputs({body})) >= 1 + len({states})"
        yield self.rule(f"{body}_takes", takes)
        yield self.rule(f"{body}_gives", gives)
        types = f"[element_type(each) for each in {states}]"
        yield self.rule(
            f"{body}_types",
            f"body_inputs({body}) == ['int64', 'bool'] + {types} "
            f"and body_outputs({body})[:1 + len({states})] == ['bool'] + {types}",
            f"{takes} and {gives}",
        )
        fits = f"body_takes({body}, [[], []] + [shape(each) for each in {states}])"
        yield self.rule(f"{body}_shapes", fits, takes)

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        shapes = [tuple(each) for each in scope.find(f"shapes:{self.carried}")]
        kind = self.type_of(scope, self.carried).name
        yield f"{self.name}_takes", {self.name: self._graph(kind, shapes, "kept", "stops", 1, takes=1)}
        if len(shapes) > 1:
            fewer = self._graph(kind, shapes, "kept", "stops", 0, gives=-1)
            yield f"{self.name}_gives", {self.name: fewer, NAMES: scope.find(NAMES)[: len(shapes) - 1]}
            longer = self._graph(kind, [(*each, 2) for each in shapes], "kept", "stops", 1)
            yield f"{self.name}_shapes", {self.name: longer}
        if shapes:
            for other in ("int64", "double", "bool"):
                yield f"{self.name}_types", {self.name: self._graph(other, shapes, "kept", "stops", 1)}

    def _graph(
        self,
        kind: str,
        shapes: Sequence[tuple[int, ...]],
        step: str,
        ends: str,
        each_run: int,
        *,
        takes: int = 0,
        gives: int = 0,
    ) -> Graph:
        """A body; a breach takes `takes` values more, and gives `gives` states more."""
        body = BodyMaker(self.name)
        counted, truth = (shaped_type(each, ()) for each in ("int64", "bool"))
        number, condition = body.take(counted), body.take(truth)
        types = [shaped_type(kind, shape) for shape in shapes]
        if step == GROWN:  # no two runs have the same extents
            types = [TensorType(each.element_type, (None, *(each.shape or ())[1:])) for each in types]
        states = [body.take(tensor_type) for tensor_type in types]
        for _ in range(takes):
            body.take(shaped_type(kind, ()))
        if ends == "stops":
            condition = body.constant(scalar(False, ELEMENT_TYPES["bool"]))
        elif ends == _COUNTS:
            condition = body.node("Less", number, body.constant(scalar(1, ELEMENT_TYPES["int64"])))
        body.give(condition, truth)
        if step == GROWN:
            results = [body.node("Concat", state, state, axis=0) for state in states]
        else:
            results = [body.step(state, step, each) for state, each in zip(states, types, strict=True)]
        for result, tensor_type in list(zip(results, types, strict=True))[: len(shapes) + gives]:
            body.give(result, tensor_type)
        of_run = [(number, counted)]
        of_run += [(result, shaped_type(kind, shape)) for result, shape in zip(results, shapes, strict=True)]
        for place in range(each_run):
            body.give(*of_run[place % len(of_run)])
        return body.made()


_QUARTERS = 8


@dataclass(frozen=True)
class _Modifier(Body):
    """It takes a tensor of a `shape` and an element type, by its number, and gives one alike.

    The tensor as it is, added to itself, or to a constant of quarters; where it `masks`, also to a constant
    that is minus infinity for some of the last axis, and for all of it nowhere.
    """

    shape: Expression
    element_type: Expression
    masks: Expression | None = None

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


Body.variants = {
    "branch": _Branch,
    "element": _ElementBody,
    "loop": _RepeatedBody,
    "modifier": _Modifier,
}
