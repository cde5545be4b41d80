"""The XML layers of a page as examples: attributes, shapes of ports, values that comments state."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opcert.vocabulary.attributes import AttributeKind
from specs.documents.openvino_pages.tokens import CodeBlock
from specs.documents.openvino_pages.type_words import find_precision
from specs.documents.openvino_pages.xml_elements import Element, Malformed, read_xml
from specs.documents.text.documents import KeepsFindings, Line
from specs.documents.worked.printed import read_printed
from specs.model.spec import Action, Example, Finding, ParameterSpec, Spec, Value

_LABELLED = re.compile(
    r"^(?P<label>[A-Za-z_][\w ]*?)(?:\s+values?)?\s*(?:\bis\b\s*)?[:=]?\s*"
    r"(?P<value>[\[{(].*[\]})]|[-+]?\d[\w.+-]*|true|false)\s*\.?$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?f?")


@dataclass(frozen=True)
class Commented:
    """A value: what it is said to be of, its shape (None for one number), elements, printed digits."""

    label: str
    shape: tuple[int, ...] | None
    data: tuple[Any, ...]
    decimals: int | None


def read_comment(text: str) -> Commented | None:
    """The value of a comment that is nothing but a name and a value; None where it is anything else."""
    match = _LABELLED.match(text)
    if match is None:
        match = re.match(r"^(?P<label>)(?P<value>\[.*\])$", text)
    if match is None:
        return None
    value = re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", match["value"], flags=re.I), flags=re.I)
    label = re.sub(r"(?: input)? contains?$", "", match["label"].strip().lower()).replace(" ", "_")
    if not value.startswith("["):
        return _single(label, value)
    printed = read_printed(value)
    if printed is None or printed.shape is None or value[printed.end :].strip():
        return None
    return Commented(label, printed.shape, printed.data, printed.decimals)


def _single(label: str, value: str) -> Commented | None:
    if value in ("True", "False"):
        return Commented(label, None, (value == "True",), None)
    if not _NUMBER.fullmatch(value):
        return None
    digits = value.rstrip("f")
    if "." not in digits and "e" not in digits.lower():
        return Commented(label, None, (int(digits),), None)
    fraction = digits.lower().partition("e")[0].partition(".")[2]
    return Commented(label, None, (float(digits),), len(fraction))


def fits_shape(value: Commented, shape: tuple[int, ...]) -> bool:
    """Whether the value has the shape that the port states; one number fits every shape of one element."""
    if value.shape is None:
        return math.prod(shape) == 1
    return value.shape == shape


_LAYER = re.compile(r"<\s*/?\s*layer\b|<\s*type=")
_OWN = frozenset(["id", "name", "type", "version"])
_BOOLEANS = {"true": 1, "false": 0}


@dataclass
class Layers(KeepsFindings):
    """Examples out of blocks of XML, and what is wrong with these."""

    spec: Spec
    examples: list[Example] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    blocks: int = 0
    parsed: int = 0
    mended: int = 0
    _mended: bool = False

    def read(self, blocks: Sequence[CodeBlock]) -> None:
        others: list[Element] = []
        for block in blocks:
            lines = _without_margin(block)
            if not lines or not (
                block.language == "xml" or _LAYER.search("\n".join(line.text for line in lines))
            ):
                continue
            if not any("<" in line.text for line in lines):
                continue
            self.blocks += 1
            root = read_xml(lines)
            self._mended = isinstance(root, Malformed) and root.mended is not None
            if isinstance(root, Malformed):
                message = "the example is no well-formed XML"
                action: Action = "noted" if root.mended is None else "repaired"
                self.find("xml-malformed", "warning", root.line, message, root.reason, action)
                if root.mended is None:
                    continue
                self.mended += 1
                root = root.mended
            else:
                self.parsed += 1
            found = [element for element in root.all("layer") if self._own(element)]
            others += (
                [element for element in root.all("layer") if not self._own(element)] if not found else []
            )
            for layer in found:
                self._layer(layer)
        if others and not self.examples:
            names = ", ".join(dict.fromkeys(other.attributes.get("type", "?") for other in others))
            message = f"no example shows {self.spec.operator.name}"
            evidence = f"layers of the type {names}"
            self.find("example-of-other-operator", "hint", others[0].line, message, evidence)

    def _own(self, layer: Element) -> bool:
        return layer.attributes.get("type", self.spec.operator.name) == self.spec.operator.name

    def _layer(self, layer: Element) -> None:
        name = f"layer_{len(self.examples) + 1}"
        kinds = {each: spec.kind for each, spec in self.spec.attributes.items()}
        attributes = self._misplaced(name, layer, kinds)
        for child in layer.children:
            if child.name == "data":
                attributes.update(
                    {key: decode(value, kinds.get(key)) for key, value in child.attributes.items()}
                )
        groups = {
            each: [port for child in layer.children if child.name == each for port in child.all("port")]
            for each in ("input", "output")
        }
        self.examples.append(
            Example(
                id=name,
                attributes=attributes,
                inputs=self._ports(layer, self.spec.inputs, groups["input"], "input"),
                outputs=self._ports(layer, self.spec.outputs, groups["output"], "output"),
                source=layer.line.source(),
                repaired=self._mended,
            )
        )
        self._check(name, layer, attributes, groups)

    def _misplaced(
        self, name: str, layer: Element, kinds: Mapping[str, AttributeKind | None]
    ) -> dict[str, Any]:
        """The operation's attributes that stand on the layer itself; its own are id, name, type, version."""
        given = {key: value for key, value in layer.attributes.items() if key in kinds and key not in _OWN}
        if given:
            message = f"{name} gives the operation's attributes on the layer, not in its data"
            self.find("attribute-misplaced", "hint", layer.line, message, ", ".join(given))
        return {key: decode(value, kinds[key]) for key, value in given.items()}

    def _check(
        self, name: str, layer: Element, attributes: Mapping[str, Any], groups: Mapping[str, list[Element]]
    ) -> None:
        known = self.spec.attributes
        unknown = [attribute for attribute in attributes if attribute not in known]
        if unknown:
            message = f"{name} gives attributes that the operation does not have"
            self.find("attribute-unknown-in-example", "warning", layer.line, message, ", ".join(unknown))
        for each, value in attributes.items():
            allowed = known[each].values if each in known else None
            if (
                allowed
                and not allowed.proposed
                and isinstance(value, str | int)
                and value not in allowed.values
            ):
                message = f"{name} gives {each} a value that is none of its values"
                evidence = f"{value!r}; {', '.join(map(str, allowed.values))}"
                self.find("example-outside-values", "warning", layer.line, message, evidence)
        for group, arity in (("input", self.spec.input_arity), ("output", self.spec.output_arity)):
            count = len(groups[group])
            limit = None
            if arity and arity.most is not None and count > arity.most:
                limit = f"at most {arity.most}"
            elif arity and group == "input" and 0 < count < arity.least:
                limit = f"at least {arity.least}"
            if limit is not None:
                message = f"{name} has {count} {group}s, the operation {limit}"
                self.find("arity-vs-example", "error", layer.line, message, f"{count} ports")

    def _ports(
        self, layer: Element, parameters: Sequence[ParameterSpec], ports: Sequence[Element], group: str
    ) -> tuple[tuple[str, Value | None], ...]:
        """The values of the ports in their order; further ones belong to the last, variadic parameter."""
        named: list[tuple[str, Value | None]] = []
        names = [parameter.name for parameter in parameters]
        variadic = bool(parameters) and parameters[-1].option == "variadic"
        for position, port in enumerate(ports):
            if position < len(names):
                name = names[position]
            elif variadic:
                name = names[-1]
            else:
                break
            named.append((name, self._value(port, layer.line, name, names)))
        return tuple(named)

    def _value(self, port: Element, place: Line, name: str, names: Sequence[str]) -> Value | None:
        dims = port.all("dim")
        extents = ["".join(dim.text.split()) for dim in dims]
        precision = find_precision(port.attributes.get("precision", ""))
        if not all(re.fullmatch(r"\d{1,9}", extent) for extent in extents):
            return None
        shape = tuple(int(extent) for extent in extents)
        for text, line in port.comments:
            found = read_comment(text)
            if found is None or not _speaks_of(found.label, name, names):
                continue
            if fits_shape(found, shape):
                return Value(shape, found.data, precision, line.source(), found.decimals)
            message = f"the value of {name} does not have the shape of its port"
            evidence = f"{list(found.shape or ())} where the port has {list(shape)}"
            self.find("brackets-vs-shape", "error", line, message, evidence)
        for text, line in dims[0].comments if len(dims) == 1 else ():
            found = read_comment(text)
            if found and found.shape == shape and (not found.label or found.label == name):
                return Value(shape, found.data, precision, line.source(), found.decimals)
        return Value(shape, None, precision, place.source())


def _speaks_of(label: str, name: str, names: Sequence[str]) -> bool:
    """Whether a comment's words can be about the value of a port: of no other one, and of no shape."""
    return (label == name or label not in names) and "shape" not in label.replace(name, "")


def decode(text: str, kind: AttributeKind | None) -> Any:
    """An attribute's value as XML writes it, by its kind; text where it is of none."""
    try:
        if kind in ("ints", "floats"):
            number = int if kind == "ints" else float
            return [number(_BOOLEANS.get(word.strip(), word)) for word in text.split(",") if word.strip()]
        if kind == "strings":
            return [word.strip() for word in text.split(",") if word.strip()]
        if kind == "int":
            return int(_BOOLEANS.get(text.strip().lower(), text))
        if kind == "float":
            return float(text)
    except ValueError:
        return text
    return text


def _without_margin(block: CodeBlock) -> list[Line]:
    """The lines of a block without the empty ones around it."""
    lines = list(block.lines)
    while lines and not lines[-1].text.strip():
        lines.pop()
    while lines and not lines[0].text.strip():
        lines.pop(0)
    return lines
