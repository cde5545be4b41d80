"""One page of an OpenVINO specification, whatever its markup: its facts, and what became of each field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opcert.errors import Place, UserError
from opcert.names import OperatorName
from specs.documents import KEY, Line, Passage, Text, split_lines, unescape
from specs.model import Arity, Document, Finding, Formula, ParameterSpec, Prose, Spec, TypeConstraint
from specs.openvino_pages.attributes import AttributeReader
from specs.openvino_pages.examples import read_examples
from specs.openvino_pages.items import Section, read_bullets, read_sections
from specs.openvino_pages.outcomes import Notes, Outcome
from specs.openvino_pages.parameter_types import TypeFinder
from specs.openvino_pages.parameters import ParameterReader
from specs.openvino_pages.tokens import Lexed, Token, bare
from specs.openvino_pages.type_variables import TypeReader
from specs.prose.formulas import find_formulas
from specs.prose.names import find_wrong_names

VERSIONED = re.compile(
    r"^\*\*Versioned[ \t]+name\*\*[ \t]*:\s*\*(?P<name>\w+)-(?P<version>\d{1,4})\*", re.MULTILINE
)
_SINGLE = re.compile(r"(?<![`\w:])`[^`<>]+`(?![`_])")
_EXTENTS = frozenset(["sizes", "strides", "rates", "dilations", "kernel"])
"""Attributes for which zero means nothing: extents of windows and distances between them."""
_DUE = ("category", "short description", "attributes", "inputs", "outputs", "example")
_WITHOUT_OUTPUTS = frozenset(["Result"])


@dataclass(frozen=True)
class Page:
    """What a page says, and what became of each of its fields."""

    spec: Spec
    outcomes: tuple[Outcome, ...]


def read_page(
    text: Text, operator: OperatorName | None, dialect: str, lex: Callable[[Sequence[Line]], Lexed]
) -> Page:
    """The facts of one page; raises UserError where the user named another operator than the page does."""
    stated = VERSIONED.search(text.content)
    if stated is None:
        raise UserError("the page has no versioned name", where=Place(text.file))
    name = OperatorName("org.openvino", stated["name"], int(stated["version"]))
    if operator is not None and operator != name:
        raise UserError(
            "the page names another operator", got=str(name), expected=str(operator), where=Place(text.file)
        )
    lines, damaged = unescape(split_lines(text.content))
    page = lex(lines)
    builder = _Builder(name, page)
    builder.read()
    spec = Spec(
        operator=name,
        documents=(Document(KEY, text.file, dialect, text.sha256),),
        attributes=builder.attributes.found.specs,
        inputs=tuple(builder.parameters.inputs.parameters),
        outputs=tuple(builder.parameters.outputs.parameters),
        type_constraints=builder.constraints,
        formulas=tuple(builder.formulas),
        prose=tuple(builder.prose),
        input_arity=builder.arity("inputs"),
        output_arity=builder.arity("outputs"),
        category=builder.category,
        origins={
            f"attributes.{each}.default": origin for each, origin in builder.attributes.found.defaults.items()
        },
    )
    examples, findings = read_examples(spec, lines, page)
    if damaged and dialect != "openvino-markdown":
        findings.append(
            Finding(
                "html-escape",
                "warning",
                damaged[0].source(),
                "HTML entities stand in the text",
                f"{len(damaged)} lines",
                "repaired",
            )
        )
    if dialect != "openvino-markdown":
        findings += _single_quotes(lines)
    found = [
        *builder.notes.findings,
        *page.findings,
        *find_wrong_names(spec, builder.passages),
        *_zeros(spec),
        *findings,
    ]
    found.sort(key=lambda each: (each.source.line, each.code))
    spec = replace(spec, examples=examples, findings=tuple(found))
    return Page(spec, tuple(builder.notes.outcomes))


def _arity(parameters: Sequence[ParameterSpec]) -> Arity:
    least = sum(each.option == "single" for each in parameters)
    return Arity(least, None if any(each.option == "variadic" for each in parameters) else len(parameters))


def _single_quotes(lines: Sequence[Line]) -> Iterator[Finding]:
    """Literals in single backquotes, which reStructuredText sets as a role's text."""
    for line in lines:
        match = _SINGLE.search(line.text)
        if match:
            yield Finding(
                "markup-damage",
                "hint",
                line.source(),
                "a literal stands in single backquotes",
                match[0],
                "repaired",
            )


def _zeros(spec: Spec) -> Iterator[Finding]:
    named = [each for each in spec.attributes.values() if each.name in _EXTENTS and each.at_least == 0]
    if named:
        yield Finding(
            "impossible-range",
            "warning",
            named[0].origin.sources[0],
            "the range admits 0, for which the operation means nothing",
            f"non-negative: {', '.join(each.name for each in named)}",
            "noted",
        )


@dataclass
class _Builder:
    """Collects the facts of one page."""

    operator: OperatorName
    page: Lexed
    notes: Notes = field(default_factory=Notes)
    constraints: dict[str, TypeConstraint] = field(default_factory=dict)
    formulas: list[Formula] = field(default_factory=list)
    prose: list[Prose] = field(default_factory=list)
    passages: dict[str, Passage] = field(default_factory=dict)
    category: str | None = None

    def read(self) -> None:
        sections = self._sections()
        self.sections = sections
        types = TypeReader(self.notes)
        types.read(read_bullets(_tokens(sections, "types")))
        self.attributes = AttributeReader(self.notes, types.integers)
        self.attributes.read(read_bullets(_tokens(sections, "attributes")))
        finder = TypeFinder(self.notes, frozenset(types.names), self.attributes.found.specs)
        self.parameters = ParameterReader(self.notes, finder)
        for group, title in ((self.parameters.inputs, "inputs"), (self.parameters.outputs, "outputs")):
            self.parameters.read(group, read_bullets(_tokens(sections, title)))
        self.constraints = {**types.constraints, **finder.constraints}
        if "category" in sections:
            self.category = bare(sections["category"].passage.text) or None
        self._describe_all(sections, types)

    def _sections(self) -> dict[str, Section]:
        """The sections by their own titles; those that are absent or stand twice are findings."""
        found: dict[str, Section] = {}
        for section in read_sections(self.page):
            title = self._title(section.title)
            if title in found and title != "example":
                self.notes.find(
                    "duplicate-section", "warning", section.place, f"the section {title} stands twice", title
                )
            else:
                found.setdefault(title, section)
        last = Line("", max((each.line.number for each in self.page.tokens if each.line.text), default=1))
        for title in _DUE:
            if title not in found and not (title == "outputs" and self.operator.name in _WITHOUT_OUTPUTS):
                self.notes.find(
                    "section-missing",
                    "hint",
                    last,
                    f"the page has no section {title}",
                    "every page of this kind has one",
                )
            elif title in ("inputs", "outputs") and title in found and not found[title].tokens:
                self.notes.find(
                    "section-missing", "hint", found[title].place, f"the section {title} is empty", title
                )
        return found

    def arity(self, title: str) -> Arity | None:
        """How many inputs or outputs there are; None where the page has no section for them."""
        group = self.parameters.inputs if title == "inputs" else self.parameters.outputs
        return _arity(group.parameters) if title in self.sections else None

    def _title(self, written: str) -> str:
        """A title in its usual form: one's own name in front and other numbers of words are dropped."""
        title = written.removeprefix(f"{self.operator.name.lower()} ")
        return {"input": "inputs", "output": "outputs", "type": "types", "examples": "example"}.get(
            title, title
        )

    def _describe_all(self, sections: Mapping[str, Section], types: TypeReader) -> None:
        for title in ("short description", "detailed description", "mathematical formulation"):
            if title in sections:
                self._describe(title.replace(" ", "_"), sections[title].passage)
        for name, bullet in self.attributes.found.descriptions.items():
            described = bullet.part("description")
            if described:
                self._describe(f"attributes.{name}", described.passage)
        for group in (self.parameters.inputs, self.parameters.outputs):
            for name, lines in group.descriptions.items():
                self._describe(f"{group.noun}s.{name}", Passage(lines))
        for name, bullet in types.names.items():
            self._describe(f"type_constraints.{name}", bullet.passage)

    def _describe(self, about: str, passage: Passage) -> None:
        if passage:
            self.passages[about] = passage
            self.prose.append(passage.prose(about))
            self.formulas += find_formulas(passage)


def _tokens(sections: Mapping[str, Section], title: str) -> list[Token]:
    return sections[title].tokens if title in sections else []
