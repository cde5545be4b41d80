"""Worked examples of an OpenVINO page that are no XML: numbered calls, arrays, matrices, and assignments.

Assignments stand in a block of code: `data = [1, 2]`, `output = [...]`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from opcert.vocabulary.attributes import AttributeKind
from specs.documents.openvino_pages.tokens import CodeBlock
from specs.documents.openvino_pages.xml_layers import decode
from specs.documents.text.documents import KeepsFindings, Line
from specs.documents.worked.printed import Printed, fits, read_printed
from specs.model.spec import Example, Finding, ParameterSpec, Source, Spec, Value

_STATEMENT = re.compile(r"^\s*(?P<name>[A-Za-z_]\w*)\s*=(?!=)\s*(?P<value>.*)$")
_REMARK = re.compile(r"\s*<-{1,3} .*$")
_SHAPED = re.compile(r"^,?\s*shape\s*=\s*(?P<shape>\([\d,\s]*\))\s*$")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_GENERATED = re.compile(r"^inputs?(?:_\d+)?$")


@dataclass(frozen=True)
class _Statement:
    """An assignment: its name, its words (remarks taken away), the line where it begins."""

    name: str
    text: str
    line: Line


@dataclass
class Assignments(KeepsFindings):
    """Examples out of blocks of assignments, and what is wrong with these."""

    spec: Spec
    examples: list[Example] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def read(self, blocks: Sequence[CodeBlock]) -> None:
        """Read the blocks that assign an output whose elements are printed."""
        for block in blocks:
            statements = _statements(block.lines)
            outputs = [statement for statement in statements if self._is_output(statement.name)]
            if len(statements) > 1 and outputs and re.match(r"[\[\d.+-]", outputs[0].text):
                self._example(statements)

    def _is_output(self, name: str) -> bool:
        return name == "output" or name in {output.name for output in self.spec.outputs}

    def _example(self, statements: Sequence[_Statement]) -> None:
        source = statements[0].line
        attributes: dict[str, Any] = {}
        values: dict[str, Value] = {}
        others: list[tuple[str, Value]] = []
        output: Value | None = None
        inputs = {parameter.name for parameter in self.spec.inputs}
        for statement in statements:
            if statement.name in self.spec.attributes:
                attributes[statement.name] = self._attribute(statement)
                continue
            if statement.name.endswith("_shape") and re.fullmatch(r"\([\d,\s]*\)", statement.text):
                continue
            value = self._value(statement)
            if value is None:
                self._unread(source, f"{statement.name} is no complete array")
                return
            if self._is_output(statement.name):
                output = value
            elif statement.name in inputs:
                values[statement.name] = value
            else:
                others.append((statement.name, value))
        given = self._inputs(values, others)
        if isinstance(given, str):
            self._unread(source, given)
        elif output is None or any(attribute is None for attribute in attributes.values()):
            self._unread(source, "an attribute has no value of its type")
        else:
            self.examples.append(
                Example(
                    id=f"block_{len(self.examples) + 1}",
                    attributes=attributes,
                    inputs=given,
                    outputs=((self.spec.outputs[0].name, output),) if self.spec.outputs else (),
                    source=source.source(),
                )
            )

    def _inputs(
        self, values: dict[str, Value], others: Sequence[tuple[str, Value]]
    ) -> tuple[tuple[str, Value | None], ...] | str:
        """The inputs in the operator's order, or why they are not known.

        Names that the operator does not have stand for its unnamed inputs, one after the other.
        """
        rest = list(others)
        given: list[tuple[str, Value | None]] = []
        missing: list[ParameterSpec] = []
        for parameter in self.spec.inputs:
            if parameter.name in values:
                given.append((parameter.name, values[parameter.name]))
            elif parameter.option == "variadic" and _GENERATED.match(parameter.name):
                given += [(parameter.name, value) for _, value in rest]
                rest = []
            elif rest and _GENERATED.match(parameter.name):
                given.append((parameter.name, rest.pop(0)[1]))
            elif parameter.option == "single":
                missing.append(parameter)
            else:
                given.append(("", None))
        if missing:
            return f"it gives no {', '.join(parameter.name for parameter in missing)}"
        if rest:
            return f"the operation has no {', '.join(name for name, _ in rest)}"
        while given and given[-1][1] is None:
            given.pop()
        return tuple(given)

    def _attribute(self, statement: _Statement) -> Any:
        """An attribute's value by its kind; None where it is of none."""
        text = statement.text.strip()
        kind = self.spec.attributes[statement.name].kind
        if kind == "string":
            return text[1:-1] if re.fullmatch(r"\"[^\"]*\"|'[^']*'", text) else None
        if kind in ("ints", "floats", "strings"):
            text = text.strip("[]")
        value = decode(text, kind)
        return None if isinstance(value, str) else value

    def _value(self, statement: _Statement) -> Value | None:
        place = statement.line.source()
        text = statement.text.strip()
        if _NUMBER.fullmatch(text):
            _, _, fraction = text.partition(".")
            whole = "." not in text and "e" not in text.lower()
            number = int(text) if whole else float(text)
            return Value((), (number,), None, place, None if whole else len(fraction))
        printed = read_printed(text)
        if printed is None or printed.shape is None:
            return None
        rest = text[printed.end :].strip()
        stated = _SHAPED.match(rest)
        if rest and stated is None:
            return None
        if stated is not None:
            self._check(printed, stated["shape"], statement)
        return Value(printed.shape, printed.data, None, place, printed.decimals)

    def _check(self, printed: Printed, stated: str, statement: _Statement) -> None:
        shape = tuple(int(each) for each in re.findall(r"\d+", stated))
        if shape != printed.shape:
            message = f"{statement.name} is bracketed as {printed.shape}"
            self.find("brackets-vs-shape", "error", statement.line, message, f"the line says {list(shape)}")

    def _unread(self, line: Line, reason: str) -> None:
        self.find("example-not-read", "hint", line, "a worked example is not read", reason, "rejected")


def _statements(lines: Sequence[Line]) -> list[_Statement]:
    """The assignments of a block; empty where any of its text is none."""
    found: list[tuple[str, list[str], Line]] = []
    for line in lines:
        text = _REMARK.sub("", line.text)
        match = _STATEMENT.match(text)
        if match:
            found.append((match["name"], [match["value"]], line))
        elif found:
            found[-1][1].append(text)
        elif text.strip():
            return []
    return [_Statement(name, "\n".join(parts).strip(), line) for name, parts, line in found]


_MOST_CELLS = 10_000


@dataclass(frozen=True)
class MatrixRow:
    """One row: its cells as written, and its line."""

    cells: tuple[str, ...]
    line: Line


def read_matrices(lines: Sequence[Line]) -> list[list[MatrixRow]]:
    """The matrices of a formula, row by row."""
    matrices: list[list[MatrixRow]] = []
    for line in lines:
        text = line.text.strip()
        if text.startswith("\\begin"):
            matrices.append([])
        elif matrices and "&" in text:
            cells = tuple(word.strip() for word in re.sub(r"\\\\\s*$", "", text).split("&"))
            matrices[-1].append(MatrixRow(cells, line))
    return matrices


def check_matrix(rows: list[MatrixRow], image: Value, channel: int) -> Iterator[Finding]:
    """Numbers of a matrix that differ from the image, wherever the image lies inside the padded matrix."""
    if image.data is None or len(image.shape) != 4 or not rows:
        return
    height, width = image.shape[2:]
    columns = max(len(row.cells) for row in rows)
    start = channel * height * width
    if start + height * width > len(image.data) or len(rows) * columns > _MOST_CELLS:
        return
    pixels = image.data[start : start + height * width]
    shifts = [
        (down, right)
        for down in range(max(len(rows) - height, 0) + 1)
        for right in range(max(columns - width, 0) + 1)
    ]
    wrong = min((_differences(rows, pixels, (height, width), shift) for shift in shifts), key=len)
    for row, got, expected in wrong if len(wrong) <= len(rows) * columns // 10 else ():
        message = f"the matrix shows {got} where the image holds {expected}"
        evidence = f"the row reads {' '.join(row.cells)}"
        yield Finding("sequence-break", "error", row.line.source(), message, evidence, "noted")


def _differences(
    rows: list[MatrixRow], pixels: Sequence[int], extent: tuple[int, int], shift: tuple[int, int]
) -> list[tuple[MatrixRow, int, int]]:
    """Cells that are numbers and differ from the image shifted so; around the image stand zeros."""
    height, width = extent
    found = []
    for down, row in enumerate(rows):
        for right, cell in enumerate(row.cells):
            if not re.fullmatch(r"\d{1,9}", cell):
                continue
            y, x = down - shift[0], right - shift[1]
            inside = 0 <= y < height and 0 <= x < width
            expected = pixels[y * width + x] if inside else 0
            if int(cell) != expected:
                found.append((row, int(cell), expected))
    return found


_CALL = re.compile(r"^\d+\. +``(?P<attributes>\w+=\"[^`]*)``$")
_BEGUN = re.compile(r"^\d+\. +`+\w+=")
_ATTRIBUTE = re.compile(r"(\w+)=\"([^\"]*)\"")
_IMAGE = re.compile(r"[Ii]mage is a ``(?P<shape>\d+(?: x \d+)*)`` array")
_NUMBERS = re.compile(r"the numbers (\d+) through (\d+)")
_RANGE = re.compile(r"``\[(\d+), (\d+)\]``")
_SHAPE = re.compile(r"^output[ _]shape: `+\[(?P<shape>[\d, ]+)\]`+$")
_MOST = 100_000


def read_examples(spec: Spec, lines: Sequence[Line]) -> tuple[tuple[Example, ...], list[Finding]]:
    """The numbered examples of a page and what is wrong with them."""
    kinds = {name: attribute.kind for name, attribute in spec.attributes.items()}
    numbered = _Numbered(spec, kinds)
    for line in lines:
        numbered.take(line)
    numbered.close()
    return tuple(numbered.examples), numbered.findings


class _Numbered(KeepsFindings):
    """Reads numbered examples line by line: image, call, matrix, printed output, and its shape."""

    def __init__(self, spec: Spec, kinds: Mapping[str, AttributeKind | None]) -> None:
        self._spec = spec
        self._kinds = kinds
        self._image: Value | None = None
        self._call: tuple[dict[str, Any], Source] | None = None
        self._output: tuple[Printed, Source] | None = None
        self._block: list[Line] | None = None
        self._matrix: list[Line] = []
        self.examples: list[Example] = []
        self.findings: list[Finding] = []

    def take(self, line: Line) -> None:
        if "\t" in line.text:
            line = replace(line, text=line.text.replace("\t", " "))
        text = line.text.strip()
        call, shape = _CALL.match(text), _SHAPE.match(text)
        if call:
            self.close()
            given = _ATTRIBUTE.findall(call["attributes"])
            self._call = (
                {name: decode(value, self._kinds.get(name)) for name, value in given},
                line.source(),
            )
        elif _BEGUN.match(text):
            self.close()
            message = "the call of an example cannot be read"
            self.find("example-not-read", "hint", line, message, text[:60])
        elif _IMAGE.search(text):
            self._image = _image(line)
        elif text.startswith(".. code-block::") and self._call is not None:
            self._block = []
        elif text.startswith(("\\begin", "\\end")) or "&" in text:
            self._matrix.append(line)
        elif shape and self._call is not None:
            self._check_shape(tuple(int(word) for word in shape["shape"].split(",")), line)
        elif self._block is not None and text:
            self._block.append(line)
            self._try_output()

    def _try_output(self) -> None:
        block = self._block or []
        printed = read_printed("\n".join(line.text for line in block))
        if printed is not None:
            self._output = (printed, block[0].source())
            self._block = None

    def _check_shape(self, stated: tuple[int, ...], line: Line) -> None:
        if self._output is None or self._output[0].shape == stated:
            return
        right = fits(self._output[0], stated)
        self.find(
            "brackets-vs-shape",
            "error",
            self._output[1],
            f"the output is bracketed as {self._output[0].shape}",
            f"line {line.number} says {list(stated)}",
            "repaired" if right else "noted",
        )
        if right:
            printed = self._output[0]
            mended = Printed(stated, printed.data, printed.decimals, printed.end)
            self._output = (mended, self._output[1])

    def close(self) -> None:
        """End the current example."""
        if self._call is None:
            return
        attributes, source = self._call
        if self._matrix and self._image is not None:
            for channel, rows in enumerate(read_matrices(self._matrix)):
                self.findings += check_matrix(rows, self._image, channel)
        output = None
        if self._output is not None and self._output[0].shape is not None:
            printed, place = self._output
            output = Value(printed.shape or (), printed.data, None, place, printed.decimals)
        name = f"example_{len(self.examples) + 1}"
        if output is None:
            message, evidence = f"the output of {name} cannot be read", "no complete array in a code block"
            self.find("example-not-read", "hint", source, message, evidence)
        self.examples.append(
            Example(
                id=name,
                attributes=attributes,
                inputs=((self._spec.inputs[0].name, self._image),) if self._spec.inputs else (),
                outputs=((self._spec.outputs[0].name, output),) if self._spec.outputs else (),
                source=source,
            )
        )
        self._call, self._output, self._block, self._matrix = None, None, None, []


def _image(line: Line) -> Value | None:
    """An image stated in words: its shape, and consecutive numbers in row-major order."""
    stated = _IMAGE.search(line.text)
    if stated is None:
        return None
    shape = tuple(int(word) for word in stated["shape"].split(" x "))
    through = _NUMBERS.search(line.text)
    ranges = [through.groups()] if through else _RANGE.findall(line.text)
    bounds = [(int(first), int(last)) for first, last in ranges]
    count = sum(last - first + 1 for first, last in bounds)
    if not bounds or count > _MOST or count != math.prod(shape):
        return Value(shape, None, None, line.source(stated.start("shape")))
    data = tuple(number for first, last in bounds for number in range(first, last + 1))
    return Value(shape, data, None, line.source(stated.start("shape")))
