"""Sections and nested bullets of an OpenVINO specification, and what became of each field of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from specs.documents.openvino_pages.tokens import Lexed, Token, joined
from specs.documents.text.documents import KeepsFindings, Line, Passage
from specs.model.spec import Finding

State = Literal["read", "none", "open", "unread"]
"""`none`: the page says that there is no such thing; `open`: it leaves that to what is supported."""


@dataclass(frozen=True)
class FieldOutcome:
    """One field: its kind (`attribute type`), what it belongs to, its line, its words, what became of it."""

    field: str
    about: str
    line: int
    text: str
    state: State


@dataclass
class Notes(KeepsFindings):
    """What a reader writes down beside the facts: outcomes and findings."""

    outcomes: list[FieldOutcome] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def field(self, name: str, about: str, line: Line, text: str, state: State) -> None:
        self.outcomes.append(FieldOutcome(name, about, line.number, text, state))


_KEY = re.compile(r"^\*\*(?P<key>[\w \t.]+?)[ \t]*:?\*\*[ \t]*:?[ \t]*(?P<rest>.*)$")
DEEPEST = 8


@dataclass
class TitledTokens:
    """A section: its title in small letters, where it stands, and its tokens."""

    title: str
    place: Line
    tokens: list[Token] = field(default_factory=list)

    @property
    def passage(self) -> Passage:
        return Passage([token.line for token in self.tokens])


@dataclass
class Bullet:
    """A bulleted item: its lines (without the mark), and the items below it."""

    indent: int
    lines: list[Line]
    children: list[Bullet] = field(default_factory=list)

    @property
    def passage(self) -> Passage:
        return Passage(self.lines)

    @property
    def text(self) -> str:
        """Its words without escapes, in one line."""
        return joined(self.lines)

    @property
    def key(self) -> tuple[str, KeyedItem] | None:
        """What `**key**: text` names, in small letters, and the text behind."""
        match = _KEY.match(self.lines[0].text)
        if match is None:
            return None
        rest = [self.lines[0].after(match.start("rest")), *self.lines[1:]]
        return " ".join(match["key"].split()).lower(), KeyedItem(self, rest)

    def parts(self) -> Iterator[tuple[str, KeyedItem]]:
        """The children that have a key."""
        for child in self.children:
            if child.key is not None:
                yield child.key

    def part(self, key: str) -> KeyedItem | None:
        """The first child of that key; None where there is none."""
        return next((part for name, part in self.parts() if name == key), None)


@dataclass(frozen=True)
class KeyedItem:
    """What stands behind a key: the bullet that holds it, and its lines without the key."""

    bullet: Bullet
    lines: list[Line]

    @property
    def passage(self) -> Passage:
        return Passage(self.lines)

    @property
    def text(self) -> str:
        return joined(self.lines)

    @property
    def line(self) -> Line:
        return self.lines[0]


def read_sections(page: Lexed) -> list[TitledTokens]:
    """The sections of a page in their order."""
    sections: list[TitledTokens] = []
    for token in page.tokens:
        if token.kind == "section":
            sections.append(TitledTokens(token.title, token.line))
            if token.line.text:
                sections[-1].tokens.append(Token("text", token.line))
        elif sections:
            sections[-1].tokens.append(token)
    return sections


def read_bullets(tokens: Sequence[Token]) -> list[Bullet]:
    """The top bullets of a section with what stands below each, at most eight levels deep.

    Text at the left edge behind an empty line belongs to no bullet.
    """
    top: list[Bullet] = []
    stack: list[Bullet] = []
    empty = False
    for token in tokens:
        if token.kind == "bullet":
            while stack and stack[-1].indent >= token.indent:
                stack.pop()
            if len(stack) < DEEPEST:
                bullet = Bullet(token.indent, [token.line])
                (stack[-1].children if stack else top).append(bullet)
                stack.append(bullet)
            empty = False
        elif not token.line.text.strip():
            empty = True
        elif stack and token.kind == "text" and not (empty and token.indent == 0):
            stack[-1].lines.append(token.line)
    return top
