"""An example gives its input and its output the same name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.documents.text.documents import Line
from specs.model.spec import Finding, Severity

CODE = "duplicate-name"
SEVERITY: Severity = "warning"

_NUMBER = re.compile(r"\((\d)\) For\b")
_ARRAY = re.compile(r"(?<![\w`])(\w+) =\s*(?=\[\[\[|$)")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each numbered example in which one name is given two arrays."""
    if not version.page.dialect.startswith("tensorflow"):
        return
    number = None
    named: dict[str, Line] = {}
    for line in version.lines:
        tokens = sorted(
            [*_NUMBER.finditer(line.text), *_ARRAY.finditer(line.text)], key=lambda each: each.start()
        )
        for match in tokens:
            name = match[1]
            if match.re is _NUMBER:
                number, named = name, {}
            elif number is not None and name in named:
                message = f"example {number} calls its input and its output {name}"
                evidence = f"the other stands at line {named[name].number}"
                yield Finding(CODE, SEVERITY, line.source(match.start()), message, evidence, "repaired")
            else:
                named[name] = line
