"""An example gives an attribute a truth value where the text knows 0 and 1."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.model import Finding, Severity
from specs.pages import Version

CODE = "attribute-type-vs-example"
SEVERITY: Severity = "hint"

_GIVEN = re.compile(r"(?<![\w.])(\w+)=(True|False)\b")
_NUMBERS = re.compile(r"\b(?:set to|is|equals?) [01]\b")
_TRUTH = re.compile(r"\b(?:true|false)\b", re.IGNORECASE)
_CALL = re.compile(r"\bmake_node\(")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each node that has True or False for an attribute that is an integer."""
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
