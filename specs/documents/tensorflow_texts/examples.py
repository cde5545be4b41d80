"""Worked examples in words: "For the following input of shape S, a = [..]: [..] The output tensor has .."."""

from __future__ import annotations

import re
from dataclasses import dataclass

from specs.documents.text.documents import KeepsFindings, Passage
from specs.documents.worked.printed import Printed, fits, read_printed
from specs.model.spec import Action, Example, Finding, Value

_BEGIN = re.compile(r"(?:\((?P<number>\d+)\) )?For the following input of shape `?(?=\[)")
_OPERAND = re.compile(r"[`, ]*(?:and )?`?(?P<name>\w+) = `?(?=\[)")
_NUMBER = re.compile(r"[`, ]*(?:and )?`?(?P<name>\w+)`? of `?(?P<value>\d+)\b")
_VALUE = re.compile(r"[`:\s]*(?:\w+ = )?(?=\[)")
_RESULT = re.compile(r"[`\s]*The output tensor has shape `?(?=\[)")
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
        if given is None or not self._skip(_RESULT):
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
