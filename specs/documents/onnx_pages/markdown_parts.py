"""The parts of an operator version in ONNX's generated Markdown, and what of it could not be read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from opcert.vocabulary.attributes import AttributeKind
from specs.documents.onnx_pages.page_parts import ListedItem, PageParts, PartsReader, split_types
from specs.documents.text.documents import Line, Passage
from specs.documents.worked.examples import ExampleText
from specs.model.spec import Arity

_TERM = re.compile(r"^<dt><tt>(?P<name>[^<]*)</tt>(?: \((?P<words>[^)]*)\))? : (?P<type>.*)</dt>$")


@dataclass(frozen=True)
class Term:
    """An item: its line taken apart (`name`, `words`, `type`), and its description."""

    match: re.Match[str]
    line: Line
    description: Passage


class DefinitionList(PartsReader):
    """Reads the lines of one list; `findings` are about lines that are no part of one."""

    def __init__(self, title: str, place: Line) -> None:
        super().__init__()
        self._title = title
        self._place = place
        self._terms: list[Term] = []
        self._names: set[str] = set()
        self._state = "before"
        self._open: tuple[re.Match[str], Line] | None = None
        self._description: list[Line] = []

    def read(self, lines: Sequence[Line]) -> list[Term]:
        """The items in order; two of one name are one, and a finding."""
        last = self._place
        for line in lines:
            if line.text:
                self._read(line)
                last = line
        self._close()
        if self._state != "after":
            message = f"the list of {self._title.lower()} has no end"
            self._find("section-cut", last, message, "no </dl> follows")
        return self._terms

    def _close(self) -> None:
        if self._open is not None:
            self._terms.append(Term(*self._open, Passage(self._description)))
        self._open, self._description = None, []

    def _read(self, line: Line) -> None:
        text = line.text
        if self._state == "text" and self._open is not None:
            if text not in ("</dd>", "</dl>", "<dl>") and not text.startswith("<dt>"):
                self._description.append(line)
                return
            if text != "</dd>":
                self._unread(self._title, line, f"the description of {self._open[0]['name']} has no end")
            self._close()
            self._state = "between"
            if text == "</dd>":
                return
        if text == "<dl>" and self._state == "before":
            self._state = "between"
        elif text == "</dl>" and self._state == "between":
            self._state = "after"
        elif text == "<dd>" and self._state == "term":
            self._state = "text"
        elif text.startswith("<dt>") and self._state in ("between", "term"):
            self._begin(line)
        else:
            self._unread(self._title, line, "a line stands where an item or the end of the list belongs")

    def _begin(self, line: Line) -> None:
        """Begin a term, if the line is one."""
        if self._open is not None:
            self._unread(self._title, line, f"{self._open[0]['name']} has no description")
        self._close()
        match = _TERM.match(line.text)
        self._state = "between"
        if match is None or not match["name"]:
            self._unread(self._title, line, "the item is not written as name, colon and type")
        elif match["name"] in self._names:
            self._unread(self._title, line, f"{match['name']} stands twice in it")
        else:
            self._names.add(match["name"])
            self._open, self._state = (match, line), "term"


_SECTION = re.compile(
    r"^#### (?P<title>[A-Z][a-z]*(?: [A-Z][a-z]*)*)"
    r"(?: \((?P<least>\d{1,9}) - (?P<most>\d{1,9}|∞)\))?(?P<rest>.*)$"
)
_DEFAULT = re.compile(r"^(?P<kind>[\w ]+?) \(default is (?P<default>.*)\)$", re.DOTALL)
_WORDS = frozenset(["optional", "variadic", "heterogeneous", "differentiable", "non-differentiable"])
_KINDS: dict[str, AttributeKind] = {
    "int": "int",
    "float": "float",
    "string": "string",
    "list of ints": "ints",
    "list of floats": "floats",
    "list of strings": "strings",
}
_OTHER_KIND = re.compile(r"(?:list of )?(?:tensor|graph|sparse_tensor|type_proto)s?")
_LISTS = ("Attributes", "Inputs", "Outputs", "Type Constraints")


@dataclass
class _Section:
    """A section: its title's line, its bounds, its lines."""

    place: Line
    bounds: Arity | None = None
    lines: list[Line] = field(default_factory=list)


class MarkdownParts(PartsReader):
    """The sections of one version; what cannot be read in them is kept as findings."""

    def __init__(self, heading: Line, lines: Sequence[Line]) -> None:
        super().__init__()
        self._heading = heading
        self._sections = self._split(lines)

    @property
    def version_lines(self) -> Sequence[Line]:
        """The lines below Version."""
        return self._lines("Version")

    def read(self, deprecated: bool) -> PageParts:
        """The parts of the version; a deprecated one lacks most sections, and nothing is found about that."""
        if not deprecated:
            self._look_for_missing()
        attributes = [self._attribute(term) for term in self._terms("Attributes")]
        inputs = [self._parameter(term) for term in self._terms("Inputs")]
        outputs = [self._parameter(term) for term in self._terms("Outputs")]
        return PageParts(
            summary=Passage(self._lines("")),
            attributes=attributes,
            inputs=inputs,
            outputs=outputs,
            type_constraints=[self._constraint(term) for term in self._terms("Type Constraints")],
            input_arity=self._arity("Inputs", inputs),
            output_arity=self._arity("Outputs", outputs),
            examples=list(self._examples()),
            deprecated=deprecated,
        )

    def _lines(self, title: str) -> Sequence[Line]:
        section = self._sections.get(title)
        return section.lines if section else ()

    def _split(self, lines: Sequence[Line]) -> dict[str, _Section]:
        sections = {"": _Section(self._heading)}
        current, fenced = sections[""], False
        for line in lines:
            if line.text.startswith("```") and current is sections.get("Examples"):
                fenced = not fenced
            match = None if fenced else _SECTION.match(line.text)
            if match is None:
                if line.text.startswith("####") and not fenced:
                    self._find("item-unread", line, "a heading cannot be read", "it has no title")
                current.lines.append(line)
                continue
            current = _Section(line)
            title = match["title"]
            if match["rest"].strip():
                self._find("item-unread", line, f"the heading {title} cannot be read",
                           "its bounds are no pair of numbers")  # fmt: skip
            if match["least"]:
                most = None if match["most"] == "∞" else int(match["most"])
                current.bounds = Arity(int(match["least"]), most)
            if title in sections:
                self._find("item-unread", line, f"the operator has two sections {title}",
                           f"the other one is at line {sections[title].place.number}")  # fmt: skip
                continue
            sections[title] = current
        return sections

    def _terms(self, title: str) -> list[Term]:
        section = self._sections.get(title)
        if section is None or not any(line.text for line in section.lines):
            # An operator without inputs has an empty section.
            return []
        found = DefinitionList(title, section.place)
        terms = found.read(section.lines)
        self.findings += found.findings
        return terms

    def _attribute(self, term: Term) -> ListedItem:
        text = term.match["type"]
        words: tuple[str, ...] = ()
        default = _DEFAULT.match(text)
        kind = default["kind"] if default else text
        if kind.endswith(" (required)"):
            kind, words = kind.removesuffix(" (required)"), ("required",)
        if kind not in _KINDS and not _OTHER_KIND.fullmatch(kind):
            self._unread("Attributes", term.line, f"the type of {term.match['name']} is none of attributes")
        return ListedItem(
            name=term.match["name"],
            line=term.line,
            description=term.description,
            kind=_KINDS.get(kind),
            other_type=None if kind in _KINDS else kind,
            words=words,
            default=default["default"] if default else None,
        )

    def _parameter(self, term: Term) -> ListedItem:
        words = (
            tuple(word.strip() for word in (term.match["words"] or "").split(",")) if term.match[2] else ()
        )
        derivable = {"differentiable": True, "non-differentiable": False}
        item = ListedItem(
            name=term.match["name"],
            line=term.line,
            description=term.description,
            type=term.match["type"].strip(),
            words=words,
            homogeneous="heterogeneous" not in words,
            differentiable=next((derivable[word] for word in words if word in derivable), None),
        )
        self._check_parameter("Inputs and Outputs", item, _WORDS)
        return item

    def _constraint(self, term: Term) -> ListedItem:
        types = tuple(split_types(term.match["type"]))
        item = ListedItem(name=term.match["name"], line=term.line, description=term.description, types=types)
        self._check_constraint(item, listed=not term.match["words"])
        return item

    def _arity(self, title: str, items: Sequence[ListedItem]) -> Arity:
        section = self._sections.get(title)
        if section is None:
            return Arity(0, 0)
        needed = any({"optional", "variadic"}.isdisjoint(item.words) for item in items)
        return self._arity_of("heading", title, section.place, section.bounds, items, int(needed))

    def _look_for_missing(self) -> None:
        for title in ("Version", "Inputs", "Outputs", "Type Constraints"):
            if title not in self._sections:
                self._find("section-missing", self._heading, f"the operator has no section {title}",
                           "every operator that is not deprecated has one")  # fmt: skip
        for title, section in self._sections.items():
            if title in _LISTS or title in ("", "Version", "Examples"):
                continue
            stray = next((line for line in section.lines if line.text.startswith(("<dt>", "<dl>"))), None)
            if stray is not None:
                self._find("item-unread", section.place, f"the section {title} is unknown", "it lists items")

    def _examples(self) -> Iterator[ExampleText]:
        title: tuple[str, Line] | None = None
        code: list[Line] | None = None
        opened = self._heading
        for line in self._lines("Examples"):
            summary = re.match(r"^<summary>(.*)</summary>$", line.text) if code is None else None
            if summary:
                title = (summary[1], line)
            elif line.text.startswith("```"):
                if code is None:
                    code, opened = [], line
                    continue
                if title is None:
                    self._find(
                        "item-unread", opened, "an example has no title", "no <summary> stands before it"
                    )
                yield ExampleText(
                    title[0] if title else "example", code, (title[1] if title else opened).source()
                )
                code, title = None, None
            elif code is not None:
                code.append(line)
            elif line.text and line.text not in ("<details>", "</details>"):
                self._find("item-unread", line, "a line of the section Examples cannot be read",
                           "it stands outside of code and titles")  # fmt: skip
        if code is not None or title is not None:
            self._find("section-cut", opened if code is not None else title[1] if title else opened,
                       "an example has no end", "no closing fence follows")  # fmt: skip
