"""OpenVINO operation specifications: Markdown, what doxyrest made of it, and reStructuredText for Sphinx."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from specs.documents.openvino_pages.examples import Assignments, read_examples
from specs.documents.openvino_pages.items import (
    FieldOutcome,
    Notes,
    TitledTokens,
    read_bullets,
    read_sections,
)
from specs.documents.openvino_pages.page_attributes import AttributeReader
from specs.documents.openvino_pages.parameters import ParameterReader, TypeFinder
from specs.documents.openvino_pages.tokens import (
    LABEL,
    Lexed,
    Token,
    bare,
    lex_doxyrest,
    lex_markdown,
    lex_sphinx,
    worded,
)
from specs.documents.openvino_pages.type_words import TypeReader
from specs.documents.openvino_pages.xml_layers import Layers
from specs.documents.prose.formulas import find_formulas
from specs.documents.prose.part_names import (
    MOST_LETTERS,
    NUMBER_WORDS,
    ParameterNames,
    found,
    name_of,
    pattern,
    sentences,
)
from specs.documents.prose.passage_statements import find_statements
from specs.documents.text.documents import KEY, Line, Passage, Text, split_lines, unescape
from specs.importers import Importer
from specs.model.spec import Arity, Document, Formula, Prose, Spec, TypeConstraint
from specs.model.statements import Of, Range, Rank, Statement

VERSIONED = re.compile(
    rf"^(?:{LABEL})?\*\*Versioned[ \t]+name\*\*[ \t]*:\s*\*(?P<name>\w+)-(?P<version>\d{{1,4}})\*",
    re.MULTILINE,
)
_DUE = ("category", "short description", "attributes", "inputs", "outputs", "example")
_ONCE = frozenset(["category", "attributes", "inputs", "outputs", "types"])
_NONE_DUE = frozenset([("outputs", "Result"), ("inputs", "Constant"), ("inputs", "Parameter")])


@dataclass(frozen=True)
class OpenVINOPage:
    """What a page says, and what became of each of its fields."""

    spec: Spec
    outcomes: tuple[FieldOutcome, ...]
    layers: Layers


def read_page(
    text: Text, operator: OperatorName | None, dialect: str, lex: Callable[[Sequence[Line]], Lexed]
) -> OpenVINOPage:
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
    arities = builder.arity("inputs"), builder.arity("outputs")
    spec = Spec(
        operator=name,
        documents=(Document(KEY, text.file, dialect, text.sha256),),
        attributes=builder.attributes.found.specs,
        inputs=tuple(builder.parameters.inputs.parameters),
        outputs=tuple(builder.parameters.outputs.parameters),
        type_constraints=builder.constraints,
        formulas=tuple(builder.formulas),
        statements=builder.statements(),
        prose=tuple(builder.prose),
        input_arity=arities[0],
        output_arity=arities[1],
        category=builder.category,
        origins={
            f"attributes.{each}.default": origin for each, origin in builder.attributes.found.defaults.items()
        },
    )
    layers = Layers(spec)
    layers.read(page.blocks)
    numbered, findings = read_examples(spec, lines)
    assignments = Assignments(spec)
    assignments.read(page.blocks)
    findings += [*layers.findings, *assignments.findings]
    if damaged and dialect != "openvino-markdown":
        message, evidence = "HTML entities stand in the text", f"{len(damaged)} lines"
        builder.notes.find("html-escape", "warning", damaged[0], message, evidence, "repaired")
    spec = replace(spec, examples=(*layers.examples, *assignments.examples, *numbered))
    spec = spec.with_findings((*builder.notes.findings, *page.findings, *findings))
    return OpenVINOPage(spec, tuple(builder.notes.outcomes), layers)


@dataclass
class _Builder:
    """Collects the facts of one page."""

    operator: OperatorName
    page: Lexed
    notes: Notes = field(default_factory=Notes)
    constraints: dict[str, TypeConstraint] = field(default_factory=dict)
    formulas: list[Formula] = field(default_factory=list)
    prose: list[Prose] = field(default_factory=list)
    category: str | None = None
    sections: dict[str, TitledTokens] = field(default_factory=dict)

    def read(self) -> None:
        sections = self.sections = self._sections()
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

    def _sections(self) -> dict[str, TitledTokens]:
        """The sections by their own titles; those that are absent or stand twice are findings."""
        found: dict[str, TitledTokens] = {}
        for section in read_sections(self.page):
            title = self._title(section.title)
            if title in found and title in _ONCE:
                self.notes.find(
                    "duplicate-section", "warning", section.place, f"the section {title} stands twice", title
                )
            else:
                found.setdefault(title, section)
        last = Line("", max((token.line.number for token in self.page.tokens if token.line.text), default=1))
        shown = any("<layer" in line.text for block in self.page.blocks for line in block.lines)
        for title in _DUE:
            if title == "example" and shown:
                continue
            if title not in found and (title, self.operator.name) not in _NONE_DUE:
                message = f"the page has no section {title}"
                self.notes.find("section-missing", "hint", last, message, "every page of this kind has one")
        return found

    def arity(self, title: str) -> Arity | None:
        """How many inputs or outputs there are; None where the page does not list them."""
        group = self.parameters.inputs if title == "inputs" else self.parameters.outputs
        section = self.sections.get(title)
        if section is None:
            return None
        text = section.passage.text
        if not group.parameters and not re.search(rf"\b(?:no {title}|none)\b", text, re.IGNORECASE):
            line = section.tokens[0].line if section.tokens else section.place
            self.notes.find(
                "section-unread", "hint", line, f"the section {title} lists none", text[:60] or "it is empty"
            )
            return None
        return Arity.of(group.parameters)

    def _title(self, written: str) -> str:
        """A title in its usual form: one's own name in front and other numbers of words are dropped."""
        title = written.removeprefix(f"{self.operator.name.lower()} ")
        if title.startswith("example"):
            return "example"
        return {"input": "inputs", "output": "outputs", "type": "types"}.get(title, title)

    def _describe_all(self, sections: Mapping[str, TitledTokens], types: TypeReader) -> None:
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

    @property
    def names(self) -> ParameterNames:
        """The names of the page's parts."""
        inputs, outputs = (tuple(part.name for part in group.parameters)
                           for group in (self.parameters.inputs, self.parameters.outputs))  # fmt: skip
        return ParameterNames(tuple(self.attributes.found.specs), inputs, outputs)

    def passages(self) -> dict[str, Passage]:
        """The sentences about each part, in plain words; both descriptions are the summary.

        What is said of the range of an attribute stands with its description where no bound could be read.
        """
        found = {}
        for name, bullet in self.attributes.found.descriptions.items():
            attribute = self.attributes.found.specs[name]
            bounds = (attribute.at_least, attribute.more_than, attribute.at_most, attribute.values)
            keys = ("description", *(("range of values",) if all(bound is None for bound in bounds) else ()))
            parts = [part for key in keys if (part := bullet.part(key))]
            found[f"attributes.{name}"] = worded([line for part in parts for line in part.lines])
        for group in (self.parameters.inputs, self.parameters.outputs):
            for name, lines in group.descriptions.items():
                found[f"{group.noun}s.{name}"] = worded(lines, name)
        titles = ("short description", "detailed description")
        tokens = [token for title in titles for token in _tokens(self.sections, title)]
        found["summary"] = worded([token.line for token in tokens if token.kind != "code"])
        return found

    def statements(self) -> tuple[Statement, ...]:
        """What the sentences say, by the rules of all dialects, and by those of these pages."""
        passages = self.passages()
        stated = find_statements(passages, self.names)
        known = {(each.about, type(each), getattr(each, "of", None)) for each in stated}
        more = find_page_statements(passages, self.names)
        return (
            *stated,
            *(each for each in more if (each.about, type(each), getattr(each, "of", None)) not in known),
        )

    def _describe(self, about: str, passage: Passage) -> None:
        if passage:
            self.prose.append(passage.prose(about))
            self.formulas += find_formulas(passage)


def _tokens(sections: Mapping[str, TitledTokens], title: str) -> list[Token]:
    return sections[title].tokens if title in sections else []


def _importer(
    dialect: str, markup: str, sure: float, unsure: float, lex: Callable[[Sequence[Line]], Lexed]
) -> Importer:
    """A dialect that is `sure` where its markup stands beside a versioned name, and else `unsure`."""
    marked = re.compile(markup, re.MULTILINE)

    def recognise(text: Text) -> float:
        if not VERSIONED.search(text.content):
            return 0.0
        return sure if marked.search(text.content) else unsure

    def read(text: Text, operator: OperatorName | None) -> list[Spec]:
        return [read_page(text, operator, dialect, lex).spec]

    return Importer(dialect, recognise, read)


MARKDOWN = _importer("openvino-markdown", r"^#{1,6} +\S.*$|^[ \t]*```", 0.95, 0.2, lex_markdown)
"""The generation of 2020 to 2022."""
DOXYREST = _importer(
    "openvino-doxyrest",
    r"^[ \t]*\.\. (?:ref-code-block::|_doxid-|index:: pair: page)",
    1.0,
    0.1,
    lex_doxyrest,
)
"""What doxyrest wrote in 2022, with labels of its own."""
SPHINX = _importer("openvino-rst", r"^={3,}[ \t]*$|^[ \t]*\.\. (?:code-block|meta)::", 0.9, 0.3, lex_sphinx)
"""The current generation."""
IMPORTERS = (MARKDOWN, DOXYREST, SPHINX)


_RANK = r"(?:[A-Za-z]|rank\(\w{1,40}\)|len\(\w{1,40}\.shape\)|\w{1,40}\.rank)"
_AXES = pattern(
    rf"\[? ?[`$]?-(?P<low>{_RANK})[`$]? ?(?:,|;|\.\.|to) ?[`$]?(?P<high>{_RANK}) ?[-–] ?1[`$]? ?\]?"
)
"""`[-r, r-1]`, `from -r to r - 1`, `-rank(data) .. rank(data)-1`."""
_OF_OUTPUT = pattern(r"\brank of (?:the )?output\b")
_NAMED = re.compile(r"(?:rank|len)\((\w+)|(\w+)\.rank|rank of (?:the )?`?(\w+)`?")
_SINGLE = pattern(
    r"\b(?:1-?D|one-dimensional) tensor (?:with|of|containing) (?:only )?(?:a single|one|1) element\b"
    r"|\btensor with shape `?\[1\]`?"
)
_AT_LEAST = pattern(
    r"\brank (?:is )?(?:greater (?:than )?or equal(?: to)?|not less than|no less than|bigger or equal to) "
    r"(?P<least>\d|one|two|three|four)\b"
)
_MOST = 10


def find_page_statements(passages: Mapping[str, Passage], parts: ParameterNames) -> Iterator[Statement]:
    """The statements of all passages that the rules of all dialects do not read."""
    for about, passage in passages.items():
        if about.partition(".")[0] in ("inputs", "attributes"):
            yield from islice(_of_part(about, passage, parts), _MOST)


def _of_part(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Statement]:
    text = passage.text[:MOST_LETTERS]
    axes = _AXES.search(text)
    if axes is not None and axes["low"] == axes["high"] and not _OF_OUTPUT.search(text):
        tensor = _tensor(about, text, parts)
        if tensor is not None:
            origin = found(passage, axes.start(), "axes-in-range", 0.9)
            of: Of = "elements" if about.startswith("inputs.") else "value"
            yield Range(about, origin, of, f"-rank({tensor})", None, f"rank({tensor}) - 1")
    if not about.startswith("inputs."):
        return
    for sentence in sentences(text):
        single = _SINGLE.search(sentence.text)
        if single is not None:
            origin = found(passage, sentence.start + single.start(), "one-element", 0.9)
            yield Range(about, origin, "length", "1", None, "1")
        rank = _AT_LEAST.search(sentence.text)
        if rank is not None:
            origin = found(passage, sentence.start + rank.start(), "bounded-rank", 0.9)
            yield Rank(about, origin, NUMBER_WORDS.get(rank["least"].lower(), rank["least"]), None)


def _tensor(about: str, text: str, parts: ParameterNames) -> str | None:
    """The input whose rank a passage speaks of: one that it names beside the word, or else the first."""
    for match in islice(_NAMED.finditer(text), _MOST):
        named = parts.about(next(word for word in match.groups() if word))
        if named is not None and named.startswith("inputs.") and named != about:
            return name_of(named)
    others = [name for name in parts.inputs if f"inputs.{name}" != about]
    return others[0] if others else None
