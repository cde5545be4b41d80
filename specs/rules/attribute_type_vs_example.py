"""An example gives an attribute a value of another type than it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from opcert.vocabulary.attributes import AttributeKind
from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity

CODE = "attribute-type-vs-example"
SEVERITY: Severity = "hint"

_GIVEN = re.compile(r"(?<![\w.])(\w+)=(True|False)\b")
_NUMBERS = re.compile(r"\b(?:set to|is|equals?) [01]\b")
_TRUTH = re.compile(r"\b(?:true|false)\b", re.IGNORECASE)
_OF: dict[str, type | tuple[type, ...]] = {"ints": int, "floats": (int, float), "strings": str}
_CALL = re.compile(r"\bmake_node\(")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each node with True or False for an integer, and for each attribute of another type."""
    yield from _truth_values(version)
    yield from _types(version)


def _types(version: Version) -> Iterator[Finding]:
    told: set[str] = set()
    for example in version.spec.examples:
        for name, value in example.attributes.items():
            known = version.spec.attributes.get(name)
            if known is None or known.kind is None or name in told or fits(known.kind, value):
                continue
            told.add(name)
            message = f"example {example.id} gives {name} the value {value!r}, which is none of its type"
            yield Finding(CODE, "warning", example.source, message, f"{name} is {known.kind}", "noted")


def fits(kind: AttributeKind, value: Any) -> bool:
    """Whether a value can be an attribute's; a whole number may stand for a float, an empty list for any."""
    if kind.endswith("s"):
        return isinstance(value, list | tuple) and all(isinstance(each, _OF[kind]) for each in value)
    return isinstance(value, _OF[f"{kind}s"])


def _truth_values(version: Version) -> Iterator[Finding]:
    attributes = version.spec.attributes
    for block in version.blocks:
        depth = 0
        for line in block.lines:
            start = 0
            if depth == 0:
                call = _CALL.search(line.text)
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
                    yield Finding(CODE, SEVERITY, line.source(match.start()), message, evidence, "repaired")
            depth = max(depth + line.text[start:].count("(") - line.text[start:].count(")"), 0)
