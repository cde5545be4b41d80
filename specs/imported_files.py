"""`imported-<version>.yaml`: a YAML document for each source document, with the facts that it states."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from opcert.vocabulary.attributes import AttributeKind
from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import YamlDocument, load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.model import (
    Action,
    AllowedValues,
    Arity,
    AttributeSpec,
    Document,
    Example,
    Finding,
    Formula,
    Option,
    Origin,
    ParameterSpec,
    Prose,
    Severity,
    Spec,
    TypeConstraint,
    Value,
)
from specs.relations import Relation, Step, read_index
from specs.schemas import Entry, Sources
from specs.stated_entries import StatementEntry


class OperatorEntry(Entry):
    domain: str
    name: str
    since_version: int


class DocumentEntry(Entry):
    file: str
    dialect: str
    sha256: str
    release: str | None = None
    identity: Literal["stated", "asserted"] = "stated"


class ArityEntry(Entry):
    inputs: list[int | None] | None = None
    outputs: list[int | None] | None = None


class FoundEntry(Entry):
    """A fact found in prose: its rule and how sure it is."""

    src: Sources
    rule: str
    confidence: float
    value: Any = None
    items: list[Any] = Field(default_factory=list, alias="list")
    proposed: bool = False


class AttributeEntry(Entry):
    src: Sources
    type: AttributeKind | None = None
    other_type: str | None = None
    required: bool
    default: FoundEntry | None = None
    values: FoundEntry | None = None
    at_least: int | float | None = None
    more_than: int | float | None = None
    at_most: int | float | None = None
    least_length: int | None = None


class ParameterEntry(Entry):
    src: Sources
    name: str
    type: str
    option: Option = "single"
    rank: str | None = None
    shape: list[str] | None = None
    at_least: int | float | None = None
    homogeneous: bool | None = None
    differentiable: bool | None = None
    default: Any = None
    least_length: int | None = None


class TypesEntry(Entry):
    src: Sources
    types: list[str]


class FormulaEntry(Entry):
    src: Sources
    name: str
    text: str
    when: str | None = None


class WordEntry(Entry):
    word: str
    src: Sources


class ProseEntry(Entry):
    about: str
    src: Sources
    lines: int
    normative: list[WordEntry] = Field(default_factory=list)
    sha256: str


class StepEntry(Entry):
    target: str = Field("", alias="to")
    source: str = Field(alias="from")
    index: str = Field("", alias="at")


class RelationEntry(Entry):
    zeros: list[int] | None = None
    steps: list[StepEntry]


class ValueEntry(Entry):
    name: str
    type: str | None = None
    shape: list[int] | None = None
    data: list[Any] | None = None
    decimals: int | None = None
    relation: RelationEntry | None = None
    items: list[ItemEntry] | None = None
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
    inputs: list[ValueEntry]
    outputs: list[ValueEntry]


class FindingEntry(Entry):
    code: str
    severity: Severity
    src: Sources
    message: str
    evidence: str
    action: Action


class ImportedFile(Entry):
    """What one source document says about one operator version."""

    operator: OperatorEntry
    documents: dict[str, DocumentEntry]
    category: str | None = None
    deprecated: bool = False
    arity: ArityEntry = ArityEntry()
    attributes: dict[str, AttributeEntry] = Field(default_factory=dict)
    inputs: list[ParameterEntry] = Field(default_factory=list)
    outputs: list[ParameterEntry] = Field(default_factory=list)
    type_constraints: dict[str, TypesEntry] = Field(default_factory=dict)
    formulas: list[FormulaEntry] = Field(default_factory=list)
    statements: list[StatementEntry] = Field(default_factory=list)
    prose: list[ProseEntry] = Field(default_factory=list)
    examples: list[ExampleEntry] = Field(default_factory=list)
    findings: list[FindingEntry] = Field(default_factory=list)


def read_imported(path: Path) -> list[Spec]:
    """The layers of a file of facts, one for each source document; SeveralErrors with all faults."""
    layers = []
    errors: list[UserError] = []
    for document in load_file(path):
        try:
            layers.append(_layer(validate(ImportedFile, document), document))
        except SeveralErrors as several:
            errors += several.errors
        except UserError as error:
            errors.append(error)
    if errors:
        raise SeveralErrors(errors)
    if not layers:
        raise UserError("the file holds no facts", got=str(path), expected="what `opcert import` writes")
    return layers


def _layer(file: ImportedFile, document: YamlDocument) -> Spec:
    if len(file.documents) != 1:
        raise UserError(
            "one document a layer", got=", ".join(file.documents), where=document.place(("documents",))
        )
    return Spec(
        operator=OperatorName(file.operator.domain, file.operator.name, file.operator.since_version),
        documents=tuple(
            Document(key, each.file, each.dialect, each.sha256, each.release, each.identity)
            for key, each in file.documents.items()
        ),
        attributes={name: _attribute(name, each) for name, each in file.attributes.items()},
        inputs=tuple(map(_parameter, file.inputs)),
        outputs=tuple(map(_parameter, file.outputs)),
        type_constraints={
            name: TypeConstraint(name, tuple(each.types), Origin("imported", each.src))
            for name, each in file.type_constraints.items()
        },
        examples=tuple(map(_example, file.examples)),
        findings=tuple(
            Finding(each.code, each.severity, each.src[0], each.message, each.evidence, each.action)
            for each in file.findings
        ),
        formulas=tuple(
            Formula(each.name, each.text, Origin("imported", each.src), each.when) for each in file.formulas
        ),
        statements=tuple(each.statement() for each in file.statements),
        prose=tuple(map(_prose, file.prose)),
        input_arity=_arity(file.arity.inputs),
        output_arity=_arity(file.arity.outputs),
        deprecated=file.deprecated,
        category=file.category,
        origins={
            f"attributes.{name}.default": _found(each.default)
            for name, each in file.attributes.items()
            if each.default is not None
        },
    )


def _prose(entry: ProseEntry) -> Prose:
    normative = tuple((each.word, each.src[0]) for each in entry.normative)
    return Prose(entry.about, entry.src[0], entry.lines, entry.sha256, normative)


def _arity(bounds: list[int | None] | None) -> Arity | None:
    return None if bounds is None else Arity(bounds[0] or 0, bounds[1])


def _found(entry: FoundEntry) -> Origin:
    return Origin("imported", entry.src, rule=entry.rule, confidence=entry.confidence)


def _attribute(name: str, entry: AttributeEntry) -> AttributeSpec:
    values = entry.values
    return AttributeSpec(
        name=name,
        kind=entry.type,
        required=entry.required,
        default=entry.default.value if entry.default else None,
        has_default=entry.default is not None,
        values=None
        if values is None
        else AllowedValues(
            tuple(values.items), values.rule, values.confidence, values.proposed, _found(values)
        ),
        origin=Origin("imported", entry.src),
        at_least=entry.at_least,
        other_type=entry.other_type,
        more_than=entry.more_than,
        at_most=entry.at_most,
        least_length=entry.least_length,
    )


def _parameter(entry: ParameterEntry) -> ParameterSpec:
    return ParameterSpec(
        name=entry.name,
        option=entry.option,
        type=entry.type,
        origin=Origin("imported", entry.src),
        rank=entry.rank,
        shape=None if entry.shape is None else tuple(entry.shape),
        at_least=entry.at_least,
        homogeneous=entry.homogeneous,
        differentiable=entry.differentiable,
        default=entry.default,
        least_length=entry.least_length,
    )


def _example(entry: ExampleEntry) -> Example:
    return Example(
        id=entry.id,
        attributes=entry.attributes,
        inputs=tuple((each.name, _value(each)) for each in entry.inputs),
        outputs=tuple((each.name, _value(each)) for each in entry.outputs),
        source=entry.src[0],
        note=entry.note,
        repaired=entry.repaired,
    )


def _value(entry: ValueEntry) -> Value | None:
    if entry.items is not None:
        source = entry.src[0] if entry.src else None
        return Value((), None, None, source, items=tuple(_value(each) for each in entry.items))
    if entry.shape is None:
        return None
    relation = None
    if entry.relation is not None:
        zeros = entry.relation.zeros
        relation = Relation(
            None if zeros is None else tuple(zeros),
            tuple(
                Step(read_index(each.target), each.source, read_index(each.index))
                for each in entry.relation.steps
            ),
        )
    return Value(
        shape=tuple(entry.shape),
        data=None if entry.data is None else tuple(entry.data),
        element_type=entry.type,
        source=entry.src[0] if entry.src else None,
        decimals=entry.decimals,
        relation=relation,
    )
