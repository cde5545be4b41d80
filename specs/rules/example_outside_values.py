"""An example gives an attribute a value that the page does not allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specs.documents.pages.pages import Version
from specs.model.spec import AttributeSpec, Finding, Severity

CODE = "example-outside-values"
SEVERITY: Severity = "warning"


def check(version: Version) -> Iterator[Finding]:
    """One finding for each attribute and value of an ONNX page's examples that a sure list leaves out."""
    if not version.page.dialect.startswith("onnx"):
        return
    told: set[tuple[str, str]] = set()
    for example in version.spec.examples:
        for name, value in example.attributes.items():
            attribute = version.spec.attributes.get(name)
            for each in _outside(attribute, value):
                if (name, each) not in told:
                    told.add((name, each))
                    allowed = ", ".join(map(str, attribute.allowed or ())) if attribute else ""
                    message = (
                        f"example {example.id} gives {name} the value {each!r}, which the text leaves out"
                    )
                    yield Finding(
                        CODE, SEVERITY, example.source, message, f"the text lists {allowed}", "noted"
                    )


def _outside(attribute: AttributeSpec | None, value: Any) -> Iterator[str]:
    """The words of a value that are none of those allowed; a list of them has one for each element."""
    allowed = attribute.allowed if attribute is not None else None
    if allowed is None:
        return
    for each in value if isinstance(value, list | tuple) else [value]:
        if isinstance(each, str) and each and each not in allowed:
            yield each
