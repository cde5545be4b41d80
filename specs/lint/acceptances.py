"""`findings.yaml`: findings that people know and accept, each with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import YamlDocument, load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.files.schemas import Entry
from specs.model.spec import Finding

FILE_NAME = "findings.yaml"


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Texts = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Lines = Annotated[tuple[int, ...], BeforeValidator(_listed)]


class AcceptanceEntry(Entry):
    """Findings that are accepted: those of a code, in documents and operators that globs fit, at lines.

    `document` fits the document's path or its file name, `message` the finding's message. What is left out
    asks nothing.
    """

    code: Texts
    reason: str = Field(min_length=1)
    document: Texts = ("*",)
    operator: Texts = ("*",)
    message: Texts = ("*",)
    line: Lines = ()

    def names(self, document: str, operator: OperatorName | None) -> bool:
        """Whether it speaks of this document and operator at all."""
        names = (document, PurePath(document).name)
        return any(fnmatchcase(name, glob) for glob in self.document for name in names) and any(
            fnmatchcase(str(operator or ""), glob) for glob in self.operator
        )

    def fits(self, finding: Finding, document: str, operator: OperatorName | None) -> bool:
        """Whether it accepts a finding."""
        return (
            any(fnmatchcase(finding.code, glob) for glob in self.code)
            and self.names(document, operator)
            and (not self.line or finding.source.line in self.line)
            and any(fnmatchcase(finding.message, glob) for glob in self.message)
        )


class AcceptancesFile(Entry):
    """The whole of a `findings.yaml`."""

    accepted: list[AcceptanceEntry] = Field(default_factory=list)


@dataclass(frozen=True)
class AcceptanceAt:
    """An entry and the line in which it stands."""

    entry: AcceptanceEntry
    line: int


@dataclass(frozen=True)
class Acceptances:
    """The entries of a file, in order."""

    file: str
    entries: Sequence[AcceptanceAt] = ()

    def reason(
        self, finding: Finding, document: str, operator: OperatorName | None
    ) -> tuple[int, str] | None:
        """The position and reason of the first entry that accepts a finding; None where none does."""
        for position, each in enumerate(self.entries):
            if each.entry.fits(finding, document, operator):
                return position, each.entry.reason
        return None

    def stale(
        self, used: Iterable[int], linted: Sequence[tuple[str, OperatorName | None]]
    ) -> list[AcceptanceAt]:
        """The entries that speak of something that was linted, and accept nothing in it."""
        positions = set(used)
        return [
            each
            for position, each in enumerate(self.entries)
            if position not in positions and any(each.entry.names(*pair) for pair in linted)
        ]


def read_acceptances(path: Path) -> Acceptances:
    """The entries of a file; raises SeveralErrors with everything that is wrong in it."""
    documents: list[YamlDocument] = load_file(path)
    entries = []
    for document in documents:
        file = validate(AcceptancesFile, document)
        for position, entry in enumerate(file.accepted):
            entries.append(AcceptanceAt(entry, document.place(("accepted", position)).line or 1))
    return Acceptances(str(path), entries)
