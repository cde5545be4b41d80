"""Sections and items of an ONNX page in reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from opcert.attributes import AttributeKind
from specs.documents import Line, Passage
from specs.model import Arity, Source
from specs.onnx_pages.parts import Item, Parts, split_types
from specs.worked.examples import ExampleText

_TITLE = re.compile(r"^\*\*(Version|Summary|Attributes|Inputs|Outputs|Type Constraints|Examples)\*\*$")
_ITEM = re.compile(
    r"^\* \*\*(?P<name>[^*]+)\*\*(?: \((?P<options>[^)]*)\))?(?: - \*\*(?P<type>.+?)\*\*)?"
    r"(?P<types> in \()?(?P<end>.*)$"
)
_BETWEEN = re.compile(r"^Between (\d+) and (\d+) (inputs|outputs)\.?$")
_EXAMPLE_TITLE = re.compile(r"^\*\*(_\w+)\*\*$")
_NO_LIMIT = 2147483647
_KINDS: dict[str, AttributeKind] = {
    "INT": "int",
    "FLOAT": "float",
    "STRING": "string",
    "INTS": "ints",
    "FLOATS": "floats",
    "STRINGS": "strings",
}


@dataclass
class Section:
    """A section of a page: its title's place and its lines."""

    place: Source
    lines: list[Line] = field(default_factory=list)


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


def read_parts(sections: dict[str, Section]) -> Parts:
    """The parts of an operator version out of its sections."""
    before_inputs, inputs = read_items(sections.get("Inputs"))
    before_outputs, outputs = read_items(sections.get("Outputs"))
    return Parts(
        summary=Passage(sections["Summary"].lines) if "Summary" in sections else Passage([]),
        attributes=read_items(sections.get("Attributes"))[1],
        inputs=inputs,
        outputs=outputs,
        type_constraints=read_items(sections.get("Type Constraints"))[1],
        input_arity=_arity(before_inputs, inputs),
        output_arity=_arity(before_outputs, outputs),
        examples=_example_texts(sections.get("Examples")),
        prints_types=False,
    )


def _arity(preface: Sequence[Line], items: Sequence[Item]) -> Arity:
    for line in preface:
        match = _BETWEEN.match(line.text.strip())
        if match:
            return Arity(int(match[1]), None if int(match[2]) == _NO_LIMIT else int(match[2]))
    return Arity(len(items), len(items))


def _example_texts(section: Section | None) -> list[ExampleText]:
    texts: list[ExampleText] = []
    lines: list[Line] = []
    for line in section.lines if section else []:
        title = _EXAMPLE_TITLE.match(line.text)
        if title:
            lines = []
            texts.append(ExampleText(title[1], lines, line.source()))
        elif line.text != "::" and (line.text or lines):
            lines.append(line)
    return texts


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
    name, _, kind = head["name"].partition(" - ")
    words = [each.strip() for each in (head["options"] or "").split(",")]
    return Item(
        name=name,
        line=lines[0],
        description=Passage(rest),
        type=head["type"],
        types=types,
        kind=_KINDS.get(kind),
        words=tuple(words),
        # These pages print the word where the schema says the opposite.
        homogeneous="heterogeneous" in words,
    )


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
