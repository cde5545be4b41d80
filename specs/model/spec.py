"""The effective spec of an operator version: imported and added facts together, each with its origin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import Place
from opcert.vocabulary.names import OperatorName
from specs.language.shape_expressions import Shape, parse_shape
from specs.language.words import CONSTANTS
from specs.model.declared import Declared
from specs.model.signature_parts import AllowedValues as AllowedValues
from specs.model.signature_parts import Arity as Arity
from specs.model.signature_parts import AttributeSpec as AttributeSpec
from specs.model.signature_parts import How as How
from specs.model.signature_parts import Option as Option
from specs.model.signature_parts import Origin as Origin
from specs.model.signature_parts import Otherwise as Otherwise
from specs.model.signature_parts import ParameterSpec as ParameterSpec
from specs.model.signature_parts import Source as Source
from specs.model.signature_parts import TypeConstraint as TypeConstraint
from specs.model.statements import Statement
from specs.model.structures import InputForm, input_forms
from specs.model.worked_values import Example as Example
from specs.model.worked_values import Value as Value

Severity = Literal["error", "warning", "hint"]
Action = Literal["repaired", "rejected", "became a reading", "noted"]


@dataclass(frozen=True)
class Document:
    """A document that facts came from; `identity` is `asserted` where its user named the operator."""

    key: str
    file: str
    dialect: str
    sha256: str
    release: str | None = None
    identity: Literal["stated", "asserted"] = "stated"


@dataclass(frozen=True)
class Constraint:
    """A rule over attributes and inputs.

    `require` must hold where `when` does (both are expressions of `specs.language.expressions`); a violation
    is an error, undefined or implementation-defined. A rule with `attribute` and `effective_when` instead
    says where an attribute matters: outside, changing it must change nothing.
    """

    id: str
    when: str | None
    require: str | None
    otherwise: Otherwise | None
    attribute: str | None
    effective_when: str | None
    origin: Origin
    shape_of: str | None = None
    """The input whose declared shape is the rule, instead of an expression."""


@dataclass(frozen=True)
class Refusable:
    """Calls that no rule excludes, and that a document can be read to exclude, or passes over in silence.

    Where `when` holds (an expression of `specs.language.expressions`) whoever answers has to answer rightly,
    and whoever refuses is not blamed. `contradicted` says that another passage of the document, such as the
    operator's own function body, rules the call out.
    """

    id: str
    when: str
    origin: Origin
    contradicted: bool = False


@dataclass(frozen=True)
class ReadingEvidence:
    """What speaks for one option of a reading."""

    option: str
    kind: Literal["text", "example", "document", "witness"]
    sources: tuple[Source, ...]
    note: str | None = None


@dataclass(frozen=True)
class Reading:
    """One of the questions that documents leave open. Its id is a keyword parameter of the reference.

    `kind` is `reading` where documents contradict themselves or are silent on what cannot be left open, and
    `behaviour` where what happens is implementation-defined inside `options`. `chosen` settles it.
    `contradicted` are options that another passage of the document has, such as the operator's own function
    body, against what its text says: who follows that one is not blamed, and the document is told of.
    """

    id: str
    question: str
    options: Mapping[str, str]
    evidence: tuple[ReadingEvidence, ...]
    chosen: str | None
    kind: Literal["reading", "behaviour"]
    origin: Origin
    contradicted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Formula:
    """A formula that the document states: what it defines, its text, the condition under which it holds."""

    name: str
    text: str
    origin: Origin
    when: str | None = None


@dataclass(frozen=True)
class Prose:
    """A passage of prose: what it is about (a path: `attributes.mode`), where it stands, its digest.

    `normative` holds the words by which it demands something (must, should, error, accepted range, ...), each
    with the place of the first: what says `error` of a violation rests on such a passage.
    """

    about: str
    source: Source
    lines: int
    sha256: str
    normative: tuple[tuple[str, Source], ...] = ()


@dataclass(frozen=True)
class Finding:
    """Something wrong with a document."""

    code: str
    severity: Severity
    source: Source
    message: str
    evidence: str
    action: Action
    by_reader: bool = False
    """Whether somebody who read the document found it, and no rule: importing it again keeps it."""


@dataclass(frozen=True)
class Factor:
    """One dimension of the operator's input space and its levels, in the order in which they are written."""

    name: str
    levels: tuple[str | int | float | bool, ...]
    origin: Origin | None = None


@dataclass(frozen=True)
class Exclusion:
    """A combination of factor levels that no valid call has: `when` is an expression over factor names."""

    when: str
    origin: Origin


@dataclass(frozen=True)
class Interaction:
    """Factors every combination of `strength` of which is covered, where fewer are of the others."""

    factors: tuple[str, ...]
    strength: int
    origin: Origin


@dataclass(frozen=True)
class Difference:
    """One way in which an operator is otherwise than the one that computes it, and where that is said."""

    what: str
    origin: Origin


@dataclass(frozen=True)
class SameAs:
    """The operator version whose reference computes this one, and what that is given and gives back.

    `arguments` are its parameters by expressions over this operator's inputs and attributes, `returns` this
    operator's outputs by expressions over what comes out; `reference/registry/translation.py` reads both.
    `ignores` are attributes and inputs on which no answer depends; `differs` is what somebody who knows the
    other one does not expect.
    """

    operator: OperatorName
    arguments: Mapping[str, str]
    returns: Mapping[str, str]
    ignores: tuple[str, ...]
    differs: tuple[Difference, ...]
    place: Place


@dataclass(frozen=True)
class Spec:
    """Everything known about one operator version.

    `origins` tells each single field from the next, by its path: `attributes.mode.default`.
    """

    operator: OperatorName
    documents: tuple[Document, ...]
    attributes: Mapping[str, AttributeSpec]
    inputs: tuple[ParameterSpec, ...]
    outputs: tuple[ParameterSpec, ...]
    type_constraints: Mapping[str, TypeConstraint]
    let: Mapping[str, str] = field(default_factory=dict)
    constraints: tuple[Constraint, ...] = ()
    may_refuse: tuple[Refusable, ...] = ()
    readings: tuple[Reading, ...] = ()
    examples: tuple[Example, ...] = ()
    findings: tuple[Finding, ...] = ()
    factors: tuple[Factor, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    interactions: tuple[Interaction, ...] = ()
    reference_module: Path | None = None
    """A Python file that computes what is right, where it does not ship with the package."""
    same_as: SameAs | None = None
    """The operator version whose reference computes this one, where another one's does."""
    declared: Declared | None = None
    """The shapes and kinds of a declaration, where the operator has one."""
    formulas: tuple[Formula, ...] = ()
    statements: tuple[Statement, ...] = ()
    """What sentences say of ranges, ranks, shapes, broadcasting, relevance and classes of types."""
    prose: tuple[Prose, ...] = ()
    input_arity: Arity | None = None
    output_arity: Arity | None = None
    deprecated: bool = False
    category: str | None = None
    """The document's own class of operators, such as `Data movement`."""
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def with_findings(self, findings: Iterable[Finding]) -> Spec:
        """The same with these findings, by their places; those of one place by their codes."""
        found = sorted(
            findings, key=lambda finding: (finding.source.line, finding.source.column or 0, finding.code)
        )
        return replace(self, findings=tuple(found))

    def document(self, key: str) -> Document:
        """The document of that key; raises KeyError where the spec has none."""
        return next(each for each in self.documents if each.key == key)

    @cached_property
    def extents(self) -> frozenset[str]:
        """The free names of the declared shapes that nothing else defines: extents and packs of them."""
        if self.declared is None:
            return frozenset()
        named = {*self.attributes, *(each.name for each in self.inputs), *self.let}
        known = {*named, *CONSTANTS, "version", "outputs", "wanted"}
        return frozenset[str]().union(*(shape.names for shape in self.shapes.values())) - known

    @cached_property
    def shapes(self) -> Mapping[str, Shape]:
        """The declared shapes of inputs."""
        texts = self.declared.shapes if self.declared is not None else {}
        return {name: parse_shape(text) for name, text in texts.items()}

    @cached_property
    def results(self) -> Mapping[str, Shape]:
        """The declared shapes of outputs."""
        texts = self.declared.results if self.declared is not None else {}
        return {name: parse_shape(text) for name, text in texts.items()}

    @cached_property
    def input_forms(self) -> Mapping[str, InputForm]:
        """The inputs by name, with what their types say: a search asks for it again and again."""
        return input_forms(self)

    def types_of(self, parameter: ParameterSpec) -> tuple[str, ...]:
        """The element types that an input or output may have; none where no document says.

        What documents list beside them, such as sequences and types that are not known here, is left out.
        """
        found = self.type_constraints.get(parameter.type)
        if found is not None:
            return tuple(each for each in found.types if each in ELEMENT_TYPES)
        return (parameter.type,) if parameter.type in ELEMENT_TYPES else ()
