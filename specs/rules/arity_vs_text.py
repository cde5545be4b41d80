"""The least number of inputs that the page states is less than its text demands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents import Line
from specs.model import Finding, Severity
from specs.pages import Version

CODE = "arity-vs-text"
SEVERITY: Severity = "warning"

_ONE_OF = re.compile(r"\b[Oo]ne of '(\w+)' and '(\w+)' (?:MUST|must) be (?:specified|provided|given)")
_STATED = re.compile(r"^Between \d+ and \d+ inputs|^#### Inputs \(")


def check(version: Version) -> Iterator[Finding]:
    """One finding where one of two optional inputs must be given and the stated least leaves both out."""
    spec = version.spec
    positions = {each.name: number for number, each in enumerate(spec.inputs, 1)}
    line = next((each for each in version.lines if _STATED.match(each.text)), None)
    for passage in version.passages.values():
        match = _ONE_OF.search(passage.text)
        if match is None or line is None or spec.input_arity is None or not {*match.groups()} <= {*positions}:
            continue
        least = min(positions[match[1]], positions[match[2]])
        if spec.input_arity.least < least:
            yield _finding(line, spec.input_arity.least, least, match, positions)


def _finding(line: Line, stated: int, least: int, match: re.Match[str], positions: dict[str, int]) -> Finding:
    return Finding(
        CODE,
        SEVERITY,
        line.source(),
        f"the page states at least {stated} inputs, and a node never has fewer than {least}",
        f"one of {match[1]} (input {positions[match[1]]}) and {match[2]} (input {positions[match[2]]}) "
        "must be given",
        "noted",
    )
