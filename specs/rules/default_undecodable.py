"""A default is printed as something that is no value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specs.documents.pages.pages import Version
from specs.documents.prose.defaults import find_default
from specs.model.spec import Finding, Severity, Source

CODE = "default-undecodable"
SEVERITY: Severity = "warning"

_PRINTED = re.compile(r"\(default is (?P<text>.*)\)</dt>$")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each attribute of an ONNX page whose printed default is no value of its type."""
    if not version.page.dialect.startswith("onnx"):
        return
    for attribute in version.spec.attributes.values():
        source = attribute.origin.sources[0]
        if attribute.other_type is not None:
            continue
        printed = _PRINTED.search(version.page.lines[version.page.position(source)].text)
        if printed and not attribute.has_default:
            yield _finding(attribute.name, printed["text"], source, None)
        passage = version.passages.get(f"attributes.{attribute.name}")
        found = find_default(passage) if passage is not None and attribute.kind is None else None
        if passage is not None and found is not None and found.undecodable is not None:
            place = passage.source(max(passage.text.find(found.undecodable), 0))
            yield _finding(attribute.name, found.undecodable, place, found.value if found.origin else None)


def _finding(name: str, text: str, source: Source, marked: object) -> Finding:
    message = f"the default of {name} is printed as {text}"
    if re.fullmatch(r"0(?:\.0*)?", text):
        evidence = "it keeps divisors from being zero, and is not zero: too few decimals are printed"
        return Finding(CODE, SEVERITY, source, message, evidence, "noted")
    if marked is None:
        return Finding(CODE, SEVERITY, source, message, "nothing else says what it is", "noted")
    return Finding(CODE, SEVERITY, source, message, f"the text marks {marked} as the default", "repaired")
