"""A call that makes what a node makes: its attributes and types, chosen shapes, and data of some levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice, product
from math import prod
from typing import Any

import numpy as np

from generator.asking.calls import Call
from generator.asking.validity import find_violations
from generator.calls.data.data import data_classes, fill
from generator.calls.data.draws import Draw
from generator.calls.rows.covering import cover
from generator.calls.rows.factors import LARGEST_EXCLUSION
from generator.calls.rows.feasibility import ExcludedLevels, Level, Model
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.space.drawing import draw_call
from generator.calls.variables.data_levels import DATA, fits
from generator.calls.variables.kind import Kind
from generator.calls.variables.wanted_outputs import NAMES, OUTPUTS, WANTED
from generator.models.check.model_extents import ShapeChecks, Shapes, extents_in
from generator.models.check.node_calls import NodeCall, NodeInput
from opcert.vocabulary.tensors import Tensor
from specs.language.evaluation import EvaluationError
from specs.language.expressions import parse
from specs.model.call_scopes import operand_of
from specs.model.structures import TENSOR

MOST_CANDIDATES = 60
"""Candidates of a kind that are looked at for one call, over all levels that are tried."""
_LEVELS = 12
_SMALL = 3
_UNKNOWING = (EvaluationError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError)
"""What a kind raises that lacks something which the node does not say."""


def feeding_kinds(node: NodeCall) -> tuple[Kind, ...]:
    """The kinds that have to give values to inputs of a node, in the order in which they can."""
    by_name = {f"kind:{kind.name}": kind for kind in node.space.kinds}
    ordered = [by_name[variable.name] for variable in node.space.search.variables if variable.name in by_name]
    return tuple(kind for kind in ordered if node.fed & set(kind.covers))


def feeding_factors(node: NodeCall, kind: Kind) -> Mapping[str, tuple[Level, ...]]:
    """The dimensions of what a kind draws for a node: those of what the node fixes are none."""
    fixed = {
        *node.spec.attributes,
        *(node_input.name for node_input in node.inputs if node_input.name not in node.fed),
    }
    fixed |= {f"type_{each}" for each in node.types}
    return {name: levels for name, levels in kind.factors().items() if name not in fixed}


def fed_bindings(
    node: NodeCall, kind: Kind, levels: Mapping[str, Level], bound: Bindings, draw: Draw
) -> Iterator[Bindings]:
    """What a kind binds for fed inputs with these levels, then with others where it has none.

    What the node fixes stays as it is bound; values that contradict it are left out, unless there are none
    that do not.
    """
    scope = Partial(node.spec, bound)
    contradicting: list[Bindings] = []
    left = MOST_CANDIDATES
    for turn, chosen in enumerate(_levels(kind, levels, draw)):
        try:
            for candidate in islice(kind.candidates(chosen, scope, draw.child(f"values/{turn}")), left):
                left -= 1
                free = {name for name in candidate if name in node.fed or name not in bound}
                own = {name: value for name, value in candidate.items() if name in free}
                if any(not _equal(bound[name], candidate[name]) for name in candidate if name in bound):
                    contradicting.append(own)
                else:
                    yield own
        except _UNKNOWING:
            continue
        if left <= 0:
            break
    yield from contradicting


def _levels(kind: Kind, wanted: Mapping[str, Level], draw: Draw) -> Iterator[Mapping[str, Level]]:
    factors = kind.factors()
    for turn in range(_LEVELS):
        stream = draw.child(f"levels/{turn}")
        free = {name: stream.child(name).choice(levels) for name, levels in factors.items()}
        # The levels that are wanted are tried beside several of the others before they are given up.
        yield {**free, **wanted} if turn < _LEVELS // 2 else free


def _equal(before: Any, after: Any) -> bool:
    if before is None or after is None:
        return before is after
    try:
        one, other = np.asarray(before), np.asarray(after)
        return one.shape == other.shape and bool((one == other).all())
    except (TypeError, ValueError):
        return False


OWN = "own"
"""The level of constants that are no shapes or axes: the model's own values, where the shapes let them."""
CONSTANTS = "constants"
"""The dimension of these: own, or data as that of what is fed."""
MOST_TRIES = 24
"""Combinations of fed values that are tried for one row."""


@dataclass(frozen=True, eq=False)
class CallDrawing:
    """Draws calls of one node."""

    node: NodeCall
    checks: ShapeChecks

    def draw(self, shapes: Shapes, levels: Mapping[str, Level], draw: Draw) -> Call | None:
        """A valid call with these shapes and levels of data and of fed values; None where none is found."""
        bound = self._bound(shapes, levels)
        for turn, extended in enumerate(islice(self._fed(bound, levels, draw, 0), MOST_TRIES)):
            try:
                call = self._call(extended, shapes, levels, draw.child(f"data/{turn}"))
                if self._is_of_node(call) and not find_violations(self.node.spec, call):
                    return call
            except (EvaluationError, ArithmeticError, LookupError, TypeError, ValueError):
                continue  # values that a kind drew and that do not go with what the node fixes
        return None

    def _bound(self, shapes: Shapes, levels: Mapping[str, Level]) -> dict[str, Any]:
        """What is known before kinds draw: attributes, types, shapes, extents, kept values, outputs."""
        node, spec = self.node, self.node.spec
        bound: dict[str, Any] = {f"level:{name}": level for name, level in levels.items()}
        bound |= {f"level:type_{name}": each for name, each in node.types.items()}
        for name in spec.attributes:
            given = node.attributes.get(name)
            value = None if given is None else given.value
            bound[name] = list(value) if isinstance(value, tuple) else value
        many: dict[str, list[tuple[int, ...]]] = {}
        for node_input, shape in zip(node.inputs, shapes, strict=True):
            form = spec.input_forms[node_input.name]
            if form.holds_several:
                many.setdefault(node_input.name, []).extend([] if shape is None else [shape])
                continue
            if form.is_structured:
                # Of all that it may be it is a tensor.
                bound[f"shapes:{node_input.name}"] = [] if shape is None else [shape]
                bound[f"level:{node_input.name}"] = OMITTED if shape is None else TENSOR
                continue
            if node_input.name not in node.listed or _is_said(node_input):
                bound[f"shape:{node_input.name}"] = shape
            if node_input.parameter.option == "optional":
                bound[f"level:{node_input.name}"] = OMITTED if shape is None else "given"
            if node_input.name in node.space.covered and node_input.name not in node.fed:
                bound[node_input.name] = None if node_input.kept is None else plain_values(node_input.kept)
        bound |= {f"shapes:{name}": shapes_of for name, shapes_of in many.items()}
        bound |= {f"level:{name}_count": len(shapes_of) for name, shapes_of in many.items()}
        if node.wanted is not None:
            bound[WANTED] = [each for each in node.wanted if each]
            bound[OUTPUTS], bound[NAMES] = len(node.wanted), list(node.wanted)
        return {**extents_in(self.checks.scope(shapes), sorted(spec.extents)), **bound}

    def _fed(
        self, bound: Bindings, levels: Mapping[str, Level], draw: Draw, place: int
    ) -> Iterator[Bindings]:
        """All that is bound with the values of kinds, in every combination of a few candidates of each."""
        if place == len(self._kinds):
            yield bound
            return
        kind = self._kinds[place]
        wanted = {name: level for name, level in levels.items() if name in kind.factors()}
        for own in fed_bindings(self.node, kind, wanted, bound, draw.child(kind.name)):
            yield from self._fed({**bound, **own}, levels, draw, place + 1)

    @cached_property
    def _kinds(self) -> tuple[Any, ...]:
        return feeding_kinds(self.node)

    def _call(self, bound: Bindings, shapes: Shapes, levels: Mapping[str, Level], draw: Draw) -> Call:
        node = self.node
        known = {**levels, **{f"type_{name}": each for name, each in node.types.items()}}
        drawn = draw_call(node.space, Partial(node.spec, bound), known, draw)
        # Variadic inputs of several types are drawn in one: the others are left to nobody.
        inputs = list(drawn.inputs)
        for place, (each, shape) in enumerate(zip(node.inputs, shapes, strict=True)):
            value = each.kept
            own = None if each.value is None else each.value.constant
            if value is None and levels.get(CONSTANTS) == OWN and own is not None and own.shape == shape:
                value = own
            if (
                value is None
                and each.value is not None
                and each.parameter.homogeneous is False
                and shape is not None
            ):
                value = _of_its_own(
                    each, inputs[place][1], shape, str(levels.get(DATA)), draw.child(str(place))
                )
            if value is not None and place < len(inputs):
                inputs[place] = (inputs[place][0], value)
        return replace(drawn, attributes=dict(node.attributes), inputs=tuple(inputs), outputs=node.wanted)

    def _is_of_node(self, call: Call) -> bool:
        """Whether a call has the inputs of the node, with their types and ranks."""
        count = len(self.node.inputs)
        tensors = [tensor for _, tensor in call.inputs][:count]
        tensors += [None] * (count - len(tensors))
        return all(
            (tensor is None) == (node_input.value is None)
            and (
                tensor is None
                or node_input.value is None
                or (
                    tensor.element_type.name == node_input.element_type
                    and (node_input.value.shape is None or len(node_input.value.shape) == len(tensor.shape))
                )
            )
            for node_input, tensor in zip(self.node.inputs, tensors, strict=True)
        )


def _of_its_own(
    given: NodeInput, drawn: Tensor | None, shape: tuple[int, ...], data: str, draw: Draw
) -> Tensor | None:
    """One of several values of different types: a small integer, which may count runs; where what was drawn
    for all is another's, one of its own type; None where that will do.
    """
    kind = given.type_of_elements
    if kind.is_integer:
        numbers = draw.numbers(0, _SMALL, prod(shape))
        return Tensor(kind, np.array(numbers, dtype=kind.storage).reshape(shape))
    if drawn is not None and drawn.element_type is kind and drawn.shape == shape:
        return None
    return fill(kind, shape, data if data in data_classes(kind) else "random", draw)


def _is_said(given: NodeInput) -> bool:
    """Whether the model says every extent of an input."""
    shape = None if given.value is None else given.value.shape
    return shape is not None and all(isinstance(extent, int) for extent in shape)


def plain_values(kept: Tensor) -> Any:
    """A tensor as kinds and rules see the values of one: numbers in its shape."""
    values = operand_of(kept)
    assert values is not None
    return np.array(
        list(values.values), dtype=object if kept.element_type.kind == "string" else None
    ).reshape(kept.shape)


def data_classes_of(node: NodeCall) -> tuple[Level, ...]:
    """The classes for the inputs that are drawn; none where every input's values are decided otherwise.

    A class that an exclusion takes out is left out wherever it may be this call that the exclusion is about:
    of data of which no document says what comes of it, nothing is asked.
    """
    drawn = [
        node_input
        for node_input in node.inputs
        if node_input.value is not None and node_input.name not in node.space.covered
    ]
    if not drawn:
        return ()
    known = [each for each in node.space.factors.get(DATA, ()) if fits(drawn[0].element_type, each)]
    return tuple(each for each in known if not _is_excluded(node, each))


def _is_excluded(node: NodeCall, level: Level) -> bool:
    for exclusion in node.space.spec.exclusions:
        expression = parse(exclusion.when)
        if DATA not in expression.names:
            continue
        choices = {name: _levels_of(node, name) for name in sorted(expression.names - {DATA})}
        if prod(map(len, choices.values())) > LARGEST_EXCLUSION:
            return True
        for chosen in product(*choices.values()):
            try:
                if expression.evaluate({DATA: level, **dict(zip(choices, chosen, strict=True))}):
                    return True
            except EvaluationError:
                return True
    return False


def _levels_of(node: NodeCall, name: str) -> tuple[Level, ...]:
    """The level that a factor has in the call where it is known, else all that it may have."""
    levels = node.space.factors.get(name, ())
    if name.startswith("type_") and name.removeprefix("type_") in node.types:
        return (node.types[name.removeprefix("type_")],)
    given = _given_level(node, name, levels)
    return levels if given is None else (given,)


def _given_level(node: NodeCall, name: str, levels: tuple[Level, ...]) -> Level | None:
    spec = node.space.spec
    stated: Mapping[str, object] = {each: one.value for each, one in node.attributes.items()}
    taken = {node_input.name for node_input in node.inputs if node_input.value is not None}
    known = {*spec.attributes, *(parameter.name for parameter in spec.inputs)}
    if name in known - stated.keys() - taken:
        return OMITTED if OMITTED in levels else None
    value = stated.get(name)
    return value if isinstance(value, str | int | float) and value in levels else None


EXTENTS = "extents"
"""The dimension of which shapes the inputs have."""
_DATA_FIRST = (
    "random", "nonfinite", "points", "distinct", "huge", "extremes",
    "signed_zero", "ties", "large_offset", "subnormal", "constant",
)  # fmt: skip
_MOST_LEVELS = 8
Levels = Mapping[str, Level]


def dimensions_of(node: NodeCall, extents: Sequence[str]) -> dict[str, tuple[Level, ...]]:
    """What the cases of a call vary, each with its levels: those of one level are none."""
    found: dict[str, tuple[Level, ...]] = {}
    data = tuple(sorted(data_classes_of(node), key=lambda data_class: _place(str(data_class))))
    if data:
        found[DATA] = data
    found[EXTENTS] = tuple(extents)
    if any(
        node_input.value is not None and node_input.value.constant is not None and node_input.kept is None
        for node_input in node.inputs
    ):
        found[CONSTANTS] = (OWN, "others")
    for kind in feeding_kinds(node):
        for name, levels in feeding_factors(node, kind).items():
            found.setdefault(name, tuple(levels)[:_MOST_LEVELS])
    return found


def _place(level: str) -> int:
    return _DATA_FIRST.index(level) if level in _DATA_FIRST else len(_DATA_FIRST)


def model_of(dimensions: Mapping[str, tuple[Level, ...]]) -> Model:
    """The dimensions without pairs that tell little: few classes of data beside extents at a border."""
    names, data, extents = list(dimensions), dimensions.get(DATA, ()), dimensions.get(EXTENTS, ())
    told = {"further": 3, "ones": 3, "none": 1}
    hidden = frozenset(
        (place, at)
        for at, level in enumerate(extents)
        for place in range(told.get(str(level), len(data)), len(data))
    )
    factors = (names.index(DATA), names.index(EXTENTS)) if data and extents else ()
    return Model(dimensions, (ExcludedLevels("tells nothing", factors, hidden),) if hidden else ())


def rows_of(dimensions: Mapping[str, tuple[Level, ...]], most: int) -> list[Levels]:
    """Rows in which as many pairs of levels stand as `most` rows hold; each level once, if that is enough."""
    model = model_of(dimensions)
    array = [model.row_levels(row) for row in cover(model, min(2, len(dimensions)))]
    chosen: list[Levels] = []
    seen: set[frozenset[tuple[str, Level]]] = set()
    while array and len(chosen) < most:
        best = max(array, key=lambda row: (_new_levels(row, chosen), len(pairs_in(row) - seen)))
        array.remove(best)
        chosen.append(best)
        seen |= pairs_in(best)
    return chosen


def _new_levels(row: Levels, chosen: Sequence[Levels]) -> int:
    return sum(all(each.get(name) != level for each in chosen) for name, level in row.items())


def pairs_in(row: Levels) -> set[frozenset[tuple[str, Level]]]:
    """The pairs of levels of a row; of one dimension its level."""
    items = list(row.items())
    return {frozenset(combination) for combination in combinations(items, min(2, len(items)))}


def count_pairs(dimensions: Mapping[str, tuple[Level, ...]]) -> int:
    """How many pairs of levels there are that tell something; of one dimension how many levels."""
    model = model_of(dimensions)
    sizes = [len(dimension) for dimension in dimensions.values()]
    if len(sizes) < 2:
        return sum(sizes)
    hidden = sum(len(rule.forbidden) for rule in model.rules)
    return sum(one * other for one, other in combinations(sizes, 2)) - hidden
