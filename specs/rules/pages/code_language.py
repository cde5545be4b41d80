"""A block of code is declared in a language that it is not written in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.model import Finding, Severity
from specs.pages import Version

CODE = "code-language"
SEVERITY: Severity = "hint"

_PRINTED = re.compile(r"^\s*\[+\s*-?\d")
_LANGUAGES = frozenset(["cpp", "c++", "python", "xml"])


def check(version: Version) -> Iterator[Finding]:
    """One finding for all printed arrays of a version that are declared as code or markup."""
    wrong = []
    for block in version.blocks:
        first = next((each for each in block.lines if each.text.strip()), None)
        if first is not None and block.language.lower() in _LANGUAGES and _PRINTED.match(first.text):
            wrong.append((block.language, first))
    if wrong:
        language, first = wrong[0]
        lines = ", ".join(str(line.number) for _, line in wrong)
        message = f"a printed array is declared as {language}"
        yield Finding(CODE, SEVERITY, first.source(), message, f"blocks that begin at lines {lines}", "noted")
