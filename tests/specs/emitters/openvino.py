"""Writes OpenVINO's pages from specs, in the markup of each of their three generations.

Wherever real pages differ in their words (types, defaults, lists of values, titles), the writer chooses by a
source of random choices; the same seed gives the same page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any
from xml.sax.saxutils import quoteattr

from specs.documents.openvino_pages.type_words import EVERY, FLOATS, NUMERIC, SIGNED, UNSIGNED
from specs.model.spec import AttributeSpec, Example, ParameterSpec, Spec, Value

_WORDS = {
    "int": ("int", "integer"),
    "float": ("float",),
    "string": ("string",),
    "ints": ("int[]", "a list of ints"),
    "floats": ("float[]",),
    "strings": ("string[]", "a list of strings"),
    "boolean": ("boolean",),
    "double": ("double",),
    "boolean[]": ("boolean[]",),
    "double[]": ("double[]",),
}
_PHRASES: dict[frozenset[str], tuple[str, ...]] = {
    frozenset(NUMERIC): (
        "any numeric type.",
        "any supported numeric type.",
        "Any numeric type",
        "numeric type.",
    ),
    frozenset(FLOATS): (
        "any floating-point type.",
        "any supported floating-point type.",
        "arbitrary supported floating-point type.",
        "floating-point type.",
        "any floating point type.",
    ),
    frozenset((*SIGNED, *UNSIGNED)): ("any integer type.", "any supported integer types.", "integer type."),
    frozenset((*FLOATS, *SIGNED)): ("any supported signed numeric type.",),
    frozenset(("uint8", *FLOATS)): ("{uint8} or any supported floating-point type.",),
    frozenset(("bool",)): ("{boolean}.", "boolean type.", "{boolean} type."),
    frozenset(EVERY): ("any type.",),
}
_PRECISIONS = {
    "float": "f32",
    "float16": "f16",
    "double": "f64",
    "int64": "i64",
    "uint8": "u8",
    "bool": "boolean",
}


@dataclass(frozen=True)
class Markup:
    """What one generation does its own way."""

    dialect: str
    literal: Callable[[str], str]
    head: Callable[[str, str], list[str]]
    code: Callable[[Sequence[str]], list[str]]
    colon: str
    escaped: str


def _underlined(title: str, name: str) -> list[str]:
    return [title, "=" * len(title), "", "", ".. meta::", f"  :description: Learn about {name}.", ""]


def _labelled(title: str, name: str) -> list[str]:
    label = f".. _doxid-openvino_docs_ops__{name.lower().replace('-', '_')}:"
    return [f".. index:: pair: page; {name}", label, "", "", title, "=" * len(title), ""]


MARKUPS = (
    Markup(
        "openvino-markdown",
        lambda text: f"`{text}`",
        lambda title, name: [f"# {title} {{#openvino_docs_ops_{name.replace('-', '_')}}}", ""],
        lambda lines: ["```xml", *lines, "```"],
        ":",
        "*",
    ),
    Markup(
        "openvino-rst",
        lambda text: f"``{text}``",
        _underlined,
        lambda lines: [".. code-block:: xml", "   :force:", "", *(f"   {line}" for line in lines)],
        ":",
        "\\*",
    ),
    Markup(
        "openvino-doxyrest",
        lambda text: f"``{text}``",
        _labelled,
        lambda lines: [".. ref-code-block:: cpp", "", *(f"\t{line}" for line in lines)],
        " :",
        "\\*",
    ),
)


def emit_page(spec: Spec, markup: Markup, choices: Random) -> str:
    """A page that states the facts of a spec; examples are its XML layers."""
    return "\n".join(_Writer(spec, markup, choices).lines()) + "\n"


@dataclass
class _Writer:
    spec: Spec
    markup: Markup
    choices: Random

    def lines(self) -> Iterator[str]:
        spec, colon = self.spec, self.markup.colon
        name = f"{spec.operator.name}-{spec.operator.since_version}"
        yield from self.markup.head(spec.operator.name, name)
        yield from (
            f"**Versioned name**{colon} *{name}*",
            "",
            f"**Category**{colon} *{spec.category or 'Other'}*",
            "",
        )
        yield from (f"**Short description**{colon} *{spec.operator.name}* does what it does.", "")
        yield from (
            f"**Detailed description**{colon} It computes 2 {self.markup.escaped} 3 of the first input.",
            "",
        )
        if spec.attributes:
            yield from (self._title("Attributes"), "")
            for attribute in spec.attributes.values():
                yield from self._attribute(attribute)
        else:
            yield from (f"**Attributes**{colon} {self.choices.choice(['no attributes', 'none here'])}.", "")
        groups = (("Inputs", spec.inputs, spec.input_arity), ("Outputs", spec.outputs, spec.output_arity))
        for title, parameters, arity in groups:
            if arity is None:
                continue
            yield from (self._title(title), "")
            if not parameters:
                yield from (f"There are no {title.lower()}.", "")
            for position, parameter in enumerate(parameters, 1):
                yield from (self._parameter(position, parameter, title == "Inputs"), "")
        if spec.type_constraints:
            yield from (self._title("Types"), "")
            for constraint in spec.type_constraints.values():
                yield f"* *{constraint.name}*: {self._phrase(constraint.types)}"
            yield ""
        yield from ("**Example**", "")
        for example in spec.examples:
            yield from (*self.markup.code(list(self._layer(example))), "")

    def _title(self, title: str) -> str:
        forms = [f"**{title}**", f"**{title}**{self.markup.colon}"]
        return self.choices.choice([*forms, f"**{title}:**"] if self.markup.colon == ":" else forms)

    def _marked(self, word: str) -> str:
        return self.choices.choice([word, f"*{word}*", self.markup.literal(word)])

    def _attribute(self, spec: AttributeSpec) -> Iterator[str]:
        colon = self.markup.colon
        yield from (self.choices.choice([f"* *{spec.name}*", f"* *{spec.name}*"]), "")
        yield f"  * **Description**{colon} *{spec.name}* is what it is."
        yield from self._range(spec)
        narrow = spec.other_type or spec.kind or "int"
        word = self.choices.choice(_WORDS.get(narrow, (f"*{narrow}*",)))
        yield f"  * **Type**{colon} {self.choices.choice([word, self.markup.literal(word)])}"
        if spec.has_default:
            yield f"  * **Default value**{colon} {self._default(spec)}"
        elif self.choices.random() < 0.2:
            yield f"  * **Default value**{colon} None"
        yield f"  * **Required**{colon} *{'yes' if spec.required else 'no'}*"
        yield ""

    def _range(self, spec: AttributeSpec) -> Iterator[str]:
        head = f"  * **Range of values**{self.markup.colon}"
        if spec.values is None:
            yield f"{head} {self._bounds(spec)}"
            return
        values = [_word(value, spec) for value in spec.values.values]
        bulleted = len(values) < 2 or "" in values or self.choices.random() < 0.5
        if not bulleted:
            listed = [
                self.choices.choice([self.markup.literal(value), f"*{value}*", f'"{value}"'])
                for value in values
            ]
            intro = self.choices.choice(["", "one of "])
            yield f"{head} {intro}{', '.join(listed[:-1])} or {listed[-1]}"
            return
        yield self.choices.choice([head, f"{head} Name of the mode in string format:"])
        yield ""
        for value in values:
            mark = (
                self.choices.choice([f"*{value}*", self.markup.literal(value)])
                if value
                else '"" (empty string)'
            )
            yield f"    * {mark} - it does so"
        yield ""

    def _bounds(self, spec: AttributeSpec) -> str:
        if spec.kind in ("string", "strings", None):
            return "any non-empty string"
        whole = spec.kind in ("int", "ints")
        noun = "integer" if whole else "floating-point number"
        if spec.at_least is not None and spec.at_most is not None:
            return f"a number in close range {self.markup.literal(f'[{spec.at_least}, {spec.at_most}]')}."
        if spec.more_than is not None:
            return f"a positive {noun}" if spec.more_than == 0 else f"a {noun} greater than {spec.more_than}"
        if spec.at_least == 0:
            return self.choices.choice([f"a non-negative {noun}", f"a {noun} greater than or equal to 0"])
        if spec.at_least is not None:
            return f"an {noun} greater than or equal to {spec.at_least}"
        return self.choices.choice(
            [f"an arbitrary {noun}", f"a list of {noun}s" if (spec.kind or "").endswith("s") else f"a {noun}"]
        )

    def _default(self, spec: AttributeSpec) -> str:
        value = spec.default
        if spec.kind == "string":
            return (
                '"" (empty string)'
                if value == ""
                else self.choices.choice([f'"{value}"', self.markup.literal(value), f"*{value}*"])
            )
        if spec.kind == "strings":
            return f"*{','.join(value)}*" if value else "[]"
        if isinstance(value, list | tuple):
            return self.choices.choice(["{}", self.markup.literal("{}")]).format(
                f"[{', '.join(map(repr, value))}]"
            )
        if isinstance(value, float) and math.isinf(value):
            return "*infinity* that means that nothing is clipped"
        word = _word(value, spec)
        return self.choices.choice(
            [word, self.markup.literal(word), f"{self.markup.literal(word)} meaning to keep it"]
        )

    def _parameter(self, position: int, spec: ParameterSpec, is_input: bool) -> str:
        number = f"{position}..N" if spec.option == "variadic" else str(position)
        rank = f"{spec.rank}D tensor" if spec.rank else self.choices.choice(["A tensor", "tensor"])
        shape = f" with shape {self.markup.literal('[' + ', '.join(spec.shape) + ']')}" if spec.shape else ""
        kind = "" if spec.type == "unknown" else f" of type *{spec.type}*"
        if kind and spec.type in self.spec.type_constraints and self.choices.random() < 0.3:
            kind = f" of *{spec.type}* type"
        marker = ""
        if is_input and spec.option != "variadic":
            word = "Required" if spec.option == "single" else "Optional"
            marker = self.choices.choice([f" **{word}.**", f" **{word}**.", f" {word}."])
        elif spec.option == "optional":
            marker = " **Optional.**"
        dash = " -" if marker else self.choices.choice([" -", ""])
        name = self.markup.literal(spec.name)
        return f"* **{number}**{self.markup.colon} {name}{dash} {rank}{kind}{shape}.{marker}"

    def _phrase(self, types: Sequence[str]) -> str:
        phrases = _PHRASES.get(frozenset(types), ())
        if phrases:
            uint8, boolean = self.markup.literal("uint8"), self.markup.literal("boolean")
            return self.choices.choice(phrases).format(uint8=uint8, boolean=boolean)
        words = [self.markup.literal(_PRECISIONS.get(each, each)) for each in types]
        if len(words) == 1:
            return f"{words[0]}."
        return f"{', '.join(words[:-1])} or {words[-1]}."

    def _layer(self, example: Example) -> Iterator[str]:
        identity = self.choices.choice(["...", 'id="1"'])
        yield f'<layer {identity} type="{self.spec.operator.name}" ...>'
        if example.attributes:
            pairs = [
                f"{key}={quoteattr(self._text(key, value))}" for key, value in example.attributes.items()
            ]
            yield f"    <data {' '.join(pairs)}/>"
        for tag, values in (("input", example.inputs), ("output", example.outputs)):
            if values:
                yield f"    <{tag}>"
                for position, (name, value) in enumerate(values):
                    yield from self._port(position, name, value)
                yield f"    </{tag}>"
        yield "</layer>"

    def _port(self, position: int, name: str, value: Value | None) -> Iterator[str]:
        if value is None:
            yield f'        <port id="{position}"><dim>N</dim></port>'
            return
        precision = f' precision="{(value.element_type or "").upper()}"' if value.element_type else ""
        comment = ""
        if value.data is not None:
            label = self.choices.choice([f"{name}: ", f"{name} value: ", f"{name} value is: "])
            comment = f"  <!-- {label}{_nested(value.data, value.shape)} -->"
        yield f'        <port id="{position}"{precision}>{comment}'
        for extent in value.shape:
            yield f"            <dim>{extent}</dim>"
        yield "        </port>"

    def _text(self, name: str, value: Any) -> str:
        attribute = self.spec.attributes.get(name)
        if isinstance(value, list | tuple):
            return ",".join(map(str, value))
        return _word(value, attribute) if attribute else str(value)


def _word(value: Any, spec: AttributeSpec) -> str:
    if spec.other_type == "boolean":
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _nested(data: Sequence[Any], shape: Sequence[int]) -> str:
    """The elements in brackets, as the shape has them."""
    if not shape:
        return str(data[0])
    if len(shape) == 1:
        return f"[{', '.join(map(str, data))}]"
    step = len(data) // shape[0] if shape[0] else 0
    rows = [_nested(data[each * step : (each + 1) * step], shape[1:]) for each in range(shape[0])]
    return f"[{', '.join(rows)}]"


def essence(spec: Spec) -> Mapping[str, Any]:
    """What a page states about an operator, without places, prose and the rules that found it."""
    return {
        "operator": str(spec.operator),
        "category": spec.category,
        "attributes": {
            name: (
                attribute.kind,
                attribute.other_type,
                attribute.required,
                attribute.has_default,
                attribute.default,
                attribute.at_least,
                attribute.more_than,
                attribute.at_most,
                None if attribute.values is None else (attribute.values.values, attribute.values.proposed),
            )
            for name, attribute in spec.attributes.items()
        },
        "inputs": [
            (parameter.name, parameter.option, parameter.type, parameter.rank, parameter.shape)
            for parameter in spec.inputs
        ],
        "outputs": [
            (output.name, output.option, output.type, output.rank, output.shape) for output in spec.outputs
        ],
        "types": {
            name: sorted(type_constraint.types) for name, type_constraint in spec.type_constraints.items()
        },
        "arity": (spec.input_arity, spec.output_arity),
        "examples": [
            (
                dict(example.attributes),
                [(name, _value(value)) for name, value in example.inputs],
                [(name, _value(value)) for name, value in example.outputs],
            )
            for example in spec.examples
        ],
    }


def _value(value: Value | None) -> Any:
    return None if value is None else (value.shape, value.data, value.element_type)
