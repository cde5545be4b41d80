"""Worked examples written as assignments in a block of code: `data = [1, 2]`, `output = [...]`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from specs.documents.openvino_pages.tokens import CodeBlock
from specs.documents.openvino_pages.xml_layers import decode
from specs.documents.text.documents import KeepsFindings, Line
from specs.documents.worked.printed import Printed, read_printed
from specs.model.spec import Example, Finding, ParameterSpec, Spec, Value

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
            outputs = [each for each in statements if self._is_output(each.name)]
            if len(statements) > 1 and outputs and re.match(r"[\[\d.+-]", outputs[0].text):
                self._example(statements)

    def _is_output(self, name: str) -> bool:
        return name == "output" or name in {each.name for each in self.spec.outputs}

    def _example(self, statements: Sequence[_Statement]) -> None:
        source = statements[0].line
        attributes: dict[str, Any] = {}
        values: dict[str, Value] = {}
        others: list[tuple[str, Value]] = []
        output: Value | None = None
        inputs = {each.name for each in self.spec.inputs}
        for each in statements:
            if each.name in self.spec.attributes:
                attributes[each.name] = self._attribute(each)
                continue
            if each.name.endswith("_shape") and re.fullmatch(r"\([\d,\s]*\)", each.text):
                continue
            value = self._value(each)
            if value is None:
                self._unread(source, f"{each.name} is no complete array")
                return
            if self._is_output(each.name):
                output = value
            elif each.name in inputs:
                values[each.name] = value
            else:
                others.append((each.name, value))
        given = self._inputs(values, others)
        if isinstance(given, str):
            self._unread(source, given)
        elif output is None or any(each is None for each in attributes.values()):
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
        for each in self.spec.inputs:
            if each.name in values:
                given.append((each.name, values[each.name]))
            elif each.option == "variadic" and _GENERATED.match(each.name):
                given += [(each.name, value) for _, value in rest]
                rest = []
            elif rest and _GENERATED.match(each.name):
                given.append((each.name, rest.pop(0)[1]))
            elif each.option == "single":
                missing.append(each)
            else:
                given.append(("", None))
        if missing:
            return f"it gives no {', '.join(each.name for each in missing)}"
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
