"""Examples in an operator's summary: `data = [...] pads = [...] output = [...]`."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from typing import Any

from specs.documents.text.documents import KeepsFindings, Passage
from specs.documents.worked.printed import Printed, fits, read_printed
from specs.model.spec import Example, Finding, ParameterSpec, Spec, Value

_ASSIGNMENT = re.compile(
    r"(?<![`\w.])(?:(?P<name>[A-Za-z_]\w*) *= *|(?P<word>Outputs?): )(?=[\[\"'0-9+-])"
    r"|(?<![`\w.])(?P<function>[a-z]\w*)\((?=\[)"
)
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
        self._outputs = [each.name for each in spec.outputs]
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
            if name is None:
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
            self._group = _Group({name: _Array(each, match.start()) for name, each in arrays.items()})
            self._close()

    def _close(self) -> None:
        """End an example; one that assigns no input goes on from the one before it."""
        group = self._group
        if not any(name in group.arrays for name in self._inputs):
            kept = {name: each for name, each in self._before.arrays.items() if name in self._inputs}
            group = _Group({**kept, **group.arrays}, {**self._before.attributes, **group.attributes})
        self._before, self._group = group, _Group()
        if any(name in group.arrays for name in self._inputs):
            self._add(group)
            return
        first = min(each.offset for each in group.arrays.values())
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
        first = min(each.offset for each in group.arrays.values())
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
    if len(amounts) != 2 * rank or not all(isinstance(each, int) for each in amounts):
        return None
    return tuple(
        extent + amounts[axis] + amounts[axis + rank] for axis, extent in enumerate(data.printed.shape)
    )


def _listed(shape: tuple[int, ...] | None) -> str:
    return "ragged" if shape is None else str(list(shape))
