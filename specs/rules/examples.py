"""Rules on examples of a page: their calls beside what the page says of attributes, shapes and names."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opcert.vocabulary.attributes import AttributeKind
from specs.documents.pages.pages import Block, Version
from specs.documents.text.documents import Line
from specs.model.spec import AttributeSpec, Example, Source, Value
from specs.model.statements import Rank, SameShape, StatedShape, Statement, describe, is_proposed
from specs.rules import Told, check
from specs.rules.attribute_rules import broken_bound

_GIVEN = re.compile(r"(?<![\w.])(\w+)=(True|False)\b")
_NUMBERS = re.compile(r"\b(?:set to|is|equals?) [01]\b")
_TRUTH = re.compile(r"\b(?:true|false)\b", re.IGNORECASE)
_ITEM_TYPES: dict[str, type | tuple[type, ...]] = {"ints": int, "floats": (int, float), "strings": str}
_NODE = re.compile(r"\bmake_node\(")
_DATA = re.compile(r"<data\b")
_MOST_NODE_LINES = 12
_EXAMPLE_NUMBER = re.compile(r"\((\d)\) For\b")
_ARRAY = re.compile(r"(?<![\w`])(\w+) =\s*(?=\[\[\[|$)")
_CALL = re.compile(r"(?<![\w.\"'])([a-z_]\w*)\(")
_GONE_THROUGH = re.compile(r"\bfor \w+(?:, ?\w+)* in ([a-z_]\w*)(?=\s*[:\])])")
_DEFINED = re.compile(
    r"\b(?:def|class|import|as|for)\s+(\w+)|^[ \t]*(\w+)[ \t]*(?::[^=\n]{1,100})?=[^=]|\blambda (\w+)", re.M
)
_FUNCTION = re.compile(r"^\s*def (\w+)\(")
_IMPORTED = re.compile(r"\bimport +\(?((?:\w+(?: as \w+)?[,\s]*)+)")
_KNOWN = frozenset(dir(builtins)) | {"expect", "lambda", "if", "in", "not", "and", "or", "return", "for"}
_INSERTED = re.compile(
    r"\b[Ii]nsert (?P<count>\d+) pads? to .{0,200}?\bpads = \[(?P<pads>[-\d, ]+)\]", re.DOTALL
)
_TAG = re.compile(r"<\w[^<>]*\.\.\.[^<>]*>?")


@check("hint")
def attribute_type_vs_example(version: Version) -> Iterator[Told]:
    """An example gives an attribute a value of another type than it has.

    One finding for each node with True or False for an integer, and for each attribute of another type.
    """
    yield from _truth_values(version)
    told: set[str] = set()
    for example in version.spec.examples:
        for name, value in example.attributes.items():
            known = version.spec.attributes.get(name)
            if known is None or known.kind is None or name in told or fits(known.kind, value):
                continue
            told.add(name)
            message = f"example {example.id} gives {name} the value {value!r}, which is none of its type"
            yield Told(example.source, message, f"{name} is {known.kind}", severity="warning")


def fits(kind: AttributeKind, value: Any) -> bool:
    """Whether a value can be an attribute's; a whole number may stand for a float, an empty list for any."""
    if kind.endswith("s"):
        return isinstance(value, list | tuple) and all(isinstance(item, _ITEM_TYPES[kind]) for item in value)
    return isinstance(value, _ITEM_TYPES[f"{kind}s"])


def _truth_values(version: Version) -> Iterator[Told]:
    attributes = version.spec.attributes
    for block in version.blocks:
        depth = 0
        for line in block.lines:
            start = 0
            if depth == 0:
                call = _NODE.search(line.text)
                if call is None:
                    continue
                start = call.start()
            for match in _GIVEN.finditer(line.text, start):
                known = attributes.get(match[1])
                passage = version.passages.get(f"attributes.{match[1]}")
                if known is None or passage is None or _TRUTH.search(passage.text):
                    continue
                if known.kind == "int" or (known.kind is None and _NUMBERS.search(passage.text)):
                    message = f"example {block.title} gives {match[1]} as {match[2]}, which is no integer"
                    evidence = f"{match[0]}; the attribute is {known.kind or 'set to 1 in the text'}"
                    yield Told(line.source(match.start()), message, evidence, "repaired")
            depth = max(depth + line.text[start:].count("(") - line.text[start:].count(")"), 0)


@check("warning", ("onnx",))
def attribute_unknown_in_example(version: Version) -> Iterator[Told]:
    """An example gives an attribute that the page does not describe.

    One finding for each attribute of an ONNX page's examples that the operator lacks, at the first node. The
    importer of OpenVINO's pages compares while it reads.
    """
    told: set[str] = set()
    known = version.spec.attributes
    for example in () if version.spec.deprecated else version.spec.examples:
        for name in example.attributes:
            if name not in known and name not in told:
                told.add(name)
                message = f"example {example.id} gives {name}, which the page does not describe"
                yield Told(example.source, message, f"the attributes are {', '.join(known) or 'none'}")


@check("warning", ("tensorflow",))
def duplicate_name(version: Version) -> Iterator[Told]:
    """An example gives its input and its output the same name.

    One finding for each numbered example in which one name is given two arrays.
    """
    number = None
    named: dict[str, Line] = {}
    for line in version.lines:
        tokens = [*_EXAMPLE_NUMBER.finditer(line.text), *_ARRAY.finditer(line.text)]
        for match in sorted(tokens, key=lambda token: token.start()):
            name = match[1]
            if match.re is _EXAMPLE_NUMBER:
                number, named = name, {}
            elif number is not None and name in named:
                message = f"example {number} calls its input and its output {name}"
                evidence = f"the other stands at line {named[name].number}"
                yield Told(line.source(match.start()), message, evidence, "repaired")
            else:
                named[name] = line


@check("warning", ("onnx",))
def example_outside_values(version: Version) -> Iterator[Told]:
    """An example gives an attribute a value that the page does not allow.

    One finding for each attribute and value of an ONNX page's examples that a sure list leaves out.
    """
    told: set[tuple[str, str]] = set()
    for example in version.spec.examples:
        for name, value in example.attributes.items():
            attribute = version.spec.attributes.get(name)
            for word in _outside(attribute, value):
                if (name, word) not in told:
                    told.add((name, word))
                    allowed = ", ".join(map(str, attribute.allowed or ())) if attribute else ""
                    message = (
                        f"example {example.id} gives {name} the value {word!r}, which the text leaves out"
                    )
                    yield Told(example.source, message, f"the text lists {allowed}")


@check("warning")
def example_outside_range(version: Version) -> Iterator[Told]:
    """An example gives an attribute a number outside of its range.

    One finding for each attribute, at the first example that has such a number.
    """
    told: set[str] = set()
    for example in version.spec.examples:
        for name, value in example.attributes.items():
            attribute = version.spec.attributes.get(name)
            if attribute is None or name in told:
                continue
            bound = broken_bound(attribute, value if isinstance(value, list | tuple) else [value])
            if bound is not None:
                told.add(name)
                message = f"example {example.id} gives {name} a value outside of its range"
                yield Told(_given_at(version, example, name), message, f"{value}; the range is {bound}")


def _given_at(version: Version, example: Example, name: str) -> Source:
    """The line in which an example's node gives an attribute; that of the example where none is found."""
    start = version.page.position(example.source)
    given = re.compile(rf"(?<![\w.]){re.escape(name)}\s*=")
    lines = version.page.lines[start : start + _MOST_NODE_LINES]
    return next((line.source() for line in lines if given.search(line.text)), example.source)


@check("error", ("onnx", "openvino"))
def attribute_missing_in_example(version: Version) -> Iterator[Told]:
    """An example's node lacks an attribute that it must have.

    One finding for each attribute that is required and that an example does not give; nodes with attributes
    that dots leave out have them all.
    """
    required = [attribute.name for attribute in version.spec.attributes.values() if attribute.required]
    told: set[str] = set()
    for example in version.spec.examples if required else ():
        missing = [name for name in required if name not in example.attributes and name not in told]
        place = _node_line(version, example) if missing else None
        if place is None:
            continue
        told.update(missing)
        message = f"example {example.id} does not give {', '.join(missing)}"
        yield Told(
            place.source(), message, f"required; the example gives {', '.join(example.attributes) or 'none'}"
        )


def _node_line(version: Version, example: Example) -> Line | None:
    """The line of an example's node; None where dots may stand for attributes, or no data is shown."""
    start = version.page.position(example.source)
    lines = version.page.lines[start : start + _MOST_NODE_LINES]
    if version.page.dialect.startswith("onnx"):
        found = next((line for line in lines if _NODE.search(line.text)), None)
        unsure = any("**" in line.text for line in lines)
        return None if unsure else found
    data = next((line for line in lines if _DATA.search(line.text) or "</layer>" in line.text), None)
    elided = any(
        "..." in line.text for line in lines if _DATA.search(line.text) or line.text.strip() == "..."
    )
    return None if data is None or "</layer>" in data.text or elided else data


def _outside(attribute: AttributeSpec | None, value: Any) -> Iterator[str]:
    """The words of a value that are none of those allowed; a list of them has one for each element."""
    allowed = attribute.allowed if attribute is not None else None
    if allowed is None:
        return
    for word in value if isinstance(value, list | tuple) else [value]:
        if isinstance(word, str) and word and word not in allowed:
            yield word


@check("warning")
def example_shape_vs_text(version: Version) -> Iterator[Told]:
    """An example's tensor has another shape than the text says.

    One finding for each statement about shapes that an example does not keep to, at the first example. Only
    sure statements without a condition count, and of shapes those of tensors that the text gives one.
    """
    statements = [statement for statement in version.spec.statements if not is_proposed(statement)]
    alone = _alone(statements)
    told: set[Statement] = set()
    for example in version.spec.examples:
        values = _values(example)
        for statement in statements:
            if statement in told or (isinstance(statement, StatedShape) and statement not in alone):
                continue
            wrong = _contradicted(statement, values)
            if wrong is not None:
                told.add(statement)
                message = f"example {example.id} gives {statement.about} the shape {list(wrong.shape)}"
                place = wrong.source or example.source
                if version.page.dialect.startswith("openvino"):
                    unlike = _unlike_at(statement, wrong, values)
                    place = version.port_line(place, statement.about.partition(".")[2], unlike)
                yield Told(place, message, f"the text says {describe(statement)}")


def _alone(statements: list[Statement]) -> set[Statement]:
    """The shapes of tensors that the text gives one shape only."""
    shapes = [statement for statement in statements if isinstance(statement, StatedShape)]
    return {shape for shape in shapes if sum(other.about == shape.about for other in shapes) == 1}


def _values(example: Example) -> Mapping[str, Value]:
    """The tensors of an example by their paths; a variadic one's, whose name stands twice, are left out."""
    pairs = [
        (f"{group}.{name}", value)
        for group, values in (("inputs", example.inputs), ("outputs", example.outputs))
        for name, value in values
        if value is not None and value.items is None
    ]
    names = [name for name, _ in pairs]
    return {name: value for name, value in pairs if names.count(name) == 1}


def _contradicted(statement: Statement, values: Mapping[str, Value]) -> Value | None:
    """The tensor that is not as a statement says; None where it is, or where nothing tells."""
    value = values.get(statement.about)
    if value is None:
        return None
    if isinstance(statement, SameShape):
        other = values.get(statement.as_)
        if other is not None and statement.except_ is None and value.shape != other.shape:
            return value
    elif isinstance(statement, Rank) and statement.when is None:
        least, most = statement.least or "", statement.most or ""
        rank = len(value.shape)
        if (least.isdigit() and rank < int(least)) or (most.isdigit() and rank > int(most)):
            return value
    elif (
        isinstance(statement, StatedShape)
        and statement.when is None
        and _differs(statement.extents, value.shape)
    ):
        return value
    return None


def _unlike_at(statement: Statement, wrong: Value, values: Mapping[str, Value]) -> int:
    """The first extent of a tensor that is not as a statement says."""
    if isinstance(statement, SameShape):
        extents = tuple(map(str, values[statement.as_].shape))
    else:
        extents = statement.extents if isinstance(statement, StatedShape) else ()
    pairs = zip(extents, wrong.shape, strict=False)
    return next((at for at, (said, has) in enumerate(pairs) if said.isdigit() and int(said) != has), 0)


def _differs(extents: tuple[str, ...], shape: tuple[int, ...]) -> bool:
    if {"*", "..."} & {*extents}:
        return False
    if len(extents) != len(shape):
        return True
    return any(said.isdigit() and int(said) != extent for said, extent in zip(extents, shape, strict=True))


@check("hint", ("onnx",), convention=True)
def example_undefined_name(version: Version) -> Iterator[Told]:
    """Examples use helpers that the page neither defines nor imports.

    One finding for all functions of a version that its examples call, and lists that they go through, which
    are defined nowhere.
    """
    defined = {*_KNOWN, *(found[1] for line in version.lines if (found := _FUNCTION.match(line.text)))}
    blocks = [block for block in version.blocks if block.title]
    for block in blocks:
        text = "\n".join(_code(line.text) for line in block.lines)
        defined.update(name for match in _DEFINED.finditer(text) for name in match.groups() if name)
        for match in _IMPORTED.finditer(text):
            defined.update(re.findall(r"\w+", match[1]))
    missing: dict[str, Source] = {}
    what = "functions"
    for block in blocks:
        for line in block.lines:
            code = _code(line.text)
            lists = (match for match in _GONE_THROUGH.finditer(code) if _only_gone_through(match[1], blocks))
            for match in (*_CALL.finditer(code), *lists):
                if match[1] not in defined:
                    what = what if match.re is _CALL else "helpers"
                    missing.setdefault(match[1], line.source(match.start()))
    if missing:
        first = min(missing.values(), key=lambda source: (source.line, source.column or 0))
        message = f"examples compute what they expect with {what} that the page does not define"
        yield Told(first, message, ", ".join(missing))


def _only_gone_through(name: str, blocks: Sequence[Block]) -> bool:
    """Whether code says nothing of a list but that a loop goes through it."""
    lines = [line.text for block in blocks for line in block.lines]
    named = sum(len(re.findall(rf"(?<!\w){name}(?!\w)", text)) for text in lines)
    return named == sum(len(re.findall(rf"\bin {name}(?!\w)", text)) for text in lines)


def _code(text: str) -> str:
    """A line without its comment."""
    return text.split("#")[0] if "#" in text and '"' not in text.split("#")[0] else text


@check("warning")
def example_vs_text(version: Version) -> Iterator[Told]:
    """An example does what its own words do not say.

    One finding for each example that is said to insert another number of pads than it does.
    """
    passage = version.passages.get("summary")
    for match in _INSERTED.finditer(passage.text) if passage is not None else ():
        total = sum(int(number) for number in re.findall(r"-?\d+", match["pads"]))
        if passage is not None and total != int(match["count"]):
            message = f"the example is said to insert {match['count']} pads and inserts {total}"
            yield Told(passage.source(match.start()), message, f"pads = [{match['pads']}]")


@check("hint", convention=True)
def xml_elision(version: Version) -> Iterator[Told]:
    """An example is declared as XML and leaves something out with dots, which no parser reads.

    One finding for all start tags of a version with dots in place of attributes.
    """
    places = [
        (line, match)
        for block in version.blocks
        if block.language.lower() == "xml"
        for line in block.lines
        if (match := _TAG.search(line.text))
    ]
    if places:
        line, match = places[0]
        message = "the example is declared as XML, and dots stand where a parser expects attributes"
        evidence = f"{match[0]}; lines {', '.join(str(place.number) for place, _ in places)}"
        yield Told(line.source(match.start()), message, evidence, "repaired")
