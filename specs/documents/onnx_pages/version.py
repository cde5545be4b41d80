"""One operator version of an ONNX page: its parts become facts and findings.

Its summary may have examples: `data = [...] pads = [...] output = [...]`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from opcert.vocabulary.names import OperatorName
from specs.documents.onnx_pages.page_parts import ListedItem, PageParts
from specs.documents.prose.described_values import FoundDefault, find_default, find_values, named_default
from specs.documents.prose.formulas import find_formulas
from specs.documents.prose.part_names import ParameterNames as Names
from specs.documents.prose.part_names import find_normative
from specs.documents.prose.passage_statements import find_statements
from specs.documents.text.documents import KeepsFindings, Passage
from specs.documents.worked.examples import read_examples, reject_examples
from specs.documents.worked.printed import Printed, fits, read_printed
from specs.model.spec import (
    AllowedValues,
    AttributeSpec,
    Document,
    Example,
    Finding,
    Formula,
    Option,
    Origin,
    ParameterSpec,
    Prose,
    Spec,
    TypeConstraint,
    Value,
)

_ASSIGNMENT = re.compile(
    r"(?<![`\w.])(?:(?P<name>[A-Za-z_]\w*) *= *|(?P<word>Outputs?): )(?=[\[\"'0-9+-])"
    r"|(?<![`\w.])(?P<function>[a-z]\w*)\((?=\[)"
)
_CONDITION = re.compile(r"\b(?:if|when|where|unless|whether|and|or) $")
"""What stands before an assignment that is none: `if axis = 1` names the case that a formula is of."""
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?=[\s,.;]|$)")
_RESULT = re.compile(r"\) = (?=\[)")
_PREFIX = re.compile(r"^(?:input|output|attribute)_")


@dataclass(frozen=True)
class _Array:
    printed: Printed
    offset: int


@dataclass
class _Group:
    """The assignments of one example, as far as they were read."""

    arrays: dict[str, _Array] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)


def read_summary_example(spec: Spec, summary: Passage) -> tuple[tuple[Example, ...], list[Finding]]:
    """The examples that assign literal arrays to the operator's inputs and outputs, their wrong brackets."""
    reader = _Reader(spec, summary)
    reader.read()
    return tuple(reader.examples), reader.findings


class _Reader(KeepsFindings):
    """Reads the assignments of one summary in order; an example ends before the next input or attribute."""

    def __init__(self, spec: Spec, summary: Passage) -> None:
        self._spec = spec
        self._summary = summary
        self._inputs = [each.name for each in spec.inputs]
        self._outputs = [output.name for output in spec.outputs]
        self._before = _Group()
        self._group = _Group()
        self.examples: list[Example] = []
        self.findings: list[Finding] = []

    def read(self) -> None:
        """Read every assignment."""
        text = self._summary.text
        for match in _ASSIGNMENT.finditer(text):
            if match["function"] is not None:
                self._call(match)
                continue
            name = self._resolve(match["name"] or "output")
            if name is None or _CONDITION.search(text, max(match.start() - 10, 0), match.start()):
                continue
            if name not in self._outputs and self._is_complete():
                self._close()
            quoted = re.match(r"([\"'])(\w+)\1", text[match.end() : match.end() + 100])
            number = _NUMBER.match(text, match.end())
            printed = read_printed(text, match.end())
            if name in self._spec.attributes:
                if quoted or number or printed:
                    self._group.attributes[name] = (
                        quoted[2] if quoted else ast.literal_eval(number[0].lstrip("+")) if number
                        else list(printed.data) if printed else None
                    )  # fmt: skip
            elif printed is not None:
                if name in self._outputs and name in self._group.arrays:
                    self._close()
                self._group.arrays[name] = _Array(printed, match.start())
            elif number and name in self._inputs:
                value = ast.literal_eval(number[0].lstrip("+"))
                self._group.arrays[name] = _Array(Printed((), (value,), None, number.end()), match.start())
        if self._is_complete():
            self._close()

    def _resolve(self, name: str) -> str | None:
        """The operator's name for one of the example: `input_x` is x, `output` the only output."""
        known = (*self._spec.attributes, *self._inputs, *self._outputs)
        bare = _PREFIX.sub("", name)
        same = [each for each in known if each.lower() == bare.lower()]
        if name in known or len(same) == 1:
            return name if name in known else same[0]
        if name in ("output", "result") and len(self._outputs) == 1:
            return self._outputs[0]
        return None

    def _is_complete(self) -> bool:
        return any(name in self._group.arrays for name in self._outputs)

    def _call(self, match: re.Match[str]) -> None:
        """`round([0.9]) = [1.0]`."""
        text = self._summary.text
        plain = len(self._inputs) == len(self._outputs) == 1
        if not plain or match["function"] != self._spec.operator.name.lower():
            return
        given = read_printed(text, match.end())
        equals = _RESULT.match(text, given.end) if given is not None else None
        result = read_printed(text, equals.end()) if equals is not None else None
        if given is not None and result is not None:
            arrays = {self._inputs[0]: given, self._outputs[0]: result}
            self._group = _Group({name: _Array(array, match.start()) for name, array in arrays.items()})
            self._close()

    def _close(self) -> None:
        """End an example; one that assigns no input goes on from the one before it."""
        group = self._group
        if not any(name in group.arrays for name in self._inputs):
            kept = {name: array for name, array in self._before.arrays.items() if name in self._inputs}
            group = _Group({**kept, **group.arrays}, {**self._before.attributes, **group.attributes})
        self._before, self._group = group, _Group()
        if any(name in group.arrays for name in self._inputs):
            self._add(group)
            return
        first = min(array.offset for array in group.arrays.values())
        message = "an example of the summary gives no input a value"
        evidence = f"it gives {', '.join(group.arrays)}"
        self.find("example-not-read", "hint", self._summary.source(first), message, evidence, "rejected")

    def _add(self, group: _Group) -> None:
        repaired = self._repair_brackets(group)
        given = []
        for parameter in self._spec.inputs:
            if parameter.name in group.arrays:
                given.append((parameter.name, self._value(group.arrays[parameter.name])))
            elif parameter.option == "single":
                given.append((parameter.name, None))
        last = max(place for place, name in enumerate(self._outputs) if name in group.arrays)
        expected = [
            (name, self._value(group.arrays[name]) if name in group.arrays else None)
            for name in self._outputs[: last + 1]
        ]
        first = min(array.offset for array in group.arrays.values())
        self.examples.append(
            Example(
                id=f"summary_{len(self.examples) + 1}",
                attributes=dict(group.attributes),
                inputs=tuple(given),
                outputs=tuple(expected),
                source=self._summary.source(first),
                repaired=repaired,
            )
        )

    def _value(self, array: _Array) -> Value | None:
        printed = array.printed
        if printed.shape is None:
            return None
        return Value(printed.shape, printed.data, None, self._summary.source(array.offset), printed.decimals)

    def _repair_brackets(self, group: _Group) -> bool:
        """Whether the output is bracketed wrongly; that is mended where its elements fill the right shape."""
        output = next(each for each in self._outputs if each in group.arrays)
        wanted = _padded_shape(self._spec.inputs, group.arrays)
        found = group.arrays[output].printed
        if wanted is None or found.shape == wanted:
            return False
        right = fits(found, wanted)
        self.find(
            "brackets-vs-shape",
            "error",
            self._summary.source(group.arrays[output].offset),
            f"the example's {output} is bracketed as {_listed(found.shape)}",
            f"its input and pads make {_listed(wanted)}",
            "repaired" if right else "rejected",
        )
        if right:
            array = group.arrays[output]
            group.arrays[output] = replace(array, printed=replace(found, shape=wanted))
        return True


def _padded_shape(inputs: tuple[ParameterSpec, ...], arrays: dict[str, _Array]) -> tuple[int, ...] | None:
    """The shape that an example of padding must have: the input's, and its pads added at both ends."""
    pads = arrays.get("pads")
    data = next((arrays[each.name] for each in inputs if each.name in arrays), None)
    if pads is None or data is None or data.printed.shape is None:
        return None
    rank, amounts = len(data.printed.shape), pads.printed.data
    if len(amounts) != 2 * rank or not all(isinstance(amount, int) for amount in amounts):
        return None
    return tuple(
        extent + amounts[axis] + amounts[axis + rank] for axis, extent in enumerate(data.printed.shape)
    )


def _listed(shape: tuple[int, ...] | None) -> str:
    return "ragged" if shape is None else str(list(shape))


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
    inputs = tuple(builder.parameter("inputs", listed_item) for listed_item in parts.inputs)
    outputs = tuple(builder.parameter("outputs", output) for output in parts.outputs)
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
            builder.passages,
            Names(
                tuple(attributes),
                names_of(inputs),
                names_of(outputs),
                tuple(name for name, each in attributes.items() if each.kind == "int"),
            ),
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
        if default is None and item.kind == "string" and values is not None and not values.proposed:
            default = named_default(item.description, values)
        if default is not None and default.origin is not None:
            self.origins[f"attributes.{item.name}.default"] = default.origin
        return AttributeSpec(
            name=item.name,
            kind=item.kind,
            required="required" in item.words,
            default=default.value if default is not None else None,
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
