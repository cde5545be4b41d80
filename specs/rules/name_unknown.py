"""The text marks a name as one of the operator's, and no part of the operator has it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.documents.pages.pages import Version
from specs.model.spec import Finding, Severity, Source

CODE = "name-unknown"
SEVERITY: Severity = "warning"

_MARKED = re.compile(r"(?<![`\w])(?P<mark>``|`|')(?P<name>[A-Za-z_]\w{2,59})(?P=mark)(?![`\w])")
_KIND = re.compile(r"\b(?:attribute|input|output|argument|parameter)s?\s+$", re.IGNORECASE)
_KIND_BEHIND = re.compile(r"^\s+(?:attribute|input|output|argument|parameter)\b(?!\s+(?:of|to)\b)")
_CLOSE = 0.75
"""Two letters of four that changed places are as near as that."""


def check(version: Version) -> Iterator[Finding]:
    """One finding for each marked name that stands once on the page and is none of the operator's.

    It is told where the words beside it call it a part (`the axs attribute`), or where it is a part's name
    but for a letter or two.
    """
    if not version.page.dialect.startswith("onnx") or version.spec.deprecated:
        return
    known = _known(version)
    whole = " ".join(line.text for line in version.lines)
    for passage in version.passages.values():
        for match in _MARKED.finditer(passage.text[:20_000]):
            name = match["name"]
            # A name that ends so is the beginning of several; plurals are for name-mismatch.
            plural = {f"{name}s", name.removesuffix("s")} & _parts(version)
            if name in known or name.lower() in known or name.endswith("_") or plural:
                continue
            near = difflib.get_close_matches(name, sorted(_parts(version)), n=1, cutoff=_CLOSE)
            called = _KIND.search(passage.text[: match.start()]) or _KIND_BEHIND.match(
                passage.text[match.end() :]
            )
            if not (near or called) or len(re.findall(rf"(?<!\w){name}(?!\w)", whole)) > 1:
                continue
            yield _finding(name, near, passage.source(match.start("name")), version)


def _parts(version: Version) -> set[str]:
    spec = version.spec
    return {*spec.attributes, *(each.name for each in (*spec.inputs, *spec.outputs))}


def _known(version: Version) -> set[str]:
    """Every word that the operator itself gives a meaning: parts, types, values, extents, its own name."""
    spec = version.spec
    values = {str(value) for each in spec.attributes.values() if each.values for value in each.values.values}
    formulas = {word for each in spec.formulas for word in re.findall(r"\w+", each.name)}
    return {
        *_parts(version),
        *spec.type_constraints,
        *ELEMENT_TYPES,
        *values,
        *formulas,
        spec.operator.name,
        *("true", "false", "none", "null", "nan", "inf"),
    }


def _finding(name: str, near: list[str], source: Source, version: Version) -> Finding:
    meant = f"; perhaps {near[0]} is meant" if near else ""
    message = f"the text speaks of {name}, and the operator has no part of that name"
    parts = ", ".join(sorted(_parts(version)))
    return Finding(CODE, SEVERITY, source, message, f"it has {parts}{meant}", "noted")
