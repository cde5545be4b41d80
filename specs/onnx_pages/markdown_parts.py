"""The parts of an operator version in ONNX's generated Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from opcert.attributes import AttributeKind
from specs.documents import Line, Passage
from specs.model import Arity
from specs.onnx_pages.parts import Item, Parts, split_types
from specs.worked.examples import ExampleText

_SECTION = re.compile(
    r"^#### (?P<title>Version|Attributes|Inputs|Outputs|Type Constraints|Examples|Function Body)"
    r"(?: \((?P<least>\d+) - (?P<most>\d+|&#8734;)\))?$"
)
_TERM = re.compile(r"^<dt><tt>(?P<name>[^<]*)</tt>(?: \((?P<words>[^)]*)\))? : (?P<type>.*)</dt>$")
_DEFAULT = re.compile(r"^(?P<kind>[\w ]+?) \(default is (?P<default>.*)\)$")
_KINDS: dict[str, AttributeKind] = {
    "int": "int",
    "float": "float",
    "string": "string",
    "list of ints": "ints",
    "list of floats": "floats",
    "list of strings": "strings",
}


def read_markdown_parts(lines: Sequence[Line], deprecated: bool) -> Parts:
    """The parts of one version out of its lines."""
    sections: dict[str, list[Line]] = {"": []}
    arities: dict[str, Arity] = {}
    current, fenced = "", False
    for line in lines:
        if line.text.lstrip().startswith("```"):
            fenced = not fenced
        match = None if fenced else _SECTION.match(line.text)
        if match:
            current = match["title"]
            sections.setdefault(current, [])
            if match["least"]:
                most = None if match["most"].startswith("&") else int(match["most"])
                arities[current] = Arity(int(match["least"]), most)
        else:
            sections[current].append(line)
    attributes = [_attribute(*each) for each in _terms(sections.get("Attributes", ()))]
    inputs = [_parameter(*each) for each in _terms(sections.get("Inputs", ()))]
    outputs = [_parameter(*each) for each in _terms(sections.get("Outputs", ()))]
    return Parts(
        summary=Passage(sections[""]),
        attributes=attributes,
        inputs=inputs,
        outputs=outputs,
        type_constraints=[_constraint(*each) for each in _terms(sections.get("Type Constraints", ()))],
        input_arity=arities.get("Inputs", Arity(len(inputs), len(inputs))),
        output_arity=arities.get("Outputs", Arity(len(outputs), len(outputs))),
        examples=list(_examples(sections.get("Examples", ()))),
        deprecated=deprecated,
    )


Term = tuple[re.Match[str], Line, Passage]


def _terms(lines: Sequence[Line]) -> Iterator[Term]:
    """The terms of a definition list, each with its line and description."""
    found: tuple[re.Match[str], Line] | None = None
    description: list[Line] = []
    for line in lines:
        match = _TERM.match(line.text)
        if match or line.text == "</dl>":
            if found is not None:
                yield (*found, Passage(description))
            found = (match, line) if match else None
            description = []
        elif found is not None:
            text = line.after(4) if line.text.startswith("<dd>") else line
            description.append(Line(html.unescape(text.text.removesuffix("</dd>")), text.number, text.column))
    if found is not None:
        yield (*found, Passage(description))


def _attribute(match: re.Match[str], line: Line, description: Passage) -> Item:
    text = match["type"]
    words: tuple[str, ...] = ()
    default = _DEFAULT.match(text)
    kind = default["kind"] if default else text
    if kind.endswith(" (required)"):
        kind, words = kind.removesuffix(" (required)"), ("required",)
    return Item(
        name=match["name"],
        line=line,
        description=description,
        kind=_KINDS.get(kind),
        other_type=None if kind in _KINDS else kind,
        words=words,
        default=html.unescape(default["default"]) if default else None,
    )


def _parameter(match: re.Match[str], line: Line, description: Passage) -> Item:
    words = tuple(each.strip() for each in (match["words"] or "").split(","))
    derivable = {"differentiable": True, "non-differentiable": False}
    return Item(
        name=match["name"],
        line=line,
        description=description,
        type=html.unescape(match["type"]),
        words=words,
        homogeneous="heterogeneous" not in words,
        differentiable=next((derivable[each] for each in words if each in derivable), None),
    )


def _constraint(match: re.Match[str], line: Line, description: Passage) -> Item:
    types = tuple(split_types(html.unescape(match["type"])))
    return Item(name=match["name"], line=line, description=description, types=types)


def _examples(lines: Sequence[Line]) -> Iterator[ExampleText]:
    title: tuple[str, Line] | None = None
    code: list[Line] | None = None
    for line in lines:
        summary = re.match(r"^<summary>(.*)</summary>$", line.text) if code is None else None
        if summary:
            title = (summary[1], line)
        elif line.text.startswith("```"):
            if code is not None and title is not None:
                yield ExampleText(title[0], code, title[1].source())
            code = [] if code is None else None
        elif code is not None:
            code.append(line)
