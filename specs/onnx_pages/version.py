"""One operator version of an ONNX page: sections become facts and findings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from opcert.attributes import AttributeKind
from opcert.names import OperatorName
from specs.documents import Line, Passage
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
from specs.onnx_pages.page_findings import version_findings
from specs.onnx_pages.sections import Item, Section, read_items
from specs.prose.defaults import FoundDefault, find_default
from specs.prose.formulas import find_formulas
from specs.prose.values import find_values
from specs.worked.examples import ExampleText, read_examples
from specs.worked.summaries import read_summary_example

_KINDS: dict[str, AttributeKind] = {
    "INT": "int",
    "FLOAT": "float",
    "STRING": "string",
    "INTS": "ints",
    "FLOATS": "floats",
    "STRINGS": "strings",
}
_TENSOR = re.compile(r"^tensor\((\w+)\)$")
_BETWEEN = re.compile(r"^Between (\d+) and (\d+) (inputs|outputs)\.?$")
_EXAMPLE_TITLE = re.compile(r"^\*\*(_\w+)\*\*$")


def read_version(
    operator: OperatorName, document: Document, sections: dict[str, Section], page: list[Finding]
) -> Spec:
    """The facts of one version; `page` holds the findings about the page's markup."""
    builder = _Builder()
    items = read_items(sections.get("Attributes"))[1]
    attributes = {each.name: each for each in map(builder.attribute, items)}
    inputs, input_arity = builder.parameters("inputs", sections.get("Inputs"))
    outputs, output_arity = builder.parameters("outputs", sections.get("Outputs"))
    constraints = {}
    for item in read_items(sections.get("Type Constraints"))[1]:
        builder.describe(f"type_constraints.{item.name}", item.description)
        constraints[item.name] = TypeConstraint(
            item.name, tuple(our_type(each) for each in item.types), Origin("imported", (item.line.source(),))
        )
    summary = Passage(sections["Summary"].lines) if "Summary" in sections else Passage([])
    builder.describe("summary", summary)
    spec = Spec(
        operator=operator,
        documents=(document,),
        attributes=attributes,
        inputs=inputs,
        outputs=outputs,
        type_constraints=constraints,
        formulas=tuple(builder.formulas),
        prose=tuple(builder.prose),
        input_arity=input_arity,
        output_arity=output_arity,
        origins=builder.origins,
    )
    examples, findings = read_examples(spec, _example_texts(sections.get("Examples")))
    printed, more = read_summary_example(spec, summary)
    found = [*page, *version_findings(spec, builder.passages, builder.defaults), *more, *findings]
    found.sort(key=lambda each: (each.source.line, each.source.column or 0, each.code))
    return replace(spec, examples=(*printed, *examples), findings=tuple(found))


def our_type(text: str) -> str:
    """Our name for a type of a page: `tensor(float)` is `float`; others stay as they are."""
    match = _TENSOR.match(text)
    return match[1] if match else text


class _Builder:
    """Makes facts of items; keeps the passages, formulas and origins that it meets on the way."""

    def __init__(self) -> None:
        self.prose: list[Prose] = []
        self.formulas: list[Formula] = []
        self.origins: dict[str, Origin] = {}
        self.passages: dict[str, Passage] = {}
        self.defaults: dict[str, FoundDefault] = {}

    def describe(self, about: str, passage: Passage) -> None:
        if passage:
            self.passages[about] = passage
            self.prose.append(passage.prose(about))
            self.formulas += find_formulas(passage)

    def attribute(self, item: Item) -> AttributeSpec:
        name, _, kind = item.name.partition(" - ")
        self.describe(f"attributes.{name}", item.description)
        default = find_default(item.description)
        value = default.value if default is not None else None
        values: AllowedValues | None = find_values(item.description, name, value)
        if default is not None:
            self.defaults[name] = default
            if default.origin is not None:
                self.origins[f"attributes.{name}.default"] = default.origin
        return AttributeSpec(
            name=name,
            kind=_KINDS.get(kind),
            required="required" in item.options,
            default=value,
            has_default=default is not None and default.origin is not None,
            values=values,
            origin=Origin("imported", (item.line.source(),)),
        )

    def parameters(
        self, group: str, section: Section | None
    ) -> tuple[tuple[ParameterSpec, ...], Arity | None]:
        preface, items = read_items(section)
        parameters = tuple(self._parameter(group, each) for each in items)
        return parameters, _arity(preface, parameters)

    def _parameter(self, group: str, item: Item) -> ParameterSpec:
        self.describe(f"{group}.{item.name}", item.description)
        words = [each.strip() for each in item.options.split(",")]
        option: Option = (
            "variadic" if "variadic" in words else "optional" if "optional" in words else "single"
        )
        default = find_default(item.description) if group == "inputs" else None
        return ParameterSpec(
            name=item.name,
            option=option,
            type=our_type(item.type or "unknown"),
            origin=Origin("imported", (item.line.source(),)),
            rank=_rank(item.description.text),
            # These pages print the word where the schema says the opposite.
            homogeneous="heterogeneous" in words,
            default=default.value if default is not None else None,
        )


def _rank(text: str) -> str | None:
    match = re.match(r"(?:\w+ )?(\d+|N)-?D\b", text)
    return match[1] if match else None


def _arity(preface: Sequence[Line], parameters: Sequence[ParameterSpec]) -> Arity | None:
    for line in preface:
        match = _BETWEEN.match(line.text.strip())
        if match:
            return Arity(int(match[1]), None if int(match[2]) == 2147483647 else int(match[2]))
    return Arity(len(parameters), len(parameters))


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
