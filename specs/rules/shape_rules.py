"""Rules on ranks, shapes and ranges that one page states: each against the other, and against examples."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from specs.documents.pages.pages import Version
from specs.model.spec import Example
from specs.rules import Told, check

MOST_LETTERS, MOST_PLACES = 50_000, 100
"""How far into a passage the rules look, and for how many places: hostile text may hold millions."""

_RANK = re.compile(
    r"(?<![\w.-])(?P<rank>\d)-?D(?:imensional)? (?:\w+ ){0,3}?(?:tensor|array|blob)\b"
    r"|(?<![\w-])rank[- ](?P<other>\d)\b"
)
_ANY_RANK = re.compile(r"(?<![\w.-])(\d)-?D\b|\bN-?D\b")
_SHAPE = re.compile(
    r"(?P<lead>\b(?:shape|layout|dimensions?)\b[^.\[(]{0,25}|\btensor (?:of |with )?[`*]*)"
    r"(?P<open>[\[(])(?P<extents>[^\[\]().]{1,120}(?:[\[(][^\[\]()]{0,60}[\])][^\[\]().]{0,120}){0,6})[\])]"
)
_SENTENCE = re.compile(r"\.(?: |$)")
_NO_LIST = re.compile(r"\.\.\.|…|\*\s*,|\bor\b|\band\b|=|:|<|>|\bx\b|\bn\b$")
_EXTENT = re.compile(r"[\w\s+*/%^`\\-]+(?:[\[(][^\[\]()]*[\])][\w\s+*/%-]*)*")
_RANGE = re.compile(
    r"\b(?P<lead>range|between|interval)\b[^\[(\n]{0,40}[`$]*[\[(]\s*"
    r"(?P<low>-?[\w. ]{1,40}?(?:\(\w{1,40}\))?(?: ?[-+] ?\w{1,20})?)\s*,\s*"
    r"(?P<high>-?[\w. ]{1,40}?(?:\(\w{1,40}\))?(?: ?[-+] ?\w{1,20})?)\s*[\])]"
)
_BETWEEN = re.compile(
    r"\b(?:(?:between|range of) (?P<low>-?\d+(?:\.\d+)?) and|range from (?P<from>-?\d+(?:\.\d+)?) to)"
    r" (?P<high>-?\d+(?:\.\d+)?)(?![\w.]*\d)"
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@check("warning")
def rank_vs_shape(version: Version) -> Iterator[Told]:
    """The text gives a tensor a rank, and a shape of another number of extents.

    One finding for each sentence about an input or output with one rank and shapes of another one.
    """
    for about, passage in version.passages.items():
        if not about.startswith(("inputs", "outputs")):
            continue
        for start, sentence in _sentences(passage.text[:MOST_LETTERS]):
            ranks = list(islice(_RANK.finditer(sentence), MOST_PLACES))
            shapes = list(islice(_SHAPE.finditer(sentence), MOST_PLACES))
            counts = {_count(match["extents"]) for match in shapes}
            if len(set(_ANY_RANK.findall(sentence))) > 1 or len(counts) != 1 or None in counts:
                continue
            if len({_digit(match) for match in ranks}) != 1:
                continue
            if shapes[0].start() < ranks[0].start():
                continue
            rank, count = _digit(ranks[0]), counts.pop()
            if rank != count:
                message = f"the text about {about} gives a tensor of rank {rank} a shape of {count} extents"
                evidence = sentence[ranks[0].start() : shapes[0].end()][:200]
                yield Told(passage.source(start + ranks[0].start()), message, evidence)


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for match in _SENTENCE.finditer(text):
        yield start, text[start : match.start()]
        start = match.end()
    yield start, text[start:]


def _digit(match: re.Match[str]) -> int:
    return int(match["rank"] or match["other"])


def _count(extents: str) -> int | None:
    """The number of extents of a shape in brackets; None where it is no plain list of them."""
    if _NO_LIST.search(extents):
        return None
    parts: list[str] = [""]
    depth = 0
    for letter in extents:
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    if not parts[-1].strip():
        parts.pop()
    # Several words are prose: (batch size and so on).
    plain = all(_EXTENT.fullmatch(part) and len(part.split()) < 8 for part in parts)
    return len(parts) if plain and (len(parts) > 1 or not re.search(r"[a-z]{3}", parts[0])) else None


@check("warning")
def range_exchanged(version: Version) -> Iterator[Told]:
    """The lower end of a range is above its upper one.

    One finding for each range in brackets, or between two numbers, whose ends are exchanged.
    """
    for about, passage in version.passages.items():
        text = passage.text[:MOST_LETTERS]
        brackets = islice(_RANGE.finditer(text), MOST_PLACES)
        for match in (*brackets, *islice(_BETWEEN.finditer(text), MOST_PLACES)):
            if _is_above(match["low"] or match["from"], match["high"]):
                message = f"a range of the text about {about} begins with its upper end"
                yield Told(passage.source(match.start("high")), message, match[0])


def _is_above(low: str, high: str) -> bool:
    """Whether an end of a range is surely above the other: a number, or a length against its negative."""
    low, high = low.replace(" ", ""), high.replace(" ", "")
    if _NUMBER.fullmatch(low) and _NUMBER.fullmatch(high):
        return float(low) > float(high)
    if low.startswith("-"):
        return False
    length = re.match(r"[A-Za-z_]\w*(?:\(\w+\))?", low)
    if length is None:
        return False
    return high in (f"-{length[0]}", "0") or high.startswith(f"-{length[0]}-")


_EQUAL_SHAPE = re.compile(
    r"\b(?:shape|shape and type) (?:equal to|same as|identical to) (?:the )?`(?P<name>\w+)`(?! *\[)"
)
_OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_DEEPEST = 40
_MOST_EXTENT = 2**40


@check("warning", ("onnx", "openvino"))
def example_vs_formula(version: Version) -> Iterator[Told]:
    """An example's output has another extent than the text's formula gives for its inputs.

    One finding for each output whose shape the text writes with extents of inputs and attributes, or gives as
    that of an input, at the first example in which it is another.
    """
    spec = version.spec
    for output in spec.outputs:
        yield from _not_as_the_input(version, output.name)
        for example in spec.examples:
            values = [value for name, value in example.outputs if name == output.name]
            if output.shape is None or len(values) != 1 or values[0] is None:
                continue
            shape = values[0].shape
            known = _known_extents(version, example)
            if known is None or len(shape) != len(output.shape) or "..." in output.shape:
                continue
            for position, (text, extent) in enumerate(zip(output.shape, shape, strict=True)):
                value = compute(text, known)
                if value is not None and value != extent:
                    message = f"example {example.id} gives {output.name} the shape {list(shape)}"
                    evidence = f"extent {position} is {text}, which is {value} for the inputs"
                    place = version.port_line(values[0].source or example.source, output.name, position)
                    yield Told(place, message, evidence)
                    break


def _not_as_the_input(version: Version, output: str) -> Iterator[Told]:
    passage = version.passages.get(f"outputs.{output}")
    match = _EQUAL_SHAPE.search(passage.text[:MOST_LETTERS]) if passage is not None else None
    if match is None:
        return
    for example in version.spec.examples:
        inputs, outputs = dict(example.inputs), dict(example.outputs)
        given, made = inputs.get(match["name"]), outputs.get(output)
        if given is not None and made is not None and given.shape != made.shape:
            message = f"example {example.id} gives {output} the shape {list(made.shape)}"
            evidence = f"{match[0]}, which has {list(given.shape)}"
            unlike = _first_difference(made.shape, given.shape)
            place = version.port_line(made.source or example.source, output, unlike)
            yield Told(place, message, evidence)
            return


def _first_difference(first: Sequence[object], second: Sequence[object]) -> int:
    """The first place at which two shapes differ."""
    pairs = zip(first, second, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), 0)


def _known_extents(version: Version, example: Example) -> dict[str, int] | None:
    """The names of extents that the shapes of inputs bind, and the numbers among the attributes.

    None where the inputs contradict each other: another rule tells that.
    """
    known: dict[str, int] = {}
    for name, attribute in version.spec.attributes.items():
        value = example.attributes.get(name, attribute.default if attribute.has_default else None)
        if isinstance(value, int) and not isinstance(value, bool):
            known[name] = value
        elif isinstance(value, list | tuple):
            known |= {f"{name}[{index}]": item for index, item in enumerate(value) if isinstance(item, int)}
    values = dict(example.inputs)
    for parameter in version.spec.inputs:
        value = values.get(parameter.name)
        if parameter.shape is None or value is None or len(parameter.shape) != len(value.shape):
            continue
        for text, extent in zip(parameter.shape, value.shape, strict=True):
            if re.fullmatch(r"[A-Za-z_]\w*", text) and known.setdefault(text, extent) != extent:
                return None
    return known


def compute(text: str, known: Mapping[str, int]) -> int | None:
    """An extent written with names, numbers and arithmetic; None where it holds anything else."""
    try:
        return _compute(ast.parse(text.strip()[:200], mode="eval").body, known, 0)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _compute(node: ast.expr, known: Mapping[str, int], depth: int) -> int | None:
    if depth > _DEEPEST:
        return None
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name | ast.Subscript):
        return known.get(ast.unparse(node))
    if isinstance(node, ast.BinOp):
        left, right = _compute(node.left, known, depth + 1), _compute(node.right, known, depth + 1)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Div | ast.FloorDiv):
            return left // right if right and left % right == 0 else None
        apply = _OPERATIONS.get(type(node.op))
        value = apply(left, right) if apply is not None else None
        return value if value is not None and abs(value) < _MOST_EXTENT else None
    return None
