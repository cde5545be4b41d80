"""The page does not say of which type an attribute is."""

from __future__ import annotations

from collections.abc import Iterator

from specs.model import Finding, Severity
from specs.pages import Version

CODE = "attribute-type-missing"
SEVERITY: Severity = "warning"


def check(version: Version) -> Iterator[Finding]:
    """One finding for a version whose dialect prints no types, else one for each attribute without one."""
    if not version.page.dialect.startswith("onnx"):
        return
    untyped = [
        each for each in version.spec.attributes.values() if each.kind is None and each.other_type is None
    ]
    if not untyped:
        return
    if len(untyped) > 1 and len(untyped) == len(version.spec.attributes):
        message = "the page does not say of which type its attributes are"
        evidence = ", ".join(each.name for each in untyped)
        yield Finding(CODE, SEVERITY, untyped[0].origin.sources[0], message, evidence, "noted")
        return
    for each in untyped:
        message = f"the page does not say of which type {each.name} is"
        yield Finding(CODE, SEVERITY, each.origin.sources[0], message, each.name, "noted")
