"""ONNX pages in reStructuredText (Sphinx, 2022 to 2023), also those collapsed to one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from specs.documents.onnx_pages.page_lines import is_flattened, restore, restore_lines
from specs.documents.onnx_pages.page_parts import (
    KINDS,
    ListedItem,
    PageParts,
    PartsReader,
    find_missing,
    split_types,
)
from specs.documents.onnx_pages.version import read_version
from specs.documents.text.documents import KEY, Line, Passage, Text, split_lines, unescape
from specs.documents.worked.examples import ExampleText
from specs.importers import Importer
from specs.model.spec import Arity, Document, Finding, Source, Spec

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
        attributes = [self._attribute(item) for item in self._items("Attributes")]
        inputs = [self._parameter("Inputs", item) for item in self._items("Inputs")]
        outputs = [self._parameter("Outputs", item) for item in self._items("Outputs")]
        constraints = [self._constraint(item) for item in self._items("Type Constraints")]
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
            prints_types=any(attribute.kind or attribute.other_type for attribute in attributes),
            deprecated=deprecated,
        )

    def _look_for_descriptions(self, items: Sequence[ListedItem]) -> None:
        bare = [item for item in items if not item.description]
        if bare:
            message = f"the page says nothing about {', '.join(listed_item.name for listed_item in bare)}"
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
        words = tuple(word.strip() for word in (head["options"] or "").split(","))
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


DIALECT = "onnx-sphinx-rst"

_SINCE = re.compile(r"\*\*since_version\*\*:\s+\*\*(\d{1,9})\*\*")
_SENTENCE = re.compile(
    r"This version of the operator has been (?P<state>available|deprecated) "
    r"\*\*since version (?P<version>\d{1,9})(?: of domain (?P<domain>[\w.]+))?\*\*\."
)
_HEADING = re.compile(r"^(?P<name>\w+) - (?P<version>\d{1,9})(?: \((?P<domain>[\w.]+)\))?$")
_COMPARED = re.compile(r"\btext_diff_\w+?_(\d{1,9})_\d{1,9}\b|\.\. _l-onnx-op[\w.-]+?-(\d{1,9}):")


def recognise(text: Text) -> float:
    """Sure where the page's anchors and its version item stand."""
    return 1.0 if "_l-onnx-" in text.content and _SINCE.search(text.content) else 0.0


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """Every operator version of the page, newest first; only the newest has examples."""
    return _Reader(text, operator).read()


class _Reader:
    """Reads one page."""

    def __init__(self, text: Text, operator: OperatorName | None) -> None:
        self._text = text
        self._wanted = operator
        self._flattened = is_flattened(text.content)
        lines = restore_lines(text.content) if self._flattened else split_lines(text.content)
        clean, self._damaged = unescape([_without_tabs(line) for line in lines])
        # Escaped twice, they would read as if the document showed them.
        clean = unescape(clean)[0]
        self._lines = clean if self._flattened else restore(clean)

    def read(self) -> list[Spec]:
        lines = self._lines
        starts = [
            position
            for position in range(len(lines) - 1)
            if _HEADING.match(lines[position].text) and re.fullmatch(r"=+", lines[position + 1].text)
        ]
        specs = [
            self._version(lines[start:end])
            for start, end in zip(starts, [*starts[1:], len(lines)], strict=False)
        ]
        if specs:
            stray = list(self._document_findings(specs))
            specs[-1] = replace(specs[-1], findings=(*specs[-1].findings, *stray))
        return specs

    def _version(self, lines: Sequence[Line]) -> Spec:
        heading = _HEADING.match(lines[0].text)
        assert heading is not None
        name = OperatorName(heading["domain"] or "ai.onnx", heading["name"], int(heading["version"]))
        if self._wanted is not None and (self._wanted.domain, self._wanted.name) != (name.domain, name.name):
            raise UserError(
                "the page names another operator",
                got=str(name),
                expected=str(self._wanted),
                where=Place(self._text.file),
            )
        reader = RstParts(lines[0], lines[2:])
        said = " ".join(" ".join(line.text for line in _lines_of(reader.sections, "Version")).split())
        sentence = _SENTENCE.search(said)
        parts = reader.read(bool(sentence and sentence["state"] == "deprecated"))
        findings = [
            *self._page_findings(lines, reader.sections),
            *_version_findings(name, said, sentence, lines[0]),
            *reader.findings,
            *find_missing(parts, lines[0].source(), ["Attributes", "Inputs"]),
        ]
        document = Document(KEY, self._text.file, DIALECT, self._text.sha256)
        return read_version(name, document, parts, findings)

    def _page_findings(self, lines: Sequence[Line], sections: dict[str, PageSection]) -> Iterator[Finding]:
        first, last = (lines[0].number, lines[0].column or 0), (lines[-1].number, lines[-1].column or 0)
        hurt = [line for line in self._damaged if first <= (line.number, line.column or 0) <= last]
        if hurt:
            evidence = f"{len(hurt)} lines from {hurt[0].number} to {hurt[-1].number}"
            message = "HTML entities stand in the text and code"
            yield Finding("html-escape", "warning", hurt[0].source(), message, evidence, "repaired")
        if self._flattened:
            place = sections["Examples"].place if "Examples" in sections else lines[0].source()
            message = "the page is one line: its code has lost its line ends"
            evidence = "statements were split where a new assignment begins"
            yield Finding("flattened-code", "warning", place, message, evidence, "repaired")

    def _document_findings(self, specs: Sequence[Spec]) -> Iterator[Finding]:
        """What only the whole page tells: versions that it compares with others, and its end."""
        described = {spec.operator.since_version for spec in specs}
        for line in self._lines:
            for compared in _COMPARED.finditer(line.text):
                number = compared[1] or compared[2]
                if int(number) not in described:
                    message = f"the page speaks of version {number} and does not describe it"
                    evidence = "a comparison or an anchor names it"
                    yield _error("operator-undescribed", line.source(compared.start()), message, evidence)
        twice = [spec.operator for position, spec in enumerate(specs)
                 if spec.operator in [other.operator for other in specs[:position]]]  # fmt: skip
        last = self._lines[-1]
        for operator in twice:
            message = f"the page describes {operator} twice"
            yield _error("operator-twice", last.source(), message, "both descriptions were read")
        if "\n" in self._text.content and not self._text.content.rstrip(" \t").endswith("\n"):
            message = "the document ends inside of a line"
            yield _error("document-cut", last.source(), message, "no line end is its last")


def _without_tabs(line: Line) -> Line:
    text = line.text
    if "\t" not in text:
        return line
    lead = len(text) - len(text.lstrip(" \t"))
    return Line(text[:lead].expandtabs(4) + text[lead:].replace("\t", " "), line.number, line.column)


def _lines_of(sections: dict[str, PageSection], title: str) -> Sequence[Line]:
    return sections[title].lines if title in sections else ()


def _version_findings(
    name: OperatorName, said: str, sentence: re.Match[str] | None, heading: Line
) -> Iterator[Finding]:
    item = _SINCE.search(said)
    stated = {"the heading": name.since_version}
    if item:
        stated["the item since_version"] = int(item[1])
    if sentence:
        stated["the sentence below"] = int(sentence["version"])
    if len(stated) < 3:
        message = f"the page does not say three times since which version {name.name} holds"
        yield _error("version-missing", heading.source(), message, f"only {', '.join(stated)}")
    if len(set(stated.values())) > 1:
        message = f"the page gives more than one version for {name.name}"
        evidence = ", ".join(f"{where}: {number}" for where, number in stated.items())
        yield _error("version-disagrees", heading.source(), message, evidence)
    domain = re.search(r"\*\*domain\*\*:\s+\*\*([\w.]+)\*\*", said)
    if domain and {domain[1], name.domain} not in ({name.domain}, {"main", "ai.onnx"}):
        message = f"the page gives more than one domain for {name.name}"
        yield _error("version-disagrees", heading.source(), message, f"{name.domain} and {domain[1]}")


def _error(code: str, source: Source, message: str, evidence: str) -> Finding:
    return Finding(code, "error", source, message, evidence, "rejected")


IMPORTERS = (Importer(DIALECT, recognise, read),)
