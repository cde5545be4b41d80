"""A formula uses an input everywhere that the text says to take effect in one mode only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.model import Finding, Severity
from specs.pages import Version

CODE = "scope-contradiction"
SEVERITY: Severity = "warning"

_ONLY = re.compile(r"\bonly takes effect when (\w+) is [\"'`]*(\w+)")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each formula without such a condition that uses the input or a part of it."""
    for each in version.spec.inputs:
        passage = version.passages.get(f"inputs.{each.name}")
        only = _ONLY.search(passage.text) if passage is not None else None
        if passage is None or only is None:
            continue
        line = passage.source(only.start()).line
        for formula in version.spec.formulas:
            used = re.search(rf"(?<!\w){re.escape(each.name)}(?:_\w+)?(?!\w)", formula.text)
            if used and (formula.when is None or only[1] not in formula.when):
                yield Finding(
                    CODE,
                    SEVERITY,
                    formula.origin.sources[0],
                    f"the formula of {formula.name} uses {each.name} whatever {only[1]} is",
                    f"{used[0]}; line {line} says that {each.name} only takes effect where it is {only[2]}",
                    "noted",
                )
