"""What an attribute or input is: the protocol of kinds, and what most of them share.

A kind is a module of `generator/calls/kinds/` with one subclass of `Kind`; `declared_kinds` finds it by its
file's name. Its fields are the declaration's arguments: `Expression`s, which it evaluates, or `InputName`s,
of which it needs the shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, NewType, Protocol

import numpy as np
from numpy.typing import NDArray

from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import Place
from opcert.vocabulary.tensors import Tensor
from specs.language.expressions import EvaluationError, Expression
from specs.model.spec import AttributeSpec, Constraint, Origin, Otherwise, ParameterSpec, Source, Spec


@dataclass(frozen=True)
class KindSubject:
    """What a kind is declared for: a name, the spec, and what breaking its rules means."""

    name: str
    spec: Spec
    otherwise: Otherwise = "undefined"
    place: Place | None = None

    def has(self, name: str) -> bool:
        """Whether the version has an attribute or input of that name."""
        return name in self.spec.attributes or self.input(name) is not None

    def attribute(self, name: str) -> AttributeSpec | None:
        return self.spec.attributes.get(name)

    def input(self, name: str) -> ParameterSpec | None:
        return next((each for each in self.spec.inputs if each.name == name), None)

    def parameter(self, name: str) -> ParameterSpec:
        """The input of a name that is one."""
        found = self.input(name)
        assert found is not None, f"{name} is no input"
        return found

    def types_of(self, variable: str) -> tuple[str, ...]:
        """The element types of a type variable; none where the version has no such variable."""
        found = self.spec.type_constraints.get(variable)
        return tuple(name for name in (found.types if found is not None else ()) if name in ELEMENT_TYPES)

    def may_be_omitted(self, name: str) -> bool:
        """Whether the version allows to leave the attribute or input out."""
        attribute, parameter = self.attribute(name), self.input(name)
        if attribute is not None:
            return not attribute.required
        return parameter is not None and parameter.option == "optional"

    def sources(self, name: str) -> tuple[Source, ...]:
        """Where the documents speak of a name (or `summary`): its passage, or else where it is listed."""
        about = {name, *(f"{group}.{name}" for group in ("attributes", "inputs", "outputs"))}
        found = tuple(prose.source for prose in self.spec.prose if prose.about in about)
        if found:
            return found
        attribute, parameter = self.attribute(name), self.input(name)
        listed = attribute.origin if attribute is not None else parameter.origin if parameter else None
        return listed.sources if listed is not None else ()


Level = str | int | float | bool
InputName = NewType("InputName", str)
"""An argument that names an input: the kind needs its shape, not its elements."""


class CallValues(Protocol):
    """The values of a call, as changes of kinds see them."""

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an input."""

    def numbers(self, name: str) -> NDArray[Any]:
        """The numbers of an attribute, or of an input in its shape; ValueError where it is left out.

        Of an input whose type numpy lacks they are the bits that it is kept in.
        """

    def has(self, name: str) -> bool:
        """Whether the call gives an attribute or input, or it has a default."""


@dataclass(frozen=True)
class ValueChange:
    """Values that are taken for others, in every call: a single mistake that explains a wrong answer.

    `change` gives the values that a call has then, by name (None: left out); it may raise ValueError or
    IndexError for a call that has no such values. `text` says in words what was done; where the change gives
    the attribute `subject` one value in every call, it is that value. `breaks` are rules that the call breaks
    then, for a value of another version or library, of which the reference knows all the same what comes out.
    """

    key: str
    text: str
    change: Callable[[CallValues], Bindings]
    subject: str | None = None
    breaks: tuple[str, ...] = ()


@dataclass(frozen=True)
class ResultChange:
    """A mistake that no other values of the call make: `compute` says what comes out instead.

    It gives the elements of the operator's first output, in the element type of the input `of`; it raises
    ValueError or IndexError for a call of which it says nothing.
    """

    key: str
    text: str
    of: str
    compute: Callable[[CallValues], NDArray[Any]]


KindChange = ValueChange | ResultChange
"""A single change that a kind brings."""
Misreading = tuple[str, str, Callable[[NDArray[Any]], Any]]
"""What numbers are taken for: a word, a text with a place for their name, and what they become."""


def misread_as(name: str, *listed: Misreading) -> Iterator[ValueChange]:
    """The changes of an attribute or input whose numbers are misread in these ways."""
    for word, text, change in listed:
        yield ValueChange(f"{name} {word}", text.format(name), partial(_changed, name, change))


def _changed(name: str, change: Callable[[NDArray[Any]], Any], given: CallValues) -> Bindings:
    return {name: change(given.numbers(name))}


AXIS_MISREAD: tuple[Misreading, ...] = (
    ("other end", "{} counted from the other end", lambda axis: -1 - axis),
    ("absolute", "{} without its sign", np.abs),
)
INDICES_MISREAD: tuple[Misreading, ...] = (
    ("other end", "{} counted from the other end", lambda indices: -1 - indices),
    ("from one", "{} counted from 1", lambda indices: indices - 1),
    ("at least 0", "negative {} taken for 0", lambda indices: np.maximum(indices, 0)),
)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Levels, candidates, rules, edges, breaches and changes of one kind of value.

    `covers` are the attributes and inputs that it gives values to; `brings` names that it defines for other
    expressions, by expressions of their own.
    """

    subject: KindSubject

    variants: ClassVar[Mapping[str, type[Kind]]] = {}
    """The kinds of a family, each by the word that a declaration says first (empty: without a word).

    A single kind has none.
    """

    @property
    def name(self) -> str:
        return self.subject.name

    @property
    def is_permutation(self) -> bool:
        """Whether its values are an order of axes."""
        return False

    @property
    def is_listed(self) -> bool:
        """Whether the declaration lists its values, where the document has no such list."""
        return False

    @property
    def without_end(self) -> Kind | None:
        """The kind with no end above, where a plain number is that; None where it has no such end."""
        return None

    @property
    def joined_along(self) -> Expression | None:
        """The axis along which alone the tensors of its name may differ."""
        return None

    @property
    def summed_by(self) -> Expression | None:
        """The attribute whose equation says which products of its name's tensors are summed."""
        return None

    @property
    def needs_own_shape(self) -> bool:
        """Whether the values are elements of a tensor whose shape is chosen before."""
        return False

    keeps_axes: ClassVar[bool] = False
    """Whether each axis of its operator's input stays that axis, and becomes shorter, longer or neither."""

    covered: ClassVar[tuple[str, ...]] = ()
    """The attributes and inputs that it covers, as far as the version has them; of none that of its name."""

    @property
    def covers(self) -> tuple[str, ...]:
        return tuple(name for name in self.covered or (self.name,) if self.subject.has(name))

    @property
    def brings(self) -> Mapping[str, str]:
        return {}

    @property
    def binds(self) -> tuple[str, ...]:
        """Names beside those covered that its candidates bind: packs, extents, shapes of variadic inputs."""
        return ()

    @property
    def most_elements(self) -> int | None:
        """How many elements a pack of extents comes to at most, where each is computed with many others."""
        return None

    @property
    def type_factors(self) -> Mapping[str, tuple[str, ...]]:
        """Factors of element types that no input has: they are dealt out over the rows as those of inputs."""
        return {}

    @property
    def precisions(self) -> tuple[str, ...]:
        """Factors that say in which type of floats something is computed; the first level is the plainest."""
        return ()

    @property
    def named_types(self) -> Mapping[str, Level]:
        """The element types that its value names by number, each with the level that it has then."""
        return {}

    @property
    def mends(self) -> tuple[str, ...]:
        """Inputs whose data is drawn as that of others and then made to keep its rules."""
        return ()

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        """The drawn data of an input of `mends`, in which the rules hold."""
        return tensor

    def mend_all(self, tensors: Sequence[Tensor], scope: Partial) -> Sequence[Tensor]:
        """The same of a variadic input or a sequence, where what holds of a tensor hangs on its place."""
        return [self.mend(tensor, scope) for tensor in tensors]

    @property
    def needs(self) -> frozenset[str]:
        """The names that must be bound before it; of inputs named by `InputName`, the shape."""
        found: set[str] = set()
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Expression):
                found |= value.names
            elif field.type in ("InputName", "InputName | None") and value is not None:
                found.add(f"shape:{value}")
        if self.needs_own_shape:
            found |= {f"shape:{cover}" for cover in self.covers if self.subject.input(cover) is not None}
        return frozenset(found).difference(self.covers, self.binds)

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        """Its dimensions of the input space; the first level of each is the plainest."""
        return {}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        """Values with these levels, the likeliest first; none where it is impossible here."""
        raise NotImplementedError

    def rules(self) -> Iterable[Constraint]:
        """What is valid, as expressions."""
        return ()

    def edges(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """Valid values at a border, each with a word for the case."""
        return iter(())

    def shortcuts(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """Valid values at which little seems to be asked for, so that a runtime may hand its input on.

        A case is made of those alone for which that is wrong.
        """
        return iter(())

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        """Values that break a rule, each with the rule's id."""
        return iter(())

    def changes(self) -> Iterable[KindChange]:
        """Single mistakes in reading its values: they explain wrong answers, and adequacy makes them."""
        return ()

    def type_of(self, scope: Partial, name: str) -> ElementType:
        """The element type that an input has."""
        return ELEMENT_TYPES[scope.element_type(self.subject.parameter(name))]

    def type_levels(self, *names: str) -> frozenset[str]:
        """What must be bound before the element types of these inputs are known."""
        listed = (self.subject.input(name) for name in names)
        return frozenset(f"level:type_{parameter.type}" for parameter in listed if parameter is not None)

    def says(self, flag: Expression | None, default: bool = False) -> bool:
        """Whether an argument that hangs on the version alone is true; `default` where it is not given."""
        if flag is None:
            return default
        return bool(flag.evaluate({"version": self.subject.spec.operator.since_version}))

    def always(self, flag: Expression | None) -> bool:
        """Whether an argument is true in this version whatever else the call has."""
        if flag is None:
            return False
        try:
            return self.says(flag)
        except EvaluationError:
            return False

    def rule(
        self,
        name: str,
        require: str,
        when: str | None = None,
        *,
        about: str | None = None,
        otherwise: Otherwise | None = None,
    ) -> Constraint:
        """A rule of the kind's; it cites the passage of the name that it is about."""
        sources = self.subject.sources(about or self.name)
        kind = type(self).__module__.rpartition(".")[2]
        origin = Origin("derived", sources, None if sources else f"what {kind} means")
        return Constraint(name, when, require, otherwise or self.subject.otherwise, None, None, origin)


GREATEST = "1.7976931348623157e+308"
"""The greatest number of a double: what is beyond it is not finite."""


@dataclass(frozen=True, kw_only=True)
class SingleKind(Kind):
    """A kind of one name, whose levels are those of one factor; leaving the name out is one of them."""

    def levels(self) -> tuple[Level, ...]:
        """The levels, the plainest first, without `omitted`."""
        return ("given",)

    def values(self, level: Level, scope: Partial, draw: Draw) -> Iterator[Any]:
        """Values of a level."""
        raise NotImplementedError

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        omitted = (OMITTED,) if self.subject.may_be_omitted(self.name) else ()
        return {self.name: (*self.levels(), *omitted)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        level = levels[self.name]
        if level == OMITTED:
            yield {self.name: None}
            return
        for value in self.values(level, scope, draw):
            yield {self.name: value}

    @property
    def given(self) -> str | None:
        """The condition under which its rules speak: that the name is there, where it may be left out."""
        attribute = self.subject.attribute(self.name)
        if attribute is not None and attribute.has_default:
            return None
        return f"present({self.name})" if self.subject.may_be_omitted(self.name) else None
