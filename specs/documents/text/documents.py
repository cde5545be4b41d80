"""Documents as importers see them: checked bytes, lines with places, and passages of prose."""

from __future__ import annotations

import hashlib
import html
import os
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.regular_files import open_regular
from specs.model.spec import Action, Finding, Prose, Severity, Source

MOST_BYTES = 32 * 1024 * 1024
KEY = "d"
"""The document key that importers write; the file's own key takes its place when facts are written."""

_BROKEN_WORD = re.compile(r"\w-$")
DIGITS = 16
"""So many digits of a passage's digest tell that it reads otherwise."""
_HYPHEN = re.compile(r"(?<=\w-) ")
ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31});")


@dataclass(frozen=True)
class Text:
    """A document's text with `\\n` line ends and no byte-order mark, its file's base name and digest."""

    file: str
    content: str
    sha256: str


def read_document(path: Path) -> Text:
    """A document from disk; raises UserError where it is missing, empty, binary or too large."""
    where = Place(str(path))
    try:
        with open_regular(path) as file:
            raw = file.read(MOST_BYTES + 1)
            size = max(len(raw), os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise UserError(f"document cannot be read: {error.strerror}", where=where) from None
    if size > MOST_BYTES:
        raise UserError("the document is too large", got=f"{size} bytes or more",
                        expected=f"at most {MOST_BYTES}", where=where)  # fmt: skip
    return decode(raw, path.name, where)


def decode(raw: bytes, file: str, where: Place | None = None) -> Text:
    """A document from its bytes; raises UserError where they are empty or no text."""
    where = where or Place(file)
    if not raw.strip():
        raise UserError("the document is empty", where=where)
    try:
        content = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError("the document is no text", got=f"a byte that is not UTF-8 at {error.start}",
                        where=where) from None  # fmt: skip
    if "\0" in content:
        raise UserError("the document is no text", got="NUL characters", where=where)
    content = content.replace("\r\n", "\n").replace("\r", "\n")
    return Text(file, content, hashlib.sha256(raw).hexdigest())


@dataclass(frozen=True)
class Line:
    """A line of a document: text, number, and the column of its first character in one-line documents."""

    text: str
    number: int
    column: int | None = None

    def source(self, offset: int = 0) -> Source:
        """The place of a character of this line."""
        return Source(KEY, self.number, None if self.column is None else self.column + offset)

    def after(self, offset: int) -> Line:
        """The rest of the line from an offset."""
        column = None if self.column is None else self.column + offset
        return Line(self.text[offset:], self.number, column)

    def stripped(self) -> Line:
        """The line without the white space around it."""
        lead = len(self.text) - len(self.text.lstrip())
        return Line(self.text.strip(), self.number, None if self.column is None else self.column + lead)


def split_lines(content: str) -> list[Line]:
    """The lines of a text, numbered from 1, without white space at their ends."""
    return list(_lines(content))


@lru_cache(maxsize=1)
def _lines(content: str) -> tuple[Line, ...]:
    """The same, kept for the next reader of the document."""
    return tuple(Line(word.rstrip(), number) for number, word in enumerate(content.split("\n"), 1))


def unescape(lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """The lines with HTML entities replaced, and those that held any."""
    clean, damaged = [], []
    for line in lines:
        if "&" in line.text and ENTITY.search(line.text):
            text = ENTITY.sub(lambda match: html.unescape(match[0]).replace("\n", " "), line.text)
            damaged.append(line)
            line = Line(text, line.number, line.column)
        clean.append(line)
    return clean, damaged


class Passage:
    """Lines of wrapped prose joined into one text, each character with its place.

    A line that ends with a hyphen after a letter is joined without a space: text wrappers break words there.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = [each for each in (line.stripped() for line in lines) if each.text]
        self._starts: list[int] = []
        parts: list[str] = []
        length = 0
        for line in self.lines:
            if parts and not _BROKEN_WORD.search(parts[-1][-2:]):
                parts.append(" ")
                length += 1
            self._starts.append(length)
            parts.append(line.text)
            length += len(line.text)
        self.text = "".join(parts)

    def __bool__(self) -> bool:
        return bool(self.lines)

    def source(self, offset: int = 0) -> Source:
        """The place of a character of `text`."""
        position = max(bisect_right(self._starts, offset) - 1, 0)
        return self.lines[position].source(offset - self._starts[position])

    def after(self, offset: int) -> Passage:
        """What stands behind an offset of `text`."""
        position = max(bisect_right(self._starts, offset) - 1, 0)
        first = self.lines[position].after(offset - self._starts[position]) if self.lines else None
        return Passage([first, *self.lines[position + 1 :]] if first else [])

    def prose(self, about: str) -> Prose:
        """The passage as a fact: where it stands, and the first digits of the digest of its words.

        A hyphen joins what it stands between, for nobody can tell where a wrapped line broke behind one.
        """
        first, last = self.lines[0].number, self.lines[-1].number
        words = _HYPHEN.sub("", " ".join(self.text.split()))
        digest = hashlib.sha256(words.encode()).hexdigest()[:DIGITS]
        return Prose(about, self.source(), last - first + 1, digest)


class KeepsFindings:
    """A reader that keeps what is wrong with a document, in the order in which it meets it."""

    findings: list[Finding]

    def find(
        self,
        code: str,
        severity: Severity,
        place: Line | Source,
        message: str,
        evidence: str,
        action: Action = "noted",
    ) -> None:
        """Keep a finding at a line, or at a place in one."""
        source = place.source() if isinstance(place, Line) else place
        self.findings.append(Finding(code, severity, source, message, evidence or "nothing", action))
