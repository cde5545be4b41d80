"""Extents of a node's inputs: which are one length, which shapes rules allow, and what others must keep.

Split of 512 into four parts makes equal ones, and of 3 does not; a Slice that ends at 256 cuts 512, and takes
11 whole; a group of 16 channels is none of one. The rules allow all of them: the call is another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product
from math import prod

from generator.calls.solver.partial import UndrawnElements
from generator.models.check.node_calls import NodeCall, NodeInput
from specs.language.evaluation import EvaluationError, Operand
from specs.language.expressions import parse
from specs.language.shape_expressions import parse_shape
from specs.model.call_scopes import CallScope, operand_of, scope_of
from specs.model.domain import ResultShape, holds, result_shapes
from specs.model.spec import Constraint

UNDECIDED = (EvaluationError, ArithmeticError, LookupError, TypeError, ValueError)
"""What is raised of a call of which not all is known."""
Shapes = tuple[tuple[int, ...] | None, ...]
"""The shape of each input of a node, None where it is left out."""
UNKNOWN_EXTENT = 10**6
"""The extent that declarations give to a length that hangs on values."""


@dataclass(frozen=True, eq=False)
class ShapeChecks:
    """The rules of one node's call, asked of shapes again and again."""

    node: NodeCall
    _broken: dict[Shapes, Constraint | None] = field(default_factory=dict)

    def broken(self, shapes: Shapes) -> Constraint | None:
        """The first rule that a call with these shapes breaks whatever its data is; None where none is."""
        if shapes not in self._broken:
            scope, rules = self.scope(shapes), self.node.spec.constraints
            self._broken[shapes] = next((rule for rule in rules if not _may_hold(rule, scope)), None)
        return self._broken[shapes]

    def broken_by_all(self) -> Constraint | None:
        """A rule that every one of the shapes breaks that were asked about; None without one."""
        left = list(self.node.spec.constraints)
        for shapes in self._broken:
            scope = self.scope(shapes)
            left = [rule for rule in left if not _may_hold(rule, scope)]
        return left[0] if self._broken and left else None

    @property
    def every_broken(self) -> list[Constraint]:
        """Each rule that was the first that some shapes broke, in the order in which they came."""
        return list({rule.id: rule for rule in self._broken.values() if rule is not None}.values())

    def idle_rules(self, shapes: Shapes) -> int:
        """How many rules of attributes that the node states do not apply, by ranks that it leaves open."""
        scope = self.scope(shapes)
        return sum(not _applies(rule, scope) for rule in self._rules_of_open_ranks)

    @cached_property
    def _rules_of_open_ranks(self) -> tuple[Constraint, ...]:
        node = self.node
        unknown = {one.name for one in node.inputs if one.value is not None and one.value.shape is None}
        stated = {
            name
            for name, given in node.attributes.items()
            if name in node.spec.attributes and given.value != node.spec.attributes[name].default
        }
        return tuple(
            rule
            for rule in node.spec.constraints
            if rule.when is not None
            and rule.require is not None
            and stated & parse(rule.require).names
            and unknown & parse(rule.when).names
        )

    def scope(self, shapes: Shapes) -> CallScope:
        """The names of a call with these shapes; what is not kept has elements that nobody knows."""
        node = self.node
        return scope_of(node.spec, node.attributes, self._given(shapes), node.wanted)

    def results(self, shapes: Shapes) -> tuple[ResultShape | None, ...]:
        """What is declared of the shape of each output, in the order of `output_names`.

        None of what is declared nothing, or hangs on data.
        """
        node = self.node
        try:
            return result_shapes(node.spec, node.attributes, self._given(shapes), self.output_names)
        except UNDECIDED:
            return (None,) * len(self.output_names)

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of the node's outputs in order, empty where one is not wanted."""
        wanted = self.node.wanted
        return tuple(output.name for output in self.node.spec.outputs) if wanted is None else wanted

    def _given(self, shapes: Shapes) -> list[tuple[str, Operand | None]]:
        node = self.node
        variadic = {parameter.name for parameter in node.spec.inputs if parameter.option == "variadic"}
        found: list[tuple[str, Operand | None]] = []
        for node_input, shape in zip(node.inputs, shapes, strict=True):
            if shape is None:
                found += [(node_input.name, None)] if node_input.name not in variadic else []
            elif node_input.kept is not None:
                found.append((node_input.name, operand_of(node_input.kept)))
            else:
                found.append((node_input.name, Operand(node_input.element_type, shape, UndrawnElements())))
        return found


def _may_hold(rule: Constraint, scope: CallScope) -> bool:
    """Whether a rule holds, or hangs on data, or on what another rule is about."""
    try:
        return holds(rule, scope)
    except UNDECIDED:
        return True


def _applies(rule: Constraint, scope: CallScope) -> bool:
    try:
        return rule.when is None or bool(parse(rule.when).evaluate(scope))
    except UNDECIDED:
        return True


def broken_by_model(node: NodeCall) -> Constraint | None:
    """A rule that a node breaks by what the model says of it alone, whatever values come; None without one.

    Nothing is said of a node of which the model leaves an extent open.
    """
    shapes: list[tuple[int, ...] | None] = []
    inputs: list[NodeInput] = []
    for given in node.inputs:
        said = None if given.value is None else given.value.shape
        stated = None if said is None else tuple(extent for extent in said if isinstance(extent, int))
        if given.value is not None and (stated is None or stated != said):
            return None
        shapes.append(stated)
        inputs.append(given if given.value is None else replace(given, kept=given.value.constant))
    return ShapeChecks(replace(node, inputs=tuple(inputs))).broken(tuple(shapes))


def extents_in(scope: CallScope, names: Sequence[str]) -> dict[str, object]:
    """The declared extents and packs that shapes tell, by name."""
    found: dict[str, object] = {}
    for name in names:
        try:
            found[name] = scope[name]
        except (EvaluationError, KeyError):
            continue
    return found


Class = tuple[str, int | str]
"""`("is", 64)` for every extent of 64, `("named", "batch")`; `("at", 3)` is one that nothing is known of."""
Chosen = dict[Class, int]
"""A length for each class."""
_RANKS = (2, 3, 4, 1, 0, 5)
_MOST_RANKS = 64


@dataclass(frozen=True)
class Outline:
    """The shapes of a node's inputs: a number where it stays as it is, a class where it may change."""

    inputs: tuple[tuple[int | Class, ...] | None, ...]
    names: tuple[str, ...] = ()
    """The spec's names of the inputs."""

    @property
    def classes(self) -> tuple[Class, ...]:
        """The classes in the order in which they stand."""
        found = [each for one in self.inputs if one is not None for each in one if not isinstance(each, int)]
        return tuple(dict.fromkeys(found))

    @property
    def known(self) -> dict[Class, int]:
        """The lengths that the node says, by their classes."""
        return {each: length for each in self.classes if (length := own_length(each)) is not None}

    def shapes(self, chosen: Mapping[Class, int]) -> Shapes:
        """The shapes where each class has a length."""
        return tuple(
            None if one is None else tuple(each if isinstance(each, int) else chosen[each] for each in one)
            for one in self.inputs
        )

    def is_dynamic(self) -> bool:
        """Whether the model leaves an extent open."""
        return any(word != "is" for word, _ in self.classes)


def outlines(node: NodeCall, *, apart: bool = False) -> Iterator[Outline]:
    """The outline of a node; several where ranks are unknown. With `apart` every extent is by itself.

    Extents of 1 and 0 stay, and so does the shape of an input whose value is kept.
    """
    unknown = [
        place
        for place, node_input in enumerate(node.inputs)
        if node_input.value is not None and node_input.kept is None and node_input.value.shape is None
    ]
    told = {place: rank for place in unknown if (rank := declared_rank(node, place)) is not None}
    left = [place for place in unknown if place not in told]
    alike = [(rank,) * len(left) for rank in (_RANKS if left else (0,))]
    mixed = (ranks for ranks in product(_RANKS, repeat=len(left)) if ranks not in alike)
    for ranks in (*alike, *islice(mixed, _MOST_RANKS)):
        assumed = {**told, **dict(zip(left, ranks, strict=True))}
        inputs = tuple(_input(node, place, assumed, apart) for place in range(len(node.inputs)))
        yield Outline(inputs, tuple(node_input.name for node_input in node.inputs))


def declared_rank(node: NodeCall, place: int) -> int | None:
    """The rank that the declaration gives an input whatever the call is; None where it may have several."""
    declared = node.spec.declared
    text = None if declared is None else declared.shapes.get(node.inputs[place].name)
    if text is None:
        return None
    lengths = {
        None if any(part.several or part.word is not None for part in parts) else len(parts)
        for _, parts in parse_shape(text).alternatives
    }
    return lengths.pop() if len(lengths) == 1 else None


def _input(
    node: NodeCall, place: int, assumed: Mapping[int, int], apart: bool
) -> tuple[int | Class, ...] | None:
    each = node.inputs[place]
    if each.value is None:
        return None
    if each.kept is not None:
        return each.kept.shape
    known: Sequence[int | str | None]
    known = (None,) * assumed[place] if each.value.shape is None else each.value.shape
    stays = each.name in node.listed
    return tuple(
        extent if stays and isinstance(extent, int) else _class(extent, 100 * place + axis, apart)
        for axis, extent in enumerate(known)
    )


def _class(extent: int | str | None, position: int, apart: bool) -> int | Class:
    if isinstance(extent, int) and extent < 2:
        return extent
    if apart or extent is None:
        return ("at", position)
    return ("is", extent) if isinstance(extent, int) else ("named", extent)


def elements(shapes: Shapes) -> int:
    """The elements of all inputs together."""
    return sum(prod(shape) for shape in shapes if shape is not None)


def own_length(which: Class) -> int | None:
    """The length that the node says of a class; None where it says none."""
    word, length = which
    return length if word == "is" and isinstance(length, int) else None


def length_of(axis: int | Class, chosen: Chosen) -> int | None:
    """The length of an axis where classes have those that are chosen; None of one without."""
    return axis if isinstance(axis, int) else chosen.get(axis)


_NAMES_OF_AXES = frozenset({"axis", "axes", "batch_axis", "time_axis"})
Facts = Mapping[tuple[str, str, int], object]


@dataclass(eq=False)
class Relations:
    """What `begun`, the lengths of a model's call, make of it: `kept` says whether others do so as well.

    What hangs on an extent that the model leaves open is no part of it.
    """

    node: NodeCall
    checks: ShapeChecks
    outline: Outline
    begun: Chosen
    facts: Facts = field(init=False)
    several: tuple[tuple[Class, int], ...] = field(init=False)
    """Classes of a whole number of parts of a certain length each, where that number is more than one."""

    def __post_init__(self) -> None:
        stated = list(self.outline.known)
        self.facts = self._stated_facts() if stated else {}
        self.several = tuple(self._several(stated))

    def kept(self, chosen: Chosen) -> bool:
        """Whether a call with these lengths is to the model's as one of the same meaning."""
        if any(chosen[which] <= part for which, part in self.several):
            return False
        found = self._facts(chosen) if self.facts else {}
        return all(found.get(key, value) == value for key, value in self.facts.items())

    def _several(self, stated: list[Class]) -> Iterator[tuple[Class, int]]:
        """Those whose length the rules hold to whole parts, of which the model's has two or more."""
        counts = {
            int(attribute.numbers[0])
            for name, attribute in self.node.attributes.items()
            if attribute.kind == "int" and name not in _NAMES_OF_AXES and len(attribute.numbers) == 1
        }
        for each in stated:
            length = self.begun[each]
            for part in sorted(counts):
                longer = self.outline.shapes({**self.begun, each: length + 1})
                if 1 < part < length and length % part == 0 and self.checks.broken(longer) is not None:
                    yield each, part

    def _stated_facts(self) -> Facts:
        found = dict(self._facts(self.begun))
        for which in (loose for loose in self.outline.classes if own_length(loose) is None):
            length = self.begun[which]
            for other in (0, 1, length + 1, length + 2, length + 3, 2 * length):
                chosen = {**self.begun, which: other}
                if not found or self.checks.broken(self.outline.shapes(chosen)) is not None:
                    continue
                varied = self._facts(chosen)
                found = {key: each for key, each in found.items() if varied.get(key, each) == each}
        return found

    def _facts(self, chosen: Chosen) -> Facts:
        shapes = self.outline.shapes(chosen)
        by_axes = any(kind.keeps_axes for kind in self.node.space.kinds)
        first = shapes[0] if shapes and by_axes else None
        found: dict[tuple[str, str, int], object] = {}
        by_output: dict[str, list[tuple[int, ...]]] = {}
        for name, result in zip(self.checks.output_names, self.checks.results(shapes), strict=True):
            extents = _exact(result)
            if extents is None:
                continue
            if not any(0 in (shape or ()) for shape in shapes):
                found["empty", name, 0] = prod(extents) == 0
            if first is not None and len(first) == len(extents):
                for axis, (before, after) in enumerate(zip(first, extents, strict=True)):
                    found["length", name, axis] = (after > before) - (after < before)
            by_output.setdefault(name.rpartition("_")[0] or name, []).append(extents)
        if any(output.option == "variadic" for output in self.node.spec.outputs):
            found |= dict(_parts(by_output))
        return found


def _parts(by_output: Mapping[str, list[tuple[int, ...]]]) -> Iterator[tuple[tuple[str, str, int], object]]:
    """Which parts of a variadic output are of one length, axis by axis."""
    for name, shapes in by_output.items():
        if len(shapes) > 1 and len({len(shape) for shape in shapes}) == 1:
            for axis, lengths in enumerate(zip(*shapes, strict=True)):
                yield ("alike", name, axis), tuple(lengths.index(length) for length in lengths)


def _exact(result: ResultShape | None) -> tuple[int, ...] | None:
    """The extents of an output that hang on no values; None where some do."""
    if result is None or any(least != most or most >= UNKNOWN_EXTENT for least, most in result.extents):
        return None
    return tuple(most for _, most in result.extents)


def size_of_results(checks: ShapeChecks, shapes: Shapes) -> int:
    """The elements of all outputs that the shapes tell."""
    found = [_exact(result) for result in checks.results(shapes)]
    return sum(prod(each) for each in found if each is not None)
