"""The text of a type constraint names other types than its list does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opcert.element_types import ELEMENT_TYPES
from specs.model import Finding, Severity
from specs.pages import Version

CODE = "text-vs-types"
SEVERITY: Severity = "warning"


def check(version: Version) -> Iterator[Finding]:
    """One finding for each constraint that is said to be "A or B" and lists others."""
    for constraint in version.spec.type_constraints.values():
        passage = version.passages.get(f"type_constraints.{constraint.name}")
        match = re.search(r"\bto (\w+) or (\w+)\.?$", passage.text) if passage else None
        if passage is None or match is None:
            continue
        named = {match[1], match[2]}
        if named <= set(ELEMENT_TYPES) and named != set(constraint.types):
            yield Finding(
                CODE,
                SEVERITY,
                passage.source(match.start(1)),
                f"the text of {constraint.name} names other types than its list",
                f"the text: {match[1]}, {match[2]}; the list: {', '.join(constraint.types)}",
                "noted",
            )
