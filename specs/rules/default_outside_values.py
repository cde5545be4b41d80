"""A default is none of the values that the text allows."""

from __future__ import annotations

from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity

CODE = "default-outside-values"
SEVERITY: Severity = "warning"


def check(version: Version) -> Iterator[Finding]:
    """One finding for each string attribute of an ONNX page; the other importers compare while they read."""
    if not version.page.dialect.startswith("onnx"):
        return
    for attribute in version.spec.attributes.values():
        values = attribute.values
        if values is None or not attribute.has_default or not isinstance(attribute.default, str):
            continue
        if attribute.default not in values.values and attribute.default:
            yield Finding(
                CODE,
                SEVERITY,
                attribute.origin.sources[0],
                f"the default of {attribute.name} is none of its values",
                f"{attribute.default!r}; the text lists {', '.join(map(str, values.values))}",
                "noted",
            )
