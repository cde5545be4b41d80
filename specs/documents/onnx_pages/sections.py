"""Sections and items of an ONNX page in reStructuredText, and what of them could not be read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from specs.documents.onnx_pages.page_parts import KINDS, ListedItem, PageParts, PartsReader, split_types
from specs.documents.text.documents import Line, Passage
from specs.documents.worked.examples import ExampleText
from specs.model.spec import Arity, Source

_TITLE = re.compile(r"^\*\*(Version|Summary|Attributes|Inputs|Outputs|Type Constraints|Examples)\*\*$")
_ITEM = re.compile(
    r"^\* \*\*(?P<name>[^*]+)\*\*(?: \((?P<options>(?:``.*?``|[^)`])*)\))?(?: - \*\*(?P<type>.+?)\*\*)?"
    r"(?P<types> in \()?(?P<end>.*)$"
)
_BETWEEN = re.compile(r"^Between (\d{1,10}) and (\d{1,10}) (inputs|outputs)\.?$")
_EXAMPLE_TITLE = re.compile(r"^\*\*(_\w+)\*\*$")
_DEFAULT = re.compile(r"^default is ``(?P<text>.*)``$")
_NO_LIMIT = 2147483647
_WORDS = frozenset(["", "optional", "variadic", "heterogeneous"])


@dataclass
class PageSection:
    """A section of a page: its title's place and its lines."""

    place: Source
    lines: list[Line] = field(default_factory=list)


class RstParts(PartsReader):
    """Reads the lines of one version; what cannot be read in them is kept as findings."""

    def __init__(self, heading: Line, lines: Sequence[Line]) -> None:
        super().__init__()
        self._heading = heading
        self.sections = self._split(lines)

    def _split(self, lines: Sequence[Line]) -> dict[str, PageSection]:
        """The sections of the version; what stands below a directive belongs to none."""
        sections: dict[str, PageSection] = {}
        current: PageSection | None = None
        for line in lines:
            title = _TITLE.match(line.text)
            if title and title[1] in sections:
                self._find("item-unread", line.source(), f"the operator has two sections {title[1]}",
                           f"the other one is at line {sections[title[1]].place.line}")  # fmt: skip
                current = None
            elif title:
                current = sections[title[1]] = PageSection(line.source())
            elif line.text.startswith(".. "):
                current = None
            elif current is not None:
                current.lines.append(line)
        return sections

    def read(self, deprecated: bool) -> PageParts:
        """The parts of the version."""
        for title in ("Version", "Summary", "Outputs"):
            if title not in self.sections:
                self._find("section-missing", self._heading.source(), f"the operator has no section {title}",
                           "every operator has one")  # fmt: skip
        attributes = [self._attribute(each) for each in self._items("Attributes")]
        inputs = [self._parameter("Inputs", each) for each in self._items("Inputs")]
        outputs = [self._parameter("Outputs", each) for each in self._items("Outputs")]
        constraints = [self._constraint(each) for each in self._items("Type Constraints")]
        self._look_for_descriptions([*attributes, *inputs, *outputs, *constraints])
        return PageParts(
            summary=Passage(self.sections["Summary"].lines if "Summary" in self.sections else []),
            attributes=attributes,
            inputs=inputs,
            outputs=outputs,
            type_constraints=constraints,
            input_arity=self._arity("Inputs", inputs),
            output_arity=self._arity("Outputs", outputs),
            examples=list(self._examples()),
            prints_types=any(each.kind or each.other_type for each in attributes),
            deprecated=deprecated,
        )

    def _look_for_descriptions(self, items: Sequence[ListedItem]) -> None:
        bare = [each for each in items if not each.description]
        if bare:
            message = f"the page says nothing about {', '.join(each.name for each in bare)}"
            self.find("description-missing", "hint", bare[0].line, message, "no description follows")

    def _items(self, title: str) -> list[list[Line]]:
        """The lines of each item of a section; its names differ."""
        section = self.sections.get(title)
        groups: list[list[Line]] = []
        names: set[str] = set()
        known = True
        for line in section.lines if section else ():
            item = _ITEM.match(line.text)
            if item:
                name = item["name"]
                known = name not in names
                if not known:
                    self._unread(title, line, f"{name} stands twice in it")
                    continue
                names.add(name)
                groups.append([line])
            elif line.text.startswith("* ") and not line.text.startswith("*  "):
                self._unread(title, line, "an item has no name")
                known = False
            elif groups and known:
                groups[-1].append(line)
            elif line.text and known and not _BETWEEN.match(line.text.strip()):
                self._unread(title, line, "a line stands where an item belongs")
        return groups

    def _head(self, title: str, lines: Sequence[Line]) -> tuple[re.Match[str], list[Line]]:
        """An item's first line taken apart, and the lines of its description."""
        head = _ITEM.match(lines[0].text)
        assert head is not None
        rest = list(lines[1:])
        end = head["end"]
        if not end.startswith(":"):
            self._unread(title, lines[0], f"no colon ends the head of {head['name']}")
        tail = lines[0].after(head.start("end"))
        tail = tail.after(1) if end.startswith(":") else tail
        return head, [tail, *rest] if tail.text.strip() else rest

    def _attribute(self, lines: list[Line]) -> ListedItem:
        head, rest = self._head("Attributes", lines)
        name, _, kind = head["name"].partition(" - ")
        options = head["options"]
        default = _DEFAULT.match((options or "").removeprefix("required, "))
        if head["type"] or head["types"] or (options not in (None, "required") and default is None):
            self._unread("Attributes", lines[0], f"{name} is followed by what is no qualifier of attributes")
        if kind and not re.fullmatch(r"[A-Z_]+", kind):
            self._unread("Attributes", lines[0], f"the type of {name} is none of attributes")
        text = default["text"] if default else None
        quoted = text is not None and kind == "STRING" and len(text) > 1 and text[0] == text[-1] == "'"
        return ListedItem(
            name=name,
            line=lines[0],
            description=Passage(rest),
            kind=KINDS.get(kind),
            other_type=_other_type(kind) if kind and kind not in KINDS else None,
            words=("required",) if options == "required" else (),
            default=text[1:-1] if text is not None and quoted else text,
        )

    def _parameter(self, title: str, lines: list[Line]) -> ListedItem:
        head, rest = self._head(title, lines)
        words = tuple(each.strip() for each in (head["options"] or "").split(","))
        item = ListedItem(
            name=head["name"],
            line=lines[0],
            description=Passage(rest),
            type=head["type"],
            words=words,
            # These pages print the word where the schema says the opposite.
            homogeneous="heterogeneous" in words,
        )
        self._check_parameter(title, item, _WORDS)
        return item

    def _constraint(self, lines: list[Line]) -> ListedItem:
        head = _ITEM.match(lines[0].text)
        assert head is not None
        found = _types([lines[0].after(head.start("end")), *lines[1:]]) if head["types"] else None
        types, rest = found or ((), lines[1:])
        item = ListedItem(name=head["name"], line=lines[0], description=Passage(rest), types=types)
        self._check_constraint(item, listed=found is not None)
        return item

    def _arity(self, title: str, items: Sequence[ListedItem]) -> Arity:
        section = self.sections.get(title)
        stated = None
        for line in section.lines if section else ():
            if line.text.startswith("* "):
                break
            stated = _BETWEEN.match(line.text.strip()) or stated
        bounds = None
        if stated is not None:
            bounds = Arity(int(stated[1]), None if int(stated[2]) == _NO_LIMIT else int(stated[2]))
        place = section.place if section is not None else None
        return self._arity_of("section", title, place, bounds, items)

    def _examples(self) -> Iterator[ExampleText]:
        lines: list[Line] = []
        titled = False
        section = self.sections.get("Examples")
        for line in section.lines if section else ():
            title = _EXAMPLE_TITLE.match(line.text)
            if title:
                lines, titled = [], True
                yield ExampleText(title[1], lines, line.source())
            elif line.text and line.text != "::" and not (titled and line.text.startswith("    ")):
                self._unread("Examples", line, "it stands outside of code and titles")
            elif line.text != "::" and (line.text or lines):
                lines.append(line)


def _other_type(kind: str) -> str:
    """The words of generated documents for a type: `TENSORS` is `list of tensors`."""
    return f"list of {kind.lower()}" if kind.endswith("S") else kind.lower()


def _types(lines: Sequence[Line]) -> tuple[tuple[str, ...], list[Line]] | None:
    """The types of `in ( tensor(a), tensor(b) ):`, and the lines behind them; None without an end."""
    types: list[str] = []
    for position, line in enumerate(lines):
        text = line.text.strip()
        end = re.search(r"(?:^|\s)\):", text)
        types += split_types(text[: end.start()] if end else text)
        if end:
            after = line.text.find("):") + 2
            return tuple(types), [line.after(after), *lines[position + 1 :]]
    return None
