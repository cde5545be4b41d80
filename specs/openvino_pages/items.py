"""Sections and nested bullets of an OpenVINO specification."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from specs.documents import Line, Passage
from specs.model import Source

_SECTION = re.compile(r"^\*\*(?P<title>[A-Z][\w ]*)\*\*\s*:?\s*(?P<rest>.*)$")
_BULLET = re.compile(r"^(?P<indent> *)\* +(?P<text>\S.*)$")
_KEY = re.compile(r"^\*\*(?P<key>[\w .]+)\*\*\s*:\s*(?P<rest>.*)$")
DEEPEST = 8


@dataclass
class Section:
    """A section: where its title stands, what follows the title in its line, and its lines."""

    place: Source
    lines: list[Line] = field(default_factory=list)


@dataclass
class Bullet:
    """A bulleted item: its lines (without the mark), and the items below it."""

    indent: int
    lines: list[Line]
    children: list[Bullet] = field(default_factory=list)

    @property
    def passage(self) -> Passage:
        return Passage(self.lines)

    def part(self, key: str) -> tuple[Bullet, Passage] | None:
        """The child `**key**: text` and its text; None where there is none."""
        for child in self.children:
            match = _KEY.match(child.lines[0].text)
            if match and match["key"].strip().lower() == key.lower():
                rest = child.lines[0].after(match.start("rest"))
                return child, Passage([rest, *child.lines[1:]])
        return None


def read_sections(lines: Sequence[Line]) -> dict[str, Section]:
    """The sections of a page by their titles in small letters; the first of a title counts."""
    sections: dict[str, Section] = {}
    current: Section | None = None
    for line in lines:
        match = _SECTION.match(line.text)
        if match:
            current = Section(line.source())
            sections.setdefault(match["title"].strip().lower(), current)
            if match["rest"]:
                current.lines.append(line.after(match.start("rest")))
        elif current is not None:
            current.lines.append(line)
    return sections


def read_bullets(lines: Sequence[Line]) -> list[Bullet]:
    """The top bullets of a section with what stands below each, at most eight levels deep."""
    top: list[Bullet] = []
    stack: list[Bullet] = []
    for line in lines:
        match = _BULLET.match(line.text)
        if match:
            indent = len(match["indent"])
            while stack and stack[-1].indent >= indent:
                stack.pop()
            bullet = Bullet(indent, [line.after(match.start("text"))])
            if len(stack) < DEEPEST:
                (stack[-1].children if stack else top).append(bullet)
                stack.append(bullet)
        elif stack and line.text.strip():
            stack[-1].lines.append(line)
    return top
