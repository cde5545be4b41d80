"""The parts of a TensorFlow docstring, tidied: head, summary, arguments, results, and examples in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from specs.documents.text.documents import KeepsFindings, Line, Passage, split_lines, unescape
from specs.documents.worked.printed import Printed, fits, read_printed
from specs.model.spec import Action, Example, Finding, Value

_BEGIN = re.compile(r"(?:\((?P<number>\d+)\) )?For the following input of shape `?(?=\[)")
_OPERAND = re.compile(r"[`, ]*(?:and )?`?(?P<name>\w+) = `?(?=\[)")
_NUMBER = re.compile(r"[`, ]*(?:and )?`?(?P<name>\w+)`? of `?(?P<value>\d+)\b")
_VALUE = re.compile(r"[`:\s]*(?:\w+ = )?(?=\[)")
_RESULT_SHAPE = re.compile(r"[`\s]*The output tensor has shape `?(?=\[)")
_RESULT_VALUE = re.compile(r"[`\s]*and value:")


def read_input_examples(passage: Passage, about: str) -> tuple[tuple[Example, ...], list[Finding]]:
    """The examples of a passage; one that breaks off is rejected with a finding."""
    examples: list[Example] = []
    findings: list[Finding] = []
    for position, match in enumerate(_BEGIN.finditer(passage.text), 1):
        reader = _Reader(passage, match.end())
        number = match["number"] or str(position)
        example = reader.read(f"example_{number}", match.start())
        findings += reader.findings
        if example is not None:
            examples.append(example)
        else:
            place = passage.source(match.start())
            message = f"example {number} in the text of {about} cannot be read to its end"
            evidence = "shape, operands, input, output shape and output were expected in this order"
            findings.append(Finding("example-not-read", "warning", place, message, evidence, "rejected"))
    return tuple(examples), findings


@dataclass
class _Stated:
    shape: tuple[int, ...]
    printed: Printed
    offset: int


class _Reader(KeepsFindings):
    """Reads one example from an offset on."""

    def __init__(self, passage: Passage, offset: int) -> None:
        self._passage = passage
        self._offset = offset
        self.findings: list[Finding] = []

    def read(self, name: str, start: int) -> Example | None:
        text = self._passage.text
        input_shape = self._array()
        operands: list[tuple[str, Value | None]] = []
        while match := _OPERAND.match(text, self._offset):
            self._offset = match.end()
            place = match.start("name")
            printed = self._array()
            if printed is None or printed.shape is None:
                return None
            operands.append(
                (match["name"], Value(printed.shape, printed.data, None, self._passage.source(place)))
            )
        attributes: dict[str, int] = {}
        if match := _NUMBER.match(text, self._offset):
            self._offset = match.end()
            attributes[match["name"]] = int(match["value"])
        given = self._stated(input_shape, _VALUE)
        if given is None or not self._skip(_RESULT_SHAPE):
            return None
        output_shape = self._array()
        if not self._skip(_RESULT_VALUE):
            return None
        result = self._stated(output_shape, _VALUE)
        if result is None:
            return None
        inputs = [("input", self._mend(name, "input", given)), *operands]
        outputs = (("output", self._mend(name, "output", result)),)
        source = self._passage.source(start)
        return Example(name, attributes, tuple(inputs), outputs, source, None, bool(self.findings))

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self._passage.text, self._offset)
        if match:
            self._offset = match.end()
        return match is not None

    def _array(self) -> Printed | None:
        printed = read_printed(self._passage.text, self._offset)
        if printed is not None:
            self._offset = printed.end
        return printed

    def _stated(self, shape: Printed | None, before: re.Pattern[str]) -> _Stated | None:
        if shape is None or not all(isinstance(each, int) for each in shape.data) or not self._skip(before):
            return None
        offset = self._offset
        printed = self._array()
        return None if printed is None else _Stated(tuple(shape.data), printed, offset)

    def _mend(self, example: str, what: str, stated: _Stated) -> Value | None:
        """The array in the shape that the text states; brackets that differ from it are a finding."""
        source = self._passage.source(stated.offset)
        right = fits(stated.printed, stated.shape)
        if stated.printed.shape != stated.shape:
            found = "ragged" if stated.printed.shape is None else str(list(stated.printed.shape))
            count = len(stated.printed.data)
            message = f"the {what} of {example} is bracketed as {found}"
            evidence = f"the text says shape {list(stated.shape)}; the array has {count} elements"
            action: Action = "repaired" if right else "rejected"
            self.find("brackets-vs-shape", "error", source, message, evidence, action)
        if not right:
            return None
        return Value(stated.shape, stated.printed.data, None, source, stated.printed.decimals)


def tidy_lines(content: str) -> tuple[list[Line], list[Finding]]:
    """The lines with entities and tabs replaced, and a finding where there were entities."""
    lines, damaged = unescape(split_lines(content))
    findings = []
    if damaged:
        evidence = f"{len(damaged)} lines from {damaged[0].number} to {damaged[-1].number}"
        message = "HTML entities stand in the text"
        source = damaged[0].source()
        findings.append(Finding("html-escape", "warning", source, message, evidence, "repaired"))
    return [
        Line(_without_tabs(line.text), line.number) if "\t" in line.text else line for line in lines
    ], findings


def _without_tabs(text: str) -> str:
    """Tabs that indent as four blanks, others as one."""
    indent = re.match(r"\s*", text)
    end = indent.end() if indent else 0
    return text[:end].replace("\t", "    ") + text[end:].replace("\t", " ")


_TITLES = ("Args:", "Returns:")
_SIGNATURE = re.compile(r"^# signature: \w+\((?P<names>[\w, ]*)\) defaults=(?P<defaults>\[.*\])$")
_ITEM = re.compile(r"^  (?P<name>\w+):(?: (?P<text>.*))?$")
_PHRASE = re.compile(
    r"(?<=\s)(?P<name>\w+): (?:An? (?:optional |mutable )?`(?:Tensor|int|float|string|bool|tf\.\w+)`"
    r"|An? (?:optional )?list of (?:at least \d+ )?`|A function decorated|A name for the operation)"
)
_RESULT = re.compile(r"\AA tuple of `Tensor` objects \((?P<names>[^)]*)\)\.")


@dataclass(frozen=True)
class PythonSignature:
    """A function's parameters, and the default of each that has one, as text of Python."""

    names: tuple[str, ...]
    defaults: dict[str, str]
    line: Line


@dataclass(frozen=True)
class ArgumentText:
    """An argument or result: its name, the line in which it stands, its text."""

    name: str
    line: Line
    passage: Passage


@dataclass
class Sections:
    """A docstring in parts; `results` is empty for an operator without any, or with a single unnamed one.

    `stray` are lines where no argument can stand, `swallowed` items that stand inside the text of another.
    """

    summary: list[Line] = field(default_factory=list)
    arguments: list[ArgumentText] = field(default_factory=list)
    result: Passage = field(default_factory=lambda: Passage(()))
    results: list[ArgumentText] = field(default_factory=list)
    stated_results: tuple[str, ...] | None = None
    titles: dict[str, Line] = field(default_factory=dict)
    signature: PythonSignature | None = None
    stray: list[Line] = field(default_factory=list)
    swallowed: list[tuple[str, Line]] = field(default_factory=list)
    repeated: list[Line] = field(default_factory=list)


def split_sections(lines: Sequence[Line]) -> Sections:
    """The parts of a docstring; lines that begin with `# ` above its text are the head."""
    found = Sections()
    own: dict[str, list[Line]] = {"": [], "Args:": [], "Returns:": []}
    current = ""
    indent = 0
    head = True
    for line in lines:
        head = head and (not line.text or line.text.startswith("# "))
        if head:
            found.signature = _signature(line) or found.signature
        elif (title := line.text.strip()) in _TITLES:
            if title in found.titles:
                found.repeated.append(line)
            found.titles.setdefault(title, line)
            current = title
            indent = len(line.text) - len(line.text.lstrip())
        else:
            deeper = indent and not line.text[:indent].strip()
            own[current].append(line.after(indent) if deeper else line)
    found.summary = own[""]
    found.arguments, stray = _items(own["Args:"])
    found.stray += stray
    _read_results(found, own["Returns:"])
    for item in (*found.arguments, *found.results):
        for match in _PHRASE.finditer(item.passage.text):
            place = item.passage.source(match.start())
            found.swallowed.append((match["name"], Line(match[0], place.line, place.column)))
    return found


def _signature(line: Line) -> PythonSignature | None:
    match = _SIGNATURE.match(line.text)
    if match is None:
        return None
    try:
        defaults = ast.literal_eval(match["defaults"])
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    names = tuple(word.strip() for word in match["names"].split(",") if word.strip())
    if not isinstance(defaults, list) or len(defaults) > len(names):
        return None
    with_default = names[len(names) - len(defaults) :]
    return PythonSignature(names, dict(zip(with_default, map(str, defaults), strict=True)), line)


def _items(lines: Sequence[Line]) -> tuple[list[ArgumentText], list[Line]]:
    """The items of a list, and what stands above the first one."""
    items: list[tuple[str, Line, list[Line]]] = []
    stray: list[Line] = []
    for line in lines:
        match = _ITEM.match(line.text)
        if match:
            start = match.start("text") if match["text"] is not None else match.end()
            items.append((match["name"], line, [line.after(start)]))
        elif items:
            items[-1][2].append(line)
        elif line.text:
            stray.append(line)
    return [ArgumentText(name, line, Passage(own)) for name, line, own in items], stray


def _read_results(found: Sections, lines: Sequence[Line]) -> None:
    found.result = Passage(lines)
    several = _RESULT.match(found.result.text)
    if several:
        found.stated_results = tuple(word.strip() for word in several["names"].split(",") if word.strip())
        # The sentence about the tuple stands above the items.
        found.results, _ = _items(lines)
