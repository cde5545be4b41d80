"""Sections and items of an ONNX page in reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from specs.documents import Line, Passage
from specs.model import Source

_TITLE = re.compile(r"^\*\*(Version|Summary|Attributes|Inputs|Outputs|Type Constraints|Examples)\*\*$")
_ITEM = re.compile(
    r"^\* \*\*(?P<name>[^*]+)\*\*(?: \((?P<options>[^)]*)\))?(?: - \*\*(?P<type>.+?)\*\*)?"
    r"(?P<types> in \()?(?P<end>.*)$"
)


@dataclass
class Section:
    """A section of a page: its title's place and its lines."""

    place: Source
    lines: list[Line] = field(default_factory=list)


@dataclass(frozen=True)
class Item:
    """One bulleted item: `* **name** (options) - **type**:` and its description."""

    name: str
    options: str
    type: str | None
    types: tuple[str, ...]
    line: Line
    description: Passage


def read_sections(lines: Sequence[Line]) -> dict[str, Section]:
    """The sections of one version; what stands below a directive belongs to none."""
    sections: dict[str, Section] = {}
    current: Section | None = None
    for line in lines:
        title = _TITLE.match(line.text)
        if title and title[1] not in sections:
            current = sections[title[1]] = Section(line.source())
        elif line.text.startswith(".. "):
            current = None
        elif current is not None:
            current.lines.append(line)
    return sections


def read_items(section: Section | None) -> tuple[list[Line], list[Item]]:
    """The lines before the first item of a section, and its items."""
    preface: list[Line] = []
    groups: list[list[Line]] = []
    for line in section.lines if section else []:
        if _ITEM.match(line.text):
            groups.append([line])
        elif groups:
            groups[-1].append(line)
        elif line.text:
            preface.append(line)
    return preface, [_item(each) for each in groups]


def _item(lines: list[Line]) -> Item:
    head = _ITEM.match(lines[0].text)
    assert head is not None
    rest = list(lines[1:])
    types: tuple[str, ...] = ()
    if head["types"]:
        types, rest = _types([lines[0].after(head.start("end")), *rest])
    elif head["end"].rstrip() not in ("", ":"):
        tail = lines[0].after(head.start("end"))
        rest = [tail.after(1) if tail.text.startswith(":") else tail, *rest]
    return Item(head["name"], head["options"] or "", head["type"], types, lines[0], Passage(rest))


def _types(lines: list[Line]) -> tuple[tuple[str, ...], list[Line]]:
    """The types of `in ( tensor(a), tensor(b) ):`, and the lines behind them."""
    types: list[str] = []
    for position, line in enumerate(lines):
        text = line.text.strip()
        end = re.search(r"(?:^|\s)\):", text)
        types += split_types(text[: end.start()] if end else text)
        if end:
            after = line.text.find("):") + 2
            return tuple(types), [line.after(after), *lines[position + 1 :]]
    return tuple(types), []


def split_types(text: str) -> list[str]:
    """The types of a comma list, at bracket depth 0 only: `map(int64, float)` is one."""
    parts, depth, start = [], 0, 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [each.strip() for each in parts if each.strip()]
