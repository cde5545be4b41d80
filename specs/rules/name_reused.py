"""Formulas give one name two meanings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.model import Finding, Formula, Severity
from specs.pages import Version

CODE = "name-reused"
SEVERITY: Severity = "warning"

_ATTRIBUTE = re.compile(r"^(\w+) ==")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each name that is defined once for all calls, and again under an attribute's value."""
    defined: dict[str, list[Formula]] = {}
    for each in version.spec.formulas:
        defined.setdefault(each.name, []).append(each)
    for name, formulas in defined.items():
        always = [each for each in formulas if each.when is None]
        bound = [each for each in formulas if each.when is not None and _ATTRIBUTE.match(each.when)]
        if always and bound and bound[0].text != always[0].text:
            first, other = always[0], bound[0]
            yield Finding(
                CODE,
                SEVERITY,
                other.origin.sources[0],
                f"{name} is defined twice: for every call, and again where {other.when}",
                f"{other.text}; line {first.origin.sources[0].line} has {first.text}",
                "noted",
            )
