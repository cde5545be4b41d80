"""OpenVINO operation specifications in reStructuredText (the current generation)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from opcert.attributes import AttributeKind
from opcert.errors import Place, UserError
from opcert.names import OperatorName
from specs.documents import KEY, Line, Passage, Text, split_lines, unescape
from specs.model import (
    AllowedValues,
    Arity,
    AttributeSpec,
    Document,
    Finding,
    Formula,
    Option,
    Origin,
    ParameterSpec,
    Prose,
    Spec,
    TypeConstraint,
)
from specs.openvino_pages.examples import read_examples
from specs.openvino_pages.items import Bullet, Section, read_bullets, read_sections
from specs.prose.formulas import find_formulas
from specs.prose.names import find_wrong_names

DIALECT = "openvino-rst"

_VERSIONED = re.compile(r"^\*\*Versioned name\*\*\s*:\s*\*(?P<name>\w+)-(?P<version>\d+)\*", re.MULTILINE)
_KINDS: dict[str, AttributeKind] = {
    "int": "int",
    "float": "float",
    "string": "string",
    "int[]": "ints",
    "float[]": "floats",
    "string[]": "strings",
}
_NUMBERED = re.compile(r"^\*\*(?P<number>\d+)\*\*\s*:\s*(?P<text>.*)$")
_NAMED = re.compile(r"^``(?P<name>\w+)``")
_TYPE = re.compile(r"(?:of type|type) \*(?P<type>\w+)\*|type equal to ``(?P<same>\w+)``")
_RANK = re.compile(r"\b(?P<rank>\d+|N)-?D\b")
_SHAPE = re.compile(r"with shape ``\[(?P<shape>[^`]*)\]``")
_SINGLE = re.compile(r"(?<![`\w:])`[^`<>]+`(?![`_])")
_EXTENTS = frozenset(["sizes", "strides", "rates", "dilations", "kernel"])
"""Attributes for which zero means nothing: extents of windows and distances between them."""


def recognise(text: Text) -> float:
    """Sure where the versioned name and reStructuredText's title line stand."""
    if not _VERSIONED.search(text.content):
        return 0.0
    return 1.0 if re.search(r"^={3,}$", text.content, re.MULTILINE) else 0.3


def read(text: Text, operator: OperatorName | None) -> list[Spec]:
    """The facts of one page; raises UserError where the user named another operator than the page does."""
    stated = _VERSIONED.search(text.content)
    if stated is None:
        raise UserError("the page has no versioned name", where=Place(text.file))
    name = OperatorName("org.openvino", stated["name"], int(stated["version"]))
    if operator is not None and operator != name:
        raise UserError(
            "the page names another operator", got=str(name), expected=str(operator), where=Place(text.file)
        )
    lines, damaged = unescape(split_lines(text.content))
    builder = _Builder()
    sections = read_sections(lines)
    builder.read(sections)
    spec = Spec(
        operator=name,
        documents=(Document(KEY, text.file, DIALECT, text.sha256),),
        attributes=builder.attributes,
        inputs=tuple(builder.inputs),
        outputs=tuple(builder.outputs),
        type_constraints=builder.type_constraints,
        formulas=tuple(builder.formulas),
        prose=tuple(builder.prose),
        input_arity=_arity(builder.inputs),
        output_arity=_arity(builder.outputs),
    )
    examples, findings = read_examples(spec, lines)
    if damaged:
        findings.append(
            Finding("html-escape", "warning", damaged[0].source(), "HTML entities stand in the text",
                    f"{len(damaged)} lines", "repaired")
        )  # fmt: skip
    findings += _single_quotes(lines)
    found = [*builder.findings, *find_wrong_names(spec, builder.passages), *_zeros(spec), *findings]
    found.sort(key=lambda each: (each.source.line, each.code))
    return [replace(spec, examples=examples, findings=tuple(found))]


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

    attributes: dict[str, AttributeSpec] = field(default_factory=dict)
    inputs: list[ParameterSpec] = field(default_factory=list)
    outputs: list[ParameterSpec] = field(default_factory=list)
    type_constraints: dict[str, TypeConstraint] = field(default_factory=dict)
    formulas: list[Formula] = field(default_factory=list)
    prose: list[Prose] = field(default_factory=list)
    passages: dict[str, Passage] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def read(self, sections: dict[str, Section]) -> None:
        for title in ("short description", "detailed description", "mathematical formulation"):
            if title in sections:
                self._describe(title.replace(" ", "_"), Passage(sections[title].lines))
        for bullet in read_bullets(_lines(sections, "attributes")):
            self._attribute(bullet)
        for group, parameters in (("inputs", self.inputs), ("outputs", self.outputs)):
            lines = _lines(sections, group) or _lines(sections, group[:-1])
            for bullet in read_bullets(lines):
                self._parameter(group, bullet, parameters)
        for bullet in read_bullets(_lines(sections, "types")):
            self._types(bullet)

    def _describe(self, about: str, passage: Passage) -> None:
        if passage:
            self.passages[about] = passage
            self.prose.append(passage.prose(about))
            self.formulas += find_formulas(passage)

    def _attribute(self, bullet: Bullet) -> None:
        head = re.match(r"^(?:\*\*\w+\*\*\s*:\s*)?[*`]+(?P<name>\w+)[*`]+$", bullet.lines[0].text.strip())
        if head is None:
            return
        name = head["name"]
        described, type_of, required = (bullet.part(key) for key in ("Description", "Type", "Required"))
        bounds = bullet.part("Range of values")
        if described:
            self._describe(f"attributes.{name}", described[1])
        kind = _KINDS.get(type_of[1].text.strip("`* ")) if type_of else None
        text = bounds[1].text.lower() if bounds else ""
        least = 0 if text.startswith("non-negative") else 1 if text.startswith("a positive int") else None
        source = bullet.lines[0].source()
        if type_of is None:
            self.findings.append(
                Finding("attribute-type-missing", "warning", source, f"{name} has no type", name, "noted")
            )
        if bounds is None:
            self.findings.append(
                Finding("range-missing", "hint", source, f"{name} has no range of values",
                        "every attribute of these pages has one", "noted")
            )  # fmt: skip
        self.attributes[name] = AttributeSpec(
            name=name,
            kind=kind,
            required=bool(required and "yes" in required[1].text.lower()),
            default=None,
            has_default=False,
            values=_values((bounds, described)) if kind == "string" else None,
            origin=Origin("imported", (source,)),
            at_least=least,
        )

    def _parameter(self, group: str, bullet: Bullet, parameters: list[ParameterSpec]) -> None:
        head = _NUMBERED.match(bullet.lines[0].text)
        if head is None:
            return
        passage = Passage([bullet.lines[0].after(head.start("text")), *bullet.lines[1:]])
        named = _NAMED.match(passage.text)
        number = int(head["number"])
        name = named["name"] if named else group[:-1] if number == 1 else f"{group[:-1]}_{number}"
        self._describe(f"{group}.{name}", passage)
        kind, rank, shape = (pattern.search(passage.text) for pattern in (_TYPE, _RANK, _SHAPE))
        type_name = "unknown"
        if kind:
            same = next((each.type for each in self.inputs if each.name == kind["same"]), "unknown")
            type_name = kind["type"] or same
        option: Option = "optional" if "**Optional" in passage.text else "single"
        parameters.append(
            ParameterSpec(
                name=name,
                option=option,
                type=type_name,
                origin=Origin("imported", (bullet.lines[0].source(),)),
                rank=rank["rank"] if rank else None,
                shape=tuple(each.strip() for each in shape["shape"].split(",")) if shape else None,
            )
        )

    def _types(self, bullet: Bullet) -> None:
        """A type variable in words; words that name no types leave it open."""
        head = re.match(r"^\*(?P<name>\w+)\*: (?P<text>.*)$", bullet.lines[0].text)
        if head is None:
            return
        self._describe(f"type_constraints.{head['name']}", Passage(bullet.lines))
        if re.search(r"\bany supported\b", head["text"]):
            self.findings.append(
                Finding(
                    "types-unstated",
                    "warning",
                    bullet.lines[0].source(),
                    f"the page leaves open which types {head['name']} stands for",
                    "it names none and refers to what is supported",
                    "noted",
                )
            )


def _lines(sections: dict[str, Section], title: str) -> list[Line]:
    return sections[title].lines if title in sections else []


def _values(parts: Sequence[tuple[Bullet, Passage] | None]) -> AllowedValues | None:
    """The values that bullets list below a range, or below a description that announces possible values."""
    for part in parts:
        bullets = part[0].children if part else []
        heads = [re.match(r"^[*`]+(?P<names>\w+(?: \(\w+\))?)[*`]+", each.lines[0].text) for each in bullets]
        if bullets and all(heads):
            words = [word for head in heads if head for word in re.findall(r"\w+", head["names"])]
            source = bullets[0].lines[0].source()
            origin = Origin("imported", (source,), None, "bulleted-list", 1.0)
            return AllowedValues(tuple(dict.fromkeys(words)), "bulleted-list", 1.0, len(words) < 2, origin)
    return None
