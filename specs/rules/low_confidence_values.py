"""The values that an attribute may take are told in words that do not list them as such."""

from __future__ import annotations

from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity

CODE = "low-confidence-values"
SEVERITY: Severity = "hint"


def check(version: Version) -> Iterator[Finding]:
    """One finding for each attribute whose values are proposed, not used."""
    for attribute in version.spec.attributes.values():
        values = attribute.values
        if values is not None and values.proposed:
            yield Finding(
                CODE,
                SEVERITY,
                values.origin.sources[0],
                f"the values of {attribute.name} are not listed as such",
                f"{', '.join(map(str, values.values))} by the rule {values.rule}, "
                f"confidence {values.confidence:.2f}",
                "noted",
            )
