"""What people add to the facts of the documents: the schema of those keys of `spec.yaml`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from opcert.vocabulary.attributes import AttributeKind
from specs.files.schemas import Entry, Sources
from specs.model.spec import Action, Option, Otherwise, Severity


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


class TypesAmendment(Amendment):
    types: list[str] | None = None


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
