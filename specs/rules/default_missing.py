"""An attribute may be left out, and the page does not say what holds then."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.model import Finding, Severity
from specs.pages import Version
from specs.prose.defaults import find_default

CODE = "default-missing"
SEVERITY: Severity = "warning"

_OPTIONAL = re.compile(
    r"\b(?:if|when) (?:it is )?(?:not|un)[ -]?(?:provided|specified|set|given)|\boptional\b|\bif omitted\b",
    re.IGNORECASE,
)


def check(version: Version) -> Iterator[Finding]:
    """One finding for all silent attributes of a version whose dialect keeps defaults in prose."""
    if version.page.dialect != "onnx-sphinx-rst":
        return
    silent = []
    for each in version.spec.attributes.values():
        passage = version.passages.get(f"attributes.{each.name}")
        found = find_default(passage) if passage is not None else None
        told = passage is not None and _OPTIONAL.search(passage.text)
        if not (each.required or each.has_default or told or (found is not None and found.undecodable)):
            silent.append(each)
    if silent:
        message = "the page gives no default for attributes that may be left out"
        evidence = ", ".join(each.name for each in silent)
        yield Finding(CODE, SEVERITY, silent[0].origin.sources[0], message, evidence, "noted")
