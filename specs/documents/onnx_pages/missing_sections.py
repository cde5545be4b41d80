"""Sections that an ONNX page speaks of and does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from specs.documents.onnx_pages.page_parts import ListedItem, PageParts
from specs.model.spec import Finding, Source

_WORDS = {
    "Attributes": re.compile(r"\battributes?\b", re.IGNORECASE),
    "Inputs": re.compile(r"(?<!no )\binputs?\b", re.IGNORECASE),
}


def find_missing(parts: PageParts, place: Source, titles: Sequence[str]) -> Iterator[Finding]:
    """What of Attributes and Inputs the text mentions while the page lists none; type variables without use.

    `titles` are the sections that pages of the dialect leave out where they would be empty.
    """
    lists: dict[str, Sequence[ListedItem]] = {"Attributes": parts.attributes, "Inputs": parts.inputs}
    for title, pattern in _WORDS.items():
        if lists[title] or title not in titles:
            continue
        items = (*parts.attributes, *parts.inputs, *parts.outputs, *parts.type_constraints)
        for passage in (parts.summary, *(each.description for each in items)):
            found = pattern.search(passage.text)
            if found:
                message = f"the page lists no {title.lower()}, and its text speaks of them"
                evidence = f"{found[0]} at line {passage.source(found.start()).line}"
                yield Finding("section-missing", "error", place, message, evidence, "noted")
                break
    used = {each.type for each in (*parts.inputs, *parts.outputs)}
    for item in parts.type_constraints:
        if item.name not in used:
            message = f"no input or output is of the type {item.name}, which the page constrains"
            evidence = f"they are of {', '.join(sorted(name for name in used if name))}"
            source = item.line.source()
            yield Finding("type-variable-unused", "warning", source, message, evidence, "noted")
