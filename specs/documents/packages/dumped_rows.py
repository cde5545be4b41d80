"""Reading what a dump script printed: lines of JSON, each with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from specs.documents.text.documents import KEY, Line, Passage, Text
from specs.model.spec import Document, Spec

FORMAT = "opcert-package/1"
_HEADER = re.compile(r'\A\{"format": "opcert-package/[^"]*", "package": "(?P<package>[^"]+)"')
_MOST_CHARACTERS = 1 << 20


@dataclass(frozen=True)
class DumpLine:
    """One line of a dump: what it is about (`operator`, `attribute`, `input`, ...), its number, its values.

    The getters raise UserError where a value is missing or of another type.
    """

    kind: str
    number: int
    values: dict[str, Any]
    file: str

    @property
    def line(self) -> Line:
        """The row as a line of the document."""
        return Line("", self.number)

    def word(self, name: str) -> str:
        value = self.values.get(name)
        if not isinstance(value, str):
            raise self.wrong(name, "text")
        return value

    def flag(self, name: str) -> bool:
        value = self.values.get(name)
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def words(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(name, "a list of texts")
        return tuple(value)

    def number_of(self, name: str) -> int:
        value = self.values.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(name, "a whole number")
        return value

    def text_lines(self, name: str = "text") -> list[Line]:
        """A text as lines that all stand in this row."""
        return [Line(each.rstrip(), self.number) for each in self.word(name).split("\n")]

    def wrong(self, name: str, expected: str) -> UserError:
        return UserError(
            "the dump of a package is damaged",
            got=f"{name}: {self.values.get(name)!r}"[:200],
            expected=expected,
            where=Place(self.file, self.number),
            remedy="Make it anew: opcert import --from-package",
        )


@dataclass(frozen=True)
class Dump:
    """A package's name and version, and the rows of each operator, the operator's own row first."""

    document: Document
    operators: Sequence[Sequence[DumpLine]]


def recognise_package(text: Text, package: str) -> float:
    """Sure where the first line says that this is the dump of that package."""
    match = _HEADER.match(text.content)
    return 1.0 if match and match["package"] == package else 0.0


def read_dump(text: Text, dialect: str) -> Dump:
    """The rows of a dump; raises UserError where a line is none, or the format is another."""
    rows = _rows(text)
    header = next(rows, None)
    if header is None or header.values.get("format") != FORMAT:
        found = None if header is None else header.values.get("format")
        raise UserError(
            "not a dump of a package", got=repr(found), expected=FORMAT, where=Place(text.file, 1)
        )
    release = f"{header.word('package')} {header.word('version')}"
    document = Document(KEY, text.file, dialect, text.sha256, release)
    operators, last = _operators(rows)
    if last is None or last.values.get("lines") != last.number:
        raise UserError(
            "the dump of a package is cut off",
            expected="a last line that says how many lines there are",
            where=Place(text.file),
            remedy="Make it anew: opcert import --from-package",
        )
    if not operators:
        raise UserError("the package defines no operator", got=release, where=Place(text.file))
    return Dump(document, operators)


def read_operators(
    text: Text,
    dialect: str,
    wanted: OperatorName | None,
    name_of: Callable[[DumpLine], OperatorName],
    read: Callable[[Sequence[DumpLine], OperatorName, Document], Spec],
) -> list[Spec]:
    """The spec of every operator of a dump, or of the one wanted.

    Raises UserError as `read_dump` does, and where there is none of the operator that is wanted.
    """
    dump = read_dump(text, dialect)
    named = [(name_of(rows[0]), rows) for rows in dump.operators]
    specs = [read(rows, name, dump.document) for name, rows in named if wanted in (None, name)]
    if not specs:
        raise UserError("the package does not define this operator", got=str(wanted), where=Place(text.file))
    return specs


def _rows(text: Text) -> Iterator[DumpLine]:
    lines = text.content.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        where = Place(text.file, number)
        try:
            values = json.loads(line) if len(line) <= _MOST_CHARACTERS else None
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict) or not isinstance(values.get("is", ""), str):
            raise UserError(
                "a line of the dump of a package is no JSON object",
                got=repr(line[:60]),
                where=where,
                remedy="Make it anew: opcert import --from-package",
            )
        yield DumpLine(values.get("is", ""), number, values, text.file)


def _operators(rows: Iterable[DumpLine]) -> tuple[list[list[DumpLine]], DumpLine | None]:
    """The rows of each operator, and the row that ends the dump where it is the last one."""
    found: list[list[DumpLine]] = []
    last: DumpLine | None = None
    for row in rows:
        if last is not None:
            raise last.wrong("is", "the end of the dump behind every operator")
        if row.kind == "end":
            last = row
        elif row.kind == "operator":
            found.append([row])
        elif found:
            found[-1].append(row)
        else:
            raise row.wrong("is", "operator")
    return found, last


def passage_of(rows: Sequence[DumpLine]) -> Passage:
    """The text of an operator, which stands in rows of its own."""
    return Passage([Line(row.word("text").rstrip(), row.number) for row in rows if row.kind == "text"])


def plain_lines(text: Text) -> tuple[list[Line], list[int]]:
    """The words of a dump line by line without code, and the indices of the lines that begin operators."""
    lines: list[Line] = []
    heads: list[int] = []
    for row in _rows(text):
        if row.kind == "operator":
            heads.append(len(lines))
        words = row.values.get("text") if row.kind != "code" else None
        lines.append(Line(" ".join(words.split("\n")).rstrip() if isinstance(words, str) else "", row.number))
    return lines, heads
