"""An attribute may be left out, and the page does not say what holds then."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.documents.prose.defaults import find_default
from specs.model.spec import AttributeSpec, Finding, Severity

CODE = "default-missing"
SEVERITY: Severity = "warning"

_OPTIONAL = re.compile(
    r"\b(?:if|when) (?:it is )?(?:not|un)[ -]?(?:provided|specified|set|given)|\boptional\b|\bif omitted\b",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"default|\boptional"
    r"|\b(?:if|when|where|unless)\b[^.]{0,60}\b(?:not|un\w+|missing|absent|empty|without|no|none)\b"
    r"|\b(?:omitted|absent|missing|otherwise|inferred|ignored|not present|none|if provided|if present)\b"
    r"|\bif set,|\blegacy\b|\bmust be (?:used|provided|present|set|given|specified)\b"
    r"|\b(?:is|are) (?:only )?(?:required|needed)\b",
    re.IGNORECASE,
)
"""What tells, in some way, what the absence of an attribute means."""
_BEFORE, _BEHIND = 20, 120
"""Characters of the summary around an attribute's name in which it may be told."""
_ONE_OF = re.compile(r"\b(?:exactly|only) one of\b", re.IGNORECASE)


def check(version: Version) -> Iterator[Finding]:
    """One finding for all silent attributes of a version of an ONNX page.

    The Markdown prints defaults, so that its text may tell of an absence in any words; the older pages have
    them in words alone.
    """
    if not version.page.dialect.startswith("onnx") or version.spec.deprecated:
        return
    summary = version.passages.get("summary")
    if summary is not None and _ONE_OF.search(summary.text):
        return
    silent = [each for each in version.spec.attributes.values() if _silent(version, each)]
    if silent:
        message = "the page gives no default for attributes that may be left out"
        evidence = ", ".join(each.name for each in silent)
        yield Finding(CODE, SEVERITY, silent[0].origin.sources[0], message, evidence, "noted")


def _silent(version: Version, attribute: AttributeSpec) -> bool:
    line = version.page.lines[version.page.position(attribute.origin.sources[0])]
    if attribute.required or attribute.has_default or "(default is" in line.text:
        return False
    passage = version.passages.get(f"attributes.{attribute.name}")
    if passage is None:
        return True
    if version.page.dialect != "onnx-sphinx-rst":
        return not _TOLD.search(passage.text) and not _told_above(version, attribute.name)
    found = find_default(passage)
    undecodable = found is not None and found.undecodable
    return not undecodable and not _OPTIONAL.search(passage.text)


def _told_above(version: Version, name: str) -> bool:
    """Whether the summary names the attribute and goes on to tell what its absence means."""
    summary = version.passages.get("summary")
    if summary is None:
        return False
    named = re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", summary.text)
    around = (summary.text[max(each.start() - _BEFORE, 0) : each.end() + _BEHIND] for each in named)
    return any(map(_TOLD.search, around))
