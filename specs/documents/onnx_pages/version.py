"""One operator version of an ONNX page: its parts become facts and findings."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from opcert.vocabulary.names import OperatorName
from specs.documents.onnx_pages.page_parts import ListedItem, PageParts
from specs.documents.prose.described_values import FoundDefault, find_default, find_values
from specs.documents.prose.formulas import find_formulas
from specs.documents.prose.part_names import ParameterNames as Names
from specs.documents.prose.passage_statements import find_statements
from specs.documents.prose.sentences import find_normative
from specs.documents.text.documents import Passage
from specs.documents.worked.examples import read_examples, reject_examples
from specs.documents.worked.summaries import read_summary_example
from specs.model.spec import (
    AllowedValues,
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

_SMALL = re.compile(r"(?:^|_)eps(?:ilon)?$")
"""What keeps divisors from being zero is never zero: it is printed so because five decimals are kept."""


def read_default(item: ListedItem) -> FoundDefault:
    """The printed default of an attribute by its type; `undecodable` where the text does not fit the type."""
    text = item.default or ""
    value = _decode(text, item.kind)
    if value is None or (value == 0 and _SMALL.search(item.name)):
        return FoundDefault(None, None, text)
    return FoundDefault(value, Origin("imported", (item.line.source(),), None, "printed-default", 1.0))


def _decode(text: str, kind: str | None) -> Any:
    if kind == "string":
        return text
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if kind == "int":
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    if kind == "float":
        return float(value) if isinstance(value, int | float) else None
    if kind in ("ints", "floats", "strings") and isinstance(value, list):
        return _items(value, kind)
    return None


def _items(value: list[Any], kind: str) -> list[Any] | None:
    """The items of a list; numbers may stand in quotes."""
    if kind == "strings":
        return value if all(isinstance(each, str) for each in value) else None
    number = int if kind == "ints" else float
    try:
        return [number(each) for each in value]
    except (ValueError, TypeError):
        return None


_TENSOR = re.compile(r"^tensor\((\w+)\)$")


def read_version(
    operator: OperatorName, document: Document, parts: PageParts, page: Sequence[Finding]
) -> Spec:
    """The facts of one version; `page` holds the findings about the page's markup."""
    builder = _Builder()
    attributes = {each.name: each for each in map(builder.attribute, parts.attributes)}
    inputs = tuple(builder.parameter("inputs", each) for each in parts.inputs)
    outputs = tuple(builder.parameter("outputs", each) for each in parts.outputs)
    constraints = {}
    for item in parts.type_constraints:
        builder.describe(f"type_constraints.{item.name}", item.description)
        types = tuple(our_type(each) for each in item.types)
        constraints[item.name] = TypeConstraint(item.name, types, Origin("imported", (item.line.source(),)))
    builder.describe("summary", parts.summary)
    spec = Spec(
        operator=operator,
        documents=(document,),
        attributes=attributes,
        inputs=inputs,
        outputs=outputs,
        type_constraints=constraints,
        formulas=tuple(builder.formulas),
        statements=find_statements(
            builder.passages, Names(tuple(attributes), names_of(inputs), names_of(outputs))
        ),
        prose=tuple(builder.prose),
        input_arity=parts.input_arity,
        output_arity=parts.output_arity,
        deprecated=parts.deprecated,
        origins=builder.origins,
    )
    if parts.deprecated:
        rejected = reject_examples(
            parts.examples, "the operator is deprecated, the page lists none of its inputs"
        )
        return replace(spec, findings=(*page, *rejected))
    examples, findings = read_examples(spec, parts.examples)
    printed, more = read_summary_example(spec, parts.summary)
    return replace(spec, examples=(*printed, *examples)).with_findings((*page, *more, *findings))


def names_of(parameters: Sequence[ParameterSpec]) -> tuple[str, ...]:
    """The names of inputs or outputs, in order."""
    return tuple(each.name for each in parameters)


def our_type(text: str) -> str:
    """Our name for a type of a page: `tensor(float)` is `float`; others stay as they are."""
    match = _TENSOR.match(text)
    return match[1] if match else text


class _Builder:
    """Makes facts of items; keeps the prose, formulas and origins that it meets on the way."""

    def __init__(self) -> None:
        self.prose: list[Prose] = []
        self.passages: dict[str, Passage] = {}
        self.formulas: list[Formula] = []
        self.origins: dict[str, Origin] = {}

    def describe(self, about: str, passage: Passage) -> None:
        if passage:
            self.prose.append(replace(passage.prose(about), normative=find_normative(passage)))
            self.passages[about] = passage
            self.formulas += find_formulas(passage)

    def attribute(self, item: ListedItem) -> AttributeSpec:
        self.describe(f"attributes.{item.name}", item.description)
        default = self._default(item)
        value = default.value if default is not None else None
        values: AllowedValues | None = None
        if item.kind in (None, "string", "strings"):
            values = find_values(item.description, item.name, value, "required" in item.words)
        if default is not None and default.origin is not None:
            self.origins[f"attributes.{item.name}.default"] = default.origin
        return AttributeSpec(
            name=item.name,
            kind=item.kind,
            required="required" in item.words,
            default=value,
            has_default=default is not None and default.origin is not None,
            values=values,
            origin=Origin("imported", (item.line.source(),)),
            other_type=item.other_type,
        )

    @staticmethod
    def _default(item: ListedItem) -> FoundDefault | None:
        if item.default is not None:
            return read_default(item)
        if "required" in item.words or item.other_type is not None:
            return None
        found = find_default(item.description)
        return found if found is None or _fits(found.value, item) else None

    def parameter(self, group: str, item: ListedItem) -> ParameterSpec:
        self.describe(f"{group}.{item.name}", item.description)
        words = item.words
        option: Option = (
            "variadic" if "variadic" in words else "optional" if "optional" in words else "single"
        )
        default = find_default(item.description) if group == "inputs" and option == "optional" else None
        return ParameterSpec(
            name=item.name,
            option=option,
            type=our_type(item.type or "unknown"),
            origin=Origin("imported", (item.line.source(),)),
            rank=_rank(item.description.text),
            homogeneous=item.homogeneous,
            differentiable=item.differentiable,
            default=default.value if default is not None else None,
        )


def _fits(value: object, item: ListedItem) -> bool:
    """Whether a default found in words can be one of the attribute's type; without a type every one can."""
    if item.kind is None or value is None:
        return True
    wanted: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "string": (str,)}
    return isinstance(value, wanted.get(item.kind, ()))


def _rank(text: str) -> str | None:
    match = re.match(r"(?:\w+ )?(\d+|N)-?D\b", text)
    return match[1] if match else None
