"""Examples in an operator's summary: `data = [...] pads = [...] output = [...]`."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import Any

from specs.documents import Passage
from specs.model import Example, Finding, Spec, Value
from specs.worked.printed import Printed, fits, read_printed

_ASSIGNMENT = re.compile(r"(?<!`)\b([A-Za-z_]\w*) = (?=[\[\"'0-9+-])")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?=[\s,.;]|$)")


@dataclass(frozen=True)
class _Array:
    printed: Printed
    offset: int


def read_summary_example(spec: Spec, summary: Passage) -> tuple[tuple[Example, ...], list[Finding]]:
    """The examples that assign literal arrays to the operator's inputs and outputs, their wrong brackets."""
    inputs = [each.name for each in spec.inputs]
    outputs = [each.name for each in spec.outputs]
    examples: list[Example] = []
    findings: list[Finding] = []
    arrays: dict[str, _Array] = {}
    attributes: dict[str, Any] = {}
    for match in _ASSIGNMENT.finditer(summary.text):
        name = match[1]
        if name in spec.attributes:
            quoted = re.match(r"([\"'])(\w+)\1", summary.text[match.end() :])
            number = _NUMBER.match(summary.text, match.end())
            if quoted:
                attributes[name] = quoted[2]
            elif number:
                attributes[name] = ast.literal_eval(number[0])
        printed = read_printed(summary.text, match.end())
        if printed is None or name not in (*inputs, *outputs):
            continue
        arrays[name] = _Array(printed, match.start())
        if name in outputs:
            example, finding = _example(spec, summary, arrays, attributes, len(examples))
            examples.append(example)
            findings += finding
            arrays, attributes = {}, {}
    return tuple(examples), findings


def _example(
    spec: Spec, summary: Passage, arrays: dict[str, _Array], attributes: dict[str, Any], position: int
) -> tuple[Example, list[Finding]]:
    findings: list[Finding] = []
    output = next(each.name for each in spec.outputs if each.name in arrays)
    wanted = _padded_shape(spec, arrays)
    found = arrays[output].printed
    if wanted is not None and found.shape != wanted:
        right = fits(found, wanted)
        findings.append(
            Finding(
                "brackets-vs-shape",
                "error",
                summary.source(arrays[output].offset),
                f"the example's {output} is bracketed as {_listed(found.shape)}",
                f"its input and pads make {_listed(wanted)}",
                "repaired" if right else "rejected",
            )
        )
        if right:
            arrays[output] = replace(arrays[output], printed=replace(found, shape=wanted))
    given = []
    for parameter in spec.inputs:
        if parameter.name in arrays:
            given.append((parameter.name, _value(summary, arrays[parameter.name])))
        elif parameter.option == "single":
            given.append((parameter.name, None))
    first = min(each.offset for each in arrays.values())
    example = Example(
        id=f"summary_{position + 1}",
        attributes=dict(attributes),
        inputs=tuple(given),
        outputs=((output, _value(summary, arrays[output])),),
        source=summary.source(first),
        repaired=bool(findings),
    )
    return example, findings


def _value(summary: Passage, array: _Array) -> Value | None:
    printed = array.printed
    if printed.shape is None:
        return None
    return Value(printed.shape, printed.data, None, summary.source(array.offset), printed.decimals)


def _padded_shape(spec: Spec, arrays: dict[str, _Array]) -> tuple[int, ...] | None:
    """The shape that an example of padding must have: the input's, and its pads added at both ends."""
    pads = arrays.get("pads")
    data = next((arrays[each.name] for each in spec.inputs if each.name in arrays), None)
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
