"""The form of `imported-<version>.yaml`: its entries, their keys in the order in which they are written."""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_type_hints

from pydantic import Field, create_model

from opcert.vocabulary.attributes import AttributeKind
from specs.files.schemas import Entry, Sources
from specs.model.spec import Action, Option, Origin, Severity
from specs.model.statements import KINDS, Statement


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
