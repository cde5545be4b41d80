"""A graph that takes nothing and gives all outputs of its node: one of several that the node chooses from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator.calls.data.data import fill
from generator.calls.data.draws import Draw
from generator.calls.solver.bodies import BodyMaker, can_hold, shaped_type
from generator.calls.solver.form_levels import HeldForm
from generator.calls.solver.partial import Bindings, Partial
from generator.calls.variables.kind import Kind, Level
from generator.calls.variables.kind_checks import need_graph
from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.value_types import OptionalType, SequenceType, TensorType, ValueType
from specs.language.expressions import Expression
from specs.model.spec import Constraint, ParameterSpec
from specs.model.structures import TENSOR, element_types_of, listed_forms

_SHAPES: Mapping[Level, tuple[int, ...]] = {"matrix": (2, 3), "scalar": (), "vector": (5,), "empty": (0, 2)}
_OTHERS: Mapping[Level, tuple[int, ...]] = {"same_shapes": (), "other_extents": (1,), "other_ranks": (2,)}
_IN_SEQUENCE = 2


@dataclass(frozen=True)
class Branch(Kind):
    """Constants as the node's outputs, of the types that these may have.

    A branch that is `like` another has as many outputs of the same types; their shapes may differ but where
    `same_shapes` is true in the version.
    """

    like: Expression | None = None
    same_shapes: Expression | None = None

    def __post_init__(self) -> None:
        need_graph(self.subject)

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
        return {
            f"{self.name}_count": (2, 1, 3),
            f"{self.name}_form": listed_forms(self.subject.spec, self._output),
            f"{self.name}_shape": tuple(_SHAPES),
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
            for kind, shape in _outputs_of(scope.find(self.like.text)):
                if more and not (shape and len(more) == 1):
                    kinds.append((kind, (*more, *shape)))
                else:
                    kinds.append((kind, (*shape[:-1], shape[-1] + 2) if more else shape))
            if shapes == "other_extents" and not any(shape for _, shape in kinds):
                return
        yield {self.name: self._graph(kinds, draw)}

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
        given = _outputs_of(scope.find(self.name))
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
        self, outputs: Sequence[tuple[ValueType, tuple[int, ...]]], draw: Draw, takes: int = 0
    ) -> Graph:
        body = BodyMaker(self.name)
        for _ in range(takes):
            body.take(shaped_type("int64", ()))
        for place, (kind, shape) in enumerate(outputs):
            held = _tensor_in(kind)
            count = 1 if isinstance(_unwrapped(kind), TensorType) else _IN_SEQUENCE
            streams = [draw.child(f"{place}/{each}") for each in range(count)]
            parts = [body.constant(fill(held.element_type, shape, "distinct", each)) for each in streams]
            body.give(body.hold(kind, parts), _with_shape(kind, shape))
        return body.made()


def _unwrapped(kind: ValueType) -> ValueType:
    return kind.of if isinstance(kind, OptionalType) else kind


def _tensor_in(kind: ValueType) -> TensorType:
    return kind if isinstance(kind, TensorType) else _tensor_in(kind.of)


def _with_shape(kind: ValueType, shape: Sequence[int]) -> ValueType:
    if isinstance(kind, TensorType):
        return TensorType(kind.element_type, tuple(shape))
    if isinstance(kind, SequenceType | OptionalType):
        return type(kind)(_with_shape(kind.of, shape))
    return kind


def _outputs_of(graph: Graph) -> list[tuple[ValueType, tuple[int, ...]]]:
    """The types of a branch's outputs without shapes, and the shapes of the tensors in them."""
    found = []
    for each in graph.outputs or ():
        assert each is not None
        shape = _tensor_in(each).shape or ()
        found.append((_with_open_shape(each), tuple(int(extent) for extent in shape if extent is not None)))
    return found


def _with_open_shape(kind: ValueType) -> ValueType:
    if isinstance(kind, SequenceType | OptionalType):
        return type(kind)(_with_open_shape(kind.of))
    return TensorType(_tensor_in(kind).element_type)
