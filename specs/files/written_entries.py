"""Schemas of entries: what people add to facts in `spec.yaml`, and those of `imported-<version>.yaml`.

The keys of the latter stand in the order in which they are written.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_type_hints

from pydantic import BeforeValidator, Field, create_model

from opcert.vocabulary.attributes import AttributeKind
from specs.files.schemas import Entry, Sources
from specs.model.spec import Action, Option, Origin, Otherwise, Severity
from specs.model.statements import KINDS, Statement


def _names(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Level = str | int | float | bool
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


def _versions(value: Any) -> Any:
    plain = isinstance(value, list) and all(type(each) is int and each > 0 for each in value)
    if not plain or len(set(value)) < max(len(value), 2):
        raise ValueError("expected two or more versions, one of each wording that was read, such as [11, 13]")
    return tuple(value)


Versions = Annotated[tuple[int, ...], BeforeValidator(_versions)]


class Reasoned(Entry):
    """Something that people state: `src` says where a document supports it, `why` gives their reason.

    `read` are versions in which the cited passage reads differently and was read.
    """

    src: Sources | None = None
    read: Versions = ()
    why: str | None = None


class Amendment(Reasoned):
    """An entry about something imported: it adds, `confirms` fields, or `overrides` old values."""

    confirms: Names = ()
    overrides: dict[str, Any] = Field(default_factory=dict)


class AttributeAmendment(Amendment):
    type: AttributeKind | None = None
    default: Any = None
    required: bool | None = None
    values: list[str | int | float] | None = None
    at_least: int | float | None = None


class ParameterAmendment(Amendment):
    type: str | None = None
    option: Option | None = None
    rank: str | None = None
    shape: list[str] | None = None
    at_least: int | float | None = None
    default: Any = None


LISTED, UNLISTED = "listed", "unlisted"
"""What stands for the type variables without an entry of which the documents list types, or none."""


class TypesAmendment(Amendment):
    """The types of a variable, or, `without`, those that the documents list but for some."""

    types: list[str] | None = None
    without: list[str] = Field(default_factory=list)


class ConstraintEntry(Reasoned):
    id: str = Field(pattern=r"^[A-Za-z0-9_]+$")
    when: str | None = None
    require: str | None = None
    otherwise: Otherwise | None = Field(None, alias="else")
    attr: str | None = None
    effective_when: str | None = None


class RefusableEntry(Reasoned):
    """Valid calls that the document can be read to exclude: a runtime that refuses them is not blamed.

    With `contradicted` another passage of the document, such as the function body, excludes them.
    """

    id: str = Field(pattern=r"^[A-Za-z0-9_]+$")
    when: str
    contradicted: bool = False


class EvidenceEntry(Entry):
    option: str
    kind: Literal["text", "example", "document", "witness"]
    src: Sources = ()
    read: Versions = ()
    note: str | None = None


class ReadingEntry(Reasoned):
    id: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    question: str
    options: dict[str, str] = Field(min_length=2)
    evidence: list[EvidenceEntry] = Field(default_factory=list)
    chosen: str | None = None
    contradicted: list[str] = Field(default_factory=list)


class FactorEntry(Reasoned):
    levels: list[Level] = Field(min_length=1)


def _factor(value: Any) -> Any:
    return {"levels": value} if isinstance(value, list) else value


class ExclusionEntry(Reasoned):
    when: str


class InteractionEntry(Reasoned):
    """Factors that are covered with a strength of their own."""

    factors: list[str] = Field(min_length=2)
    strength: int = Field(ge=2)


class ExampleCorrection(Reasoned):
    """A correction of an imported example: its id, and what to change, or `reject`."""

    id: str
    reject: bool = False
    attributes: dict[str, Any] = Field(default_factory=dict)


class DifferenceEntry(Reasoned):
    """What is otherwise than in the operator that `same_as` names."""

    what: str = Field(min_length=1)


class AddedFinding(Entry):
    code: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    severity: Severity
    src: Sources
    message: str
    evidence: str
    action: Action


class Additions(Entry):
    """What people add to the facts of an operator version."""

    attributes: dict[str, AttributeAmendment] = Field(default_factory=dict)
    inputs: dict[str, ParameterAmendment] = Field(default_factory=dict)
    outputs: dict[str, ParameterAmendment] = Field(default_factory=dict)
    type_constraints: dict[str, TypesAmendment] = Field(default_factory=dict)
    let: dict[str, str] = Field(default_factory=dict)
    constraints: list[ConstraintEntry] = Field(default_factory=list)
    may_refuse: list[RefusableEntry] = Field(default_factory=list)
    readings: list[ReadingEntry] = Field(default_factory=list)
    behaviours: list[ReadingEntry] = Field(default_factory=list)
    factors: dict[str, Annotated[FactorEntry, BeforeValidator(_factor)]] = Field(default_factory=dict)
    exclusions: list[ExclusionEntry] = Field(default_factory=list)
    interactions: list[InteractionEntry] = Field(default_factory=list)
    reference: str | None = None
    same_as: str | None = None
    arguments: dict[str, Level] = Field(default_factory=dict)
    returns: dict[str, str] = Field(default_factory=dict)
    ignores: list[str] = Field(default_factory=list)
    differs: list[DifferenceEntry] = Field(default_factory=list)
    examples: list[ExampleCorrection] = Field(default_factory=list)
    findings: list[AddedFinding] = Field(default_factory=list)


class FoundEntry(Entry):
    """A fact found in prose: its rule and how sure it is."""

    value: Any = None
    items: tuple[Any, ...] = Field((), alias="list")
    proposed: bool = False
    rule: str
    confidence: float
    src: Sources

    @property
    def origin(self) -> Origin:
        return Origin("imported", self.src, rule=self.rule, confidence=self.confidence)


class StatedEntry(FoundEntry):
    """What every statement has: what it is about, where it stands, the rule and how sure it is.

    `proposed` repeats what the confidence says, for people who read the file.
    """

    KIND: ClassVar[type[Statement]]

    about: str

    def statement(self) -> Statement:
        """The statement that the entry is about, of the kind that it says."""
        own = {part.name: getattr(self, part.name) for part in fields(self.KIND)[2:]}
        return self.KIND(self.about, self.origin, **own)


def _entry_of(word: str, kind: type[Statement]) -> type[StatedEntry]:
    """The entry of a kind of statements: what every one has, and the fields of its own."""
    hints: dict[str, Any] = get_type_hints(kind)
    own: dict[str, Any] = {"says": (Literal[word], ...)}
    for part in fields(kind)[2:]:
        default = ... if part.default is MISSING else part.default
        own[part.name] = (hints[part.name], Field(default, alias=part.name.rstrip("_")))
    entry: type[StatedEntry] = create_model(f"{kind.__name__}Entry", __base__=StatedEntry, **own)
    entry.KIND = kind
    return entry


if TYPE_CHECKING:
    StatementEntry = StatedEntry
else:
    StatementEntry = Annotated[
        reduce(or_, (_entry_of(word, kind) for word, kind in KINDS.items())), Field(discriminator="says")
    ]


class OperatorEntry(Entry):
    domain: str
    name: str
    since_version: int


class DocumentEntry(Entry):
    file: str
    dialect: str
    sha256: str
    release: str | None = None
    identity: Literal["stated", "asserted"]


class ArityEntry(Entry):
    inputs: tuple[int, int | None] | None = None
    outputs: tuple[int, int | None] | None = None


class AttributeEntry(Entry):
    type: AttributeKind | None = None
    other_type: str | None = None
    required: bool
    at_least: int | float | None = None
    more_than: int | float | None = None
    at_most: int | float | None = None
    least_length: int | None = None
    default: FoundEntry | None = None
    values: FoundEntry | None = None
    src: Sources


class ParameterEntry(Entry):
    name: str
    type: str
    option: Option
    rank: str | None = None
    shape: tuple[str, ...] | None = None
    at_least: int | float | None = None
    homogeneous: bool | None = None
    differentiable: bool | None = None
    default: Any = None
    least_length: int | None = None
    src: Sources


class TypesEntry(Entry):
    types: tuple[str, ...]
    src: Sources


class FormulaEntry(Entry):
    name: str
    text: str
    when: str | None = None
    src: Sources


class WordEntry(Entry):
    word: str
    src: Sources


class ProseEntry(Entry):
    about: str
    src: Sources
    lines: int
    normative: tuple[WordEntry, ...] = ()
    sha256: str


class StepEntry(Entry):
    target: str = Field("", alias="to")
    source: str = Field(alias="from")
    index: str = Field("", alias="at")


class RelationEntry(Entry):
    zeros: tuple[int, ...] | None = None
    steps: tuple[StepEntry, ...]


class ValueEntry(Entry):
    name: str
    type: str | None = None
    shape: tuple[int, ...] | None = None
    data: tuple[Any, ...] | None = None
    decimals: int | None = None
    relation: RelationEntry | None = None
    items: tuple[ItemEntry, ...] | None = None
    src: Sources | None = None


class ItemEntry(ValueEntry):
    """One element of a sequence: a tensor, or a sequence again."""

    name: str = ""


class ExampleEntry(Entry):
    id: str
    src: Sources
    note: str | None = None
    repaired: bool = False
    attributes: dict[str, Any] = Field(default_factory=dict)
    inputs: tuple[ValueEntry, ...]
    outputs: tuple[ValueEntry, ...]


class FindingEntry(Entry):
    code: str
    severity: Severity
    src: Sources
    message: str
    evidence: str
    action: Action
    by: Literal["reader"] | None = None


class ImportedFile(Entry):
    """What one source document says about one operator version."""

    operator: OperatorEntry
    documents: dict[str, DocumentEntry]
    category: str | None = None
    deprecated: bool = False
    arity: ArityEntry = ArityEntry()
    attributes: dict[str, AttributeEntry] = Field(default_factory=dict)
    inputs: tuple[ParameterEntry, ...]
    outputs: tuple[ParameterEntry, ...]
    type_constraints: dict[str, TypesEntry] = Field(default_factory=dict)
    formulas: tuple[FormulaEntry, ...] = ()
    statements: tuple[StatementEntry, ...] = ()
    prose: tuple[ProseEntry, ...] = ()
    examples: tuple[ExampleEntry, ...] = ()
    findings: tuple[FindingEntry, ...] = ()
