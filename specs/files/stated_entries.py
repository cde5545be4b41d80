"""Statements as `imported-<version>.yaml` holds them: one entry for each, by what it says."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from specs.files.schemas import Entry, Sources
from specs.model.spec import Origin
from specs.model.statements import (
    Broadcast,
    Of,
    Range,
    Rank,
    Relevance,
    SameShape,
    StatedShape,
    Statement,
    TypeClass,
)


class StatedEntry(Entry):
    """What every statement has: what it is about, where it stands, the rule and how sure it is.

    `proposed` repeats what the confidence says, for people who read the file.
    """

    about: str
    proposed: bool = False
    rule: str
    confidence: float
    src: Sources

    def origin(self) -> Origin:
        return Origin("imported", self.src, None, self.rule, self.confidence)


class RangeEntry(StatedEntry):
    says: Literal["range"]
    of: Of = "value"
    at_least: str | None = None
    more_than: str | None = None
    at_most: str | None = None
    less_than: str | None = None
    when: str | None = None

    def statement(self) -> Statement:
        return Range(
            self.about,
            self.origin(),
            self.of,
            self.at_least,
            self.more_than,
            self.at_most,
            self.less_than,
            self.when,
        )


class RankEntry(StatedEntry):
    says: Literal["rank"]
    least: str | None = None
    most: str | None = None
    when: str | None = None

    def statement(self) -> Statement:
        return Rank(self.about, self.origin(), self.least, self.most, self.when)


class ShapeEntry(StatedEntry):
    says: Literal["shape"]
    extents: list[str]
    when: str | None = None

    def statement(self) -> Statement:
        return StatedShape(self.about, self.origin(), tuple(self.extents), self.when)


class BroadcastEntry(StatedEntry):
    says: Literal["broadcast"]
    inputs: list[str]
    to: str | None = None

    def statement(self) -> Statement:
        return Broadcast(self.about, self.origin(), tuple(self.inputs), self.to)


class SameShapeEntry(StatedEntry):
    says: Literal["same_shape"]
    as_: str = Field(alias="as")
    except_: str | None = Field(None, alias="except")

    def statement(self) -> Statement:
        return SameShape(self.about, self.origin(), self.as_, self.except_)


class RelevanceEntry(StatedEntry):
    says: Literal["relevance"]
    effective_when: str | None = None

    def statement(self) -> Statement:
        return Relevance(self.about, self.origin(), self.effective_when)


class TypeClassEntry(StatedEntry):
    says: Literal["type_class"]
    classes: list[str]
    without: list[str] = Field(default_factory=list)

    def statement(self) -> Statement:
        return TypeClass(self.about, self.origin(), tuple(self.classes), tuple(self.without))


StatementEntry = Annotated[
    RangeEntry | RankEntry | ShapeEntry | BroadcastEntry | SameShapeEntry | RelevanceEntry | TypeClassEntry,
    Field(discriminator="says"),
]
