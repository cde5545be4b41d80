"""The range of an attribute admits values that mean nothing."""

from __future__ import annotations

from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity

CODE = "impossible-range"
SEVERITY: Severity = "warning"

_EXTENTS = frozenset(["sizes", "strides", "rates", "dilations", "kernel"])
"""Extents of windows and distances between them, for which zero means nothing."""


def check(version: Version) -> Iterator[Finding]:
    """One finding for all extents of a version that may be 0."""
    attributes = version.spec.attributes.values()
    named = [each for each in attributes if each.name in _EXTENTS and each.at_least == 0]
    if named:
        yield Finding(
            CODE,
            SEVERITY,
            named[0].origin.sources[0],
            "the range admits 0, for which the operation means nothing",
            f"non-negative: {', '.join(each.name for each in named)}",
            "noted",
        )
