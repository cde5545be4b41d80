"""The space of an operator version's calls: factors, variables and rules, made from facts and declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from generator.calls.data.draws import Draw
from generator.calls.solver.form_levels import form_levels
from generator.calls.solver.partial import OMITTED, Bindings, Partial, SearchedLevels
from generator.calls.solver.solving import CallSearch, SearchVariable
from generator.calls.space.declared_kinds import make_kinds
from generator.calls.space.derived import derive_rules, shape_rules
from generator.calls.variables.data_levels import DATA, FITS, Fits, classes_of, unfit
from generator.calls.variables.extents import (
    EXTENTS,
    LEVELS,
    RANKS,
    Choices,
    ExtentVariable,
    InputShape,
    Pack,
    VariadicShapes,
    bounds_within,
    find_choices,
)
from generator.calls.variables.formed_inputs import FormedShapes
from generator.calls.variables.kind import Kind, Level
from generator.calls.variables.wanted_outputs import (
    NAMES,
    OUTPUTS,
    WANTED,
    Outputs,
    asks_for_outputs,
    counts_within,
    names_needed,
    output_factors,
    output_rules,
)
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from specs.files.declarations import FILE_NAME
from specs.language.expressions import parse
from specs.language.shape_expressions import Shape, parse_shape
from specs.model.declared import Declared, DeclaredBounds
from specs.model.spec import Exclusion, ParameterSpec, Spec
from specs.model.structures import element_types_of, is_sequence, is_structured, type_variable


def check_names(spec: Spec, declared: Declared, factors: Mapping[str, tuple[Level, ...]]) -> None:
    """That `paired`, `focus`, exclusions and interactions name what there is; raises UserError."""
    places = declared.places
    of_inputs = {type_variable(spec, parameter) for parameter in spec.inputs}
    variables = [variable for variable in spec.type_constraints if variable in of_inputs]
    for name in declared.paired:
        if name not in variables:
            listed = ", ".join(variables)
            raise UserError(
                "no such type variable of an input",
                got=f"paired: {name}",
                expected=listed or "none: leave `paired` out",
                where=places.get(f"paired.{name}"),
            )
    where = places.get(FILE_NAME)
    for exclusion in spec.exclusions:
        for name in sorted(parse(exclusion.when).names - factors.keys()):
            listed = ", ".join(factors)
            got = f"{name} in {exclusion.when}"
            raise UserError("no such factor", got=got, expected=listed, where=where)
    for name in (factor for interaction in spec.interactions for factor in interaction.factors):
        if name not in factors:
            listed = ", ".join(factors)
            raise UserError("no such factor", got=f"interactions: {name}", expected=listed, where=where)
    for name, level in declared.focus.items():
        if level not in factors.get(name, ()):
            listed = ", ".join(map(str, factors.get(name, tuple(factors))))
            got = f"focus: {{{name}: {level}}}"
            at = places.get(f"focus.{name}")
            problem = "no such level of a factor" if name in factors else "no such factor"
            raise UserError(problem, got=got, expected=listed, where=at)


COUNTS: tuple[Level, ...] = (2, 1, 3)
"""The plainest number first."""


def is_many(spec: Spec, parameter: ParameterSpec) -> bool:
    """Whether an input is made of several tensors."""
    return parameter.option == "variadic" or is_sequence(spec, parameter)


def tensor_counts(spec: Spec, parameter: ParameterSpec) -> tuple[Level, ...]:
    """How many tensors such an input may have, as its declaration says, or else the facts."""
    told = spec.declared.counts.get(parameter.name) if spec.declared is not None else None
    if isinstance(told, DeclaredBounds):
        return tuple(each for each in counts_within(told) if int(each) >= _fewest(spec, parameter))
    if parameter.option != "variadic":
        return (*COUNTS, 0)
    least = parameter.least_length or 1
    return tuple(count for count in COUNTS if int(count) >= least) or (least,)


def _fewest(spec: Spec, parameter: ParameterSpec) -> int:
    """How many tensors of a variadic input the node needs, where the other inputs are there or empty."""
    arity = spec.input_arity
    if parameter.option != "variadic" or arity is None:
        return 0
    return arity.least - (len(spec.inputs) - 1)


_BY_USE = ("float", "int64", "int32", "double", "float16", "bool", "uint8", "int8", "bfloat16", "string")
"""Those that are used most; the others follow as the document lists them."""


def by_use(types: Sequence[str]) -> list[str]:
    """The types that are known here, those that are used most first."""
    known = [each for each in types if each in ELEMENT_TYPES]
    return [*(each for each in _BY_USE if each in known), *(each for each in known if each not in _BY_USE)]


@dataclass(frozen=True, eq=False)
class CallSpace:
    """The space of one operator version's calls.

    `spec` has the derived rules and definitions beside those that people wrote. `data` are the inputs that no
    kind gives values to; `types` the factors of type variables, which are dealt out over the rows.
    """

    spec: Spec
    kinds: tuple[Kind, ...]
    data: tuple[ParameterSpec, ...]
    factors: Mapping[str, tuple[Level, ...]]
    types: tuple[str, ...]
    variables: tuple[SearchVariable, ...]

    @cached_property
    def paired(self) -> frozenset[str]:
        """The factors of types that go with every other level; the others are dealt out over the rows."""
        declared = self.spec.declared.paired if self.spec.declared is not None else ()
        return frozenset(f"type_{each}" for each in declared) & frozenset(self.types)

    @cached_property
    def search(self) -> CallSearch:
        try:
            return CallSearch(self.spec, self.variables, self.spec.constraints)
        except UserError as error:
            inside = [kind for kind in self.kinds if f"kind:{kind.name}" in (error.got or "")]
            error.where = error.where or (inside[0].subject.place if inside else None)
            error.remedy = "Take the name of one of them out of what the other one says."
            raise

    @cached_property
    def plainest(self) -> Mapping[str, Level]:
        """The first level of every factor that is not rare."""
        rare = self.spec.declared.rare if self.spec.declared is not None else {}
        return {
            name: next((level for level in levels if level not in rare.get(name, ())), levels[0])
            for name, levels in self.factors.items()
        }

    @cached_property
    def plain_types(self) -> Mapping[str, Level]:
        """The first types and class of data, and what is in focus beside; all other factors are free."""
        types = {name: level for name, level in self.plainest.items() if name in (*self.types, "data")}
        focus = self.spec.declared.focus if self.spec.declared is not None else {}
        return {**types, **{name: level for name, level in focus.items() if name not in types}}

    @cached_property
    def plain_calls(self) -> Sequence[Mapping[str, Level]]:
        """Levels of calls in which nothing in particular is asked for, each for where none has those before.

        A narrower precision than the plainest allows more, and so tells less.
        """
        precisions = {factor for kind in self.kinds for factor in kind.precisions}
        plain = {name: level for name, level in self.plainest.items() if name in precisions}
        found = (self.plainest, {**plain, **self.plain_types}, self.plain_types)
        return tuple({tuple(each.items()): each for each in found}.values())

    @cached_property
    def covered(self) -> frozenset[str]:
        """The attributes and inputs that a kind gives values to."""
        return frozenset(name for kind in self.kinds for name in kind.covers)


Candidates = Callable[[Partial, Draw], Iterator[Bindings]]


class SpaceMaker:
    """Puts a space together."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._declared = spec.declared or Declared()
        self._factors: dict[str, tuple[Level, ...]] = {}
        self._variables: list[SearchVariable] = []
        self._shaped: frozenset[str] = frozenset()

    def make(self) -> CallSpace:
        """What there is of a version; raises SeveralErrors with all that is wrong in its kinds."""
        kinds = make_kinds(self._spec)
        spec = self._completed(kinds)
        self._spec = spec
        covered = {name for kind in kinds for name in kind.covers}
        lists = {name for kind in kinds if not kind.needs_own_shape for name in kind.covers}
        brought = {name for kind in kinds for name in kind.binds}
        data = tuple(parameter for parameter in spec.inputs if parameter.name not in covered)
        shapes = {name: parse_shape(text) for name, text in self._declared.shapes.items()}
        chosen = self._chosen_shapes(shapes, lists, brought)
        self._shaped = frozenset(chosen)
        bounds = [kind.most_elements for kind in kinds if kind.most_elements is not None]
        self._add_extents(chosen, brought, min(bounds, default=None))
        types = (*self._add_types(), *self._add_types_of_kinds(kinds))
        for kind in kinds:
            self._add_kind(kind)
        self._add_data(data, brought)
        self._add_shapes(chosen, find_choices(chosen))
        spec = replace(spec, exclusions=(*self._add_data_classes(data), *spec.exclusions))
        self._add_outputs()
        check_names(self._spec, self._declared, self._factors)
        return CallSpace(spec, kinds, data, dict(self._factors), types, tuple(self._variables))

    def _completed(self, kinds: Sequence[Kind]) -> Spec:
        """The spec with what facts, shapes and kinds say; what people wrote under an id wins."""
        brought = {name: text for kind in kinds for name, text in kind.brings.items()}
        wanted = self._spec.extents
        let = {**{name: text for name, text in brought.items() if name not in wanted}, **self._spec.let}
        rules = [
            *derive_rules(self._spec),
            *shape_rules(self._spec),
            *output_rules(self._spec),
            *(rule for kind in kinds for rule in kind.rules()),
        ]
        own = {constraint.id for constraint in self._spec.constraints}
        derived = {rule.id: rule for rule in rules if rule.id not in own}
        return replace(self._spec, let=let, constraints=(*derived.values(), *self._spec.constraints))

    def _chosen_shapes(
        self, shapes: Mapping[str, Shape], lists: set[str], brought: set[str]
    ) -> dict[str, Shape]:
        """The shapes that are chosen before values: not those of lists, whose length a kind decides."""
        wanted = self._spec.extents
        found = {}
        for name, shape in shapes.items():
            own = shape.names & wanted
            elsewhere = {each for other, one in shapes.items() if other != name for each in one.names}
            if name in lists and own - elsewhere:
                continue
            if f"shape:{name}" not in brought:
                found[name] = shape
        return found

    def _add_extents(self, shapes: Mapping[str, Shape], brought: set[str], most: int | None) -> None:
        wanted = self._spec.extents - brought
        starred = frozenset[str]().union(*(shape.starred for shape in shapes.values()))
        packs = [name for name in _in_order(shapes) if name in wanted & starred]
        extents = [name for name in _in_order(shapes) if name in wanted and name not in packs]
        if packs or extents:
            self._factor("extents", LEVELS)
        for name in packs:
            low, high = bounds_within(self._declared.extents.get(name), RANKS)
            ranks = sorted(range(low, high + 1), key=lambda rank: (rank != min(2, high), rank))
            self._factor(f"rank_{name}", tuple(ranks))
            self._variable(name, {"level:extents", f"level:rank_{name}"}, Pack(name, bool(extents), most))
        for name in extents:
            low, high = bounds_within(self._declared.extents.get(name), EXTENTS)
            self._variable(name, {"level:extents"}, ExtentVariable(name, low, high))

    def _add_types(self) -> tuple[str, ...]:
        """A factor for each type variable of the inputs that has several types."""
        found: list[str] = []
        for parameter in self._spec.inputs:
            types = element_types_of(self._spec, parameter)
            if parameter.type in self._spec.type_constraints and len(types) > 1:
                name = f"type_{type_variable(self._spec, parameter)}"
                if name not in self._factors:
                    self._factor(name, tuple(by_use(types)))
                    found.append(name)
        return tuple(found)

    def _add_types_of_kinds(self, kinds: Sequence[Kind]) -> Iterator[str]:
        for kind in kinds:
            for name, types in kind.type_factors.items():
                if name not in self._factors:
                    self._factor(name, tuple(by_use(types)))
                    yield name

    def _add_kind(self, kind: Kind) -> None:
        factors = kind.factors()
        for name, levels in factors.items():
            if name not in self._factors:
                self._factor(name, levels)
        binds = {*kind.covers, *kind.binds}
        if not binds:
            return
        needs = {*self._expanded(kind.needs - binds), *(f"level:{name}" for name in factors)}

        def candidates(scope: Partial, draw: Draw) -> Iterator[Bindings]:
            return kind.candidates(SearchedLevels(scope, factors), scope, draw)

        self._variables.append(
            SearchVariable(f"kind:{kind.name}", frozenset(binds), frozenset(needs), candidates)
        )

    def _expanded(self, names: Iterable[str]) -> set[str]:
        """The names that must be bound for these: those in definitions, and the shapes of inputs."""
        found: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name in found:
                continue
            found.add(name)
            plain = name.removeprefix("shape:")
            if plain in self._spec.let:
                pending.extend(parse(self._spec.let[plain]).names)
            elif plain == name:
                found |= {f"shape:{name}", f"shapes:{name}"}
            elif plain not in self._shaped:
                found |= {plain, f"shapes:{plain}"}
        return found

    def _add_data(self, data: Sequence[ParameterSpec], brought: set[str]) -> None:
        for parameter in data:
            omitted = (OMITTED,) if parameter.option == "optional" else ()
            if is_structured(self._spec, parameter) and parameter.name not in self._factors:
                self._factor(parameter.name, (*form_levels(self._spec, parameter), *omitted))
            elif omitted and not is_structured(self._spec, parameter):
                self._factor(parameter.name, ("given", OMITTED))
            if is_many(self._spec, parameter) and f"shapes:{parameter.name}" not in brought:
                self._factor(f"{parameter.name}_count", tensor_counts(self._spec, parameter))

    def _add_outputs(self) -> None:
        """Which outputs are asked for, where there is a choice."""
        factors = output_factors(self._spec)
        for name, levels in factors.items():
            self._factor(name, levels)
        if asks_for_outputs(self._spec):
            needs = {*self._expanded(names_needed(self._spec)), *(f"level:{name}" for name in factors)}
            binds = frozenset({WANTED, OUTPUTS, NAMES})
            self._variables.append(SearchVariable("outputs", binds, frozenset(needs), Outputs(self._spec)))

    def _add_shapes(self, shapes: Mapping[str, Shape], choices: Choices) -> None:
        for name, levels in choices.factors.items():
            self._factor(name, levels)
        by_name = {each.name: each for each in self._spec.inputs}
        structured = [each for each in by_name if is_structured(self._spec, by_name[each])]
        for name in structured:
            shape = shapes.get(name)
            needs = {f"level:{name}"}
            if shape is not None:
                needs |= self._expanded(shape.names) | choices.needs(name, shape)
            self._variable(f"shapes:{name}", needs, FormedShapes(name, shape))
        for name, shape in shapes.items():
            parameter = by_name[name]
            if name in structured:
                continue
            needs = self._expanded(shape.names) | choices.needs(name, shape)
            if name in self._factors:
                needs.add(f"level:{name}")
            if is_many(self._spec, parameter):
                self._variable(f"shapes:{name}", needs | {f"level:{name}_count"}, VariadicShapes(name, shape))
            else:
                self._variable(f"shape:{name}", needs, InputShape(name, shape, choices.group))

    def _add_data_classes(self, data: Sequence[ParameterSpec]) -> tuple[Exclusion, ...]:
        """Add the factor of the classes; what is excluded where types are paired with them."""
        if not data:
            return ()
        types = by_use(element_types_of(self._spec, data[0]))
        classes = classes_of(types, self._declared)
        if classes:
            self._factor(DATA, classes)
            variable = type_variable(self._spec, data[0])
            fits = Fits(f"type_{variable}", types[0])
            self._variable(FITS, fits.needs, fits)
            if variable in self._declared.paired and fits.types in self._factors:
                return tuple(unfit(fits.types, types, classes))
        return ()

    def _factor(self, name: str, levels: tuple[Level, ...]) -> None:
        self._factors[name] = levels

        def candidates(_: Partial, draw: Draw) -> Iterator[Bindings]:
            return ({f"level:{name}": level} for level in draw.shuffled(levels))

        self._variable(f"level:{name}", set(), candidates)

    def _variable(self, name: str, needs: Iterable[str], candidates: Candidates) -> None:
        self._variables.append(SearchVariable(name, frozenset({name}), frozenset(needs), candidates))


def _in_order(shapes: Mapping[str, Shape]) -> list[str]:
    """The names in shapes, in the order in which they are first written."""
    return list(dict.fromkeys(name for shape in shapes.values() for name in sorted(shape.names)))


def open_space(spec: Spec) -> CallSpace:
    """The space of a spec with a declaration; raises SeveralErrors with all that is wrong in its kinds."""
    space = SpaceMaker(spec).make()
    assert space.search, "the variables have an order in which each has what it needs"
    return space
